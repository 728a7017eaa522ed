import type { ExplainAsked, ExplainQuery, ZoneSource } from '../../features/explain/schema.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { DAY_MS, earlier, formatInstant, later, parseInstant, SECOND_MS, type Instant } from '../../domain/instant.ts'
import { DAY_SECONDS, dayFromText } from '../../domain/time/calendar.ts'
import { formatInZone, instantOf, localDayOf, localOf } from '../../domain/time/wall-clock.ts'
import { UTC, type Zone } from '../../core/time/zone.ts'

/** A moment that is asked about, and how it was read. */
export interface AskedAt {
  readonly at: Instant
  readonly zone: Zone
  readonly zoneFrom: ZoneSource
  /** The wall clock of the zone never showed the time that was asked for. */
  readonly isInGap: boolean
}

/** By whose clock a time without a zone is read. */
export interface Reader {
  readonly now: Instant
  readonly zone: Zone
  readonly zoneFrom: Exclude<ZoneSource, 'given'>
}

const WITH_ZONE = /(?:[Zz]|[+-]\d{2}:\d{2})$/
const WITHOUT_SECONDS = /^(\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2})((?:[Zz]|[+-]\d{2}:\d{2}))$/
const LOCAL = /^(?:(\d{4}-\d{2}-\d{2})(?:[Tt ](?=\d)|$))?(?:(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,3})?)?)?$/

const ALLOWED = 'a time such as 2026-11-16T09:00:00Z, 2026-11-16T09:00 or 09:00'

/** Reads a moment as people ask for it: with a zone, or by the clock that they have before them. */
export function readAsked(field: string, text: string, reader: Reader): Parsed<AskedAt> {
  if (WITH_ZONE.test(text)) {
    const read = parseInstant(field, text.replace(WITHOUT_SECONDS, '$1:00$2'))
    return read.ok ? parsed({ at: read.value, zone: UTC, zoneFrom: 'given', isInGap: false }) : read
  }
  const match = LOCAL.exec(text)
  if (match === null || (match[1] === undefined && match[2] === undefined))
    return flawed({ field, value: text, message: 'is not a time', allowed: ALLOWED })
  const [hour, minute, second] = [Number(match[2] ?? 0), Number(match[3] ?? 0), Number(match[4] ?? 0)]
  const day = match[1] === undefined ? null : dayFromText(match[1])
  if (hour > 23 || minute > 59 || second > 59 || (match[1] !== undefined && day === null))
    return flawed({ field, value: text, message: 'is a time that does not exist', allowed: ALLOWED })
  return parsed(onTheWall(day, hour * 3_600 + minute * 60 + second, reader))
}

function onTheWall(day: number | null, second: number, { now, zone, zoneFrom }: Reader): AskedAt {
  const of = (date: number): AskedAt => {
    const local = date * DAY_SECONDS + second
    const at = instantOf(zone, local)
    return { at, zone, zoneFrom, isInGap: localOf(zone, at) !== local }
  }
  if (day !== null) return of(day)
  // Nobody asks why nothing happened at a time that is still to come.
  const today = of(localDayOf(zone, now))
  return today.at <= now ? today : of(localDayOf(zone, earlier(now, DAY_MS)))
}

/** How far around a moment is looked when nobody says. */
const USUALLY_WITHIN_SECONDS = 300

/** The stretch of time that is looked at. */
export interface Window {
  readonly from: Instant
  readonly to: Instant
}

/** From when to when is looked. */
export function windowOf(at: Instant, { within_seconds: within = USUALLY_WITHIN_SECONDS }: ExplainQuery): Window {
  return { from: earlier(at, within * SECOND_MS), to: later(at, within * SECOND_MS) }
}

/** The question as it was understood. */
export const viewAsked = ({ at, zone, zoneFrom }: AskedAt, { from, to }: Window): ExplainAsked => ({
  id: null,
  at: formatInstant(at),
  local: formatInZone(zone, at),
  timezone: zone.name,
  timezone_from: zoneFrom,
  from: formatInstant(from),
  to: formatInstant(to),
})
