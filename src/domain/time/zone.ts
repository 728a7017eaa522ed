import { flawed, parsed, type Parsed } from '../input.ts'
import { nearestWord } from '../nearest-word.ts'
import { civilFromDay, DAY_SECONDS, dayFromCivil } from './calendar.ts'

/**
 * The IANA names without a slash. Others that Intl accepts are rejected, such as BST, which it takes for Bangladesh.
 *
 * Intl replaces some names (Asia/Kolkata becomes Asia/Calcutta), so this file keeps the name that the user wrote and
 * only corrects its letter case.
 */
const BARE_NAMES = (
  'UTC GMT UCT Zulu Universal Greenwich GMT0 GMT+0 GMT-0 EST MST HST EST5EDT CST6CDT MST7MDT PST8PDT CET EET MET WET ' +
  'Cuba Egypt Eire GB GB-Eire Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya NZ NZ-CHAT Navajo PRC Poland ' +
  'Portugal ROC ROK Singapore Turkey W-SU'
).split(' ')

/** Words that are not capitalized like others, in names that Intl replaces. */
const IRREGULAR_WORDS = new Map(
  'US ACT NSW LHI GMT UTC UCT GMT0 BajaNorte BajaSur EasterIsland DeNoronha IN of es au da'
    .split(' ')
    .map((word) => [word.toLowerCase(), word]),
)

const AREAS =
  /^(africa|america|antarctica|arctic|asia|atlantic|australia|brazil|canada|chile|etc|europe|indian|mexico|pacific|us)\//i

/** Whether a text can be an IANA name. Offsets, POSIX rules and ICU-only names are not. */
const isZoneNameLike = (name: string): boolean => AREAS.test(name) || bareName(name) !== undefined

/** The name in IANA's letter case. `canonical` is the name that Intl resolves it to. */
function conventionalZoneName(name: string, canonical: string): string {
  if (name.toLowerCase() === canonical.toLowerCase()) return canonical
  return (
    bareName(name) ?? name.toLowerCase().replace(/[a-z0-9]+/g, (word) => IRREGULAR_WORDS.get(word) ?? capitalised(word))
  )
}

const bareName = (name: string): string | undefined =>
  BARE_NAMES.find((bare) => bare.toLowerCase() === name.toLowerCase())

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/**
 * A period of constant UTC offset, cut at the ends of calendar years (in UTC). All numbers are whole seconds: `start`,
 * `end` and `since` count from the epoch, `shown` and `shownEnd` are wall-clock times. An uncut period is always longer
 * than the gap before it: the shortest on record is 7 days, and no clock change was longer than about one day.
 */
export interface Segment {
  readonly start: number
  readonly end: number
  readonly offset: number
  /** The last clock change, if it was shortly before `start`: a gap can reach over New Year. */
  readonly changedAt: number
  /** The offset in force before `since`. */
  readonly offsetBefore: number
  /** Wall-clock times that an earlier segment already had: pairs of from (inclusive) and to (exclusive). */
  readonly repeated: readonly number[]
  /** The end of the last range in `shown`, so that the common check is one comparison. */
  readonly repeatedEnd: number
}

export interface Zone {
  /** The IANA name that the user chose: Asia/Kolkata stays Asia/Kolkata. */
  readonly name: string
  readonly cache: ZoneCache
}

/**
 * A cache of the segments of a zone. Offsets never change while the process runs, so filling it has no visible effect.
 * It is bounded: about 600 zone names with a few segments per year.
 */
interface ZoneCache {
  current: Segment
  readonly years: Map<number, readonly Segment[]>
  readonly intl: ZoneClock | null
}

const WEEK_SECONDS = 7 * DAY_SECONDS

const UTC_SEGMENT: Segment = {
  start: -Infinity,
  end: Infinity,
  offset: 0,
  changedAt: -Infinity,
  offsetBefore: 0,
  repeated: [],
  repeatedEnd: -Infinity,
}
const EMPTY_SEGMENT: Segment = { ...UTC_SEGMENT, start: Infinity, end: -Infinity }

/** UTC has a single segment without ends and needs no Intl lookups. */
export const UTC: Zone = { name: 'UTC', cache: { current: UTC_SEGMENT, years: new Map(), intl: null } }

// Zones are shared by name so that all schedules use one cache per zone.
const zones = new Map<string, Zone>([['UTC', UTC]])

/** Longer than any zone name. */
export const MAX_ZONE_NAME = 100

