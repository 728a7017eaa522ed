import type { SimulatedDepth } from './result-schema.ts'
import { fromMicros } from '../../domain/budget/budget.ts'
import type { RunId, ScheduleId } from '../../domain/ids.ts'
import { formatInstant, type Instant, instant, SECOND_MS } from '../../domain/instant.ts'
import { isInFlight } from '../../domain/run/run.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { RunRow } from '../runs/store.ts'
import type { Changes, EndedAttempt, RangeDecision } from '../../engine/org-state/org-state.ts'
import type { AttemptUsage } from './attempts.ts'
import type { SimulationPlan, TimePeriod } from './task.ts'
import { countInBucket, countLateness, incrementCount, emptyTally, noteLevels, type SimulationTally } from './tally.ts'

/** A listed run with its attempts and usage. */
export interface RecordedRun {
  readonly run: RunRow
  readonly notBefore: Instant | null
  readonly attempts: EndedAttempt[]
  firstStart: Instant | null
  tokens: number
  costMicros: number
}

/** A decided range, and when it was decided. */
export interface RecordedRange extends RangeDecision {
  readonly decidedAt: Instant
}

/** The results of a simulation: totals of everything, and the first rows and ranges. */
export interface SimulationRecord {
  readonly rows: Map<RunId, RecordedRun>
  readonly ranges: RecordedRange[]
  readonly whole: SimulationTally
  readonly bySchedule: Map<ScheduleId, SimulationTally>
  readonly levels: DepthLevels
  isTruncated: boolean
  readonly maxRows: number
  readonly window: TimePeriod
  readonly inFlight: Set<RunId>
  /** The time being recorded, and the tallies that changed at it. */
  at: Instant
  readonly touched: Set<SimulationTally>
}

/** Default number of listed rows. */
const DEFAULT_MAX_ROWS = 10_000

/** Creates an empty record. */
export function createRecord({ task, schedules, window }: SimulationPlan): SimulationRecord {
  return {
    ...{ rows: new Map(), ranges: [], whole: emptyTally(), isTruncated: false, inFlight: new Set() },
    bySchedule: new Map(schedules.map(({ id }) => [id, emptyTally()])),
    levels: createDepthLevels(window),
    maxRows: task.max_rows ?? DEFAULT_MAX_ROWS,
    window,
    ...{ at: window.from, touched: new Set() },
  }
}

/** How many buckets the timeline of a schedule has. */
const BUCKETS = 120

/** The length of a bucket: whole seconds, so that its times are readable. */
export const bucketMs = ({ from, to }: TimePeriod): number =>
  Math.max(SECOND_MS, Math.ceil((to - from) / BUCKETS / SECOND_MS) * SECOND_MS)

/** The bucket of a time. Runs caught up from before the window count in the first one. */
const bucketAt = ({ window }: Pick<SimulationRecord, 'window'>, at: Instant): number =>
  Math.max(0, Math.floor((at - window.from) / bucketMs(window)))

/** Counts a run in the timeline of its schedule. */
export function countInTimeline(record: SimulationRecord, run: RunRow): void {
  const own = run.scheduleId === null ? undefined : record.bySchedule.get(run.scheduleId)
  if (own !== undefined)
    countInBucket(own, bucketAt(record, run.nominal ?? run.createdAt), { state: run.state, count: 1 })
}

const talliesOf = (record: SimulationRecord, id: ScheduleId | null): readonly SimulationTally[] => {
  const own = id === null ? undefined : record.bySchedule.get(id)
  return own === undefined ? [record.whole] : [record.whole, own]
}

/** Records the changes of a transaction. */
export function recordChanges(record: SimulationRecord, changes: Changes, now: Instant): void {
  if (now > record.at) {
    closeTimeStep(record)
    record.at = now
  }
  for (const range of changes.ranges) recordRange(record, range, now)
  for (const run of changes.created) recordCreated(record, run)
  for (const run of changes.changed) recordChanged(record, run, changes)
  for (const ended of changes.attempts) record.rows.get(ended.runId)?.attempts.push(ended)
}

/** Notes the levels once a time is over, because a run that starts and ends at the same time adds no load. */
export function closeTimeStep(record: SimulationRecord): void {
  for (const tally of record.touched) noteLevels(tally)
  if (record.touched.size > 0) record.levels.note(record.at, record.whole)
  record.touched.clear()
}

function recordRange(record: SimulationRecord, range: RangeDecision, decidedAt: Instant): void {
  for (const tally of talliesOf(record, range.scheduleId)) {
    tally.occurrences += range.count
    incrementCount(tally.byStatus, 'skipped', range.count)
    incrementCount(tally.skippedBy, range.why.reason, range.count)
  }
  countRangeInTimeline(record, range)
  if (record.ranges.length < record.maxRows) record.ranges.push({ ...range, decidedAt })
  else record.isTruncated = true
}

/** Spreads skipped occurrences of a range evenly over it, because only their number is known. */
function countRangeInTimeline(record: SimulationRecord, { scheduleId, first, last, count }: RangeDecision): void {
  const own = record.bySchedule.get(scheduleId)
  if (own === undefined) return
  const [from, to] = [bucketAt(record, first), bucketAt(record, last)]
  for (let bucket = from; bucket <= to; bucket += 1) {
    const share = (n: number): number => Math.round((count * n) / (to - from + 1))
    const here = share(bucket - from + 1) - share(bucket - from)
    if (here > 0) countInBucket(own, bucket, { state: 'skipped', count: here })
  }
}

