import { flawed, parsed, type Parsed } from '../input.ts'
import { formatInstant, type Instant, instant } from '../instant.ts'
import { largest } from '../long-lists.ts'
import { DAY_SECONDS, formatDay } from '../time/calendar.ts'
import { parseTiming } from '../time/parse-timing.ts'
import { nextOccurrence } from '../time/timing.ts'
import { localDayAt } from '../time/wall-clock.ts'
import { parseZone, type Zone } from '../time/zone.ts'
import { cronDays, type DayFields, dayFieldsOf, ruleDays, namesDays } from './day-fields.ts'
import { sentenceError, combineParts, languageOf, findPart, readParts, type ParsedSentence } from './gather.ts'
import { type SentenceError, isSentenceError, type BilingualNote, type SentencePart } from './parts.ts'
import {
  type ComposedSchedule,
  composeOnce,
  dateNote,
  dayOf,
  resolveLocalTime,
  type SentenceContext,
  resolveTimes,
} from './times.ts'
import { composeWithinDay, cronOfTimes, isWithinDay, clockFieldsOf } from './within-day.ts'

const bilingualNote = (en: string, zh: string): BilingualNote => ({ en, zh })

/** Composes a schedule on days at times: cron if possible, otherwise a recurrence rule. */
function composeRepeat(
  sentence: ParsedSentence,
  place: SentenceContext & { readonly from: Instant },
): ComposedSchedule | SentenceError {
  if (sentence.span !== null)
    return sentenceError(
      sentence.span,
      bilingualNote(
        'the interval between these hours is missing, such as every 30 minutes',
        '没有说明这段时间内多久一次',
      ),
    )
  const isEveryPart = sentence.parts.some((part) => part.kind === 'part' && part.isEvery)
  if (sentence.step === null && !namesDays(sentence) && !isEveryPart)
    return sentenceError(
      sentence.parts[0] ?? { at: 0 },
      bilingualNote(
        'add when to run, such as every day, on Mondays or tomorrow',
        '没有说明多久一次：每天、每周一、明天……',
      ),
    )
  const days = dayFieldsOf(sentence)
  if ('note' in days) return days
  const { seconds, notes } = resolveTimes(sentence.times, sentence.part)
  if (seconds.includes(DAY_SECONDS) && (namesDays(sentence) || days.weekdays.length > 0))
    return sentenceError(
      findPart(sentence, 'times') ?? { at: 0 },
      bilingualNote('midnight is ambiguous here; use 0:00 of the following day', '午夜跨两天，请说第二天零点'),
    )
  const times = [...new Set(seconds.map((second) => second % DAY_SECONDS))].sort((a, b) => a - b)
  const all = [...days.notes, ...notes, ...singleDayNote(sentence)]
  const planned =
    (sentence.step?.count ?? 1) > 1
      ? composeByInterval(sentence, { days, times, place })
      : composeByDays(sentence, { days, times, place })
  return 'fields' in planned ? { ...planned, notes: [...all, ...planned.notes] } : planned
}

/** Notes for days that could also mean a single day: "on Friday", "the 15th". */
function singleDayNote({ parts, step }: ParsedSentence): readonly BilingualNote[] {
  if (step !== null) return []
  return parts.flatMap((part) => {
    const text = part.text.trim()
    if (part.kind === 'weekdays' && !part.isEvery)
      return [
        bilingualNote(
          `"${text}" is read as every week; add "next" before it to run once`,
          `“${text}”理解为每周；只要一次请说“下”`,
        ),
      ]
    const isPlace = part.kind === 'dates' || part.kind === 'places' || part.kind === 'nearest'
    if (!isPlace || /month|every|each|每|of /iu.test(text)) return []
    return [bilingualNote(`"${text}" is read as every month; name the month to run once`, `“${text}”理解为每月`)]
  })
}

interface RepeatPlan {
  readonly days: DayFields
  readonly times: readonly number[]
  readonly place: SentenceContext & { readonly from: Instant }
}

