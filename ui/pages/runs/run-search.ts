import type { RunFilter, RunView } from '../../../src/features/runs/schema.ts'

/** What the address of the page says about which runs are shown: a link shows the same to everybody. */
export interface RunSearch {
  /** One state or several, with commas between them. */
  readonly status?: string
  readonly trigger?: RunView['trigger']
  readonly agent_id?: string
  readonly schedule_id?: string
  readonly session?: string
  readonly agent_error_code?: string
  /** The last stretch of time; it moves on. */
  readonly within?: Within
  /** Else between two moments, RFC 3339. */
  readonly from?: string
  readonly to?: string
}

/** What parts of the filter are changed to; null leaves one out. */
export type Change = { readonly [Name in keyof RunSearch]?: string | null }

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The stretches of time one can choose. */
export const WITHIN = { '15m': 15 * MINUTE, '1h': HOUR, '24h': DAY, '7d': 7 * DAY, '30d': 30 * DAY } as const
/** The name of one of them. */
export type Within = keyof typeof WITHIN

const words = <Word extends string>(all: Readonly<Record<Word, true>>): readonly Word[] => Object.keys(all) as Word[]

/** The states there are, in the order in which a run comes to them. */
export const STATUSES = words<RunView['status']>({
  ...{ waiting: true, queued: true, assigned: true, running: true, awaiting_callback: true, stopping: true },
  ...{ success: true, failed: true, timeout: true, cancelled: true, skipped: true, dropped: true },
  ...{ rejected: true, expired: true },
})

/** The triggers of runs. */
export const TRIGGERS = words<RunView['trigger']>({
  ...{ schedule: true, message: true, task: true, manual: true, retry: true, catchup: true, heartbeat: true },
  webhook: true,
})

/** States that people look for together. */
export const STATUS_GROUPS = {
  pending: 'waiting,queued,assigned,running,awaiting_callback,stopping',
  well: 'success',
  ill: 'failed,timeout,expired,rejected',
  not: 'cancelled,skipped,dropped',
} as const

/** Reads the address; what makes no sense is left out. */
export function readRunSearch(given: Readonly<Record<string, unknown>>): RunSearch {
  const status = readStatuses(given['status'])
  const trigger = TRIGGERS.find((word) => word === given['trigger'])
  const within = (Object.keys(WITHIN) as Within[]).find((name) => name === given['within'])
  const [from, to] = [readMoment(given['from']), readMoment(given['to'])]
  return {
    ...(status === '' ? {} : { status }),
    ...(trigger === undefined ? {} : { trigger }),
    ...readText('agent_id', given),
    ...readText('schedule_id', given),
    ...readText('session', given),
    ...readText('agent_error_code', given),
    ...(within === undefined
      ? { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
      : { within }),
  }
}

function readStatuses(given: unknown): string {
  const asked = typeof given === 'string' ? given.split(',') : []
  return asked.filter((word) => STATUSES.some((status) => status === word)).join(',')
}

type Text = 'agent_id' | 'schedule_id' | 'session' | 'agent_error_code'

function readText(name: Text, given: Readonly<Record<string, unknown>>): RunSearch {
  const value = given[name]
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return text === '' ? {} : { [name]: text }
}

function readMoment(given: unknown): string | undefined {
  const at = typeof given === 'string' ? Date.parse(given) : NaN
  return Number.isNaN(at) ? undefined : new Date(at).toISOString()
}

/** What the server is asked for. A stretch of time ends now, whenever that is. */
export function filterOf({ within, ...search }: RunSearch, now: number): RunFilter & { readonly status?: string } {
  return within === undefined ? search : { ...search, from: new Date(now - WITHIN[within]).toISOString() }
}
