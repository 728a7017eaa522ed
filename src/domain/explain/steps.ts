import { ADMISSION_GATES, type AdmissionGateName } from '../admission/admission.ts'
import { formatInstant, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS } from '../instant.ts'
import { GATE_NAMES, type Wait } from '../queue/gates.ts'
import { explainWhy, type Reason, type Why } from '../reasons.ts'
import { isTerminal, type RunState } from '../run/run-machine.ts'
import type { Trigger } from '../run/run.ts'
import { OCCURRENCE_POLICIES, type OccurrencePolicy } from '../schedule/occurrences.ts'

/** A check that a run passes through, and its result. */
export interface CheckStep {
  readonly stage: 'plan' | 'admission' | 'policies' | 'gates' | 'execution' | 'delivery' | 'backfill'
  readonly name: string
  readonly state: 'passed' | 'closed' | 'not_reached'
  readonly sentence: string | null
}

/** The policy that decides with a reason. Reasons of accepted occurrences have none. */
const POLICY_OF: Partial<Readonly<Record<Reason, OccurrencePolicy>>> = {
  misfire: 'misfire',
  budget: 'budget',
  runs_per_day: 'runs_per_day',
  overlap: 'overlap',
  overlap_limit: 'overlap',
  failure: 'failure',
  concurrency: 'concurrency',
  queue_full: 'concurrency',
}

/** The policy checks of an occurrence, derived from its decision. `held` is why it was held before, or null. */
export function policySteps(decision: Why, held: Why | null = null): readonly CheckStep[] {
  if (decision.reason === 'held') return afterHold(stepsUntil('policies', OCCURRENCE_POLICIES, HELD_STEPS), decision)
  if (held === null) return stepsBy(decision)
  // `max_fires` is checked before the other policies.
  const isSpent = decision.reason === 'all_fires_made'
  const steps = isSpent
    ? stepsUntil('policies', OCCURRENCE_POLICIES, { ...HELD_STEPS, closed: decision })
    : stepsBy(decision)
  return afterHold(steps, held)
}

/** For a held occurrence, only misfire has been decided. */
const HELD_STEPS = { last: 'misfire', closed: null } as const

const afterHold = (steps: readonly CheckStep[], held: Why): readonly CheckStep[] =>
  steps.map((step) =>
    step.name === 'misfire' && step.sentence === null ? { ...step, sentence: explainWhy(held) } : step,
  )

function stepsBy(decision: Why): readonly CheckStep[] {
  const closed = POLICY_OF[decision.reason]
  // An occurrence that replaces others skips the policies after overlap.
  const last = closed ?? (Number(decision.evidence['superseded'] ?? 0) > 0 ? 'overlap' : null)
  return stepsUntil('policies', OCCURRENCE_POLICIES, {
    last: last === null ? null : last,
    closed: closed === undefined ? null : decision,
  })
}

const ADMISSION_OF: Partial<Readonly<Record<Reason, AdmissionGateName>>> = {
  budget: 'budget',
  runs_per_day: 'daily_runs',
  org_queue_full: 'task_queue',
  agent_queue_full: 'task_queue',
  session_queue_full: 'session',
  stale: 'session',
}

/**
 * The checks before admission; docs/architecture.md lists where they are. A request that fails them is not stored, so
 * every stored run has passed them.
 */
const REQUEST: CheckStep = {
  stage: 'admission',
  name: 'request',
  state: 'passed',
  sentence:
    'Checked where the request arrived: permission, input, idempotency key, and that the node takes new work. A request that fails there is refused and not stored.',
}

/** The request checks and admission gates of a run, derived from its decision. */
export function admissionSteps({ trigger, decision }: Pick<RunProgress, 'trigger' | 'decision'>): readonly CheckStep[] {
  const closed = ADMISSION_OF[decision.reason] ?? null
  const gates = stepsUntil('admission', ADMISSION_GATES, { last: closed, closed: closed === null ? null : decision })
  // The engine creates heartbeats itself, without a request.
  if (trigger === 'heartbeat') return gates
  // A manual retry was admitted before; only the daily limit is checked again.
  return [REQUEST, ...(trigger === 'retry' ? gates.filter(({ name }) => name === 'daily_runs') : gates)]
}

/** The fields of a run that show how far it has come. */
export interface RunProgress {
  readonly state: RunState
  readonly trigger: Trigger
  readonly decision: Why
  readonly why: Why | null
  readonly startedAt: Instant | null
  /** Why it is waiting in the queue; null if it is not waiting, or this node does not know. */
  readonly wait: Wait | null
}

