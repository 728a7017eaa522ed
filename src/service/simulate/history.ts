import type { Intervention, OutageInput, RecordedAttempt } from '../../features/simulation/result-schema.ts'
import type { PendingStart, SimulatedStanding } from '../../features/simulation/task.ts'
import { amountsUsed } from '../../core/budget/amounts.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { PastAttempt, PastRun } from '../../features/simulation/store.ts'

const MICROS = 1e6

/** The endings of attempts that went with their node: the outage that took them says so already. */
const LOST: ReadonlySet<string> = new Set(['node_lost', 'node_shutdown'])

/** How the attempts of a run went, as far as they ended by themselves. */
export function recordedOf(run: PastRun, earlier: readonly PastAttempt[]): readonly RecordedAttempt[] {
  const { nominal, startedAt, finishedAt, state, errorCode } = run
  if (nominal === null) return []
  const at = formatInstant(nominal)
  const before = earlier
    .filter((attempt) => !LOST.has(attempt.errorCode ?? ''))
    .map((attempt): RecordedAttempt => ({
      ...{ nominal: at, attempt: attempt.number, duration_ms: attempt.finishedAt - attempt.startedAt },
      ...{ outcome: attempt.status, ...(attempt.errorCode === null ? {} : { error_code: attempt.errorCode }) },
    }))
  const isTold = state === 'success' || state === 'failed' || state === 'timeout'
  if (!isTold || startedAt === null || finishedAt === null || LOST.has(errorCode ?? '')) return before
  return [
    ...before,
    {
      ...{ nominal: at, attempt: run.attempt, duration_ms: Math.max(0, finishedAt - startedAt), outcome: state },
      ...(errorCode === null ? {} : { error_code: errorCode }),
      ...usedBy(run),
      ...(run.isProbedOut ? { probe: 'no' as const } : {}),
    },
  ]
}

function usedBy({ usage }: PastRun): Pick<RecordedAttempt, 'tokens' | 'cost'> {
  const { tokens, money } = amountsUsed(usage)
  return { ...(tokens === null ? {} : { tokens }), ...(money === null ? {} : { cost: money / MICROS }) }
}

/** Where a schedule stood at a moment, from the runs made before it, newest first. */
export function standingAt(at: Instant, before: readonly PastRun[]): SimulatedStanding {
  const ended = before
    .filter(({ finishedAt, superseded }) => !superseded && finishedAt !== null && finishedAt <= at)
    .filter(({ state }) => speaks(state))
    .toSorted((a, b) => (b.finishedAt ?? 0) - (a.finishedAt ?? 0))
  const [last] = ended
  const good = ended.findIndex(({ state }) => state === 'success')
  return {
    watermark: formatInstant(at),
    failure_streak: good === -1 ? ended.length : good,
    ...(last === undefined ? {} : { last_ending: endingOf(last) }),
    pending: pendingAt(at, before),
  }
}

type Ending = NonNullable<SimulatedStanding['last_ending']>

const speaks = (state: string): boolean => ['success', 'failed', 'timeout', 'cancelled'].includes(state)

const endingOf = ({ state, attempt, finishedAt }: PastRun): Ending => ({
  ...{ status: state as Ending['status'], attempt, ended_at: formatInstant(finishedAt as Instant) },
})

/** What was under way at a moment, oldest first. */
const pendingAt = (at: Instant, before: readonly PastRun[]): NonNullable<SimulatedStanding['pending']> =>
  before
    .filter(({ finishedAt, superseded }) => !superseded && (finishedAt === null || finishedAt > at))
    .map((run) => pendingStart(run, run.startedAt !== null && run.startedAt <= at))
    .toReversed()

/** A run that is under way when the window begins. */
export function pendingStart(run: PastRun, isRunning: boolean): PendingStart {
  const { nominal, startedAt, createdAt, firstAttempt, attempt } = run
  return {
    ...{ nominal: nominal === null ? null : formatInstant(nominal), created_at: formatInstant(createdAt) },
    ...{ status: isRunning ? 'running' : 'queued', first_attempt: firstAttempt, attempt },
    ...(isRunning && startedAt !== null ? { started_at: formatInstant(startedAt) } : {}),
  }
}

/** What people asked for in the window. */
export const askedFor = (runs: readonly PastRun[]): readonly Intervention[] =>
  runs
    .filter(({ trigger, nominal }) => trigger === 'manual' && nominal === null)
    .map(({ createdAt, scheduleId }) => ({
      ...{ at: formatInstant(createdAt), schedule_id: scheduleId, action: 'run_now' },
    }))

/** A moment that was seen late, or a whole range of them. */
export interface Late {
  readonly nominal: Instant
  readonly seenAt: Instant
}

/** What is seen this late was not seen because nobody looked: a scan is never so far from the next. */
const LATE_MS = 5_000

/**
 * When nobody looked: from the first moment that was missed to when it was seen. What ended on its own meanwhile shows
 * that only the scans stood still; where nothing did, the engine was away.
 */
export function gapsIn(late: readonly Late[], endings: readonly Instant[]): readonly OutageInput[] {
  const gaps: { from: Instant; to: Instant }[] = []
  for (const { nominal, seenAt } of late.toSorted((a, b) => a.nominal - b.nominal)) {
    if (seenAt - nominal < LATE_MS) continue
    const last = gaps.at(-1)
    if (last !== undefined && nominal <= last.to) last.to = seenAt > last.to ? seenAt : last.to
    else gaps.push({ from: nominal, to: seenAt })
  }
  return gaps.map(({ from, to }) => ({
    kind: endings.some((at) => at > from && at < to) ? 'stall' : 'engine',
    ...{ from: formatInstant(from), to: formatInstant(to) },
  }))
}
