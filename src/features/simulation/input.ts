import type { ScheduleInput } from '../schedules/schema.ts'
import { MAX_WINDOW_SECONDS, type NamedAssumption, type OutageAsked, type SimulateInput } from './schema.ts'
import type { AssumptionInput, Intervention, OutageInput, PolicyChange } from './result-schema.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { DAY_MS, formatInstant, later, validatedInstant, SECOND_MS, type Instant } from '../../domain/instant.ts'

/** A parsed simulation request, with defaults. */
export interface SimulationRequest {
  readonly schedules: readonly ScheduleInput[]
  readonly ids: readonly string[]
  readonly all: boolean
  /** Null: all agents. */
  readonly agentId: string | null
  readonly from: Instant
  readonly to: Instant
  readonly assume: AssumptionInput
  readonly assumeFor: readonly NamedAssumption[]
  readonly observed: boolean
  readonly outages: readonly OutageInput[]
  readonly changes: readonly PolicyChange[]
  /** Null: no comparison. */
  readonly against: readonly PolicyChange[] | null
  readonly interventions: readonly Intervention[]
  readonly budgets: boolean
  readonly replay: boolean
  readonly seed: number
  readonly maxRows: number
}

const DEFAULT_LISTED_ROWS = 2_000
const DEFAULT_SIMULATION_SEED = 1

/** Parses a simulation request and fills in defaults. Schedules are validated and loaded later. */
export function parseSimulate(given: SimulateInput, now: Instant): Parsed<SimulationRequest> {
  const window = parseWindow(given, now)
  if (!window.ok) return window
  return parsed({
    schedules: given.schedules ?? [],
    ids: [...new Set(given.ids ?? [])],
    ...{ all: given.all ?? false, agentId: given.agent_id ?? null, ...window.value },
    assume: given.assume ?? {},
    assumeFor: given.assume_for ?? [],
    observed: given.observed ?? true,
    outages: (given.outages ?? []).map(completeOutage),
    changes: given.changes ?? [],
    against: given.against ?? null,
    interventions: given.interventions ?? [],
    budgets: given.budgets ?? true,
    replay: given.replay ?? false,
    seed: given.seed ?? DEFAULT_SIMULATION_SEED,
    maxRows: given.max_rows ?? DEFAULT_LISTED_ROWS,
  })
}

/** Completes an outage with its end. */
function completeOutage({ from: begins, to: ends, seconds, ...outage }: OutageAsked): OutageInput {
  const from = validatedInstant(begins)
  const to = ends === undefined ? later(from, (seconds ?? 0) * SECOND_MS) : validatedInstant(ends)
  return { ...outage, from: formatInstant(from), to: formatInstant(to) }
}

interface SimulationWindow {
  readonly from: Instant
  readonly to: Instant
}

/** The window: by default it starts now, and a replay ends now. */
function parseWindow(given: SimulateInput, now: Instant): Parsed<SimulationWindow> {
  const { window_seconds: length } = given
  const from = given.from === undefined ? undefined : validatedInstant(given.from)
  const to = given.to === undefined ? undefined : validatedInstant(given.to)
  const lengthMs = length === undefined ? DAY_MS : length * SECOND_MS
  const window =
    given.replay === true && from === undefined
      ? { from: later(to ?? now, -lengthMs), to: to ?? now }
      : { from: from ?? now, to: to ?? later(from ?? now, lengthMs) }
  if (window.to <= window.from)
    return flawed({ field: 'to', value: formatInstant(window.to), message: 'must be after from' })
  if (window.to - window.from > MAX_WINDOW_SECONDS * SECOND_MS)
    return flawed({
      ...{ field: to === undefined ? 'window_seconds' : 'to', value: formatInstant(window.to) },
      ...{ message: 'makes the window too long', allowed: `at most ${MAX_WINDOW_SECONDS / 86_400} days` },
    })
  if (given.replay === true && window.to > now)
    return flawed({
      ...{ field: to === undefined ? 'window_seconds' : 'to', value: formatInstant(window.to) },
      message: 'is in the future; a replay covers only the past',
    })
  return parsed(window)
}
