import { earlier, formatInstant, HOUR_MS, instant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { dstNotes } from '../time/preview.ts'
import { exclusionAround } from '../time/exclusion.ts'
import { nextOccurrence, type Timing } from '../time/timing.ts'
import { formatInZone, instantOf, localOf } from '../time/wall-clock.ts'
import type { Zone } from '../../core/time/zone.ts'

/** Whether the moment is one of the plan. */
export const isOccurrence = (timing: Timing, at: Instant): boolean => nextOccurrence(timing, earlier(at, 1)) === at

/** No clock is changed by more, and a question about a time in a gap lands within it. */
const AROUND_A_CHANGE_MS = 2 * HOUR_MS

/**
 * Why a moment is none of the plan, as far as the plan itself says it: taken out, before its beginning, behind its end, a
 * change of the clock, or the same time by another clock. `asked` is the zone in which the question was asked.
 */
export function whyNoOccurrence(timing: Timing, at: Instant, asked: Zone): Why {
  const moment = formatInstant(at)
  return (
    whyOutside(timing, at) ??
    whyClockChanged(timing, at) ??
    whyOtherZone(timing, at, asked) ??
    because('no_occurrence', 'timing', { at: moment })
  )
}

function whyOutside(timing: Timing, at: Instant): Why | null {
  const { startsAt, endsAt, exclude, zone } = timing
  if (startsAt !== null && at < startsAt && isOccurrence({ ...timing, startsAt: null }, at))
    return because('before_start', 'starts_at', { starts_at: formatInstant(startsAt) })
  if (endsAt !== null && at > endsAt && isOccurrence({ ...timing, endsAt: null }, at))
    return because('after_end', 'ends_at', { ends_at: formatInstant(endsAt) })
  if (exclude !== null && exclusionAround(exclude, zone, at) !== null && isOccurrence({ ...timing, exclude: null }, at))
    return because('excluded_date', 'exclude', { at: formatInstant(at) })
  return null
}

function whyClockChanged(timing: Timing, at: Instant): Why | null {
  const notes = dstNotes(timing, {
    after: earlier(at, AROUND_A_CHANGE_MS),
    upTo: instant(at + AROUND_A_CHANGE_MS),
  })
  const note = notes.find(({ effect }) => effect !== 'none')
  if (note === undefined) return null
  return because('clock_change', timing.kind === 'cron' ? `dst=${timing.dst}` : 'dst', {
    timezone: note.zone,
    changed_at: formatInstant(note.at),
    note: note.sentence,
  })
}

/** The time on the wall that was meant is one of the plan, but by another clock. */
function whyOtherZone(timing: Timing, at: Instant, asked: Zone): Why | null {
  const { zone } = timing
  if (zone.name === asked.name || timing.kind === 'at' || timing.kind === 'every') return null
  const local = localOf(asked, at)
  const planned = instantOf(zone, local)
  if (planned === at || !isOccurrence(timing, planned)) return null
  return because('other_zone', 'timezone', {
    local: formatInZone(zone, planned),
    timezone: zone.name,
    planned: formatInstant(planned),
    at: formatInstant(at),
  })
}