function composeByDays(sentence: ParsedSentence, { days, times, place }: RepeatPlan): ComposedSchedule | SentenceError {
  const clock = clockFieldsOf(times)
  if (clock !== null) return { fields: { cron: `${cronOfTimes(clock)} ${cronDays(days)}` }, notes: [] }
  const rule = ruleDays(days)
  if (rule === null || days.nthWeekdays.length > 0 || times.some((second) => second % 60 !== 0))
    return sentenceError(
      findPart(sentence, 'times') ?? { at: 0 },
      bilingualNote('these times need separate schedules', '这些时间请分成多个计划'),
    )
  // BYSETPOS selects the wanted times among all combinations of the hours and minutes.
  const hours = [...new Set(times.map((second) => Math.floor(second / 3600)))]
  const minutes = [...new Set(times.map((second) => Math.floor(second / 60) % 60))].sort((a, b) => a - b)
  const grid = hours.flatMap((hour) => minutes.map((minute) => hour * 3600 + minute * 60))
  const positions = times.map((second) => grid.indexOf(second) + 1)
  const parts = [
    'FREQ=DAILY',
    ...rule,
    `BYHOUR=${hours.join(',')}`,
    `BYMINUTE=${minutes.join(',')}`,
    `BYSETPOS=${positions.join(',')}`,
  ]
  const midnight = resolveLocalTime(place.zone, localDayAt(place.zone, place.from) * DAY_SECONDS).at
  return { fields: { rrule: parts.join(';'), anchor: formatInstant(midnight) }, notes: [] }
}

const UNIT_FREQUENCIES = { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY' } as const

/** Composes an interval of several days, weeks, months or years, counted from the first occurrence. */
function composeByInterval(
  sentence: ParsedSentence,
  { days, times, place }: RepeatPlan,
): ComposedSchedule | SentenceError {
  const { step } = sentence
  const clock = clockFieldsOf(times)
  const rule = ruleDays(days)
  if (step === null || clock === null || rule === null || !(step.unit in UNIT_FREQUENCIES))
    return sentenceError(
      findPart(sentence, 'times', 'nearest') ?? step ?? { at: 0 },
      bilingualNote('this cannot be combined with this interval', '这不能与这样的间隔一起使用'),
    )
  if (step.unit === 'day' && namesDays(sentence))
    return sentenceError(
      findPart(sentence, 'weekdays', 'places', 'dates', 'nearest', 'yearday') ?? step,
      bilingualNote('use either an interval of days or specific days, not both', '间隔天数与指定日期不能同时使用'),
    )
  const first = firstOccurrence(`${cronOfTimes(clock)} ${cronDays(days)}`, place)
  if (first === null) return sentenceError(step, bilingualNote('there is no such day', '没有这样的日子'))
  const frequency = UNIT_FREQUENCIES[step.unit as keyof typeof UNIT_FREQUENCIES]
  const parts = [
    `FREQ=${frequency}`,
    `INTERVAL=${step.count}`,
    ...rule,
    `BYHOUR=${clock.hours.join(',')}`,
    `BYMINUTE=${clock.minutes.join(',')}`,
  ]
  const date = formatDay(localDayAt(place.zone, first))
  const counted = bilingualNote(`counted from ${date}`, `从 ${date} 开始计算`)
  return {
    fields: { rrule: parts.join(';'), anchor: formatInstant(first) },
    notes: [counted],
  }
}

function firstOccurrence(cron: string, { from, zone }: RepeatPlan['place']): Instant | null {
  const timing = parseTiming({ cron }, { now: from, defaultZone: zone })
  return timing.ok ? nextOccurrence(timing.value, from) : null
}

/** The result of understanding a sentence. */
export interface UnderstoodSentence {
  /** The equivalent fields of a schedule. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Assumptions about everything that the sentence leaves open, in its language. */
  readonly notes: readonly string[]
  /** The text after a colon, which is the task; null if there is none. */
  readonly rest: string | null
}

export interface WordsContext {
  readonly now: Instant
  /** The time zone of sentences without one. */
  readonly zone: Zone
}

/** The maximum length of a sentence, in characters. */
const MAX_SENTENCE_LENGTH = 500

/** A colon that is not part of a time. */
const COLON = /:(?!\d)|(?<!\d):/u

/**
 * Parses an English or Chinese sentence about when to run. It uses only a grammar, so the same words at the same time
 * always have the same meaning. Rejects unknown words with the position of the first one.
 */
export function understandWords(field: string, value: unknown, context: WordsContext): Parsed<UnderstoodSentence> {
  const allowed = 'a sentence such as "every weekday at 9 in Berlin"'
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed })
  if (value.length > MAX_SENTENCE_LENGTH)
    return flawed({
      field,
      value,
      message: 'is too long',
      allowed: `up to ${MAX_SENTENCE_LENGTH} characters`,
      position: MAX_SENTENCE_LENGTH,
    })
  const text = toHalfWidth(value)
  const colon = COLON.exec(text)
  const head = colon === null ? text : text.slice(0, colon.index)
  const rest = colon === null ? null : value.slice(colon.index + 1).trim()
  if (head.trim() === '') return flawed({ field, value, message: 'is empty', allowed, position: 0 })
  const { parts, complaint } = readParts(head)
  const composed = complaint ?? composeSchedule(parts, context)
  const language = languageOf(head)
  if (isSentenceError(composed)) {
    const example = nearestExample(head)
    return flawed({
      ...{ field, value, message: composed.note[language], position: composed.at },
      allowed:
        (language === 'en' ? `for example "${example}"` : `例如“${example}”`) +
        understoodSoFar(parts, composed, language),
    })
  }
  const notes = [...new Set(composed.notes.map((note) => note[language]))]
  return parsed({ fields: composed.fields, notes, rest: rest === '' ? null : rest })
}

