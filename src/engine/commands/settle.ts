import type { ReportedQuota } from '../../domain/budget/quota.ts'
import type { AttemptId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { isAbandoned } from '../../domain/run/cancellation.ts'
import { NODE_LOST, settleAttempt, type AttemptOutcome } from '../../domain/run/outcome.ts'
import { decideReport, type ReportDecision, type RuntimeReport } from '../../domain/run/reports.ts'
import { isInFlight } from '../../domain/run/run.ts'
import type { ExecutorKind } from '../../executors/kinds.ts'
import { callbackEndsBy, isExpired } from '../../domain/run/timeouts.ts'
import type { RunRow } from '../../features/runs/store.ts'
import { recordSpending } from './budgets.ts'
import type { OrgState } from '../org-state/org-state.ts'
import { countReport } from './quotas.ts'
import { applyEvent } from './runs.ts'

/** An executor's report about an attempt. */
export interface Report {
  readonly attemptId: AttemptId
  readonly outcome: AttemptOutcome
  readonly output?: unknown
  readonly summary?: unknown
  readonly errorMessage?: string | undefined
  readonly reported?: RuntimeReport | null | undefined
  readonly usage?: unknown
  /** The output before it was cut, for its delivery. */
  readonly fullOutput?: unknown
  /** When the agent asks to be called next; used by heartbeats and by schedules with a cadence. */
  readonly nextCheck?: unknown
  /** What the provider reports as left of its quotas. */
  readonly quota?: ReportedQuota | undefined
}

/** Applies a report if it belongs to the current attempt. */
export function applyReport(orgState: OrgState, run: RunRow, report: Report): ReportDecision {
  const session = run.sessionKey === null ? undefined : orgState.sessions.get(run.sessionKey)
  const decision = decideReport(
    {
      state: run.state,
      attemptId: run.attemptId,
      attemptGeneration: run.generation,
      sessionGeneration: session?.generation ?? run.generation,
    },
    report.attemptId,
  )
  if (decision.kind === 'stale_report') return decision
  run.output = report.output ?? null
  run.summary = report.summary ?? null
  run.usage = report.usage ?? null
  run.errorMessage = report.errorMessage ?? null
  run.reported = report.reported ?? null
  if (run.delivery !== null) orgState.changes.fullOutputs.set(run.id, report.fullOutput)
  if (report.nextCheck !== undefined) orgState.changes.nextChecks.set(run.id, report.nextCheck)
  endAttempt(orgState, run, report.outcome)
  updateContext(orgState, run)
  if (orgState.budgets !== null) recordSpending(orgState, run)
  if (orgState.quotas !== null) countReport(orgState, orgState.quotas, { run, report })
  return decision
}

/** Updates how full the session's context is: relative to the reported context window, else the agent's. */
function updateContext(orgState: OrgState, { sessionKey, agentId, usage }: RunRow): void {
  const session = sessionKey === null ? undefined : orgState.sessions.get(sessionKey)
  if (session === undefined || usage === null) return
  const { inputTokens, outputTokens, contextWindow } = usage as Partial<ContextUsage>
  const window = contextWindow ?? orgState.agents.get(agentId)?.contextWindow
  if (window === undefined || (inputTokens === undefined && outputTokens === undefined)) return
  session.context = { tokens: (inputTokens ?? 0) + (outputTokens ?? 0), contextWindow: window }
  orgState.changes.sessions.add(session)
}

/** The fields of an attempt's usage that tell how full the context is. */
interface ContextUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly contextWindow: number
}

/** Ends an attempt: the run ends or is retried. */
export function endAttempt(orgState: OrgState, run: RunRow, outcome: AttemptOutcome): void {
  const settled = settleAttempt(outcome, run, {
    now: orgState.now,
    policy: run.retryPolicy,
    failureActionRetries: run.failureActionRetries,
    deadline: run.deadline,
    random: orgState.randomSource.random(run),
  })
  run.errorCode = settled.errorCode
  if (settled.event === 'retry' && run.state !== 'stopping') {
    recordAttempt(orgState, run, outcome)
    run.attempt += 1
    run.notBefore = settled.retryAt
  }
  if (outcome.kind === 'accepted' && run.state === 'running')
    run.endsBy = callbackDeadline(orgState, run, outcome.isPolled === true)
  applyEvent(orgState, run, settled)
}

