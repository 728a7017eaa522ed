import { instant, type Instant } from '../../domain/instant.ts'
import type { CronExpression } from '../../domain/time/cron-expression.ts'
import { countLocal, nextLocal, NONE, previousLocal } from '../../domain/time/cron-match.ts'
import { segmentAt, type Segment, type Zone } from './zone.ts'

/**
 * When an expression fires in a zone. Each policy defines a set of instants, stretch of constant offset by stretch:
 * what matches directly, less what an earlier stretch has already shown (unless the policy keeps both passes), plus
 * what the policy makes of the wall-clock times that the gap in front of the stretch leaves out. `next` and `previous`
 * look up members of that set, so their answers cannot depend on where a search starts.
 */
export type DstPolicy = 'vixie' | 'skip' | 'shift' | 'both'
export type DayMatch = 'or' | 'and'

export const DST_POLICIES: readonly DstPolicy[] = ['vixie', 'skip', 'shift', 'both']
export const DAY_MATCHES: readonly DayMatch[] = ['or', 'and']

export interface CronPlan {
  readonly expression: CronExpression
  readonly zone: Zone
  readonly dst: DstPolicy
  readonly dayMatch: DayMatch
}

/** Further than any wall clock is from UTC, with room to spare for the length of a gap. */
const MARGIN = 36 * 3600

/** The first fire after an instant, or null if there is none up to the end of 2199 in the zone. */
export function nextFire(plan: CronPlan, after: Instant): Instant | null {
  let second = Math.floor(after / 1000) + 1
  const both = plan.dayMatch === 'and'
  for (;;) {
    const current = plan.zone.memory.current
    if (second < current.start || second >= current.end) {
      // A stretch that is not at hand may cost a year of questions to Intl: first see whether and when it is needed.
      const match = nextLocal(plan.expression, both, second - MARGIN)
      if (match === NONE) return null
      if (match - MARGIN > second) second = match - MARGIN
    }
    const segment = segmentAt(plan.zone, second)
    const found = firstInSegment(plan, segment, second)
    if (found < segment.end) return instant(found * 1000)
    if (segment.end === Infinity) return null
    second = segment.end
  }
}

/** The last fire before an instant, or null if there is none since the beginning of 1970 in the zone. */
export function previousFire(plan: CronPlan, before: Instant): Instant | null {
  let second = Math.ceil(before / 1000) - 1
  const both = plan.dayMatch === 'and'
  for (;;) {
    const match = previousLocal(plan.expression, both, second + MARGIN)
    if (match === NONE) return null
    if (match + MARGIN < second) second = match + MARGIN
    const segment = segmentAt(plan.zone, second)
    const found = lastInSegment(plan, segment, second)
    if (found >= segment.start) return instant(found * 1000)
    if (segment.start === -Infinity) return null
    second = segment.start - 1
  }
}

/** Whether a wall-clock time that is shown twice fires twice. */
export const keepsBothPasses = (plan: CronPlan): boolean =>
  plan.dst === 'both' || (plan.dst === 'vixie' && plan.expression.interval)

/** The first fire of a stretch at `from` or later; Infinity if there is none. May lie behind the end of the stretch. */
function firstInSegment(plan: CronPlan, segment: Segment, from: number): number {
  const direct = firstDirect(plan, segment, from)
  const gap = segment.offset - segment.offsetBefore
  return gap > 0 && from < segment.since + gap ? Math.min(direct, firstOfGap(plan, segment, from)) : direct
}

function firstDirect(plan: CronPlan, segment: Segment, from: number): number {
  const both = plan.dayMatch === 'and'
  let match = nextLocal(plan.expression, both, from + segment.offset)
  if (match < segment.shownEnd && !keepsBothPasses(plan)) {
    for (let index = 0; index < segment.shown.length && match !== NONE; index += 2) {
      const shownTo = segment.shown[index + 1] ?? match
      if (match >= (segment.shown[index] ?? match + 1) && match < shownTo)
        match = nextLocal(plan.expression, both, shownTo)
    }
  }
  return match === NONE ? Infinity : match - segment.offset
}

