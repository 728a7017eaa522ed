import { nearestWord } from '../../domain/nearest-word.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { DAY_SECONDS, civilFromDay, dayFromCivil } from '../../domain/time/calendar.ts'
import { conventionalZoneName, isZoneNameLike } from './zone-name.ts'

/**
 * A stretch of constant offset, cut where a calendar year (in UTC) ends. All numbers are whole seconds: `start`, `end`
 * and `since` since the epoch, the rest as the wall clock shows them. An uncut stretch is always longer than the gap
 * that opens it: the shortest one on record is seven days, and no wall clock was moved by more than about one.
 */
export interface Segment {
  readonly start: number
  readonly end: number
  readonly offset: number
  /** When the clock was last changed, if that was not long before `start`: a gap may reach over New Year. */
  readonly since: number
  /** The offset in force before `since`. */
  readonly offsetBefore: number
  /** Wall-clock time in this stretch that an earlier one has shown: pairs of from (inclusive) and to (exclusive). */
  readonly shown: readonly number[]
  /** Where the last of `shown` ends, so that the usual question takes one comparison. */
  readonly shownEnd: number
}

export interface Zone {
  /** As IANA spells the name the user chose. Asia/Kolkata stays Asia/Kolkata. */
  readonly name: string
  readonly memory: ZoneMemory
}

/**
 * What has been found out about a zone so far. It is the cache of a pure function (the offset of a zone at an instant
 * never changes while the process lives), so filling it cannot be observed except by a clock; and it is small and
 * bounded: some six hundred names, a few stretches a year.
 */
interface ZoneMemory {
  current: Segment
  readonly years: Map<number, readonly Segment[]>
  readonly intl: ZoneClock | null
}

const WEEK_SECONDS = 7 * DAY_SECONDS

const ALWAYS: Segment = {
  start: -Infinity,
  end: Infinity,
  offset: 0,
  since: -Infinity,
  offsetBefore: 0,
  shown: [],
  shownEnd: -Infinity,
}
const NEVER: Segment = { ...ALWAYS, start: Infinity, end: -Infinity }

/** UTC asks nobody: its only stretch has no ends. */
export const UTC: Zone = { name: 'UTC', memory: { current: ALWAYS, years: new Map(), intl: null } }

// A name always means the same zone: sharing the object is what lets a million schedules share one memory.
const zones = new Map<string, Zone>([['UTC', UTC]])

/** Longer than the name of any zone. */
export const MAX_ZONE_NAME = 100

/** Reads an IANA name in any case. */
export function parseZone(field: string, value: unknown): Parsed<Zone> {
  const allowed = 'an IANA time zone such as Europe/Berlin, America/New_York or UTC'
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be the name of a time zone', allowed })
  const known = zones.get(value)
  if (known !== undefined) return parsed(known)
  const canonical = value.length <= MAX_ZONE_NAME && isZoneNameLike(value) ? canonicalName(value) : null
  if (canonical === null) return flawed({ field, value, message: `is not a known time zone${meant(value)}`, allowed })
  return parsed(zoneNamed(conventionalZoneName(value, canonical), canonical))
}

/** By their names in small letters; asked for once, and only by whoever names none of them. */
let names: ReadonlyMap<string, string> | null = null
const everyName = (): ReadonlyMap<string, string> =>
  (names ??= new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name])))

/** A city without its continent, or a slip of the pen: which zone was probably meant. */
function meant(text: string): string {
  if (text.length > MAX_ZONE_NAME) return ''
  const word = text.trim().replaceAll(' ', '_').toLowerCase()
  const known = everyName()
  const city = [...known.keys()].find((name) => name.endsWith(`/${word}`))
  const near = known.get(city ?? nearestWord(word, [...known.keys()]) ?? '')
  return near === undefined ? '' : `; did you mean ${near}?`
}

