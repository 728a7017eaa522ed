import { parseDuration } from '../../../src/domain/duration.ts'
import type { ScheduleInput } from '../../../src/features/schedules/schema.ts'
import type { OutageAsked, SimulateInput } from '../../../src/features/simulation/schema.ts'
import type { AssumptionInput, PolicyChange } from '../../../src/features/simulation/result-schema.ts'
import type { OutageKind } from '../../../src/api/outages.ts'

/** What the address of the page says: all of the question, so that a link asks the same. */
export interface SimulateSearch {
  /** Stored schedules, with commas between their ids. */
  readonly ids?: string
  /** Every active one. */
  readonly all?: true
  /** A schedule that is not stored: the fields of the editor, as JSON. */
  readonly draft?: string
  readonly from?: string
  /** How long the window is: `24h`. */
  readonly for?: string
  readonly takes?: string
  /** The share of attempts that fail, in percent. */
  readonly fails?: number
  readonly tokens?: number
  /** `stall:60s@2m`, with commas between them. */
  readonly out?: string
  /** `overlap_action=SKIP`, with commas between them; null is the default. */
  readonly set?: string
  readonly against?: string
  readonly replay?: true
}

const TEXTS = ['ids', 'draft', 'from', 'for', 'takes', 'out', 'set', 'against'] as const
const NUMBERS = ['fails', 'tokens'] as const
const FLAGS = ['all', 'replay'] as const

/** Reads the address; what makes no sense is left out. */
export function readSimulateSearch(given: Readonly<Record<string, unknown>>): SimulateSearch {
  const found: Record<string, unknown> = {}
  for (const name of TEXTS) if (typeof given[name] === 'string' && given[name] !== '') found[name] = given[name]
  // The router parses search values that look like JSON.
  if (typeof given['draft'] === 'object' && given['draft'] !== null) found['draft'] = JSON.stringify(given['draft'])
  for (const name of NUMBERS) if (typeof given[name] === 'number' && given[name] >= 0) found[name] = given[name]
  for (const name of FLAGS) if (given[name] === true) found[name] = true
  return found
}

/** An outage as the form has it: so long, so far into the window. */
export interface OutageForm {
  readonly kind: OutageKind
  readonly lasts: string
  readonly after: string
}

/** The outages of the address. */
export const outagesIn = ({ out = '' }: SimulateSearch): readonly OutageForm[] =>
  out.split(',').flatMap((text) => {
    const [, kind, lasts = '', after = ''] = /^(stall|engine|agent):(\w+)@(\w+)$/.exec(text) ?? []
    return kind === undefined ? [] : [{ kind: kind as OutageKind, lasts, after }]
  })

/** How outages stand in the address; those that say nothing yet are left out. */
export const outagesText = (outages: readonly OutageForm[]): string =>
  outages
    .filter(({ lasts, after }) => parseDuration(lasts, 'ms') !== null && parseDuration(after, 'ms') !== null)
    .map(({ kind, lasts, after }) => `${kind}:${lasts.trim()}@${after.trim()}`)
    .join(',')

/** Policies of a set, by the field they are of. */
export type PolicySet = Readonly<Record<string, string>>

/** The policies of one side of the address. */
export const policiesIn = (text = ''): PolicySet =>
  Object.fromEntries(
    text.split(',').flatMap((one) => {
      const [, name, value = ''] = /^(\w+)=([\w.]+)$/.exec(one) ?? []
      return name === undefined ? [] : [[name, value]]
    }),
  )

/** How policies stand in the address. */
export const policiesText = (set: PolicySet): string =>
  Object.entries(set)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join(',')

const HOURS = '24h'

/** What is asked of the server; null: nothing has been chosen yet. */
export function simulateInputOf(search: SimulateSearch): SimulateInput | null {
  const ids = (search.ids ?? '').split(',').filter((id) => id !== '')
  const draft = draftIn(search)
  if (ids.length === 0 && search.all !== true && draft === null) return null
  const seconds = parseDuration(search.for ?? HOURS, 'seconds') ?? 86_400
  const from = search.from === undefined ? null : Date.parse(search.from)
  const outages = search.replay === true ? [] : outagesFrom(search, from ?? 0)
  return {
    ...(draft === null ? {} : { schedules: [draft] }),
    ...(ids.length === 0 ? {} : { ids }),
    ...(search.all === true ? { all: true } : {}),
    ...(search.from === undefined ? {} : { from: search.from }),
    window_seconds: Math.round(seconds),
    ...assumptionIn(search),
    ...(outages.length === 0 ? {} : { outages }),
    ...(search.set === undefined ? {} : { changes: changesOf(search.set) }),
    ...(search.against === undefined ? {} : { against: changesOf(search.against) }),
    ...(search.replay === true ? { replay: true } : {}),
  }
}

/** The schedule that stands in the address, if it is one. */
export function draftIn({ draft }: SimulateSearch): ScheduleInput | null {
  if (draft === undefined) return null
  try {
    const value = JSON.parse(draft) as unknown
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

const outagesFrom = (search: SimulateSearch, from: number): readonly OutageAsked[] =>
  outagesIn(search).map(({ kind, lasts, after }) => {
    const start = from + (parseDuration(after, 'ms') ?? 0)
    const end = start + (parseDuration(lasts, 'ms') ?? 0)
    return { kind, from: new Date(start).toISOString(), to: new Date(end).toISOString() }
  })

function assumptionIn({ takes, fails, tokens }: SimulateSearch): { readonly assume?: AssumptionInput } {
  const duration = takes === undefined ? null : parseDuration(takes, 'ms')
  const assume: AssumptionInput = {
    ...(duration === null ? {} : { duration_ms: duration }),
    ...(fails === undefined ? {} : { failure_rate: Math.min(1, fails / 100) }),
    ...(tokens === undefined ? {} : { tokens: Math.round(tokens) }),
  }
  return Object.keys(assume).length === 0 ? {} : { assume }
}

function changesOf(text: string): readonly PolicyChange[] {
  const set = Object.entries(policiesIn(text)).map(([name, value]) => [
    name,
    value === 'null' ? null : /^\d+$/.test(value) ? Number(value) : value,
  ])
  return set.length === 0 ? [] : [{ set: Object.fromEntries(set) as ScheduleInput }]
}