function firstOfGap(plan: CronPlan, segment: Segment, from: number): number {
  if (plan.dst === 'skip' || plan.dst === 'both') return Infinity
  if (plan.dst === 'vixie') return from <= segment.since && gapMatches(plan, segment) ? segment.since : Infinity
  const match = nextLocal(
    plan.expression,
    plan.dayMatch === 'and',
    Math.max(from, segment.since) + segment.offsetBefore,
  )
  return match === NONE || match >= segment.since + segment.offset ? Infinity : match - segment.offsetBefore
}

/** Whether a wall-clock time that the gap in front of a stretch leaves out would have matched. */
function gapMatches(plan: CronPlan, segment: Segment): boolean {
  const match = nextLocal(plan.expression, plan.dayMatch === 'and', segment.since + segment.offsetBefore)
  return match !== NONE && match < segment.since + segment.offset
}

/** The last fire of a stretch at `upTo` or earlier; before its start, or -Infinity, if there is none. */
function lastInSegment(plan: CronPlan, segment: Segment, upTo: number): number {
  const direct = lastDirect(plan, segment, upTo)
  const gap = segment.offset - segment.offsetBefore
  return gap > 0 && direct < segment.since + gap ? Math.max(direct, lastOfGap(plan, segment, upTo)) : direct
}

function lastDirect(plan: CronPlan, segment: Segment, upTo: number): number {
  const both = plan.dayMatch === 'and'
  let match = previousLocal(plan.expression, both, upTo + segment.offset)
  if (match < segment.shownEnd && !keepsBothPasses(plan)) {
    for (let index = segment.shown.length - 2; index >= 0 && match !== NONE; index -= 2) {
      const shownFrom = segment.shown[index] ?? match + 1
      if (match >= shownFrom && match < (segment.shown[index + 1] ?? match))
        match = previousLocal(plan.expression, both, shownFrom - 1)
    }
  }
  return match === NONE ? -Infinity : match - segment.offset
}

function lastOfGap(plan: CronPlan, segment: Segment, upTo: number): number {
  if (plan.dst === 'skip' || plan.dst === 'both') return -Infinity
  if (plan.dst === 'vixie') return gapMatches(plan, segment) ? segment.since : -Infinity
  const gapEnd = segment.since + segment.offset
  const match = previousLocal(
    plan.expression,
    plan.dayMatch === 'and',
    Math.min(upTo + segment.offsetBefore, gapEnd - 1),
  )
  return match === NONE ? -Infinity : match - segment.offsetBefore
}

/**
 * How many fires lie strictly between two instants. Costs a few steps per month and per clock change, whatever the
 * number of fires: three years of an every-second schedule are counted about as fast as three of a yearly one.
 */
export function countFires(plan: CronPlan, after: Instant, before: Instant): number {
  const both = plan.dayMatch === 'and'
  const end = Math.ceil(before / 1000)
  let second = Math.floor(after / 1000) + 1
  let count = 0
  while (second < end) {
    const match = nextLocal(plan.expression, both, second - MARGIN)
    if (match === NONE || match - MARGIN >= end) return count
    if (match - MARGIN > second) second = match - MARGIN
    const segment = segmentAt(plan.zone, second)
    const until = Math.min(end, segment.end)
    count +=
      countDirect(plan, segment, { from: second, to: until }) + countGap(plan, segment, { from: second, to: until })
    second = until
  }
  return count
}

interface Span {
  readonly from: number
  readonly to: number
}

function countDirect(plan: CronPlan, segment: Segment, span: Span): number {
  const both = plan.dayMatch === 'and'
  const local = { from: span.from + segment.offset, to: span.to + segment.offset }
  let count = countLocal(plan.expression, both, local)
  if (keepsBothPasses(plan)) return count
  for (let index = 0; index < segment.shown.length; index += 2) {
    const from = Math.max(local.from, segment.shown[index] ?? 0)
    const to = Math.min(local.to, segment.shown[index + 1] ?? 0)
    count -= countLocal(plan.expression, both, { from, to })
  }
  return count
}

/** The fires that a gap adds and that do not match directly at the same instant. */
function countGap(plan: CronPlan, segment: Segment, span: Span): number {
  const gap = segment.offset - segment.offsetBefore
  const end = Math.min(span.to, segment.since + gap)
  let count = 0
  let second = span.from
  while (second < end) {
    const found = firstOfGap(plan, segment, second)
    if (found >= end) return count
    if (firstDirect(plan, segment, found) !== found) count += 1
    second = found + 1
  }
  return count
}