function zoneNamed(name: string, canonical: string): Zone {
  const known = zones.get(name)
  if (known !== undefined) return known
  const memory = canonical === 'UTC' ? UTC.memory : { current: NEVER, years: new Map(), intl: zoneClock(canonical) }
  const zone = { name, memory }
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

/** The stretch that contains a second since the epoch. */
export function segmentAt(zone: Zone, second: number): Segment {
  const memory = zone.memory
  const current = memory.current
  if (second >= current.start && second < current.end) return current
  const found = segmentInYear(memory, second)
  memory.current = found
  return found
}

/** The years Intl is asked about. Outside them the nearest answer is used: no law that far away can be looked up. */
const FIRST_KNOWN_YEAR = 1900
const LAST_KNOWN_YEAR = 2250

function segmentInYear(memory: ZoneMemory, second: number): Segment {
  const year = civilFromDay(Math.floor(second / DAY_SECONDS)).year
  const segments = segmentsOfYear(memory, Math.min(Math.max(year, FIRST_KNOWN_YEAR), LAST_KNOWN_YEAR))
  const found = segments.find((segment) => second < segment.end) ?? segments.at(-1) ?? ALWAYS
  if (second >= found.start && second < found.end) return found
  const beyond = { ...ALWAYS, offset: found.offset, offsetBefore: found.offset }
  return second < found.start ? { ...beyond, end: found.start } : { ...beyond, start: found.end }
}

function segmentsOfYear(memory: ZoneMemory, year: number): readonly Segment[] {
  const known = memory.years.get(year)
  if (known !== undefined) return known
  const segments = memory.intl === null ? [ALWAYS] : (likeAnother(memory, year) ?? findSegments(memory.intl, year))
  memory.years.set(year, segments)
  return segments
}

/** From here on clocks follow one rule, the same in all years that begin on the same weekday and are as long. */
const REGULAR_FROM = 2090

const startOfYear = (year: number): number => dayFromCivil({ year, month: 1, day: 1 }) * DAY_SECONDS

/** The stretches of a year as those of a year that has the same calendar and was looked up before. */
function likeAnother({ years }: ZoneMemory, year: number): readonly Segment[] | null {
  const [first, length] = [startOfYear(year), startOfYear(year + 1) - startOfYear(year)]
  for (let other = REGULAR_FROM; other <= LAST_KNOWN_YEAR && year >= REGULAR_FROM; other += 1) {
    const known = years.get(other)
    const away = first - startOfYear(other)
    if (known === undefined || away % WEEK_SECONDS !== 0 || startOfYear(other + 1) - startOfYear(other) !== length)
      continue
    return known.map((segment) => ({
      ...segment,
      start: segment.start + away,
      end: segment.end + away,
      since: segment.since + away,
      shown: segment.shown.map((local) => local + away),
      shownEnd: segment.shownEnd + away,
    }))
  }
  return null
}

interface Stretch {
  readonly start: number
  readonly offset: number
}

function findSegments(clock: ZoneClock, year: number): readonly Segment[] {
  const [first, end] = [startOfYear(year), startOfYear(year + 1)]
  // Two days of the old year come along: what they showed may be shown again, and their gaps may reach into this one.
  const stretches = findStretches(clock, first - 2 * DAY_SECONDS, end).map((stretch, index, all) => ({
    ...stretch,
    end: all[index + 1]?.start ?? end,
  }))
  return stretches.flatMap((stretch, index) => {
    if (stretch.end <= first) return []
    const segment = { ...stretch, start: Math.max(first, stretch.start) }
    const shown = shownBefore(stretches.slice(0, index), segment)
    const offsetBefore = stretches[index - 1]?.offset ?? stretch.offset
    return [{ ...segment, since: stretch.start, offsetBefore, shown, shownEnd: shown.at(-1) ?? -Infinity }]
  })
}

/**
 * A question every week, and a bisection to the second between two that disagree. The shortest stretch on record is seven
 * days long, so that none lies between two questions.
 */
function findStretches({ faceAt, offsetAt }: ZoneClock, from: number, to: number): readonly Stretch[] {
  let offset = offsetAt(from)
  let face = faceAt(from)
  const stretches: Stretch[] = [{ start: from, offset }]
  for (let known = from; known < to;) {
    const upTo = Math.min(to, known + WEEK_SECONDS)
    const shown = faceAt(upTo)
    if (shown === face && upTo < to) {
      known = upTo
      continue
    }
    face = shown
    const target = offsetAt(upTo)
    // More than once only if two changes were closer than a step; none on record are, but the loop costs nothing.
    while (offset !== target) {
      const start = changeBetween(offsetAt, offset, { from: known, to: upTo })
      offset = offsetAt(start)
      stretches.push({ start, offset })
      known = start
    }
    known = upTo
  }
  return stretches.filter((stretch) => stretch.start < to)
}

/** The first second with another offset. Clocks are nearly always changed on the hour, so whole hours come first. */
function changeBetween(
  offsetAt: ZoneClock['offsetAt'],
  offset: number,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  let [low, high] = [from, to]
  const ask = (second: number): void => {
    if (offsetAt(second) === offset) low = second
    else high = second
  }
  for (const unit of [3600, 60, 1]) {
    for (;;) {
      const middle = Math.floor((low + high) / 2 / unit) * unit
      if (middle <= low) break
      ask(middle)
    }
    if (high - low > 1 && high % unit === 0) ask(high - 1)
  }
  return high
}

interface EndedStretch extends Stretch {
  readonly end: number
}

function shownBefore(earlier: readonly EndedStretch[], stretch: EndedStretch): readonly number[] {
  const overlaps = earlier
    .map((other) => ({
      from: Math.max(other.start + other.offset, stretch.start + stretch.offset),
      to: Math.min(other.end + other.offset, stretch.end + stretch.offset),
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

/** The only questions to Intl in the core. It has no word for an offset with seconds, so the wall clock is read off. */
interface ZoneClock {
  readonly offsetAt: (second: number) => number
  /** Weekday and time: the same a week later exactly if the offset is. Three times as fast to ask for. */
  readonly faceAt: (second: number) => string
}

function zoneClock(name: string): ZoneClock {
  const time = { timeZone: name, hourCycle: 'h23', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const
  const face = new Intl.DateTimeFormat('en-US', { ...time, weekday: 'short' })
  const clock = new Intl.DateTimeFormat('en-US', { ...time, year: 'numeric', month: 'numeric', day: 'numeric' })
  return {
    faceAt: (second) => face.format(second * 1000),
    offsetAt: (second) => {
      const [month = 0, day = 0, year = 0, hour = 0, minute = 0, rest = 0] = clock
        .format(second * 1000)
        .split(/\D+/)
        .map(Number)
      return dayFromCivil({ year, month, day }) * DAY_SECONDS + hour * 3600 + minute * 60 + rest - second
    },
  }
}
