import { largest, smallest } from '../long-lists.ts'
import { instant, type Instant } from '../instant.ts'
import { DAY_SECONDS, formatLocal, formatTimeOfDay } from './calendar.ts'
import { keepsBothPasses, type CronPlan } from '../../core/time/cron.ts'
import { countLocal, nextLocal } from './cron-match.ts'
import { exclusionAround } from './exclusion.ts'
import { countByRule, nextByRule, onTheWall } from '../../core/time/rrule.ts'
import type { RuleTiming, Timing } from './timing.ts'
import { formatOffset, transitionsBetween } from './wall-clock.ts'
import type { Segment } from '../../core/time/zone.ts'

export type DstEffect = 'none' | 'skipped' | 'fires_after_gap' | 'shifted' | 'first_pass_only' | 'both_passes'

/** A change of the clock and what it does to a schedule. */
export interface DstNote {
  readonly at: Instant
  readonly zone: string
  readonly kind: 'gap' | 'repeat'
  /** `+01:00` */
  readonly offsetBefore: string
  readonly offsetAfter: string
  readonly effect: DstEffect
  readonly sentence: string
}

/** One note for every change of the clock in (after, upTo]. */
export function dstNotes(
  timing: Timing,
  window: { readonly after: Instant; readonly upTo: Instant },
): readonly DstNote[] {
  return transitionsBetween(timing.zone, window).map((change) => noteOf(timing, change))
}

function noteOf(timing: Timing, change: Segment): DstNote {
  const kind = change.offset > change.offsetBefore ? 'gap' : 'repeat'
  const touched = isOutside(timing, change) ? null : touchedTimes(timing, change)
  const effect = touched === null ? 'none' : effectOn(timing, change)
  return {
    at: instant(change.start * 1000),
    zone: timing.zone.name,
    kind,
    offsetBefore: formatOffset(change.offsetBefore),
    offsetAfter: formatOffset(change.offset),
    effect,
    sentence: touched === null ? unaffected(timing, change) : tell(timing, change, { ...touched, effect }),
  }
}

/** Whether nothing can fire around the change anyway. */
function isOutside(timing: Timing, change: Segment): boolean {
  const at = instant(change.start * 1000)
  if (timing.startsAt !== null && at < timing.startsAt) return true
  if (timing.endsAt !== null && at > timing.endsAt) return true
  return timing.exclude !== null && exclusionAround(timing.exclude, timing.zone, at) !== null
}

interface Touched {
  /** The first matching wall-clock time that is left out or repeated, and how many there are. */
  readonly first: number
  readonly count: number
}

function touchedTimes(timing: Timing, change: Segment): Touched | null {
  const edges = [change.start + change.offsetBefore, change.start + change.offset] as const
  const span = { from: smallest(edges), to: largest(edges) }
  if (timing.kind === 'cron') return touchedByCron(timing, span)
  return timing.kind === 'rrule' ? touchedByRule(timing, span) : null
}

interface WallSpan {
  readonly from: number
  readonly to: number
}

function touchedByCron(plan: CronPlan, span: WallSpan): Touched | null {
  const both = plan.dayMatch === 'and'
  const count = countLocal(plan.expression, both, span)
  return count === 0 ? null : { first: nextLocal(plan.expression, both, span.from), count }
}

function touchedByRule(timing: RuleTiming, span: WallSpan): Touched | null {
  const wall = onTheWall(timing.rule)
  if (wall === null) return null
  const first = nextByRule(wall, instant(span.from * 1000 - 1))
  if (first === null || first >= span.to * 1000) return null
  return { first: first / 1000, count: countByRule(wall, instant(first - 1), instant(span.to * 1000)) }
}

function effectOn(timing: Timing, change: Segment): DstEffect {
  if (change.offset < change.offsetBefore) return firesTwice(timing, change) ? 'both_passes' : 'first_pass_only'
  if (timing.kind !== 'cron') return 'skipped'
  switch (timing.dst) {
    case 'vixie':
      return 'fires_after_gap'
    case 'shift':
      return 'shifted'
    case 'skip':
    case 'both':
      return 'skipped'
  }
}

/** What a rule does in the second pass is asked, not guessed. */
function firesTwice(timing: Timing, change: Segment): boolean {
  if (timing.kind === 'cron') return keepsBothPasses(timing)
  if (timing.kind !== 'rrule') return false
  const found = nextByRule(timing.rule, instant(change.start * 1000 - 1))
  return found !== null && found < (change.start + change.offsetBefore - change.offset) * 1000
}

const timeOfDay = (local: number): string => formatTimeOfDay(local - Math.floor(local / DAY_SECONDS) * DAY_SECONDS)

function unaffected(timing: Timing, change: Segment): string {
  const direction = change.offset > change.offsetBefore ? 'forward' : 'back'
  const at = formatLocal(change.start + change.offsetBefore)
  const offsets = `${formatOffset(change.offsetBefore)} to ${formatOffset(change.offset)}`
  return `${at}: clocks in ${timing.zone.name} go ${direction} (${offsets}); no fire is affected`
}

function tell(timing: Timing, change: Segment, touched: Touched & { readonly effect: DstEffect }): string {
  const { first, count, effect } = touched
  const many = count > 1
  const when = `${formatLocal(first)}${many ? ` and ${count - 1} more` : ''}`
  const gap = `${when} ${many ? 'do' : 'does'} not exist in ${timing.zone.name}`
  const repeat = `${when} ${many ? 'happen' : 'happens'} twice in ${timing.zone.name}`
  switch (effect) {
    case 'none':
      return unaffected(timing, change)
    case 'skipped':
      return `${gap}; does not fire then`
    case 'fires_after_gap':
      return `${gap}; fires ${many ? 'once ' : ''}at ${timeOfDay(change.start + change.offset)} instead`
    case 'shifted': {
      const later = timeOfDay(first + change.offset - change.offsetBefore)
      return many
        ? `${gap}; fires later by the length of the gap, first at ${later}`
        : `${gap}; fires at ${later} instead`
    }
    case 'first_pass_only':
      return `${repeat}; fires on the first pass only`
    case 'both_passes':
      return `${repeat}; fires on both passes`
  }
}
