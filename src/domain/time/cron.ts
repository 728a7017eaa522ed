import { instant, type Instant } from '../instant.ts'
import { nextLocal, NO_MATCH, previousLocal } from './cron-match.ts'
import { countInSegment, type DstPlan, firstInSegment, lastInSegment } from './dst-policy.ts'
import { segmentAt, type Zone } from './zone.ts'

/** A cron expression with its time zone and DST policy. */
export interface CronPlan extends DstPlan {
  readonly zone: Zone
}

/** More than any UTC offset plus the longest DST gap, in seconds. */
const SEARCH_MARGIN = 36 * 3600

/** The first occurrence after a time, or null if there is none up to the end of 2199 in the zone. */
export function nextFire(plan: CronPlan, after: Instant): Instant | null {
  let second = Math.floor(after / 1000) + 1
  const matchBoth = plan.dayMatch === 'and'
  for (;;) {
    const current = plan.zone.cache.current
    if (second < current.start || second >= current.end) {
      // Loading another segment can take a year of Intl lookups, so first skip ahead to the next possible match.
      const match = nextLocal(plan.expression, matchBoth, second - SEARCH_MARGIN)
      if (match === NO_MATCH) return null
      if (match - SEARCH_MARGIN > second) second = match - SEARCH_MARGIN
    }
    const segment = segmentAt(plan.zone, second)
    const found = firstInSegment(plan, segment, second)
    if (found < segment.end) return instant(found * 1000)
    if (segment.end === Infinity) return null
    second = segment.end
  }
}

/** The last occurrence before a time, or null if there is none since the start of 1970 in the zone. */
export function previousFire(plan: CronPlan, before: Instant): Instant | null {
  let second = Math.ceil(before / 1000) - 1
  const matchBoth = plan.dayMatch === 'and'
  for (;;) {
    const match = previousLocal(plan.expression, matchBoth, second + SEARCH_MARGIN)
    if (match === NO_MATCH) return null
    if (match + SEARCH_MARGIN < second) second = match + SEARCH_MARGIN
    const segment = segmentAt(plan.zone, second)
    const found = lastInSegment(plan, segment, second)
    if (found >= segment.start) return instant(found * 1000)
    if (segment.start === -Infinity) return null
    second = segment.start - 1
  }
}

/**
 * The number of occurrences strictly between two times. Takes a few steps per month and per clock change, regardless of
 * the result: three years of an every-second schedule count about as fast as three years of a yearly one.
 */
export function countFires(plan: CronPlan, after: Instant, before: Instant): number {
  const matchBoth = plan.dayMatch === 'and'
  const end = Math.ceil(before / 1000)
  let second = Math.floor(after / 1000) + 1
  let count = 0
  while (second < end) {
    const match = nextLocal(plan.expression, matchBoth, second - SEARCH_MARGIN)
    if (match === NO_MATCH || match - SEARCH_MARGIN >= end) return count
    if (match - SEARCH_MARGIN > second) second = match - SEARCH_MARGIN
    const segment = segmentAt(plan.zone, second)
    const until = Math.min(end, segment.end)
    count += countInSegment(plan, segment, { from: second, to: until })
    second = until
  }
  return count
}