/** Parses an IANA name in any letter case. */
export function parseZone(field: string, value: unknown): Parsed<Zone> {
  const allowed = 'an IANA time zone such as Europe/Berlin, America/New_York or UTC'
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be the name of a time zone', allowed })
  const known = zones.get(value)
  if (known !== undefined) return parsed(known)
  const canonical = value.length <= MAX_ZONE_NAME && isZoneNameLike(value) ? canonicalName(value) : null
  if (canonical === null)
    return flawed({ field, value, message: `is not a known time zone${suggestionFor(value)}`, allowed })
  return parsed(createZone(conventionalZoneName(value, canonical), canonical))
}

/** All zone names by their lower-case form. Loaded on the first unknown name. */
let loadedNames: ReadonlyMap<string, string> | null = null
const allZoneNames = (): ReadonlyMap<string, string> =>
  (loadedNames ??= new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name])))

/** A suggestion for an unknown name: a city without its area, or a misspelled name. */
function suggestionFor(text: string): string {
  if (text.length > MAX_ZONE_NAME) return ''
  const word = text.trim().replaceAll(' ', '_').toLowerCase()
  const known = allZoneNames()
  const city = [...known.keys()].find((name) => name.endsWith(`/${word}`))
  const near = known.get(city ?? nearestWord(word, [...known.keys()]) ?? '')
  return near === undefined ? '' : `; did you mean ${near}?`
}

function createZone(name: string, canonical: string): Zone {
  const known = zones.get(name)
  if (known !== undefined) return known
  const cache =
    canonical === 'UTC' ? UTC.cache : { current: EMPTY_SEGMENT, years: new Map(), intl: zoneClock(canonical) }
  const zone = { name, cache }
  zones.set(name, zone)
  return zone
}

function canonicalName(name: string): string | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return null
  }
}

/** The segment that contains a time in seconds since the epoch. */
export function segmentAt(zone: Zone, second: number): Segment {
  const cache = zone.cache
  const current = cache.current
  if (second >= current.start && second < current.end) return current
  const found = segmentInYear(cache, second)
  cache.current = found
  return found
}

/** The years that are looked up in Intl. Outside them, the nearest known segment is used. */
const FIRST_KNOWN_YEAR = 1900
const LAST_KNOWN_YEAR = 2250

function segmentInYear(cache: ZoneCache, second: number): Segment {
  const year = civilFromDay(Math.floor(second / DAY_SECONDS)).year
  const segments = segmentsOfYear(cache, Math.min(Math.max(year, FIRST_KNOWN_YEAR), LAST_KNOWN_YEAR))
  const found = segments.find((segment) => second < segment.end) ?? segments.at(-1) ?? UTC_SEGMENT
  if (second >= found.start && second < found.end) return found
  const beyond = { ...UTC_SEGMENT, offset: found.offset, offsetBefore: found.offset }
  return second < found.start ? { ...beyond, end: found.start } : { ...beyond, start: found.end }
}

function segmentsOfYear(cache: ZoneCache, year: number): readonly Segment[] {
  const known = cache.years.get(year)
  if (known !== undefined) return known
  const segments = cache.intl === null ? [UTC_SEGMENT] : (copyKnownYear(cache, year) ?? findSegments(cache.intl, year))
  cache.years.set(year, segments)
  return segments
}

/** From this year on, clock changes depend only on the weekday of January 1 and the length of the year. */
const REGULAR_FROM_YEAR = 2090

const startOfYear = (year: number): number => dayFromCivil({ year, month: 1, day: 1 }) * DAY_SECONDS

/** The segments of a year, copied from a known year with the same calendar; null if there is none. */
function copyKnownYear({ years }: ZoneCache, year: number): readonly Segment[] | null {
  const [first, length] = [startOfYear(year), startOfYear(year + 1) - startOfYear(year)]
  for (let other = REGULAR_FROM_YEAR; other <= LAST_KNOWN_YEAR && year >= REGULAR_FROM_YEAR; other += 1) {
    const known = years.get(other)
    const away = first - startOfYear(other)
    if (known === undefined || away % WEEK_SECONDS !== 0 || startOfYear(other + 1) - startOfYear(other) !== length)
      continue
    return known.map((segment) => ({
      ...segment,
      start: segment.start + away,
      end: segment.end + away,
      changedAt: segment.changedAt + away,
      repeated: segment.repeated.map((local) => local + away),
      repeatedEnd: segment.repeatedEnd + away,
    }))
  }
  return null
}

