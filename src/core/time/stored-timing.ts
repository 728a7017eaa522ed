import { storeCadence } from '../../domain/schedule/pace/settings.ts'
import { describeFlaw } from '../../domain/input.ts'
import { formatInstant, instant, type Instant } from '../../domain/instant.ts'
import { formatDay } from '../../domain/time/calendar.ts'
import type { Exclusion } from '../../domain/time/exclusion.ts'
import { parseTiming } from './parse-timing.ts'
import type { Timing } from '../../domain/time/timing.ts'
import { UTC } from './zone.ts'

/** A timing as plain data: the fields a user would send, with everything that was filled in written out. */
export type StoredTiming = Readonly<Record<string, unknown>>

/** What to keep of a timing. `restoreTiming` makes the same timing of it, on any machine and at any time. */
export function storeTiming(timing: Timing): StoredTiming {
  const common = {
    timezone: timing.zone.name,
    ...(timing.startsAt === null ? {} : { starts_at: formatInstant(timing.startsAt) }),
    ...(timing.endsAt === null ? {} : { ends_at: formatInstant(timing.endsAt) }),
    ...(timing.exclude === null ? {} : { exclude: storeExclusion(timing.exclude) }),
  }
  switch (timing.kind) {
    case 'at':
      return { ...common, at: formatInstant(timing.at) }
    case 'every':
      return {
        ...{ ...common, everyMs: timing.intervalMs, anchor: formatInstant(timing.anchor) },
        ...(timing.cadence === undefined ? {} : { cadence: storeCadence(timing.cadence) }),
      }
    case 'cron':
      return { ...common, cron: timing.expression.text, dst: timing.dst, day_match: timing.dayMatch }
    case 'rrule':
      return { ...common, rrule: timing.rule.text, anchor: formatInstant(timing.rule.start) }
  }
}

const storeExclusion = ({ dates, windows }: Exclusion): readonly unknown[] => [
  ...dates.map(formatDay),
  ...windows.map(({ from, to }) => ({ from: formatInstant(from), to: formatInstant(to) })),
]

/** Nothing stored is in the past: it was checked when it was made. */
const BEFORE_EVERYTHING: Instant = instant(-8.64e15)

/** The timing that was stored. What cannot be read any more is a damaged row, and is refused loudly. */
export function restoreTiming(stored: StoredTiming): Timing {
  const read = parseTiming(stored, { now: BEFORE_EVERYTHING, defaultZone: UTC, isStored: true })
  if (read.ok) return read.value
  throw new Error(`a stored timing cannot be read: ${read.flaws.map(describeFlaw).join('; ')}`)
}
