import type { AssumedDuration, AssumedOutcome, AssumptionInput, OutageInput, RecordedAttempt } from './result-schema.ts'
import { toMicros } from '../../domain/budget/budget.ts'
import { NO_REPLY } from '../../domain/delivery/delivery.ts'
import type { AgentId, ScheduleId } from '../../domain/ids.ts'
import { instant, later, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import type { AttemptOutcome } from '../../domain/run/outcome.ts'
import { createDraw, type RandomDraw, type DrawKey } from './draws.ts'

/** An attempt that starts. Its time is the nominal time of its run, or the time a manual run was requested. */
export interface StartedAttempt extends DrawKey {
  readonly scheduleId: ScheduleId
  readonly agentId: AgentId
  readonly startedAt: Instant
  /** Whether a probe runs before the agent. */
  readonly isProbed: boolean
}

/** The planned outcome of an attempt, unless it is stopped. */
export interface AttemptPlan {
  /** Null: it never ends by itself. */
  readonly endsAt: Instant | null
  readonly outcome: AttemptOutcome
  readonly usage: AttemptUsage | null
  /** Its output and requested next check, which affect the interval of a schedule with a cadence. */
  readonly said?: SimulatedReport
  /** How long it continues after a stop request. Null: it ignores the request. */
  readonly stopsInMs: number | null
}

/** The result of an attempt, as executors report it. */
export interface SimulatedReport {
  readonly output: string
  readonly nextCheck?: number
}

/** The usage of an attempt, as executors report it. */
export interface AttemptUsage {
  readonly inputTokens?: number
  readonly costMicros?: number
}

/** Plans an attempt. Deterministic for an attempt, except with a list of outcomes, which advances on each call. */
export type PlanAttempt = (attempt: StartedAttempt) => AttemptPlan

/** Default duration of an attempt. */
const DEFAULT_ATTEMPT_DURATION_MS = 1_000

interface AssumedSchedule {
  readonly draw: RandomDraw
  readonly assumption: AssumptionInput
  readonly recorded: ReadonlyMap<string, RecordedAttempt>
  readonly isPaced: boolean
  readonly started: number
  startedCount: number
}

/** The simulated schedules, with the assumptions about each. */
export interface AttemptAssumptions {
  readonly seed: number
  readonly assume: AssumptionInput
  readonly schedules: readonly {
    readonly id: ScheduleId
    readonly assume: AssumptionInput | undefined
    readonly recorded: readonly RecordedAttempt[] | undefined
    /** Whether it has a cadence, so that the results of its attempts matter. */
    readonly isPaced: boolean
    /** The share of its runs that its probe starts. */
    readonly started: number
  }[]
  readonly outages: readonly AgentOutage[]
}

/** An outage of an agent, with parsed times. */
export interface AgentOutage {
  readonly from: Instant
  readonly to: Instant
  /** Null: all agents. */
  readonly agentId: AgentId | null
  readonly effect: NonNullable<OutageInput['effect']>
}

/** Creates the function that plans attempts from the assumptions. */
export function createAttemptPlanner(options: AttemptAssumptions): PlanAttempt {
  const assumptions = new Map<ScheduleId, AssumedSchedule>()
  for (const { id, assume, recorded, isPaced, started } of options.schedules)
    assumptions.set(id, {
      draw: createDraw(options.seed, id),
      assumption: { ...options.assume, ...assume },
      recorded: new Map((recorded ?? []).map((one) => [attemptKey(Date.parse(one.nominal), one.attempt), one])),
      ...{ isPaced, started },
      startedCount: 0,
    })
  const failingOutages = options.outages.filter(({ effect }) => effect !== 'offline')
  return (attempt) => {
    const assumed = assumptions.get(attempt.scheduleId)
    if (assumed === undefined) throw new Error(`Schedule ${attempt.scheduleId} is not part of the simulation`)
    const plan = planFromAssumptions(assumed, attempt)
    // A run whose probe says no does not call its agent, so an outage does not affect it.
    if (plan.outcome.kind === 'not_needed') return plan
    return failingOutages.length === 0 ? plan : withOutages(plan, attempt, failingOutages)
  }
}

const attemptKey = (time: number, attempt: number): string => `${time} ${attempt}`

function planFromAssumptions(assumed: AssumedSchedule, attempt: StartedAttempt): AttemptPlan {
  const { assumption, recorded, draw } = assumed
  const found = recorded.size === 0 ? undefined : recorded.get(attemptKey(attempt.time, attempt.attempt))
  if (attempt.isProbed && probeSaysNo(assumed, attempt, found)) return notNeededPlan(assumed, attempt, found)
  const record = found?.probe === 'no' ? undefined : found
  const outcome = record?.outcome ?? drawOutcome(assumed, attempt)
  const takesMs =
    record?.duration_ms ?? drawDuration(assumption.duration_ms ?? DEFAULT_ATTEMPT_DURATION_MS, draw(attempt, 0))
  return {
    endsAt: outcome === 'timeout' ? null : later(attempt.startedAt, takesMs),
    outcome: simulatedOutcome(outcome, record?.error_code ?? assumption.error_code ?? 'agent_error'),
    usage: simulatedUsage(record?.tokens ?? assumption.tokens, record?.cost ?? assumption.cost),
    stopsInMs: assumption.stops_in_ms === undefined ? 0 : assumption.stops_in_ms,
    ...(assumed.isPaced ? { said: simulatedReport(assumed, attempt) } : {}),
  }
}

/**
 * Whether the probe of a run says no: as recorded, else at the recorded rate. The draw is per run and not per attempt,
 * because a retry does not run the probe again.
 */
function probeSaysNo(
  { started, draw }: AssumedSchedule,
  { time }: StartedAttempt,
  record: RecordedAttempt | undefined,
): boolean {
  if (record !== undefined) return record.probe === 'no'
  return started < 1 && draw({ time, attempt: 0 }, 3) >= started
}

/** A successful outcome without usage that ends at once. */
function notNeededPlan(
  { started }: AssumedSchedule,
  { startedAt }: StartedAttempt,
  record?: RecordedAttempt,
): AttemptPlan {
  const share = Math.round((1 - started) * 100)
  const seen = record === undefined ? `it said no to ${share}% of past runs` : 'it said no at that time'
  return {
    endsAt: later(startedAt, record?.duration_ms ?? 0),
    outcome: { kind: 'not_needed', why: because('probe_no', 'probe', { asked: 'the probe', seen, answer: 'no' }) },
    ...{ usage: null, stopsInMs: 0 },
  }
}

/** An output that is different for every attempt, or `NO_REPLY` for a quiet run. */
function simulatedReport({ assumption, draw }: AssumedSchedule, attempt: StartedAttempt): SimulatedReport {
  const { quiet_rate: quiet = 0, next_check_seconds: nextCheck } = assumption
  const output = quiet > 0 && draw(attempt, 2) < quiet ? NO_REPLY : `${attempt.time} ${attempt.attempt}`
  return nextCheck === undefined ? { output } : { output, nextCheck }
}

function drawOutcome(assumed: AssumedSchedule, attempt: StartedAttempt): AssumedOutcome {
  const { outcomes, failure_rate: failureRate = 0, timeout_rate: timeoutRate = 0 } = assumed.assumption
  if (outcomes !== undefined && outcomes.length > 0) {
    const outcome = outcomes[assumed.startedCount % outcomes.length] ?? 'success'
    assumed.startedCount += 1
    return outcome
  }
  if (failureRate === 0 && timeoutRate === 0) return 'success'
  const drawn = assumed.draw(attempt, 1)
  if (drawn < timeoutRate) return 'timeout'
  return drawn < timeoutRate + failureRate ? 'failed' : 'success'
}

function drawDuration(duration: AssumedDuration, drawn: number): number {
  if (typeof duration === 'number') return duration
  if ('min' in duration) return duration.min + Math.floor(drawn * (duration.max - duration.min + 1))
  return duration[Math.floor(drawn * duration.length)] ?? DEFAULT_ATTEMPT_DURATION_MS
}

const simulatedOutcome = (outcome: AssumedOutcome, errorCode: ErrorCode): AttemptOutcome =>
  outcome === 'success' ? { kind: 'succeeded' } : { kind: 'failed', errorCode, retryable: null, retryAfterMs: null }

const simulatedUsage = (tokens: number | undefined, cost: number | undefined): AttemptUsage | null =>
  tokens === undefined && cost === undefined
    ? null
    : {
        ...(tokens === undefined ? {} : { inputTokens: tokens }),
        ...(cost === undefined ? {} : { costMicros: toMicros(cost) }),
      }

/** An attempt that starts during an outage of its agent fails at once; a running one fails when the outage starts. */
function withOutages(plan: AttemptPlan, attempt: StartedAttempt, outages: readonly AgentOutage[]): AttemptPlan {
  let hit: { readonly at: Instant; readonly effect: AgentOutage['effect'] } | null = null
  for (const { from, to, agentId, effect } of outages) {
    if (agentId !== null && agentId !== attempt.agentId) continue
    const at = instant(Math.max(from, attempt.startedAt))
    if (at >= to || (plan.endsAt !== null && at >= plan.endsAt && at > attempt.startedAt)) continue
    if (hit === null || at < hit.at) hit = { at, effect }
  }
  if (hit === null) return plan
  const errorCode = hit.effect === 'network' ? 'network' : 'executor_http_5xx'
  return { ...plan, endsAt: hit.at, usage: null, outcome: simulatedOutcome('failed', errorCode) }
}
