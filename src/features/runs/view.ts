import { formatInstant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import { durationOf, firstStart } from '../../domain/run/run.ts'
import { shownSessionOf } from '../../domain/session/session.ts'
import { traceIdOf } from '../../domain/trace-context.ts'
import type { DeliveryView } from '../deliveries/schema.ts'
import type { ProbeAnswerView } from '../probes/schema.ts'
import type { AttemptRow, RunEditRow } from './attempts-store.ts'
import type { RunRecord } from './record-store.ts'
import type { AttemptView, RunDetail, RunView, TimelineEntry, UsageView } from './schema.ts'
import { formatInstantOrNull, omittedPayloadFields } from '../schedules/view.ts'

/**
 * Limits an output to a number of bytes of UTF-8, cut between characters and with a mark at the cut. A value that is
 * not text is kept as JSON if that fits, else as the beginning of the JSON text.
 */
export function cutOutput(output: unknown, maxBytes: number): unknown {
  if (output === undefined || output === null) return null
  if (typeof output === 'string') return cutText(output, maxBytes)
  const text = toJson(output)
  return byteLength(text) <= maxBytes ? (JSON.parse(text) as unknown) : cutText(text, maxBytes)
}

/** Limits a text to a number of bytes, with a mark at the cut. Replaces NUL, which PostgreSQL cannot store. */
export function cutText(text: string, maxBytes: number): string {
  const clean = text.replaceAll('\0', '\u2400')
  const bytes = byteLength(clean)
  if (bytes <= maxBytes) return clean
  const kept = Buffer.from(clean).subarray(0, maxBytes).toString('utf8')
  // A character that was cut in two reads as U+FFFD at the end.
  const whole = kept.endsWith('\uFFFD') && !clean.startsWith(kept) ? kept.slice(0, -1) : kept
  return `${whole} […cut: ${bytes - byteLength(whole)} of ${bytes} bytes]`
}

const byteLength = (text: string): number => Buffer.byteLength(text)

/** Converts values that JSON cannot represent to text, so that they do not fail the run that returned them. */
function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'bigint' ? inner.toString() : inner,
    ) as string | undefined
    return (text ?? JSON.stringify(String(value))).replaceAll('\\u0000', '\\u2400')
  } catch {
    return JSON.stringify(String(value))
  }
}

/** The API view of a run. */
export function viewRun(run: RunRecord): RunView {
  const { finishedAt, reported } = run
  const session = shownSessionOf(run)
  // A run without a session key shows the session that its runtime reported.
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
    message_id: run.firstMessageId ?? firstMessageIdOf(run.payload) ?? reported?.messageId ?? null,
    trigger: run.trigger,
    status: run.state,
    reason: (run.why ?? run.decision).reason,
    lane: run.lane,
    priority: run.priority,
    nominal_time: formatInstantOrNull(run.nominal),
    not_before: formatInstantOrNull(run.notBefore),
    deadline: formatInstantOrNull(run.deadline),
    created_at: formatInstant(run.createdAt),
    started_at: formatInstantOrNull(firstStart(run)),
    finished_at: formatInstantOrNull(finishedAt),
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
    ...omittedPayloadFields(run.payloadBytes),
    superseded: run.superseded,
    retry_of: run.retryOf,
    parent_run_id: run.parentRunId,
    owner: run.owner,
    decision: run.decision,
    held_decision: run.heldDecision,
  }
}

/** The first message id in the payload of a run. */
function firstMessageIdOf(payload: unknown): string | null {
  const ids: unknown = isObject(payload) ? payload['messageIds'] : undefined
  const first: unknown = Array.isArray(ids) ? ids[0] : undefined
  return typeof first === 'string' ? first : null
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The API view of usage; the cost is in units of the currency, not in millionths. */
export function viewUsage(usage: unknown): UsageView | null {
  if (!isObject(usage)) return null
  const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
  const micros = number(usage['costMicros'])
  const found = {
    input_tokens: number(usage['inputTokens']),
    output_tokens: number(usage['outputTokens']),
    cached_input_tokens: number(usage['cachedInputTokens']),
    reasoning_tokens: number(usage['reasoningTokens']),
    context_window: number(usage['contextWindow']),
    cost: micros === undefined ? undefined : micros / 1_000_000,
    prices_as_of: typeof usage['pricesAsOf'] === 'string' ? usage['pricesAsOf'] : undefined,
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/** The rows of a run besides its own: earlier attempts, deliveries and the probe. */
interface RunDetailRows {
  readonly attempts: readonly AttemptRow[]
  readonly deliveries: readonly DeliveryView[]
  /** Omitted: it had no probe. */
  readonly probe?: ProbeAnswerView | null
  /** Omitted: it is no edited retry. */
  readonly edits?: Pick<RunEditRow, 'parts' | 'model'> | undefined
}

/** The API view of a run with its attempts, timeline and reason. `why` is the reason computed now, if any. */
export function viewRunDetail(run: RunRecord, rows: RunDetailRows, why: Why | null = null): RunDetail {
  const { attempts: earlier, deliveries } = rows
  const attempts = [...earlier.map(viewAttempt), ...lastAttempt(run)]
  const timeline = timelineOf(run, earlier)
  const trace_id = run.trace === null ? null : traceIdOf(run.trace)
  return {
    ...viewRun(run),
    attempts,
    deliveries,
    timeline,
    why: why ?? run.why ?? run.decision,
    edits: rows.edits === undefined ? null : { parts: rows.edits.parts, model: rows.edits.model },
    probe: rows.probe ?? null,
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

/** The attempt stored in the run itself: the current or last one. */
function lastAttempt(run: RunRecord): readonly AttemptView[] {
  if (run.attemptId === null || run.startedAt === null) return []
  return [
    {
      id: run.attemptId,
      number: run.attempt,
      node_id: run.nodeId,
      started_at: formatInstant(run.startedAt),
      finished_at: formatInstantOrNull(run.finishedAt),
      status: attemptStatus(run.state),
      error_code: run.errorCode,
      error_message: run.errorMessage,
      agent_error_code: run.reported?.errorCode ?? null,
    },
  ]
}

const attemptStatus = (state: RunState): AttemptView['status'] =>
  state === 'success' || state === 'failed' || state === 'timeout' || state === 'cancelled' ? state : null

/** The stored steps of a run with their times; for a pending run, the last step is its current state. */
function timelineOf(run: RunRecord, earlier: readonly AttemptRow[]): readonly TimelineEntry[] {
  const steps: TimelineEntry[] = []
  const step = (at: number, status: RunState, more: Partial<TimelineEntry> = {}): void => {
    steps.push({ at: new Date(at).toISOString(), status, reason: null, attempt: null, ...more })
  }
  const endedAtOnce = isTerminal(run.state) && run.finishedAt === run.createdAt && run.startedAt === null
  const { decision, heldDecision } = run
  const entered = heldDecision ?? decision
  const wasHeld = entered.reason === 'held'
  if (!endedAtOnce) step(run.createdAt, wasHeld ? 'waiting' : stateAtCreation(run, earlier), { reason: entered.reason })
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

/** The state of a run at its creation, as far as it is still known. */
function stateAtCreation(run: RunRecord, earlier: readonly AttemptRow[]): RunState {
  return run.state === 'waiting' && earlier.length === 0 ? 'waiting' : 'queued'
}
