import type { SimulatedDepth } from '../../features/simulation/result-schema.ts'
import { fromMicros } from '../../domain/budget/budget.ts'
import type { RunId, ScheduleId } from '../../domain/ids.ts'
import { formatInstant, type Instant, instant } from '../../domain/instant.ts'
import { isInFlight } from '../../domain/run/run.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { EndedAttempt, RangeDecision } from '../desk/desk-event.ts'
import type { Changes } from '../desk/desk.ts'
import type { AttemptUsage } from './attempts.ts'
import type { SimulationPlan, Stretch } from '../../features/simulation/task.ts'
import { countLateness, countOne, emptyTally, noteLevels, type Tally } from '../../features/simulation/tally.ts'

/** What is told of a run that is kept. */
export interface KeptRun {
  readonly run: RunRow
  readonly notBefore: Instant | null
  readonly attempts: EndedAttempt[]
  firstStart: Instant | null
  tokens: number
  costMicros: number
}

/** A range, and when it was decided. */
export interface KeptRange extends RangeDecision {
  readonly decidedAt: Instant
}

/** What has happened: all of it in figures, the first of it row by row. */
export interface Record {
  readonly rows: Map<RunId, KeptRun>
  readonly ranges: KeptRange[]
  readonly whole: Tally
  readonly bySchedule: Map<ScheduleId, Tally>
  readonly levels: Levels
  isTruncated: boolean
  readonly maxRows: number
  readonly inFlight: Set<RunId>
  /** The moment that is being recorded, and whose levels have changed in it. */
  at: Instant
  readonly touched: Set<Tally>
}

/** More rows than this are not kept unless somebody asks for more or fewer. */
const USUAL_ROWS = 10_000

/** A record on which nothing stands yet. */
export function createRecord({ task, schedules, window }: SimulationPlan): Record {
  return {
    ...{ rows: new Map(), ranges: [], whole: emptyTally(), isTruncated: false, inFlight: new Set() },
    bySchedule: new Map(schedules.map(({ id }) => [id, emptyTally()])),
    levels: createLevels(window),
    maxRows: task.max_rows ?? USUAL_ROWS,
    ...{ at: window.from, touched: new Set() },
  }
}

const talliesOf = (record: Record, id: ScheduleId | null): readonly Tally[] => {
  const own = id === null ? undefined : record.bySchedule.get(id)
  return own === undefined ? [record.whole] : [record.whole, own]
}

/** Takes in what a turn has changed. */
export function recordChanges(record: Record, changes: Changes, now: Instant): void {
  if (now > record.at) {
    closeMoment(record)
    record.at = now
  }
  for (const range of changes.ranges) recordRange(record, range, now)
  for (const run of changes.made) recordMade(record, run)
  for (const run of changes.changed) recordChanged(record, run, changes)
  for (const ended of changes.attempts) record.rows.get(ended.runId)?.attempts.push(ended)
}

/** How full it was counts when a moment is over: what comes and goes in the same one never waited, and was never beside. */
export function closeMoment(record: Record): void {
  for (const tally of record.touched) noteLevels(tally)
  if (record.touched.size > 0) record.levels.note(record.at, record.whole)
  record.touched.clear()
}

function recordRange(record: Record, range: RangeDecision, decidedAt: Instant): void {
  for (const tally of talliesOf(record, range.scheduleId)) {
    tally.occurrences += range.count
    countOne(tally.byStatus, 'skipped', range.count)
    countOne(tally.skippedBy, range.why.reason, range.count)
  }
  if (record.ranges.length < record.maxRows) record.ranges.push({ ...range, decidedAt })
  else record.isTruncated = true
}

