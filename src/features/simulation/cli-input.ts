import { DURATION_WORDS, parseDuration } from '../../domain/duration.ts'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import type { ScheduleInput } from '../schedules/schema.ts'
import type { OutageAsked, SimulateInput } from './schema.ts'
import type { AssumptionInput, PolicyChange } from './result-schema.ts'
import type { OutageKind } from '../../api/outages.ts'
import { formatInstant, later, type Instant } from '../../domain/instant.ts'
import { ERROR_CODES, type ErrorCode } from '../../domain/run/error-codes.ts'
import { readScheduleFile, withDurations } from '../../serve/simulate.ts'
import { timeOrDuration, number, seconds, valuesOf } from '../../cli/remote/fields.ts'
import { UsageError } from '../../cli/remote/call.ts'
import type { Terminal } from '../../cli/terminal.ts'
import { SCHEDULE_FIELDS } from '../schedules/cli-show.ts'

/** The options of `escapement simulate` as commander passes them. */
export interface SimulateOptions {
  readonly file?: string
  readonly schedule?: readonly string[]
  readonly all?: boolean
  readonly agent?: string
  readonly from?: string
  readonly to?: string
  readonly for?: string
  readonly takes?: string
  readonly fails?: string
  readonly tokens?: string
  readonly cost?: string
  readonly assume?: string
  readonly stall?: readonly string[]
  readonly outage?: readonly string[]
  readonly agentOutage?: readonly string[]
  readonly set?: readonly string[]
  readonly against?: readonly string[]
  readonly replay?: boolean
  readonly seed?: string
}

/** The number of rows to request: the maximum. */
const MAX_ROWS_REQUESTED = 10_000

/** Builds the simulation request from the options. */
export async function simulateInputOf(terminal: Terminal, options: SimulateOptions): Promise<SimulateInput> {
  const now = terminal.now()
  const { schedule: ids = [], all = false, replay = false } = options
  const fields = SCHEDULE_FIELDS.filter(({ field }) => !(all && field === 'agent_id'))
  const flags = valuesOf(fields, options, now) as ScheduleInput
  const schedules = await schedulesOf(terminal, options.file, flags)
  if (schedules.length === 0 && ids.length === 0 && !all)
    throw new UsageError(
      'Nothing to simulate. Pass a file (--file), stored schedules (--schedule ID, --all), or schedule fields (--every 5m …)',
    )
  const window = simulationWindow(options, now)
  const outages = outagesOf(options, replay ? null : Date.parse(window.from))
  return {
    ...(schedules.length === 0 ? {} : { schedules }),
    ...(ids.length === 0 ? {} : { ids }),
    ...(all ? { all } : {}),
    ...(all && options.agent !== undefined ? { agent_id: options.agent } : {}),
    ...(replay && options.from === undefined && options.to === undefined ? lengthOf(options) : window),
    ...assumptionOf(options, now),
    ...(outages.length === 0 ? {} : { outages }),
    ...(options.set === undefined ? {} : { changes: [changeOf('--set', options.set)] }),
    ...(options.against === undefined ? {} : { against: [changeOf('--against', options.against)] }),
    ...(replay ? { replay } : {}),
    ...(options.seed === undefined ? {} : { seed: number(options.seed, { option: '--seed', now }) as number }),
    max_rows: MAX_ROWS_REQUESTED,
  }
}

/** The schedules of the file, overridden by options; without a file, the schedule given by options. */
async function schedulesOf(
  terminal: Terminal,
  file: string | undefined,
  flags: ScheduleInput,
): Promise<readonly ScheduleInput[]> {
  if (file === undefined) return Object.keys(flags).length === 0 ? [] : [flags]
  const from = path.resolve(terminal.cwd ?? process.cwd(), file)
  const content = await (file === '-' ? readAll(terminal.stdin) : readFile(from, 'utf8')).catch((error: unknown) => {
    throw new UsageError(`Cannot read --file ${file}: ${error instanceof Error ? error.message : String(error)}`)
  })
  const read = readScheduleFile(content)
  if (!read.ok) throw new UsageError(`--file ${file} ${read.message}`)
  return read.schedules.map((schedule) => ({ ...schedule, ...flags }))
}

const DAY_SECONDS = 86_400

const lengthOf = (options: SimulateOptions): { readonly window_seconds: number } => ({
  window_seconds:
    options.for === undefined ? DAY_SECONDS : (seconds(options.for, { option: '--for', now: 0 as Instant }) as number),
})

type Window = { readonly from: string } & ({ readonly to: string } | { readonly window_seconds: number })