/** The gates between `queued` and `running`: from the queue for a waiting run, otherwise from the stored run. */
export function gateSteps(run: RunProgress): readonly CheckStep[] {
  const { wait, state } = run
  if (wait !== null) return waitingSteps(wait)
  if (run.startedAt !== null || state === 'running' || state === 'awaiting_callback') return allGates('passed')
  if (state === 'waiting' && run.why !== null) return waitingSteps({ ...run.why, gate: 'not_before' })
  if (state === 'waiting') return waitingSteps({ ...run.decision, gate: 'not_before' })
  if (!isTerminal(state)) return allGates('not_reached', 'This node does not know its position in the queue yet.')
  return wasRefused(run)
    ? allGates('not_reached')
    : allGates('not_reached', 'It ended before it started; the gate it waited at is not recorded.')
}

const wasRefused = ({ state }: RunProgress): boolean => state === 'skipped' || state === 'rejected'

function waitingSteps(wait: Wait): readonly CheckStep[] {
  const names = wait.gate === 'worker' ? [...GATE_NAMES.filter((name) => name !== 'lane'), 'worker'] : GATE_NAMES
  const steps = stepsUntil('gates', names, { last: wait.gate, closed: wait.gate === null ? null : wait })
  const lastStep: CheckStep = {
    ...{ stage: 'gates', name: 'turn' },
    ...(wait.gate === null
      ? { state: 'closed', sentence: explainWhy(wait) }
      : { state: 'not_reached', sentence: null }),
  }
  return [...steps, lastStep]
}

const allGates = (state: 'passed' | 'not_reached', sentence: string | null = null): readonly CheckStep[] =>
  [...GATE_NAMES, 'turn'].map((name, index) => ({
    ...{ stage: 'gates', name, state },
    // Only the first step has the sentence.
    sentence: index === 0 ? sentence : null,
  }))

/** Steps before `last` were passed, and steps after it were not reached. `last` is closed if `closed` is set. */
function stepsUntil(
  stage: CheckStep['stage'],
  names: readonly string[],
  { last, closed }: { readonly last: string | null; readonly closed: Why | null },
): readonly CheckStep[] {
  const end = last === null ? names.length : names.indexOf(last)
  return names.map((name, index): CheckStep => {
    if (index < end || (index === end && closed === null)) return { stage, name, state: 'passed', sentence: null }
    if (index === end && closed !== null) return { stage, name, state: 'closed', sentence: explainWhy(closed) }
    return { stage, name, state: 'not_reached', sentence: null }
  })
}

/** An attempt of a run. */
export interface AttemptProgress {
  readonly number: number
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
  readonly status: 'success' | 'failed' | 'timeout' | 'cancelled' | null
  readonly errorCode: string | null
  /** The error message. */
  readonly errorMessage?: string | null
  readonly nodeId: string | null
}

/** The attempts of a run, in order. */
export function executionSteps(attempts: readonly AttemptProgress[]): readonly CheckStep[] {
  if (attempts.length === 0) return [{ stage: 'execution', name: 'attempt 1', state: 'not_reached', sentence: null }]
  return attempts.map((attempt) => ({
    ...{ stage: 'execution', name: `attempt ${attempt.number}` },
    state: attempt.status === null || attempt.status === 'success' ? 'passed' : 'closed',
    sentence: describeAttempt(attempt),
  }))
}

/** The maximum length of an error message in a step. The run has the full message. */
const MAX_ERROR_LENGTH = 500

function describeAttempt(attempt: AttemptProgress): string {
  const { startedAt, finishedAt, status, errorCode, errorMessage = null, nodeId } = attempt
  const where = nodeId === null ? '' : ` on ${nodeId}`
  if (finishedAt === null || status === null) return `Running since ${formatInstant(startedAt)}${where}.`
  const took = `${ENDING_WORDS[status]} after ${durationText(finishedAt - startedAt)}${where}`
  return status === 'success'
    ? `${took}.`
    : `${took}${errorCode === null ? '' : `: ${errorCode}`}${errorText(errorMessage)}.`
}

const ENDING_WORDS = { success: 'Succeeded', failed: 'Failed', timeout: 'Timed out', cancelled: 'Cancelled' } as const

/** `14 ms`, `2.3 s`, `2 min 5 s`, `1 h 20 min` */
function durationText(ms: number): string {
  if (ms < SECOND_MS) return `${ms} ms`
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  return ms < HOUR_MS
    ? `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`
    : `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`
}

const errorText = (message: string | null): string =>
  message === null
    ? ''
    : `, ${message.length > MAX_ERROR_LENGTH ? `${message.slice(0, MAX_ERROR_LENGTH)}…` : message.replace(/\.$/, '')}`
