import type { AttemptId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because } from '../../domain/reasons.ts'
import { isAbandoned } from '../../domain/run/cancellation.ts'
import { NODE_LOST, settle, type Outcome } from '../../domain/run/outcome.ts'
import type { Reported } from '../../core/run/reported.ts'
import { decideReport, type ReportDecision } from '../../domain/run/reports.ts'
import { isInFlight } from '../../domain/run/run.ts'
import type { ExecutorKind } from '../../executors/kinds.ts'
import { callbackEndsBy, isExpired } from '../../domain/run/timeouts.ts'
import type { RunRow } from '../../store/run-row.ts'
import { spend } from './budgets.ts'
import type { Desk } from './desk.ts'
import { countReport } from './quotas.ts'
import { move } from './runs.ts'

/** What an executor said about an attempt. */
export interface Report {
  readonly attemptId: AttemptId
  readonly outcome: Outcome
  readonly output?: unknown
  readonly summary?: unknown
  readonly errorMessage?: string | undefined
  readonly reported?: Reported | null | undefined
  readonly usage?: unknown
  /** The output before it was cut, for whoever gets it delivered. */
  readonly uncut?: unknown
  /** When the agent wants to be asked again: heartbeats obey it, and schedules with a cadence. */
  readonly nextCheck?: unknown
}

/** Takes a report in, if it speaks for the attempt that is current. */
export function takeReport(desk: Desk, run: RunRow, report: Report): ReportDecision {
  const session = run.sessionKey === null ? undefined : desk.sessions.get(run.sessionKey)
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
  if (run.delivery !== null) desk.changes.said.set(run.id, report.uncut)
  if (report.nextCheck !== undefined) desk.changes.nextChecks.set(run.id, report.nextCheck)
  endAttempt(desk, run, report.outcome)
  noteContext(desk, run)
  if (desk.budgets !== null) spend(desk, run)
  if (desk.quotas !== null) countReport(desk, desk.quotas, { run, outcome: report.outcome })
  return decision
}

/** How full the conversation has become: of the window that was reported with it, else of the agent's. */
function noteContext(desk: Desk, { sessionKey, agentId, usage }: RunRow): void {
  const session = sessionKey === null ? undefined : desk.sessions.get(sessionKey)
  if (session === undefined || usage === null) return
  const { inputTokens, outputTokens, contextWindow } = usage as Partial<Usage>
  const window = contextWindow ?? desk.agents.get(agentId)?.contextWindow
  if (window === undefined || (inputTokens === undefined && outputTokens === undefined)) return
  session.context = { tokens: (inputTokens ?? 0) + (outputTokens ?? 0), contextWindow: window }
  desk.changes.sessions.add(session)
}

/** What of the usage of an attempt says how full a conversation is. */
interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly contextWindow: number
}

/** An attempt is over: the run ends, or tries again. */
export function endAttempt(desk: Desk, run: RunRow, outcome: Outcome): void {
  const settled = settle(outcome, run, {
    now: desk.now,
    policy: run.retryPolicy,
    failureActionRetries: run.failureActionRetries,
    deadline: run.deadline,
    random: desk.chance.random(run),
  })
  run.errorCode = settled.errorCode
  if (settled.event === 'retry' && run.state !== 'stopping') {
    keepAttempt(desk, run, outcome)
    run.attempt += 1
    run.notBefore = settled.retryAt
  }
  if (settled.event === 'accept' && run.state === 'running') run.endsBy = callbackEnd(desk, run)
  move(desk, run, settled)
}

/** The last attempt of a run is kept in the run itself; this one will not be the last. */
function keepAttempt(desk: Desk, run: RunRow, outcome: Outcome): void {
  if (run.attemptId === null) return
  run.firstStartedAt ??= run.startedAt
  desk.changes.attempts.push({
    runId: run.id,
    number: run.attempt,
    id: run.attemptId,
    nodeId: run.nodeId,
    startedAt: run.startedAt ?? desk.now,
    finishedAt: desk.now,
    status: outcome.kind === 'timed_out' ? 'timeout' : 'failed',
    errorCode: run.errorCode,
    errorMessage: run.errorMessage,
    agentErrorCode: run.reported?.errorCode ?? null,
  })
}