interface OffsetPeriod {
  readonly start: number
  readonly offset: number
}

function findSegments(clock: ZoneClock, year: number): readonly Segment[] {
  const [first, end] = [startOfYear(year), startOfYear(year + 1)]
  // Include two days of the previous year: their times may repeat, and their gaps may reach into this year.
  const periods = findOffsetPeriods(clock, first - 2 * DAY_SECONDS, end).map((period, index, all) => ({
    ...period,
    end: all[index + 1]?.start ?? end,
  }))
  return periods.flatMap((period, index) => {
    if (period.end <= first) return []
    const segment = { ...period, start: Math.max(first, period.start) }
    const repeated = repeatedTimes(periods.slice(0, index), segment)
    const offsetBefore = periods[index - 1]?.offset ?? period.offset
    return [{ ...segment, changedAt: period.start, offsetBefore, repeated, repeatedEnd: repeated.at(-1) ?? -Infinity }]
  })
}

/**
 * Finds the offset changes: one lookup per week, and a binary search to the second between two lookups that differ. The
 * shortest period on record is 7 days, so no change is missed.
 */
function findOffsetPeriods(
  { weekTimeAt: faceAt, offsetAt }: ZoneClock,
  from: number,
  to: number,
): readonly OffsetPeriod[] {
  let offset = offsetAt(from)
  let face = faceAt(from)
  const periods: OffsetPeriod[] = [{ start: from, offset }]
  for (let known = from; known < to;) {
    const upTo = Math.min(to, known + WEEK_SECONDS)
    const shown = faceAt(upTo)
    if (shown === face && upTo < to) {
      known = upTo
      continue
    }
    face = shown
    const target = offsetAt(upTo)
    // Runs more than once only if two changes are less than a week apart, which has not happened so far.
    while (offset !== target) {
      const start = changeBetween(offsetAt, offset, { from: known, to: upTo })
      offset = offsetAt(start)
      periods.push({ start, offset })
      known = start
    }
    known = upTo
  }
  return periods.filter((period) => period.start < to)
}

/** The first second with another offset. Tries whole hours first, because nearly all changes are on the hour. */
function changeBetween(
  offsetAt: ZoneClock['offsetAt'],
  offset: number,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  let [low, high] = [from, to]
  const narrow = (second: number): void => {
    if (offsetAt(second) === offset) low = second
    else high = second
  }
  for (const unit of [3600, 60, 1]) {
    for (;;) {
      const middle = Math.floor((low + high) / 2 / unit) * unit
      if (middle <= low) break
      narrow(middle)
    }
    if (high - low > 1 && high % unit === 0) narrow(high - 1)
  }
  return high
}

interface BoundedOffsetPeriod extends OffsetPeriod {
  readonly end: number
}

function repeatedTimes(earlier: readonly BoundedOffsetPeriod[], period: BoundedOffsetPeriod): readonly number[] {
  const overlaps = earlier
    .map((other) => ({
      from: Math.max(other.start + other.offset, period.start + period.offset),
      to: Math.min(other.end + other.offset, period.end + period.offset),
    }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from)
  const merged: number[] = []
  for (const { from, to } of overlaps) {
    const last = merged.at(-1)
    if (last !== undefined && from <= last) merged[merged.length - 1] = Math.max(last, to)
    else merged.push(from, to)
  }
  return merged
}

/** Intl lookups of a zone. Offsets are computed from the formatted time, because Intl has no offsets with seconds. */
interface ZoneClock {
  readonly offsetAt: (second: number) => number
  /** Weekday and time. Equal a week later only if the offset is equal, and three times as fast as `offsetAt`. */
  readonly weekTimeAt: (second: number) => string
}

function zoneClock(name: string): ZoneClock {
  const time = { timeZone: name, hourCycle: 'h23', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const
  const face = new Intl.DateTimeFormat('en-US', { ...time, weekday: 'short' })
  const clock = new Intl.DateTimeFormat('en-US', { ...time, year: 'numeric', month: 'numeric', day: 'numeric' })
  return {
    weekTimeAt: (second) => face.format(second * 1000),
    offsetAt: (second) => {
      const [month = 0, day = 0, year = 0, hour = 0, minute = 0, rest = 0] = clock
        .format(second * 1000)
        .split(/\D+/)
        .map(Number)
      return dayFromCivil({ year, month, day }) * DAY_SECONDS + hour * 3600 + minute * 60 + rest - second
    },
  }
}