function recordMade(record: Record, run: RunRow): void {
  const isSkipped = run.state === 'skipped'
  for (const tally of talliesOf(record, run.scheduleId)) {
    if (run.nominal !== null) tally.occurrences += 1
    if (isSkipped) countOne(tally.skippedBy, run.decision.reason)
    else tally.runs += 1
    if (isTerminal(run.state)) countOne(tally.byStatus, run.state)
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

function recordChanged(record: Record, run: RunRow, changes: Changes): void {
  const flies = isInFlight(run.state)
  const flew = record.inFlight.has(run.id)
  if (flies && !flew) record.inFlight.add(run.id)
  if (!flies && flew) record.inFlight.delete(run.id)
  const hasEnded = isTerminal(run.state)
  if (flies === flew && !hasEnded) return
  for (const tally of talliesOf(record, run.scheduleId)) {
    if (flies !== flew) tally.inFlight += flies ? 1 : -1
    if (hasEnded && !changes.made.has(run)) {
      tally.pending -= 1
      countOne(tally.byStatus, run.state)
      if (run.state === 'skipped') countSkipped(tally, run)
    }
    if (hasEnded && run.superseded) tally.superseded += 1
    record.touched.add(tally)
  }
}

/** A held occurrence counted as a run until it was released. */
function countSkipped(tally: Tally, run: RunRow): void {
  tally.runs -= 1
  countOne(tally.skippedBy, run.decision.reason)
}

/** An attempt has begun. */
export function recordStart(record: Record, run: RunRow, now: Instant): void {
  const isFirst = run.attempt === run.firstAttempt
  for (const tally of talliesOf(record, run.scheduleId)) {
    tally.attempts += 1
    if (isFirst && run.nominal !== null) countLateness(tally, now - run.nominal)
  }
  const kept = record.rows.get(run.id)
  if (kept !== undefined && isFirst) kept.firstStart = now
}

/** An attempt was at work for so long, and used this. */
export function recordWork(
  record: Record,
  of: { readonly runId: RunId; readonly scheduleId: ScheduleId },
  work: { readonly busyMs: number; readonly usage: AttemptUsage | null; readonly now: Instant },
): void {
  const tokens = work.usage?.inputTokens ?? 0
  const costMicros = work.usage?.costMicros ?? 0
  for (const tally of talliesOf(record, of.scheduleId)) {
    tally.busyMs += work.busyMs
    tally.tokens += tokens
    tally.costMicros += costMicros
  }
  if (tokens === 0 && costMicros === 0) return
  record.levels.spend(work.now, tokens, costMicros)
  const kept = record.rows.get(of.runId)
  if (kept === undefined) return
  kept.tokens += tokens
  kept.costMicros += costMicros
}

/** How full it was over the window, in stretches of equal length. */
interface Levels {
  readonly note: (now: Instant, level: { readonly pending: number; readonly inFlight: number }) => void
  readonly spend: (now: Instant, tokens: number, costMicros: number) => void
  readonly view: () => readonly SimulatedDepth[]
}

/** As many stretches as a picture can show. */
const STRETCHES = 240

/** Levels of a window in which nothing has happened yet. */
function createLevels({ from, to }: Stretch): Levels {
  const count = Math.min(STRETCHES, Math.max(1, to - from))
  const lengthMs = (to - from) / count
  const waiting = new Int32Array(count)
  const running = new Int32Array(count)
  const tokens = new Float64Array(count)
  const micros = new Float64Array(count)
  let [last, lastWaiting, lastRunning] = [0, 0, 0]
  const placeOf = (at: Instant): number => Math.max(0, Math.min(count - 1, Math.floor((at - from) / lengthMs)))
  // Until something changes it stays as full as it was.
  const carryTo = (place: number): void => {
    for (let next = last + 1; next <= place; next += 1) {
      waiting[next] = lastWaiting
      running[next] = lastRunning
    }
    if (place > last) last = place
  }
  return {
    note: (now, { pending, inFlight }) => {
      const place = placeOf(now)
      carryTo(place)
      lastWaiting = pending - inFlight
      lastRunning = inFlight
      if (lastWaiting > (waiting[place] ?? 0)) waiting[place] = lastWaiting
      if (lastRunning > (running[place] ?? 0)) running[place] = lastRunning
    },
    spend: (now, used, costMicros) => {
      const place = placeOf(now)
      tokens[place] = (tokens[place] ?? 0) + used
      micros[place] = (micros[place] ?? 0) + costMicros
    },
    view: () => {
      carryTo(count - 1)
      return Array.from({ length: count }, (_, place) => ({
        at: formatInstant(instant(Math.round(from + place * lengthMs))),
        waiting: waiting[place] ?? 0,
        running: running[place] ?? 0,
        tokens: tokens[place] ?? 0,
        cost: fromMicros(micros[place] ?? 0),
      }))
    },
  }
}