/** Converts full-width characters, as typed with Chinese keyboards, to ASCII. The length does not change. */
const toHalfWidth = (text: string): string =>
  text.replaceAll(/[！-～　]/gu, (letter) =>
    letter === '　' ? ' ' : String.fromCharCode(letter.charCodeAt(0) - 0xfee0),
  )

function understoodSoFar(parts: readonly SentencePart[], { at }: SentenceError, language: 'en' | 'zh'): string {
  const known = [...new Set(parts.filter((part) => part.at < at).map(({ text }) => text.trim()))]
  if (known.length === 0) return ''
  return language === 'en'
    ? `; understood so far: ${known.map((text) => `"${text}"`).join(', ')}`
    : `；已看懂：${known.map((text) => `“${text}”`).join('')}`
}

function composeSchedule(parts: readonly SentencePart[], context: WordsContext): ComposedSchedule | SentenceError {
  const sentence = combineParts(parts)
  if (isSentenceError(sentence)) return sentence
  const zone = sentence.zone === null ? context.zone : zoneOrDefault(sentence.zone, context.zone)
  const place: SentenceContext = { now: context.now, zone }
  const fields = sentence.zone === null ? {} : { timezone: zone.name }
  const yearly = toYearly(sentence)
  if (sentence.after !== null || yearly.day !== null) {
    const once = composeOnce(yearly, place)
    return isSentenceError(once) ? once : { ...once, fields: { ...once.fields, ...fields } }
  }
  const limits = composeLimits(yearly, place)
  if (isSentenceError(limits)) return limits
  const planned = isWithinDay(yearly)
    ? composeWithinDay(yearly)
    : composeRepeat(yearly, { ...place, from: limits.from })
  if (isSentenceError(planned)) return planned
  const step = sentence.step?.note === undefined ? [] : [sentence.step.note]
  const notes = [...step, ...planned.notes, ...limits.notes]
  return { fields: { ...planned.fields, ...fields, ...limits.fields }, notes }
}

function zoneOrDefault(name: string, otherwise: Zone): Zone {
  const zone = parseZone('timezone', name)
  return zone.ok ? zone.value : otherwise
}

/** "Every year on 25 December" names a day of every year, not one day. */
function toYearly(sentence: ParsedSentence): ParsedSentence {
  const { day, step } = sentence
  if (step?.unit !== 'year' || day?.day.kind !== 'date' || day.day.year !== null) return sentence
  const { month, day: date } = day.day
  const parts = sentence.parts.map((part) =>
    part === day ? { ...part, kind: 'yearday' as const, month, day: date } : part,
  )
  return { ...sentence, parts, day: null, yeardays: [...sentence.yeardays, { month, day: date }] }
}

interface ComposedLimits extends ComposedSchedule {
  /** Occurrences are searched after this time. */
  readonly from: Instant
}