/** The last attempt of a run is stored in the run itself; earlier ones get rows of their own. */
function recordAttempt(orgState: OrgState, run: RunRow, outcome: AttemptOutcome): void {
  if (run.attemptId === null) return
  run.firstStartedAt ??= run.startedAt
  orgState.changes.attempts.push({
    runId: run.id,
    number: run.attempt,
    id: run.attemptId,
    nodeId: run.nodeId,
    startedAt: run.startedAt ?? orgState.now,
    finishedAt: orgState.now,
    status: outcome.kind === 'timed_out' ? 'timeout' : 'failed',
    errorCode: run.errorCode,
    errorMessage: run.errorMessage,
    agentErrorCode: run.reported?.errorCode ?? null,
  })
}

function callbackDeadline(orgState: OrgState, run: RunRow, isPolled: boolean): Instant {
  const executor = (orgState.agents.get(run.agentId)?.executorKind ?? 'in-process') as ExecutorKind
  const { trigger, deadline, timeoutSeconds } = run
  const at = { startedAt: run.startedAt ?? orgState.now, acceptedAt: orgState.now }
  return callbackEndsBy(at, {
    trigger,
    deadline,
    timeoutSeconds,
    executor,
    maxTimeoutSeconds: orgState.maxTimeoutSeconds,
    isPolled,
  })
}

/**
 * Applies everything that is due for a run. `leaseUntil` is the lease of a lost holder; null: the holder is not lost.
 */
export function settleDue(orgState: OrgState, run: RunRow, leaseUntil: Instant | null): void {
  const { now } = orgState
  if (run.state === 'stopping') {
    const stopping = { graceUntil: run.graceUntil ?? now, leaseUntil }
    if (isAbandoned(stopping, now))
      applyEvent(orgState, run, { event: 'stopped', why: run.why ?? because('cancelled', 'stop_grace') })
    return
  }
  if (run.state === 'assigned') {
    settleAssigned(orgState, run, leaseUntil)
    return
  }
  if (isInFlight(run.state)) {
    if (leaseUntil !== null && now >= leaseUntil) endAttempt(orgState, run, NODE_LOST)
    else if (run.endsBy !== null && now >= run.endsBy) {
      const isAwaited = run.state === 'awaiting_callback'
      run.errorMessage = timeoutMessage(orgState, run, run.endsBy)
      endAttempt(orgState, run, { kind: 'timed_out', errorCode: isAwaited ? 'callback_timeout' : 'timeout' })
    }
    return
  }
  if (isExpired(run, now)) {
    expire(orgState, run)
    return
  }
  if (run.state === 'waiting' && run.notBefore !== null && now >= run.notBefore)
    applyEvent(orgState, run, { event: 'due', why: because('accepted', 'not_before') })
}

/** What did not happen in time, and which setting limits the time. */
export function timeoutMessage(
  { maxTimeoutSeconds: max }: Pick<OrgState, 'maxTimeoutSeconds'>,
  { state, startedAt, deadline }: RunRow,
  endsBy: Instant,
): string {
  const what = state === 'awaiting_callback' ? 'no callback arrived' : 'it had not ended'
  if (deadline !== null && endsBy >= deadline) return `${what} by its deadline, ${formatInstant(deadline)}`
  const seconds = Math.round((endsBy - (startedAt ?? endsBy)) / 100) / 10
  if (max !== null && seconds >= max) return `${what} within ${seconds} s, the max_timeout_seconds of the org`
  return `${what} within ${seconds} s; increase timeout_seconds of the agent or the schedule to allow more`
}

/** An assigned run has not started, so nothing was executed and no failure is counted. */
function settleAssigned(orgState: OrgState, run: RunRow, leaseUntil: Instant | null): void {
  const { now } = orgState
  if (isExpired(run, now)) expire(orgState, run)
  else if (leaseUntil !== null && now >= leaseUntil) releaseAssigned(orgState, run, 'lease')
  else if (run.endsBy !== null && now >= run.endsBy) releaseAssigned(orgState, run, 'worker.begin')
}

/** Releases a run that was assigned to a worker and not started. */
export function releaseAssigned(orgState: OrgState, run: RunRow, rule: 'lease' | 'worker.begin' | 'worker.gone'): void {
  applyEvent(orgState, run, { event: 'release', why: because('executor_offline', rule, { agent: run.agentId }) })
}

function expire(orgState: OrgState, run: RunRow): void {
  if (run.deadline === null) return
  run.finishedAt = run.deadline
  applyEvent(orgState, run, {
    event: 'expire',
    why: because('deadline', 'deadline', { deadline: formatInstant(run.deadline) }),
  })
}
