import type { CronExpression } from './cron-expression.ts'
import { countLocal, type DayMatch, nextLocal, NO_MATCH, previousLocal } from './cron-match.ts'
import type { Segment } from './zone.ts'

/**
 * What a cron schedule does when clocks change. Each policy defines the occurrences of every segment (period of
 * constant UTC offset): the direct matches, without wall-clock times that an earlier segment already had (unless the
 * policy fires on both passes), plus the policy's replacements for the times in the gap before the segment. Searches
 * look up members of this set, so their results do not depend on where they start.
 *
 * In a gap (clocks go forward), `vixie` fires once at the change, `shift` fires later by the length of the gap, and
 * `skip` and `both` do not fire. In a repeated hour (clocks go back), `both` fires on both passes, `vixie` does so for
 * intervals only, and `skip` and `shift` fire on the first pass.
 */
export type DstPolicy = 'vixie' | 'skip' | 'shift' | 'both'

export const DST_POLICIES: readonly DstPolicy[] = ['vixie', 'skip', 'shift', 'both']

/** A cron expression and how it treats clock changes. */
export interface DstPlan {
  readonly expression: CronExpression
  readonly dst: DstPolicy
  readonly dayMatch: DayMatch
}

/** Whether a wall-clock time that occurs twice fires twice. */
export const firesOnBothPasses = (plan: DstPlan): boolean =>
  plan.dst === 'both' || (plan.dst === 'vixie' && plan.expression.isInterval)

/** The first occurrence at or after `from`, or Infinity. The result can be after the end of the segment. */
export function firstInSegment(plan: DstPlan, segment: Segment, from: number): number {
  const direct = firstDirectMatch(plan, segment, from)
  const gap = segment.offset - segment.offsetBefore
  return gap > 0 && from < segment.changedAt + gap ? Math.min(direct, firstInGap(plan, segment, from)) : direct
}

/** The first occurrence at or after `from` that matches the wall clock of the segment. */
function firstDirectMatch(plan: DstPlan, segment: Segment, from: number): number {
  const matchBoth = plan.dayMatch === 'and'
  let match = nextLocal(plan.expression, matchBoth, from + segment.offset)
  if (match < segment.repeatedEnd && !firesOnBothPasses(plan)) {
    for (let index = 0; index < segment.repeated.length && match !== NO_MATCH; index += 2) {
      const shownTo = segment.repeated[index + 1] ?? match
      if (match >= (segment.repeated[index] ?? match + 1) && match < shownTo)
        match = nextLocal(plan.expression, matchBoth, shownTo)
    }
  }
  return match === NO_MATCH ? Infinity : match - segment.offset
}

/** The first occurrence at or after `from` that replaces a time in the gap before the segment. */
function firstInGap(plan: DstPlan, segment: Segment, from: number): number {
  if (plan.dst === 'skip' || plan.dst === 'both') return Infinity
  if (plan.dst === 'vixie') return from <= segment.changedAt && gapMatches(plan, segment) ? segment.changedAt : Infinity
  const match = nextLocal(
    plan.expression,
    plan.dayMatch === 'and',
    Math.max(from, segment.changedAt) + segment.offsetBefore,
  )
  return match === NO_MATCH || match >= segment.changedAt + segment.offset ? Infinity : match - segment.offsetBefore
}

/** Whether a wall-clock time in the gap before the segment matches. */
function gapMatches(plan: DstPlan, segment: Segment): boolean {
  const match = nextLocal(plan.expression, plan.dayMatch === 'and', segment.changedAt + segment.offsetBefore)
  return match !== NO_MATCH && match < segment.changedAt + segment.offset
}

/** The last occurrence at or before `upTo`. If there is none, the result is before the start of the segment. */
export function lastInSegment(plan: DstPlan, segment: Segment, upTo: number): number {
  const direct = lastDirectMatch(plan, segment, upTo)
  const gap = segment.offset - segment.offsetBefore
  return gap > 0 && direct < segment.changedAt + gap ? Math.max(direct, lastInGap(plan, segment, upTo)) : direct
}

/** The last occurrence at or before `upTo` that matches the wall clock of the segment. */
function lastDirectMatch(plan: DstPlan, segment: Segment, upTo: number): number {
  const matchBoth = plan.dayMatch === 'and'
  let match = previousLocal(plan.expression, matchBoth, upTo + segment.offset)
  if (match < segment.repeatedEnd && !firesOnBothPasses(plan)) {
    for (let index = segment.repeated.length - 2; index >= 0 && match !== NO_MATCH; index -= 2) {
      const shownFrom = segment.repeated[index] ?? match + 1
      if (match >= shownFrom && match < (segment.repeated[index + 1] ?? match))
        match = previousLocal(plan.expression, matchBoth, shownFrom - 1)
    }
  }
  return match === NO_MATCH ? -Infinity : match - segment.offset
}

/** The last occurrence at or before `upTo` that replaces a time in the gap before the segment. */
function lastInGap(plan: DstPlan, segment: Segment, upTo: number): number {
  if (plan.dst === 'skip' || plan.dst === 'both') return -Infinity
  if (plan.dst === 'vixie') return gapMatches(plan, segment) ? segment.changedAt : -Infinity
  const gapEnd = segment.changedAt + segment.offset
  const match = previousLocal(
    plan.expression,
    plan.dayMatch === 'and',
    Math.min(upTo + segment.offsetBefore, gapEnd - 1),
  )
  return match === NO_MATCH ? -Infinity : match - segment.offsetBefore
}

interface SecondRange {
  readonly from: number
  readonly to: number
}

/** The number of occurrences in a part of a segment. */
export const countInSegment = (plan: DstPlan, segment: Segment, span: SecondRange): number =>
  countDirectMatches(plan, segment, span) + countInGap(plan, segment, span)

function countDirectMatches(plan: DstPlan, segment: Segment, span: SecondRange): number {
  const matchBoth = plan.dayMatch === 'and'
  const local = { from: span.from + segment.offset, to: span.to + segment.offset }
  let count = countLocal(plan.expression, matchBoth, local)
  if (firesOnBothPasses(plan)) return count
  for (let index = 0; index < segment.repeated.length; index += 2) {
    const from = Math.max(local.from, segment.repeated[index] ?? 0)
    const to = Math.min(local.to, segment.repeated[index + 1] ?? 0)
    count -= countLocal(plan.expression, matchBoth, { from, to })
  }
  return count
}

/** The number of occurrences that the gap adds and that are not direct matches at the same time. */
function countInGap(plan: DstPlan, segment: Segment, span: SecondRange): number {
  const gap = segment.offset - segment.offsetBefore
  const end = Math.min(span.to, segment.changedAt + gap)
  let count = 0
  let second = span.from
  while (second < end) {
    const found = firstInGap(plan, segment, second)
    if (found >= end) return count
    if (firstDirectMatch(plan, segment, found) !== found) count += 1
    second = found + 1
  }
  return count
}
