import type { ScheduleInput } from '../../contract/schedule.ts'
import { MOST_WINDOW_SECONDS, type NamedAssumption, type OutageAsked, type SimulateInput } from './schema.ts'
import type { AssumptionInput, Intervention, OutageInput, PolicyChange } from './result-schema.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { DAY_MS, formatInstant, later, momentIn, SECOND_MS, type Instant } from '../../domain/instant.ts'

/** What is to be simulated, read and completed. */
export interface ReadSimulation {
  readonly schedules: readonly ScheduleInput[]
  readonly ids: readonly string[]
  readonly all: boolean
  /** Null: of every agent. */
  readonly agentId: string | null
  readonly from: Instant
  readonly to: Instant
  readonly assume: AssumptionInput
  readonly assumeFor: readonly NamedAssumption[]
  readonly observed: boolean
  readonly outages: readonly OutageInput[]
  readonly changes: readonly PolicyChange[]
  /** Null: nothing to compare with. */
  readonly against: readonly PolicyChange[] | null
  readonly interventions: readonly Intervention[]
  readonly budgets: boolean
  readonly replay: boolean
  readonly seed: number
  readonly maxRows: number
}

const USUAL_ROWS = 2_000
const USUAL_SEED = 1

/** What is to be simulated, with what is left out. Whether schedules are good, and there, is looked at later. */
export function parseSimulate(given: SimulateInput, now: Instant): Parsed<ReadSimulation> {
  const window = readWindow(given, now)
  if (!window.ok) return window
  return parsed({
    schedules: given.schedules ?? [],
    ids: [...new Set(given.ids ?? [])],
    ...{ all: given.all ?? false, agentId: given.agent_id ?? null, ...window.value },
    assume: given.assume ?? {},
    assumeFor: given.assume_for ?? [],
    observed: given.observed ?? true,
    outages: (given.outages ?? []).map(outageOf),
    changes: given.changes ?? [],
    against: given.against ?? null,
    interventions: given.interventions ?? [],
    budgets: given.budgets ?? true,
    replay: given.replay ?? false,
    seed: given.seed ?? USUAL_SEED,
    maxRows: given.max_rows ?? USUAL_ROWS,
  })
}

/** An outage that says when it is over. */
function outageOf({ from: begins, to: ends, seconds, ...outage }: OutageAsked): OutageInput {
  const from = momentIn(begins)
  const to = ends === undefined ? later(from, (seconds ?? 0) * SECOND_MS) : momentIn(ends)
  return { ...outage, from: formatInstant(from), to: formatInstant(to) }
}

interface Window {
  readonly from: Instant
  readonly to: Instant
}

/** From now on unless said otherwise; history ends now. */
function readWindow(given: SimulateInput, now: Instant): Parsed<Window> {
  const { window_seconds: length } = given
  const from = given.from === undefined ? undefined : momentIn(given.from)
  const to = given.to === undefined ? undefined : momentIn(given.to)
  const lengthMs = length === undefined ? DAY_MS : length * SECOND_MS
  const window =
    given.replay === true && from === undefined
      ? { from: later(to ?? now, -lengthMs), to: to ?? now }
      : { from: from ?? now, to: to ?? later(from ?? now, lengthMs) }
  if (window.to <= window.from)
    return flawed({ field: 'to', value: formatInstant(window.to), message: 'is not after from' })
  if (window.to - window.from > MOST_WINDOW_SECONDS * SECOND_MS)
    return flawed({
      ...{ field: to === undefined ? 'window_seconds' : 'to', value: formatInstant(window.to) },
      ...{ message: 'makes the window too long', allowed: `at most ${MOST_WINDOW_SECONDS / 86_400} days` },
    })
  if (given.replay === true && window.to > now)
    return flawed({
      ...{ field: to === undefined ? 'window_seconds' : 'to', value: formatInstant(window.to) },
      message: 'is still to come; only what was is replayed',
    })
  return parsed(window)
}