/** For how many years a date without a year is excluded. A note tells the last year. */
const YEARS_AHEAD = 10

function composeLimits(sentence: ParsedSentence, place: SentenceContext): ComposedLimits | SentenceError {
  const { starts, ends, fires } = sentence
  const notes: BilingualNote[] = []
  const fields: Record<string, unknown> = {}
  let from = place.now
  let first = localDayAt(place.zone, place.now)
  if (starts !== null) {
    first = dayOf(starts.day, place)
    const at = resolveLocalTime(place.zone, first * DAY_SECONDS + (starts.time?.second ?? 0)).at
    fields['starts_at'] = formatInstant(at)
    if (starts.day.kind !== 'date' || starts.day.year === null) notes.push(dateNote(starts.text, first))
    from = at > from ? instant(at - 1) : from
  }
  if (ends !== null) {
    const last = dayOf(ends.day, place, first)
    const at = resolveLocalTime(place.zone, last * DAY_SECONDS + (ends.time?.second ?? DAY_SECONDS - 1)).at
    if (at <= from) return sentenceError(ends, { en: 'the end is before the start', zh: '结束早于开始' })
    fields['ends_at'] = formatInstant(at)
    if (ends.time === null)
      notes.push({ en: `${formatDay(last)} is the last day`, zh: `${formatDay(last)} 是最后一天` })
  }
  if (fires !== null) fields['max_fires'] = fires
  const exclusions = composeExclusions(sentence, place)
  if (exclusions.dates.length > 0) fields['exclude'] = exclusions.dates
  return { fields, notes: [...notes, ...exclusions.notes], from }
}

function composeExclusions(
  { except }: ParsedSentence,
  place: SentenceContext,
): { readonly dates: readonly string[]; readonly notes: readonly BilingualNote[] } {
  const today = localDayAt(place.zone, place.now)
  const days = except.flatMap((one) => one.days)
  const dates = days.flatMap((day) => {
    if (day.kind !== 'date' || day.year !== null) return [dayOf(day, place)]
    return Array.from({ length: YEARS_AHEAD }, (_, years) => dayOf(day, place, today + years * 366))
  })
  const isYearly = days.some((day) => day.kind === 'date' && day.year === null)
  const last = formatDay(largest([today, ...dates])).slice(0, 4)
  const notes = isYearly ? [{ en: `excluded every year through ${last}`, zh: `到 ${last} 年为止每年都排除` }] : []
  return { dates: [...new Set(dates)].sort((a, b) => a - b).map(formatDay), notes }
}

/** Example sentences of every kind. Each one is in the guide and in a test. */
export const EXAMPLES: readonly string[] = [
  'every weekday at 9 in Berlin',
  'every day at 9:30',
  'every Monday and Thursday at 5pm',
  'every 15 minutes',
  'every 30 minutes between 9 and 17 on weekdays',
  'every 2 hours on weekends',
  'every 2nd Tuesday of the month at 10am',
  'on the last day of the month at 18:00',
  'on the 1st and 15th of the month at 9am',
  'every other week on Friday at 16:00',
  'every year on 25 December at noon',
  'in 20 minutes',
  'tomorrow at 5pm',
  'next Friday at 9am',
  'every day at 8am except on weekends',
  'every day at 9am starting 1 December until 31 January',
  '每个工作日上午9点（柏林时间）',
  '每天晚上八点半',
  '每周一、三、五上午9点',
  '每15分钟',
  '工作日9点到17点之间每30分钟',
  '每月第二个星期二上午10点',
  '每月最后一天18点',
  '隔周周五下午4点',
  '20分钟后',
  '明天下午5点',
  '每天早上8点，除了周末',
]

const wordSetOf = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? [])

/** The example that shares the most words with a text; the first one if several do. */
function nearestExample(text: string): string {
  const given = wordSetOf(text)
  const isChinese = /\p{Script=Han}/u.test(text)
  let [best, bestCount] = ['', -1]
  for (const example of EXAMPLES) {
    if (/\p{Script=Han}/u.test(example) !== isChinese) continue
    const shared = [...wordSetOf(example)].filter((word) => given.has(word)).length
    if (shared > bestCount) [best, bestCount] = [example, shared]
  }
  return best
}
