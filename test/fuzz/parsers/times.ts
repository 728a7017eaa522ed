import { parseDuration } from '../../../src/domain/duration.ts'
import { readShape } from '../../../src/api/read-input.ts'
import { scheduleInput } from '../../../src/features/schedules/schema.ts'
import type { Parsed } from '../../../src/domain/input.ts'
import { formatInstant, instant, latest, parseInstant, type Instant } from '../../../src/domain/instant.ts'
import { DST_POLICIES } from '../../../src/domain/time/dst-policy.ts'
import { parseDailyWindow, isInsideWindow, windowEnd } from '../../../src/domain/time/daily-window.ts'
import { parseJitter } from '../../../src/domain/time/jitter.ts'
import { parseTiming, restoreTiming, storeTiming } from '../../../src/domain/time/parse-timing.ts'
import { previewTiming } from '../../../src/domain/time/preview.ts'
import { countOccurrences, nextOccurrence, previousOccurrence, type Timing } from '../../../src/domain/time/timing.ts'
import { parseZone, UTC } from '../../../src/domain/time/zone.ts'
import type { Random } from '../../simulation/random.ts'
import { oddValue } from '../odd-values.ts'
import { CRON_WORDS, drawCron, plainMatcher } from './cron-grammar.ts'
import { drawRule, RULE_WORDS } from './rule-grammar.ts'
import { asFields, asText, classOf, must, mustAgree, type Target } from './target.ts'

const ZONES = [...Intl.supportedValuesOf('timeZone'), 'UTC', 'utc', 'europe/berlin', 'Etc/GMT+12', 'GMT', 'US/Pacific']
const NOW = instant(Date.UTC(2026, 0, 15))
const FAR = 3

const MOMENTS = [
  ...[
    '2026-03-29T01:30:00Z',
    '2026-10-25T00:30:00Z',
    '1970-01-01T00:00:00Z',
    '2199-12-31T23:59:59Z',
    '2026-01-15T00:00:00Z',
  ],
  ...['2027-01-01T00:00:00.001Z', '2011-12-30T10:00:00Z', '9999-12-31T23:59:59.999Z', '1900-01-01T00:00:00+14:00'],
]

const exclusions = (random: Random): unknown =>
  Array.from({ length: random.int(1, 5) }, () =>
    random.one<unknown>([
      '2026-12-24',
      '2026-03-29',
      { from: '2026-01-15T00:00:00Z', to: '2026-02-01T00:00:00Z' },
      { from: '1970-01-01T00:00:00Z', to: '2199-12-31T00:00:00Z' },
      oddValue(random, 1),
    ]),
  )

/** Everything around the plan that says when. */
function around(random: Random): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = { from: random.one(MOMENTS) }
  if (random.chance(0.6)) fields['timezone'] = random.one(ZONES)
  if (random.chance(0.3)) fields['dst'] = random.one(DST_POLICIES)
  if (random.chance(0.2)) fields['day_match'] = random.one(['and', 'or'])
  if (random.chance(0.15)) fields['starts_at'] = random.one(MOMENTS)
  if (random.chance(0.15)) fields['ends_at'] = random.one(MOMENTS)
  if (random.chance(0.15)) fields['exclude'] = exclusions(random)
  if (random.chance(0.15)) fields['jitter_ms'] = random.one([0, 1, 999, 60_000, 1e12])
  return fields
}

/** What must hold of every timing, whatever kind it is. */
function keepPromises(timing: Timing, from: Instant, asked: unknown): string {
  const stored = storeTiming(timing)
  const again = restoreTiming(JSON.parse(JSON.stringify(stored)) as Record<string, unknown>)
  mustAgree(storeTiming(again), stored, 'what is stored is restored as it was')
  const preview = previewTiming(timing, { now: from, count: FAR })
  must(preview.sentence !== '', 'a timing has a sentence')
  mustAgree(
    preview.next,
    previewTiming(again, { now: from, count: FAR }).next,
    'what was restored fires at the same times',
  )
  let before: Instant = from
  for (const at of preview.next) {
    must(at > before, `occurrences go on: ${at} after ${before}`)
    before = at
  }
  agreeBothWays(timing, from, preview.next)
  if (asked !== undefined) parseJitter('jitter_ms', asked, timing)
  return `${timing.kind}, ${preview.next.length} to come`
}

/** What comes next does not depend on where one stands, and backwards it is the same. */
function agreeBothWays(timing: Timing, from: Instant, next: readonly Instant[]): void {
  let before: Instant = from
  for (const at of next) {
    must(nextOccurrence(timing, instant(at - 1)) === at, `${formatInstant(at)} is the next one of the moment before it`)
    const previous = previousOccurrence(timing, instant(at + 1))
    must(previous === at, `${formatInstant(at)} is the last one of the moment after it, not ${String(previous)}`)
    must(
      countOccurrences(timing, { after: before, upTo: at }) === 1,
      `one occurrence is counted up to ${formatInstant(at)}`,
    )
    before = at
  }
}

