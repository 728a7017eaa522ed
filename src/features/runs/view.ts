import type { DeliveryView } from '../deliveries/schema.ts'
import type { ProbeAnswerView } from '../probes/schema.ts'
import type { AttemptView, RunDetail, RunView, TimelineEntry, UsageView } from './schema.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { traceIdOf } from '../../domain/trace-context.ts'
import { durationOf, firstStart } from '../../domain/run/run.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import { shownSessionOf } from '../../core/session/run-session.ts'
import type { AttemptRow } from '../../store/attempts.ts'
import type { RunRecord } from '../../store/run-record.ts'
import { momentOrNull, omittedPayload } from '../../service/schedule-view.ts'

/** A run as every surface shows it. */
export function viewRun(run: RunRecord): RunView {
  const { finishedAt, reported } = run
  const session = shownSessionOf(run)
  // A run with a session of its own shows the one that its runtime used instead.
  const ofRuntime = run.sessionKey === null ? (reported?.sessionId ?? null) : null
  return {
    id: run.id,
    job_run_id: run.jobRunId,
    org_id: run.orgId,
    schedule_id: run.scheduleId,
    agent_id: run.agentId,
    session_id: ofRuntime ?? session,
    session_key: session,
    conversation: run.isReportedSession ? (reported?.sessionId ?? session) : session,
    message_id: run.firstMessageId ?? messageIdOf(run.payload) ?? reported?.messageId ?? null,
    trigger: run.trigger,
    status: run.state,
    reason: (run.why ?? run.decision).reason,
    lane: run.lane,
    priority: run.priority,
    nominal_time: momentOrNull(run.nominal),
    not_before: momentOrNull(run.notBefore),
    deadline: momentOrNull(run.deadline),
    created_at: formatInstant(run.createdAt),
    started_at: momentOrNull(firstStart(run)),
    finished_at: momentOrNull(finishedAt),
    duration_ms: durationOf(run),
    first_attempt: run.firstAttempt,
    attempt: run.attempt,
    error_code: run.errorCode,
    error_message: run.errorMessage,
    agent_error_code: reported?.errorCode ?? null,
    agent_session_id: reported?.sessionId ?? null,
    agent_message_id: reported?.messageId ?? null,
    result_summary: run.summary,
    output: run.output,
    usage: viewUsage(run.usage),
    payload: run.payload,
    ...omittedPayload(run.payloadBytes),
    superseded: run.superseded,
    retry_of: run.retryOf,
    parent_run_id: run.parentRunId,
    owner: run.owner,
    decision: run.decision,
    held_decision: run.heldDecision,
  }
}

/** The first of the messages that a run carries. */
function messageIdOf(payload: unknown): string | null {
  const ids: unknown = isObject(payload) ? payload['messageIds'] : undefined
  const first: unknown = Array.isArray(ids) ? ids[0] : undefined
  return typeof first === 'string' ? first : null
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Usage in the names of the wire; money in whole units, not in millionths. */
export function viewUsage(usage: unknown): UsageView | null {
  if (!isObject(usage)) return null
  const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
  const micros = number(usage['costMicros'])
  const found = {
    input_tokens: number(usage['inputTokens']),
    output_tokens: number(usage['outputTokens']),
    context_window: number(usage['contextWindow']),
    cost: micros === undefined ? undefined : micros / 1_000_000,
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/** What is on record apart from the run itself: attempts that others followed, and where its result was carried. */
export interface KnownOfRun {
  readonly attempts: readonly AttemptRow[]
  readonly deliveries: readonly DeliveryView[]
  /** Left out: nobody was asked first. */
  readonly probe?: ProbeAnswerView | null
}

/** A run with its attempts, its way so far and why it is where it is. `why` is what was worked out just now, if anything. */
export function viewRunDetail(run: RunRecord, known: KnownOfRun, why: Why | null = null): RunDetail {
  const { attempts: earlier, deliveries } = known
  const attempts = [...earlier.map(viewAttempt), ...lastAttempt(run)]
  const timeline = timelineOf(run, earlier)
  const trace_id = run.trace === null ? null : traceIdOf(run.trace)
  return {
    ...viewRun(run),
    attempts,
    deliveries,
    timeline,
    why: why ?? run.why ?? run.decision,
    probe: known.probe ?? null,
    trace_id,
  }
}

const viewAttempt = (attempt: AttemptRow): AttemptView => ({
  id: attempt.id,
  number: attempt.number,
  node_id: attempt.nodeId,
  started_at: formatInstant(attempt.startedAt),
  finished_at: formatInstant(attempt.finishedAt),
  status: attempt.status,
  error_code: attempt.errorCode,
  error_message: attempt.errorMessage,
  agent_error_code: attempt.agentErrorCode ?? null,
})

/** The attempt that is in the run itself: the present one, or the last. */
function lastAttempt(run: RunRecord): readonly AttemptView[] {
  if (run.attemptId === null || run.startedAt === null) return []
  return [
    {
      id: run.attemptId,
      number: run.attempt,
      node_id: run.nodeId,
      started_at: formatInstant(run.startedAt),
      finished_at: momentOrNull(run.finishedAt),
      status: attemptStatus(run.state),
      error_code: run.errorCode,
      error_message: run.errorMessage,
      agent_error_code: run.reported?.errorCode ?? null,
    },
  ]
}

const attemptStatus = (state: RunState): AttemptView['status'] =>
  state === 'success' || state === 'failed' || state === 'timeout' || state === 'cancelled' ? state : null

/** The steps that are on record with their moments; for a pending run the last one is where it is now. */
function timelineOf(run: RunRecord, earlier: readonly AttemptRow[]): readonly TimelineEntry[] {
  const steps: TimelineEntry[] = []
  const step = (at: number, status: RunState, more: Partial<TimelineEntry> = {}): void => {
    steps.push({ at: new Date(at).toISOString(), status, reason: null, attempt: null, ...more })
  }
  const endedAtOnce = isTerminal(run.state) && run.finishedAt === run.createdAt && run.startedAt === null
  const { decision, heldDecision } = run
  const entered = heldDecision ?? decision
  const wasHeld = entered.reason === 'held'
  if (!endedAtOnce) step(run.createdAt, wasHeld ? 'waiting' : firstState(run, earlier), { reason: entered.reason })
  const { released } = decision.evidence
  if (heldDecision !== null && run.state !== 'skipped' && typeof released === 'string')
    step(Date.parse(released), 'queued', { reason: decision.reason })
  for (const { startedAt, finishedAt, number } of earlier) {
    step(startedAt, 'running', { attempt: number })
    step(finishedAt, 'waiting', { attempt: number, reason: 'retry_scheduled' })
  }
  if (run.attemptId !== null && run.startedAt !== null) step(run.startedAt, 'running', { attempt: run.attempt })
  const reason = (run.why ?? run.decision).reason
  if (run.finishedAt !== null)
    step(run.finishedAt, run.state, { reason, attempt: run.attemptId === null ? null : run.attempt })
  else if (run.state === 'stopping' || run.state === 'awaiting_callback')
    step(run.startedAt ?? run.createdAt, run.state, { reason, attempt: run.attempt })
  return steps
}

/** What a run was when it was made, as far as that is still known. */
function firstState(run: RunRecord, earlier: readonly AttemptRow[]): RunState {
  return run.state === 'waiting' && earlier.length === 0 ? 'waiting' : 'queued'
}
