import { ADMISSION_GATES, type AdmissionGateName } from '../admission/admission.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { GATE_NAMES, type Wait } from '../queue/gates.ts'
import { explainWhy, type Reason, type Why } from '../reasons.ts'
import { isTerminal, type RunState } from '../run/run-machine.ts'
import type { Trigger } from '../run/run.ts'
import { OCCURRENCE_POLICIES, type OccurrencePolicy } from '../schedule/occurrences.ts'

/** One question on the way of a run, and how it was answered. */
export interface Step {
  readonly stage: 'plan' | 'admission' | 'policies' | 'gates' | 'execution' | 'delivery' | 'backfill'
  readonly name: string
  readonly state: 'passed' | 'closed' | 'not_reached'
  readonly sentence: string | null
}

/** The policy that a reason is the answer of; none when all have let the occurrence through. */
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

/** The policies that were asked about an occurrence, by what was decided. `held` is why it was held before, if it was. */
export function policySteps(decision: Why, held: Why | null = null): readonly Step[] {
  if (decision.reason === 'held') return afterHold(walk('policies', OCCURRENCE_POLICIES, HELD), decision)
  if (held === null) return stepsBy(decision)
  // Before the other policies, as for every occurrence of a schedule that may make no more runs.
  const isSpent = decision.reason === 'all_fires_made'
  const steps = isSpent ? walk('policies', OCCURRENCE_POLICIES, { ...HELD, closed: decision }) : stepsBy(decision)
  return afterHold(steps, held)
}

/** Of a held occurrence only misfire has been decided. */
const HELD = { last: 'misfire', closed: null } as const

const afterHold = (steps: readonly Step[], held: Why): readonly Step[] =>
  steps.map((step) =>
    step.name === 'misfire' && step.sentence === null ? { ...step, sentence: explainWhy(held) } : step,
  )

function stepsBy(decision: Why): readonly Step[] {
  const closed = POLICY_OF[decision.reason]
  // An occurrence that takes the place of others is asked nothing more.
  const last = closed ?? (Number(decision.evidence['superseded'] ?? 0) > 0 ? 'overlap' : null)
  return walk('policies', OCCURRENCE_POLICIES, {
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
 * The checks before admission; docs/architecture.md names their places. What fails there is not stored, so every run on
 * record has passed them.
 */
const REQUEST: Step = {
  stage: 'admission',
  name: 'request',
  state: 'passed',
  sentence:
    'Checked where the request arrived: permission, input, idempotency key, and that the node takes new work. A request that fails there is refused and not stored.',
}

/** The gates that a submission came to, by what was decided, and what was checked before them. */
export function admissionSteps({ trigger, decision }: Pick<StandingRun, 'trigger' | 'decision'>): readonly Step[] {
  const closed = ADMISSION_OF[decision.reason] ?? null
  const gates = walk('admission', ADMISSION_GATES, { last: closed, closed: closed === null ? null : decision })
  // A heartbeat comes from the engine itself, without a request.
  if (trigger === 'heartbeat') return gates
  // A retry by hand was admitted once; only the limit of the day is asked again.
  return [REQUEST, ...(trigger === 'retry' ? gates.filter(({ name }) => name === 'daily_runs') : gates)]
}

/** What is needed to say how far a run came. */
export interface StandingRun {
  readonly state: RunState
  readonly trigger: Trigger
  readonly decision: Why
  readonly why: Why | null
  readonly startedAt: Instant | null
  /** What the picker says of it now; null when it does not wait, or this node does not know. */
  readonly wait: Wait | null
}

/** The gates between `queued` and `running`: of a run that waits as the picker sees them, else from the record. */
export function gateSteps(run: StandingRun): readonly Step[] {
  const { wait, state } = run
  if (wait !== null) return waitingSteps(wait)
  if (run.startedAt !== null || state === 'running' || state === 'awaiting_callback') return all('passed')
  if (state === 'waiting' && run.why !== null) return waitingSteps({ ...run.why, gate: 'not_before' })
  if (state === 'waiting') return waitingSteps({ ...run.decision, gate: 'not_before' })
  if (!isTerminal(state)) return all('not_reached', 'Its place in the queue is not known to this node at the moment.')
  return wasRefused(run)
    ? all('not_reached')
    : all('not_reached', 'It ended before it began; at which gate it waited is not kept.')
}

const wasRefused = ({ state }: StandingRun): boolean => state === 'skipped' || state === 'rejected'

function waitingSteps(wait: Wait): readonly Step[] {
  const names = wait.gate === 'worker' ? [...GATE_NAMES.filter((name) => name !== 'lane'), 'worker'] : GATE_NAMES
  const steps = walk('gates', names, { last: wait.gate, closed: wait.gate === null ? null : wait })
  const turn: Step = {
    ...{ stage: 'gates', name: 'turn' },
    ...(wait.gate === null
      ? { state: 'closed', sentence: explainWhy(wait) }
      : { state: 'not_reached', sentence: null }),
  }
  return [...steps, turn]
}

const all = (state: 'passed' | 'not_reached', sentence: string | null = null): readonly Step[] =>
  [...GATE_NAMES, 'turn'].map((name, index) => ({
    ...{ stage: 'gates', name, state },
    // Said once, at the first of them.
    sentence: index === 0 ? sentence : null,
  }))

/** Up to the last one everything was passed, and behind it nothing was reached; the last one may be closed. */
function walk(
  stage: Step['stage'],
  names: readonly string[],
  { last, closed }: { readonly last: string | null; readonly closed: Why | null },
): readonly Step[] {
  const end = last === null ? names.length : names.indexOf(last)
  return names.map((name, index): Step => {
    if (index < end || (index === end && closed === null)) return { stage, name, state: 'passed', sentence: null }
    if (index === end && closed !== null) return { stage, name, state: 'closed', sentence: explainWhy(closed) }
    return { stage, name, state: 'not_reached', sentence: null }
  })
}

/** One execution of a run, as far as it has come. */
export interface StandingAttempt {
  readonly number: number
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
  readonly status: 'success' | 'failed' | 'timeout' | 'cancelled' | null
  readonly errorCode: string | null
  /** What was said about it. */
  readonly errorMessage?: string | null
  readonly nodeId: string | null
}

/** The attempts of a run, in order. */
export function executionSteps(attempts: readonly StandingAttempt[]): readonly Step[] {
  if (attempts.length === 0) return [{ stage: 'execution', name: 'attempt 1', state: 'not_reached', sentence: null }]
  return attempts.map((attempt) => ({
    ...{ stage: 'execution', name: `attempt ${attempt.number}` },
    state: attempt.status === null || attempt.status === 'success' ? 'passed' : 'closed',
    sentence: tellAttempt(attempt),
  }))
}

/** Enough of what was said to know what it is about; all of it is in the run. */
const MOST_SAID = 500

function tellAttempt(attempt: StandingAttempt): string {
  const { startedAt, finishedAt, status, errorCode, errorMessage = null, nodeId } = attempt
  const where = nodeId === null ? '' : ` on ${nodeId}`
  if (finishedAt === null || status === null) return `It has been under way since ${formatInstant(startedAt)}${where}.`
  const took = `${((finishedAt - startedAt) / 1_000).toFixed(1)} s${where}`
  return status === 'success'
    ? `It succeeded after ${took}.`
    : `It ended ${status} after ${took}${errorCode === null ? '' : `: ${errorCode}`}${saidText(errorMessage)}.`
}

const saidText = (said: string | null): string =>
  said === null ? '' : `, ${said.length > MOST_SAID ? `${said.slice(0, MOST_SAID)}…` : said.replace(/\.$/, '')}`