/** Looks minute by minute whether an expression in UTC fires when a second reading says that it does. */
function agreeWithMatcher(timing: Timing, asked: Instant): void {
  if (timing.kind !== 'cron' || timing.zone !== UTC || timing.dayMatch !== 'or' || timing.exclude !== null) return
  if (timing.startsAt !== null || timing.endsAt !== null) return
  // Before 1970 nothing is an occurrence: the years of the grammar begin there.
  const from = latest(asked, instant(-1))
  const matches = plainMatcher(timing.expression.text)
  const first = matches === null ? null : nextOccurrence(timing, from)
  if (matches === null || first === null) return
  must(matches(first), `${timing.expression.text} does not mean ${formatInstant(first)}`)
  const until = Math.min(first, from + 2 * 86_400_000)
  for (let at = Math.floor(from / 60_000 + 1) * 60_000; at < until; at += 60_000)
    must(
      !matches(at),
      `${timing.expression.text} also means ${formatInstant(instant(at))}, before ${formatInstant(first)}`,
    )
}

function attemptTiming(input: unknown): string {
  const { from: moment, jitter_ms: jitter, ...fields } = asFields(input)
  const given = readShape(scheduleInput, fields)
  const read: Parsed<Timing> = given.ok ? parseTiming(given.value, { now: NOW, defaultZone: UTC }) : given
  if (!read.ok) return classOf(read)
  const parsedFrom = parseInstant('from', moment)
  const from = parsedFrom.ok ? parsedFrom.value : NOW
  agreeWithMatcher(read.value, from)
  return keepPromises(read.value, from, jitter)
}

const every = (random: Random): Readonly<Record<string, unknown>> =>
  random.one<Readonly<Record<string, unknown>>>([
    { every_seconds: random.one([1, 60, 3_600, 31_622_400, 0, 0.5]) },
    { everyMs: random.one([1_000, 1_001, 86_400_000, 999]), anchor: random.one(MOMENTS) },
    { kind: 'interval', interval_seconds: random.int(1, 1e9) },
    { at: random.one(MOMENTS) },
    { schedule_type: 'once', run_at: random.one(MOMENTS) },
    { kind: 'at', atMs: random.one([1.8e12, 253_402_300_799_999, 8.64e15, -1]) },
  ])

const cron: Target = {
  name: 'cron',
  words: CRON_WORDS,
  draw: (random) => ({ cron: drawCron(random), ...around(random) }),
  attempt: attemptTiming,
  mostMs: 500,
}

const rrule: Target = {
  name: 'rrule',
  words: RULE_WORDS,
  draw: (random) => ({ rrule: drawRule(random), ...around(random) }),
  attempt: attemptTiming,
  mostMs: 500,
}

const interval: Target = {
  name: 'every and at',
  words: ['every_seconds', 'everyMs', 'at', 'atMs', 'run_at', 'kind', 'anchor', 'interval', 'once', ...MOMENTS],
  draw: (random) => ({ ...every(random), ...around(random) }),
  attempt: attemptTiming,
}

const moment: Target = {
  name: 'instant',
  words: ['T', 'Z', 'z', '+14:00', '-00:00', '.999999999', ':60', '24:', ' ', '-', '+', '٢٠٢٦', '9999', '0000'],
  draw: (random) => random.one(MOMENTS),
  attempt: (input) => {
    const read = parseInstant('at', input)
    if (!read.ok) return classOf(read)
    const again = parseInstant('at', formatInstant(read.value))
    must(again.ok && again.value === read.value, `${formatInstant(read.value)} is read as it was printed`)
    return 'taken'
  },
}

const zone: Target = {
  name: 'time zone',
  words: ['/', 'Etc/GMT', '+05:30', 'Z', 'UTC', 'GMT', 'posix/', 'America/', '_', 'EST', 'İstanbul', 'Europe/'],
  draw: (random) => random.one(ZONES),
  attempt: (input) => {
    const read = parseZone('timezone', input)
    if (!read.ok) return classOf(read)
    const again = parseZone('timezone', read.value.name)
    must(again.ok && again.value === read.value, `${read.value.name} is the name of the same zone`)
    return 'taken'
  },
}

const window: Target = {
  name: 'daily window',
  words: ['start', 'end', 'timezone', '24:00', '00:00', '23:59', '02:30', ':', 'Pacific/Apia', 'Africa/Casablanca'],
  draw: (random) => ({
    start: random.one(['22:00', '00:00', '02:30', '23:59', '12:00']),
    end: random.one(['06:00', '24:00', '00:00', '03:00', '12:00']),
    timezone: random.one(ZONES),
  }),
  attempt: (input) => {
    const read = parseDailyWindow('quiet_hours', input, UTC)
    if (!read.ok) return classOf(read)
    const windowRead = read.value
    for (const text of MOMENTS.slice(0, 7)) {
      const at = instant(Date.parse(text))
      const end = windowEnd(windowRead, at)
      must(end >= at, `the window around ${text} does not end before it`)
      must(isInsideWindow(windowRead, at) === end > at, `only inside a window its end is to come: ${text}`)
    }
    return 'taken'
  },
}

const duration: Target = {
  name: 'duration',
  words: ['ms', 's', 'm', 'h', 'd', 'w', 'y', '1h30m', '999999999d', ' ', '-', '.', '1e3s', '٣s'],
  draw: (random) => random.one(['30m', '1h30m', '1500ms', '90s', '7d', '1d2h3m4s5ms', ' 5M ']),
  attempt: (input) => {
    const text = asText(input)
    const [ms, days] = [parseDuration(text, 'ms'), parseDuration(text, 'days')]
    must((ms === null) === (days === null), 'a duration is one in every unit')
    if (ms === null || days === null) return 'refused'
    must(Number.isFinite(ms) && ms >= 0, `${text.slice(0, 50)} is a length of time`)
    return 'taken'
  },
}

/** Everything that says when. */
export const TIME_TARGETS: readonly Target[] = [cron, rrule, interval, moment, zone, window, duration]