/** The window, with an explicit start, because outage offsets count from it. */
function simulationWindow(options: SimulateOptions, now: Instant): Window {
  const read = (option: '--from' | '--to', text: string): string => timeOrDuration(text, { option, now }) as string
  const from = options.from === undefined ? formatInstant(now) : read('--from', options.from)
  if (options.to === undefined) return { from, ...lengthOf(options) }
  if (options.for !== undefined) throw new UsageError('--for and --to cannot be combined')
  return { from, to: read('--to', options.to) }
}

const OUTAGES = [
  { option: '--stall', name: 'stall', kind: 'stall' },
  { option: '--outage', name: 'outage', kind: 'engine' },
  { option: '--agent-outage', name: 'agentOutage', kind: 'agent' },
] as const satisfies readonly { option: string; name: keyof SimulateOptions; kind: OutageKind }[]

/** `60s@2m` lasts a minute and starts two minutes into the window; `60s@2026-11-16T09:02:00Z` starts at that time. */
function outagesOf(options: SimulateOptions, from: number | null): readonly OutageAsked[] {
  return OUTAGES.flatMap(({ option, name, kind }) =>
    (options[name] ?? []).map((text): OutageAsked => {
      const [, length = '', when = ''] = /^([^@]+)@(.+)$/.exec(text) ?? []
      const lengthMs = parseDuration(length, 'ms')
      const offset = parseDuration(when, 'ms')
      const allowed = 'DURATION@START: 60s@2m, or 60s@2026-11-16T09:02:00Z'
      if (lengthMs === null || lengthMs === 0 || when === '')
        throw new UsageError(`Invalid ${option} "${text}". Allowed: ${allowed}`)
      const start = offset === null ? Date.parse(when) : from === null ? Number.NaN : from + offset
      if (Number.isNaN(start)) throw new UsageError(`Invalid ${option} "${text}". Allowed: ${allowed}`)
      return { kind, from: formatInstant(start as Instant), to: formatInstant(later(start as Instant, lengthMs)) }
    }),
  )
}

function assumptionOf(options: SimulateOptions, now: Instant): Pick<SimulateInput, 'assume'> {
  const { takes, fails, tokens, cost } = options
  const assume: AssumptionInput = {
    ...(takes === undefined ? {} : { duration_ms: durationOf(takes) }),
    ...(fails === undefined ? {} : failureOf(fails)),
    ...(tokens === undefined ? {} : { tokens: number(tokens, { option: '--tokens', now }) as number }),
    ...(cost === undefined ? {} : { cost: number(cost, { option: '--cost', now }) as number }),
  }
  return Object.keys(assume).length === 0 ? {} : { assume }
}

/** A duration, or a range: `12s`, `5s..20s`. */
function durationOf(text: string): NonNullable<AssumptionInput['duration_ms']> {
  const [low = '', high] = text.split('..')
  const [min, max] = [parseDuration(low, 'ms'), high === undefined ? null : parseDuration(high, 'ms')]
  if (min === null || (high !== undefined && max === null))
    throw new UsageError(`Invalid --takes "${text}". Allowed: ${DURATION_WORDS}; or a range: 5s..20s`)
  return max === null ? min : { min, max }
}

/** `500` is the status of every attempt, `0.2` or `20%` the failure rate, `timeout` lets every attempt time out. */
function failureOf(text: string): AssumptionInput {
  if (/^[345]\d\d$/.test(text)) return { failure_rate: 1, error_code: `executor_http_${text.charAt(0)}xx` as ErrorCode }
  if (text === 'timeout') return { timeout_rate: 1 }
  if (Object.hasOwn(ERROR_CODES, text)) return { failure_rate: 1, error_code: text as ErrorCode }
  const [, digits, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? []
  const rate = digits === undefined ? Number.NaN : percent === '%' ? Number(digits) / 100 : Number(digits)
  if (rate >= 0 && rate <= 1) return { failure_rate: rate }
  throw new UsageError(
    `Invalid --fails "${text}". Allowed: a status such as 500, a rate such as 0.2 or 20%, timeout, or an error code`,
  )
}

/** Reads `overlap_action=SKIP`: the value is JSON or a string; an empty value resets the field to its default. */
function changeOf(option: string, given: readonly string[]): PolicyChange {
  const set = given.map((text): readonly [string, unknown] => {
    const [, name = '', value = ''] = /^([\w-]+)=(.*)$/s.exec(text) ?? []
    if (name === '')
      throw new UsageError(`Invalid ${option} "${text}". Allowed: field=value, such as overlap_action=SKIP`)
    return [name.replaceAll('-', '_'), value === '' ? null : valueOf(value)]
  })
  return { set: withDurations(Object.fromEntries(set)) }
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
