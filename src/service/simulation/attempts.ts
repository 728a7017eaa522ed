import type {
  AssumedDuration,
  AssumedOutcome,
  AssumptionInput,
  OutageInput,
  RecordedAttempt,
} from '../../features/simulation/result-schema.ts'
import { toMicros } from '../../domain/budget/budget.ts'
import { NO_REPLY } from '../../domain/delivery/delivery.ts'
import type { AgentId, ScheduleId } from '../../domain/ids.ts'
import { instant, later, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import type { Outcome } from '../../domain/run/outcome.ts'
import { createDraw, type Draw, type DrawnFor } from './draws.ts'

/** An attempt that begins. `moment` is what its run was planned for, or when somebody asked for it. */
export interface BegunAttempt extends DrawnFor {
  readonly scheduleId: ScheduleId
  readonly agentId: AgentId
  readonly startedAt: Instant
  /** Whether a probe is asked before the agent is started. */
  readonly isProbed: boolean
}

/** How an attempt will go unless it is told to stop. */
export interface AttemptPlan {
  /** Null: it never answers. */
  readonly endsAt: Instant | null
  readonly outcome: Outcome
  readonly usage: AttemptUsage | null
  /** What it finds and asks for, where that decides how soon it comes again. */
  readonly said?: AttemptSaid
  /** How long it goes on when it is told to stop. Null: it does not listen. */
  readonly stopsInMs: number | null
}

/** What an attempt says, as executors report it. */
export interface AttemptSaid {
  readonly output: string
  readonly nextCheck?: number
}

/** What an attempt uses, as executors report it. */
export interface AttemptUsage {
  readonly inputTokens?: number
  readonly costMicros?: number
}

/** Says how attempts go. The same question has the same answer, except under a list of outcomes, which goes on. */
export type PlanAttempt = (begun: BegunAttempt) => AttemptPlan

/** An attempt takes this long unless something else is assumed. */
const USUAL_DURATION_MS = 1_000

interface Assumed {
  readonly draw: Draw
  readonly assumption: AssumptionInput
  readonly recorded: ReadonlyMap<string, RecordedAttempt>
  readonly isPaced: boolean
  readonly started: number
  begun: number
}

/** Who takes part, and what is assumed of whom. */
export interface AssumedOf {
  readonly seed: number
  readonly assume: AssumptionInput
  readonly schedules: readonly {
    readonly id: ScheduleId
    readonly assume: AssumptionInput | undefined
    readonly recorded: readonly RecordedAttempt[] | undefined
    /** Whether what its attempts say matters. */
    readonly isPaced: boolean
    /** The share of its runs that its probe starts. */
    readonly started: number
  }[]
  readonly outages: readonly AgentOutage[]
}

/** An agent is out, from and to as moments. */
export interface AgentOutage {
  readonly from: Instant
  readonly to: Instant
  /** Null: all of them. */
  readonly agentId: AgentId | null
  readonly effect: NonNullable<OutageInput['effect']>
}

/** What the assumptions make of attempts. */
export function createAttempts(of: AssumedOf): PlanAttempt {
  const known = new Map<ScheduleId, Assumed>()
  for (const { id, assume, recorded, isPaced, started } of of.schedules)
    known.set(id, {
      draw: createDraw(of.seed, id),
      assumption: { ...of.assume, ...assume },
      recorded: new Map((recorded ?? []).map((one) => [nameOf(Date.parse(one.nominal), one.attempt), one])),
      ...{ isPaced, started },
      begun: 0,
    })
  const breaking = of.outages.filter(({ effect }) => effect !== 'offline')
  return (begun) => {
    const assumed = known.get(begun.scheduleId)
    if (assumed === undefined) throw new Error(`schedule ${begun.scheduleId} does not take part`)
    const plan = planOf(assumed, begun)
    // A run whose probe says no does not reach its agent, whatever state that is in.
    if (plan.outcome.kind === 'not_needed') return plan
    return breaking.length === 0 ? plan : withOutages(plan, begun, breaking)
  }
}

const nameOf = (moment: number, attempt: number): string => `${moment} ${attempt}`

function planOf(assumed: Assumed, begun: BegunAttempt): AttemptPlan {
  const { assumption, recorded, draw } = assumed
  const found = recorded.size === 0 ? undefined : recorded.get(nameOf(begun.moment, begun.attempt))
  if (begun.isProbed && saysNo(assumed, begun, found)) return notNeeded(assumed, begun, found)
  const record = found?.probe === 'no' ? undefined : found
  const outcome = record?.outcome ?? drawOutcome(assumed, begun)
  const takesMs = record?.duration_ms ?? drawDuration(assumption.duration_ms ?? USUAL_DURATION_MS, draw(begun, 0))
  return {
    endsAt: outcome === 'timeout' ? null : later(begun.startedAt, takesMs),
    outcome: outcomeOf(outcome, record?.error_code ?? assumption.error_code ?? 'agent_error'),
    usage: usageOf(record?.tokens ?? assumption.tokens, record?.cost ?? assumption.cost),
    stopsInMs: assumption.stops_in_ms === undefined ? 0 : assumption.stops_in_ms,
    ...(assumed.isPaced ? { said: saidBy(assumed, begun) } : {}),
  }
}

/**
 * Whether the probe of a run says no: as on record, else at its recorded rate. The draw is for the run and not for the
 * attempt, because a run that was started once is started again without a question.
 */
function saysNo({ started, draw }: Assumed, { moment }: BegunAttempt, record: RecordedAttempt | undefined): boolean {
  if (record !== undefined) return record.probe === 'no'
  return started < 1 && draw({ moment, attempt: 0 }, 3) >= started
}

/** Ends at once, as a success that uses nothing. */
function notNeeded({ started }: Assumed, { startedAt }: BegunAttempt, record?: RecordedAttempt): AttemptPlan {
  const share = Math.round((1 - started) * 100)
  const seen = record === undefined ? `it has said no to ${share} % of the runs so far` : 'it said no at that time'
  return {
    endsAt: later(startedAt, record?.duration_ms ?? 0),
    outcome: { kind: 'not_needed', why: because('probe_no', 'probe', { asked: 'the probe', seen, answer: 'no' }) },
    ...{ usage: null, stopsInMs: 0 },
  }
}

/** Something that nobody has said before, or that there is nothing to say. */
function saidBy({ assumption, draw }: Assumed, begun: BegunAttempt): AttemptSaid {
  const { quiet_rate: quiet = 0, next_check_seconds: nextCheck } = assumption
  const output = quiet > 0 && draw(begun, 2) < quiet ? NO_REPLY : `${begun.moment} ${begun.attempt}`
  return nextCheck === undefined ? { output } : { output, nextCheck }
}

function drawOutcome(assumed: Assumed, begun: BegunAttempt): AssumedOutcome {
  const { outcomes, failure_rate: fails = 0, timeout_rate: hangs = 0 } = assumed.assumption
  if (outcomes !== undefined && outcomes.length > 0) {
    const outcome = outcomes[assumed.begun % outcomes.length] ?? 'success'
    assumed.begun += 1
    return outcome
  }
  if (fails === 0 && hangs === 0) return 'success'
  const drawn = assumed.draw(begun, 1)
  if (drawn < hangs) return 'timeout'
  return drawn < hangs + fails ? 'failed' : 'success'
}

function drawDuration(duration: AssumedDuration, drawn: number): number {
  if (typeof duration === 'number') return duration
  if ('min' in duration) return duration.min + Math.floor(drawn * (duration.max - duration.min + 1))
  return duration[Math.floor(drawn * duration.length)] ?? USUAL_DURATION_MS
}

const outcomeOf = (outcome: AssumedOutcome, errorCode: ErrorCode): Outcome =>
  outcome === 'success' ? { kind: 'succeeded' } : { kind: 'failed', errorCode, retryable: null, retryAfterMs: null }

const usageOf = (tokens: number | undefined, cost: number | undefined): AttemptUsage | null =>
  tokens === undefined && cost === undefined
    ? null
    : {
        ...(tokens === undefined ? {} : { inputTokens: tokens }),
        ...(cost === undefined ? {} : { costMicros: toMicros(cost) }),
      }

/** What begins while its agent is out fails at once; what is under way when the agent goes fails at that moment. */
function withOutages(plan: AttemptPlan, begun: BegunAttempt, outages: readonly AgentOutage[]): AttemptPlan {
  let hit: { readonly at: Instant; readonly effect: AgentOutage['effect'] } | null = null
  for (const { from, to, agentId, effect } of outages) {
    if (agentId !== null && agentId !== begun.agentId) continue
    const at = instant(Math.max(from, begun.startedAt))
    if (at >= to || (plan.endsAt !== null && at >= plan.endsAt && at > begun.startedAt)) continue
    if (hit === null || at < hit.at) hit = { at, effect }
  }
  if (hit === null) return plan
  const errorCode = hit.effect === 'network' ? 'network' : 'executor_http_5xx'
  return { ...plan, endsAt: hit.at, usage: null, outcome: outcomeOf('failed', errorCode) }
}
