import { instant, type Instant } from '../instant.ts'
import { largest, smallest } from '../long-lists.ts'
import { DAY_SECONDS, formatLocal, formatTimeOfDay } from './calendar.ts'
import { countLocal, nextLocal } from './cron-match.ts'
import { type CronPlan } from './cron.ts'
import { firesOnBothPasses } from './dst-policy.ts'
import { exclusionAt } from './exclusion.ts'
import { countByRule, nextByRule, withoutClockChanges } from './rrule.ts'
import { sentenceFor } from './sentence.ts'
import { occurrencesBetween, type RuleTiming, type Timing } from './timing.ts'
import { formatOffset, transitionsBetween } from './wall-clock.ts'
import type { Segment } from './zone.ts'

type DstEffect = 'none' | 'skipped' | 'fires_after_gap' | 'shifted' | 'first_pass_only' | 'both_passes'

/** A clock change and its effect on a schedule. */
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

/** One note for each clock change in (after, upTo]. */
export function dstNotes(
  timing: Timing,
  window: { readonly after: Instant; readonly upTo: Instant },
): readonly DstNote[] {
  return transitionsBetween(timing.zone, window).map((change) => noteOf(timing, change))
}

function noteOf(timing: Timing, change: Segment): DstNote {
  const kind = change.offset > change.offsetBefore ? 'gap' : 'repeat'
  const affected = isOutsideLimits(timing, change) ? null : affectedTimes(timing, change)
  const effect = affected === null ? 'none' : effectOn(timing, change)
  return {
    at: instant(change.start * 1000),
    zone: timing.zone.name,
    kind,
    offsetBefore: formatOffset(change.offsetBefore),
    offsetAfter: formatOffset(change.offset),
    effect,
    sentence:
      affected === null ? describeUnaffected(timing, change) : describeChange(timing, change, { ...affected, effect }),
  }
}

/** Whether the schedule cannot fire at the change because of its limits or exclusions. */
function isOutsideLimits(timing: Timing, change: Segment): boolean {
  const at = instant(change.start * 1000)
  if (timing.startsAt !== null && at < timing.startsAt) return true
  if (timing.endsAt !== null && at > timing.endsAt) return true
  return timing.exclude !== null && exclusionAt(timing.exclude, timing.zone, at) !== null
}

interface AffectedTimes {
  /** The first matching wall-clock time that is skipped or repeated, and the number of such times. */
  readonly first: number
  readonly count: number
}

function affectedTimes(timing: Timing, change: Segment): AffectedTimes | null {
  const edges = [change.start + change.offsetBefore, change.start + change.offset] as const
  const span = { from: smallest(edges), to: largest(edges) }
  if (timing.kind === 'cron') return affectedByCron(timing, span)
  return timing.kind === 'rrule' ? affectedByRule(timing, span) : null
}

interface WallSpan {
  readonly from: number
  readonly to: number
}

function affectedByCron(plan: CronPlan, span: WallSpan): AffectedTimes | null {
  const matchBoth = plan.dayMatch === 'and'
  const count = countLocal(plan.expression, matchBoth, span)
  return count === 0 ? null : { first: nextLocal(plan.expression, matchBoth, span.from), count }
}

function affectedByRule(timing: RuleTiming, span: WallSpan): AffectedTimes | null {
  const wall = withoutClockChanges(timing.rule)
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

/** Whether the schedule also fires on the second pass. For a rule this is looked up in its occurrences. */
function firesTwice(timing: Timing, change: Segment): boolean {
  if (timing.kind === 'cron') return firesOnBothPasses(timing)
  if (timing.kind !== 'rrule') return false
  const found = nextByRule(timing.rule, instant(change.start * 1000 - 1))
  return found !== null && found < (change.start + change.offsetBefore - change.offset) * 1000
}

const localTimeOfDay = (local: number): string => formatTimeOfDay(local - Math.floor(local / DAY_SECONDS) * DAY_SECONDS)

function describeUnaffected(timing: Timing, change: Segment): string {
  const direction = change.offset > change.offsetBefore ? 'forward' : 'back'
  const at = formatLocal(change.start + change.offsetBefore)
  const offsets = `${formatOffset(change.offsetBefore)} to ${formatOffset(change.offset)}`
  return `${at}: clocks in ${timing.zone.name} go ${direction} (${offsets}); no occurrence is affected`
}

function describeChange(
  timing: Timing,
  change: Segment,
  affected: AffectedTimes & { readonly effect: DstEffect },
): string {
  const { first, count, effect } = affected
  const isPlural = count > 1
  const when = `${formatLocal(first)}${isPlural ? ` and ${count - 1} more` : ''}`
  const gap = `${when} ${isPlural ? 'do' : 'does'} not exist in ${timing.zone.name}`
  const repeat = `${when} ${isPlural ? 'happen' : 'happens'} twice in ${timing.zone.name}`
  switch (effect) {
    case 'none':
      return describeUnaffected(timing, change)
    case 'skipped':
      return `${gap}; does not fire then`
    case 'fires_after_gap':
      return `${gap}; fires ${isPlural ? 'once ' : ''}at ${localTimeOfDay(change.start + change.offset)} instead`
    case 'shifted': {
      const later = localTimeOfDay(first + change.offset - change.offsetBefore)
      return isPlural
        ? `${gap}; fires later by the length of the gap, first at ${later}`
        : `${gap}; fires at ${later} instead`
    }
    case 'first_pass_only':
      return `${repeat}; fires on the first pass only`
    case 'both_passes':
      return `${repeat}; fires on both passes`
  }
}

export interface TimingPreview {
  readonly sentence: string
  readonly next: readonly Instant[]
  readonly dstNotes: readonly DstNote[]
}

const END_OF_TIME = instant(8.64e15)

/** Later clock changes are not reported, because each further year needs time zone lookups. */
const MAX_NOTES_AHEAD_MS = 5 * 366 * 86_400_000

/** A schedule as a sentence, its next occurrences, and the clock changes up to the last of them. */
export function previewTiming(timing: Timing, view: { readonly now: Instant; readonly count: number }): TimingPreview {
  const next = occurrencesBetween(timing, { after: view.now, upTo: END_OF_TIME, limit: view.count })
  const last = Math.min(next.at(-1) ?? view.now, view.now + MAX_NOTES_AHEAD_MS)
  return {
    sentence: sentenceFor(timing),
    next,
    dstNotes: dstNotes(timing, { after: view.now, upTo: instant(last) }),
  }
}
