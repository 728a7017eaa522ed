import type { ShownEntry } from '../../../../src/domain/run/log-entry.ts'
import type { DeliveryTryView, DeliveryView } from '../../../../src/features/deliveries/schema.ts'
import type { AttemptView, RunDetail } from '../../../../src/features/runs/schema.ts'
import { isPending } from '../../../api/run-actions.ts'
import type { Outcome } from '../../../parts/outcome/outcome.ts'
import { outcomeOf } from '../../../parts/outcome/outcome.ts'

/** A stretch of time in the trace of a run; null at its end: it goes on. */
export interface Span {
  readonly from: number
  readonly to: number | null
  readonly outcome: Outcome
}

/** A row of the trace: what happened, when, and of what it is made. */
export interface TraceRow extends Span {
  readonly key: string
  readonly what:
    | { readonly kind: 'wait'; readonly status: RunDetail['status']; readonly reason: RunDetail['reason'] }
    | { readonly kind: 'attempt'; readonly attempt: AttemptView; readonly firstOutput: number | null }
    | { readonly kind: 'callback' }
    | { readonly kind: 'delivery'; readonly delivery: DeliveryView }
    | { readonly kind: 'try'; readonly delivery: DeliveryView; readonly one: DeliveryTryView }
}

/** Why a waiting run waits now, as the queue says. */
type Waiting = Pick<RunDetail, 'reason' | 'status'> | null

const time = (at: string): number => Date.parse(at)

/** The rows of a run: its waits and attempts in order of time, then its deliveries with their tries. */
export function traceOf(run: RunDetail, entries: readonly ShownEntry[], waiting: Waiting): readonly TraceRow[] {
  const started = [...waitsOf(run, waiting), ...attemptsOf(run, entries), ...callbackOf(run)]
  return [...started.sort((a, b) => a.from - b.from), ...run.deliveries.flatMap(deliveryRows)]
}

const WAITS = new Set<RunDetail['status']>(['waiting', 'queued', 'assigned'])

/** Waits are the steps of the timeline before an attempt; a time before which it must not start divides them. */
function waitsOf(run: RunDetail, waiting: Waiting): readonly TraceRow[] {
  const rows: TraceRow[] = []
  const notBefore = run.not_before === null ? null : time(run.not_before)
  for (const [index, { at, status, reason }] of run.timeline.entries()) {
    if (!WAITS.has(status)) continue
    const next = run.timeline[index + 1]
    const to =
      next === undefined
        ? isPending(run)
          ? null
          : run.finished_at === null
            ? null
            : time(run.finished_at)
        : time(next.at)
    const from = time(at)
    // An unnoticeable wait is a row that says nothing.
    if (to === from && reason !== 'retry_scheduled') continue
    const row = (part: Span, why: RunDetail['reason']): TraceRow => ({
      ...part,
      key: `wait ${at} ${part.from}`,
      what: { kind: 'wait', status, reason: why },
    })
    const open = to === null && waiting !== null ? waiting.reason : reason
    if (notBefore !== null && reason !== 'retry_scheduled' && notBefore > from && (to === null || notBefore < to)) {
      rows.push(row({ from, to: notBefore, outcome: 'waiting' }, reason))
      if (to !== null || notBefore < Date.now())
        rows.push(row({ from: notBefore, to, outcome: 'waiting' }, to === null ? open : null))
    } else rows.push(row({ from, to, outcome: 'waiting' }, open))
  }
  return rows
}

function attemptsOf(run: RunDetail, entries: readonly ShownEntry[]): readonly TraceRow[] {
  return run.attempts.map((attempt) => {
    const first = entries.find((entry) => entry.attempt === attempt.number)
    return {
      key: `attempt ${attempt.number}`,
      from: time(attempt.started_at),
      to: attempt.finished_at === null ? null : time(attempt.finished_at),
      outcome: outcomeOf(attempt.status ?? (isPending(run) ? 'running' : run.status)),
      what: { kind: 'attempt', attempt, firstOutput: first === undefined ? null : time(first.at) },
    }
  })
}

/** Since when a callback is awaited, no event tells: it is part of the attempt that deferred its result. */
function callbackOf(run: RunDetail): readonly TraceRow[] {
  const step = run.timeline.find(({ status }) => status === 'awaiting_callback')
  if (step === undefined) return []
  const to = run.finished_at === null ? null : time(run.finished_at)
  return [{ key: 'callback', from: time(step.at), to, outcome: 'active', what: { kind: 'callback' } }]
}

const ENDED = { delivered: 'success', failed: 'failure', kept: 'quiet', pending: 'waiting', held: 'waiting' } as const

function deliveryRows(delivery: DeliveryView): readonly TraceRow[] {
  const { id, status, created_at: created, finished_at: finished, tries } = delivery
  return [
    {
      key: id,
      from: time(created),
      to: finished === null ? null : time(finished),
      outcome: ENDED[status],
      what: { kind: 'delivery', delivery },
    },
    ...tries.map((one) => ({
      key: `${id} ${one.number}`,
      from: time(one.started_at),
      to: time(one.finished_at),
      outcome: one.delivered ? ('success' as const) : ('failure' as const),
      what: { kind: 'try', delivery, one } as const,
    })),
  ]
}

/** The whole time of a trace, never empty. What goes on reaches to `now`. */
export function extentOf(rows: readonly TraceRow[], now: number): { readonly from: number; readonly to: number } {
  const from = Math.min(...rows.map((row) => row.from))
  const to = Math.max(...rows.map((row) => row.to ?? Math.max(row.from, now)))
  return rows.length === 0 ? { from: now, to: now + 1 } : { from, to: Math.max(to, from + 1) }
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000]
const LONG_STEPS = [2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 7_200].map((minutes) => minutes * 60_000)

/** The marks of the axis, in milliseconds from its beginning: as many as fit, at round distances. */
export function ticksOf(length: number, most: number): readonly number[] {
  const step = [...STEPS, ...LONG_STEPS].find((one) => length / one <= most) ?? length
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step)
}

/** How an error is told: a repeated one once, as that of the first attempt that had it. */
export function errorOf(
  attempts: readonly AttemptView[],
  attempt: AttemptView,
): { readonly text: string | null; readonly sameAs: number | null } {
  const text = attempt.error_message ?? attempt.error_code
  if (text === null) return { text, sameAs: null }
  const first = attempts.find((one) => (one.error_message ?? one.error_code) === text)
  return first === undefined || first.number === attempt.number
    ? { text, sameAs: null }
    : { text: null, sameAs: first.number }
}
