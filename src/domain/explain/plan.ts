import { earlier, formatInstant, HOUR_MS, instant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { dstNotes } from '../time/preview.ts'
import { exclusionAt } from '../time/exclusion.ts'
import { nextOccurrence, type Timing } from '../time/timing.ts'
import { formatInZone, instantOfLocal, localTimeAt } from '../time/wall-clock.ts'
import type { Zone } from '../time/zone.ts'

/** Whether the timing has an occurrence at a time. */
export const isOccurrence = (timing: Timing, at: Instant): boolean => nextOccurrence(timing, earlier(at, 1)) === at

/** How far around a time to look for clock changes. A time in a gap is within this distance of the change. */
const CHANGE_SEARCH_MS = 2 * HOUR_MS

/**
 * Why a timing has no occurrence at a time: excluded, before its start, after its end, a clock change, or the same
 * wall-clock time in another time zone. `asked` is the time zone of the request.
 */
export function whyNoOccurrence(timing: Timing, at: Instant, requestZone: Zone): Why {
  const time = formatInstant(at)
  return (
    whyOutside(timing, at) ??
    whyClockChanged(timing, at) ??
    whyOtherZone(timing, at, requestZone) ??
    because('no_occurrence', 'timing', { at: time })
  )
}

function whyOutside(timing: Timing, at: Instant): Why | null {
  const { startsAt, endsAt, exclude, zone } = timing
  if (startsAt !== null && at < startsAt && isOccurrence({ ...timing, startsAt: null }, at))
    return because('before_start', 'starts_at', { starts_at: formatInstant(startsAt) })
  if (endsAt !== null && at > endsAt && isOccurrence({ ...timing, endsAt: null }, at))
    return because('after_end', 'ends_at', { ends_at: formatInstant(endsAt) })
  if (exclude !== null && exclusionAt(exclude, zone, at) !== null && isOccurrence({ ...timing, exclude: null }, at))
    return because('excluded_date', 'exclude', { at: formatInstant(at) })
  return null
}

function whyClockChanged(timing: Timing, at: Instant): Why | null {
  const notes = dstNotes(timing, {
    after: earlier(at, CHANGE_SEARCH_MS),
    upTo: instant(at + CHANGE_SEARCH_MS),
  })
  const note = notes.find(({ effect }) => effect !== 'none')
  if (note === undefined) return null
  return because('clock_change', timing.kind === 'cron' ? `dst=${timing.dst}` : 'dst', {
    timezone: note.zone,
    changed_at: formatInstant(note.at),
    note: note.sentence,
  })
}

/** The reason if the same wall-clock time in the schedule's time zone is an occurrence, otherwise null. */
function whyOtherZone(timing: Timing, at: Instant, requestZone: Zone): Why | null {
  const { zone } = timing
  if (zone.name === requestZone.name || timing.kind === 'at' || timing.kind === 'every') return null
  const local = localTimeAt(requestZone, at)
  const planned = instantOfLocal(zone, local)
  if (planned === at || !isOccurrence(timing, planned)) return null
  return because('other_zone', 'timezone', {
    local: formatInZone(zone, planned),
    timezone: zone.name,
    planned: formatInstant(planned),
    at: formatInstant(at),
  })
}