function recordCreated(record: SimulationRecord, run: RunRow): void {
  const isSkipped = run.state === 'skipped'
  if (isTerminal(run.state)) countInTimeline(record, run)
  for (const tally of talliesOf(record, run.scheduleId)) {
    if (run.nominal !== null) tally.occurrences += 1
    if (isSkipped) incrementCount(tally.skippedBy, run.decision.reason)
    else tally.runs += 1
    if (isTerminal(run.state)) incrementCount(tally.byStatus, run.state)
    else tally.pending += 1
    record.touched.add(tally)
  }
  if (record.rows.size >= record.maxRows) {
    record.isTruncated = true
    return
  }
  record.rows.set(run.id, {
    ...{ run, notBefore: run.notBefore, attempts: [], firstStart: null, tokens: 0, costMicros: 0 },
  })
}

function recordChanged(record: SimulationRecord, run: RunRow, changes: Changes): void {
  const isFlying = isInFlight(run.state)
  const wasFlying = record.inFlight.has(run.id)
  if (isFlying && !wasFlying) record.inFlight.add(run.id)
  if (!isFlying && wasFlying) record.inFlight.delete(run.id)
  const hasEnded = isTerminal(run.state)
  if (isFlying === wasFlying && !hasEnded) return
  if (hasEnded && !changes.created.has(run)) countInTimeline(record, run)
  for (const tally of talliesOf(record, run.scheduleId)) {
    if (isFlying !== wasFlying) tally.inFlight += isFlying ? 1 : -1
    if (hasEnded && !changes.created.has(run)) {
      tally.pending -= 1
      incrementCount(tally.byStatus, run.state)
      if (run.state === 'skipped') countSkipped(tally, run)
    }
    if (hasEnded && run.superseded) tally.superseded += 1
    record.touched.add(tally)
  }
}

/** Recounts a held occurrence as skipped, because it was counted as a run while it was held. */
function countSkipped(tally: SimulationTally, run: RunRow): void {
  tally.runs -= 1
  incrementCount(tally.skippedBy, run.decision.reason)
}

/** Records the start of an attempt. */
export function recordStart(record: SimulationRecord, run: RunRow, now: Instant): void {
  const isFirst = run.attempt === run.firstAttempt
  for (const tally of talliesOf(record, run.scheduleId)) {
    tally.attempts += 1
    if (isFirst && run.nominal !== null) countLateness(tally, now - run.nominal)
  }
  const recorded = record.rows.get(run.id)
  if (recorded !== undefined && isFirst) recorded.firstStart = now
}

/** Records the duration and usage of an attempt. */
export function recordAttemptUsage(
  record: SimulationRecord,
  run: { readonly runId: RunId; readonly scheduleId: ScheduleId },
  attempt: { readonly busyMs: number; readonly usage: AttemptUsage | null; readonly now: Instant },
): void {
  const tokens = attempt.usage?.inputTokens ?? 0
  const costMicros = attempt.usage?.costMicros ?? 0
  for (const tally of talliesOf(record, run.scheduleId)) {
    tally.busyMs += attempt.busyMs
    tally.tokens += tokens
    tally.costMicros += costMicros
  }
  if (tokens === 0 && costMicros === 0) return
  record.levels.spend(attempt.now, tokens, costMicros)
  const recorded = record.rows.get(run.runId)
  if (recorded === undefined) return
  recorded.tokens += tokens
  recorded.costMicros += costMicros
}

/** Numbers of waiting and running runs over the window, in intervals of equal length. */
interface DepthLevels {
  readonly note: (now: Instant, level: { readonly pending: number; readonly inFlight: number }) => void
  readonly spend: (now: Instant, tokens: number, costMicros: number) => void
  readonly view: () => readonly SimulatedDepth[]
}

/** The number of intervals, enough for a chart. */
const INTERVAL_COUNT = 240

/** Creates the empty levels of a window. */
function createDepthLevels({ from, to }: TimePeriod): DepthLevels {
  const count = Math.min(INTERVAL_COUNT, Math.max(1, to - from))
  const lengthMs = (to - from) / count
  const waiting = new Int32Array(count)
  const running = new Int32Array(count)
  const tokens = new Float64Array(count)
  const micros = new Float64Array(count)
  let [last, lastWaiting, lastRunning] = [0, 0, 0]
  const indexOf = (at: Instant): number => Math.max(0, Math.min(count - 1, Math.floor((at - from) / lengthMs)))
  // The last values hold until the next change.
  const carryTo = (index: number): void => {
    for (let next = last + 1; next <= index; next += 1) {
      waiting[next] = lastWaiting
      running[next] = lastRunning
    }
    if (index > last) last = index
  }
  return {
    note: (now, { pending, inFlight }) => {
      const index = indexOf(now)
      carryTo(index)
      lastWaiting = pending - inFlight
      lastRunning = inFlight
      if (lastWaiting > (waiting[index] ?? 0)) waiting[index] = lastWaiting
      if (lastRunning > (running[index] ?? 0)) running[index] = lastRunning
    },
    spend: (now, used, costMicros) => {
      const index = indexOf(now)
      tokens[index] = (tokens[index] ?? 0) + used
      micros[index] = (micros[index] ?? 0) + costMicros
    },
    view: () => {
      carryTo(count - 1)
      return Array.from({ length: count }, (_, index) => ({
        at: formatInstant(instant(Math.round(from + index * lengthMs))),
        waiting: waiting[index] ?? 0,
        running: running[index] ?? 0,
        tokens: tokens[index] ?? 0,
        cost: fromMicros(micros[index] ?? 0),
      }))
    },
  }
}