function callbackEnd(desk: Desk, run: RunRow): Instant {
  const executor = (desk.agents.get(run.agentId)?.executorKind ?? 'in-process') as ExecutorKind
  const { trigger, deadline, timeoutSeconds } = run
  const at = { startedAt: run.startedAt ?? desk.now, acceptedAt: desk.now }
  return callbackEndsBy(at, { trigger, deadline, timeoutSeconds, executor, maxTimeoutSeconds: desk.maxTimeoutSeconds })
}

/** Everything that has become due for a run by itself. `leaseUntil` is its holder's; null when nobody holds it. */
export function passTime(desk: Desk, run: RunRow, leaseUntil: Instant | null): void {
  const { now } = desk
  if (run.state === 'stopping') {
    const stopping = { graceUntil: run.graceUntil ?? now, leaseUntil }
    if (isAbandoned(stopping, now))
      move(desk, run, { event: 'stopped', why: run.why ?? because('cancelled', 'stop_grace') })
    return
  }
  if (run.state === 'assigned') {
    passAssigned(desk, run, leaseUntil)
    return
  }
  if (isInFlight(run.state)) {
    if (leaseUntil !== null && now >= leaseUntil) endAttempt(desk, run, NODE_LOST)
    else if (run.endsBy !== null && now >= run.endsBy) {
      const isAwaited = run.state === 'awaiting_callback'
      run.errorMessage = tellTimeout(desk, run, run.endsBy)
      endAttempt(desk, run, { kind: 'timed_out', errorCode: isAwaited ? 'callback_timeout' : 'timeout' })
    }
    return
  }
  if (isExpired(run, now)) {
    expire(desk, run)
    return
  }
  if (run.state === 'waiting' && run.notBefore !== null && now >= run.notBefore)
    move(desk, run, { event: 'due', why: because('accepted', 'not_before') })
}

/** What was not there in time, and who decides how long that is. */
export function tellTimeout(
  { maxTimeoutSeconds: max }: Pick<Desk, 'maxTimeoutSeconds'>,
  { state, startedAt, deadline }: RunRow,
  endsBy: Instant,
): string {
  const what = state === 'awaiting_callback' ? 'no callback came' : 'it was not over'
  if (deadline !== null && endsBy >= deadline) return `${what} by its deadline, ${formatInstant(deadline)}`
  const seconds = Math.round((endsBy - (startedAt ?? endsBy)) / 100) / 10
  if (max !== null && seconds >= max) return `${what} within ${seconds} s, which is max_timeout_seconds of the org`
  return `${what} within ${seconds} s; timeout_seconds of the agent or the schedule can give it longer`
}

/** A worker has taken the run and has not begun: nothing was executed, so there is nothing to count as failed. */
function passAssigned(desk: Desk, run: RunRow, leaseUntil: Instant | null): void {
  const { now } = desk
  if (isExpired(run, now)) expire(desk, run)
  else if (leaseUntil !== null && now >= leaseUntil) release(desk, run, 'lease')
  else if (run.endsBy !== null && now >= run.endsBy) release(desk, run, 'worker.begin')
}

/** Gives a run back that a worker has taken and not begun. */
export function release(desk: Desk, run: RunRow, rule: 'lease' | 'worker.begin' | 'worker.gone'): void {
  move(desk, run, { event: 'release', why: because('executor_offline', rule, { agent: run.agentId }) })
}

function expire(desk: Desk, run: RunRow): void {
  if (run.deadline === null) return
  run.finishedAt = run.deadline
  move(desk, run, {
    event: 'expire',
    why: because('deadline', 'deadline', { deadline: formatInstant(run.deadline) }),
  })
}
