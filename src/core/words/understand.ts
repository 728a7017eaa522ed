import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { formatInstant, instant, type Instant } from '../../domain/instant.ts'
import { largest } from '../../domain/long-lists.ts'
import { DAY_SECONDS, formatDay } from '../../domain/time/calendar.ts'
import { localDayOf } from '../../domain/time/wall-clock.ts'
import { parseZone, type Zone } from '../time/zone.ts'
import { complainOf, gather, languageOf, readParts, type Said } from './gather.ts'
import { type Composed, composeOnce, dateNote, dayOf, momentOf, type Place } from '../../domain/words/times.ts'
import { type Complaint, isComplaint, type Note, type Part } from '../../domain/words/parts.ts'
import { composeRepeat } from './repeat.ts'
import { composeWithinDay, isWithinDay } from './within-day.ts'

/** A sentence about time, understood. */
export interface Understood {
  /** Fields of a schedule that mean the same. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Everything that was decided because the sentence left it open, in its language. */
  readonly notes: readonly string[]
  /** What stands behind a colon: what there is to do. */
  readonly rest: string | null
}

export interface WordsContext {
  readonly now: Instant
  /** The zone of whoever names none. */
  readonly zone: Zone
}

/** Nobody says when in more characters. */
const LONGEST = 500

/** A colon that is not in the middle of a time. */
const COLON = /:(?!\d)|(?<!\d):/u

/**
 * Reads when something is to happen, in English or Chinese, by a grammar and nothing else: the same words at the same
 * moment always mean the same. What it does not know it refuses, with the place of the first such word.
 */
export function understandWords(field: string, value: unknown, context: WordsContext): Parsed<Understood> {
  const allowed = 'a sentence such as "every weekday at 9 in Berlin"'
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed })
  if (value.length > LONGEST)
    return flawed({ field, value, message: 'is too long', allowed: `up to ${LONGEST} characters`, position: LONGEST })
  const text = narrow(value)
  const colon = COLON.exec(text)
  const head = colon === null ? text : text.slice(0, colon.index)
  const rest = colon === null ? null : value.slice(colon.index + 1).trim()
  if (head.trim() === '') return flawed({ field, value, message: 'says nothing', allowed, position: 0 })
  const { parts, complaint } = readParts(head)
  const composed = complaint ?? compose(parts, context)
  const language = languageOf(head)
  if (isComplaint(composed)) {
    const example = nearestExample(head)
    return flawed({
      ...{ field, value, message: composed.note[language], position: composed.at },
      allowed:
        (language === 'en' ? `for example "${example}"` : `例如“${example}”`) + understoodOf(parts, composed, language),
    })
  }
  const notes = [...new Set(composed.notes.map((note) => note[language]))]
  return parsed({ fields: composed.fields, notes, rest: rest === '' ? null : rest })
}

/** The wide forms that Chinese keyboards write, each as the one character it stands for. */
const narrow = (text: string): string =>
  text.replaceAll(/[！-～　]/gu, (letter) =>
    letter === '　' ? ' ' : String.fromCharCode(letter.charCodeAt(0) - 0xfee0),
  )

function understoodOf(parts: readonly Part[], { at }: Complaint, language: 'en' | 'zh'): string {
  const known = [...new Set(parts.filter((part) => part.at < at).map(({ text }) => text.trim()))]
  if (known.length === 0) return ''
  return language === 'en'
    ? `; understood so far: ${known.map((text) => `"${text}"`).join(', ')}`
    : `；已看懂：${known.map((text) => `“${text}”`).join('')}`
}

function compose(parts: readonly Part[], context: WordsContext): Composed | Complaint {
  const said = gather(parts)
  if (isComplaint(said)) return said
  const zone = said.zone === null ? context.zone : zoneNamed(said.zone, context.zone)
  const place: Place = { now: context.now, zone }
  const fields = said.zone === null ? {} : { timezone: zone.name }
  const yearly = asYearly(said)
  if (said.after !== null || yearly.day !== null) {
    const once = composeOnce(yearly, place)
    return isComplaint(once) ? once : { ...once, fields: { ...once.fields, ...fields } }
  }
  const limits = limitsOf(yearly, place)
  if (isComplaint(limits)) return limits
  const planned = isWithinDay(yearly)
    ? composeWithinDay(yearly)
    : composeRepeat(yearly, { ...place, from: limits.from })
  if (isComplaint(planned)) return planned
  const step = said.step?.note === undefined ? [] : [said.step.note]
  const notes = [...step, ...planned.notes, ...limits.notes]
  return { fields: { ...planned.fields, ...fields, ...limits.fields }, notes }
}

function zoneNamed(name: string, otherwise: Zone): Zone {
  const zone = parseZone('timezone', name)
  return zone.ok ? zone.value : otherwise
}

/** "Every year on 25 December" names a day of every year, not one day. */
function asYearly(said: Said): Said {
  const { day, step } = said
  if (step?.unit !== 'year' || day?.day.kind !== 'date' || day.day.year !== null) return said
  const { month, day: date } = day.day
  const parts = said.parts.map((part) =>
    part === day ? { ...part, kind: 'yearday' as const, month, day: date } : part,
  )
  return { ...said, parts, day: null, yeardays: [...said.yeardays, { month, day: date }] }
}

interface Limits extends Composed {
  /** From when on it is looked for. */
  readonly from: Instant
}

/** How many years a day of the year is left out for: a list of dates must end somewhere, and is told where. */
const YEARS_AHEAD = 10

function limitsOf(said: Said, place: Place): Limits | Complaint {
  const { starts, ends, fires } = said
  const notes: Note[] = []
  const fields: Record<string, unknown> = {}
  let from = place.now
  let first = localDayOf(place.zone, place.now)
  if (starts !== null) {
    first = dayOf(starts.day, place)
    const at = momentOf(place.zone, first * DAY_SECONDS + (starts.time?.second ?? 0)).at
    fields['starts_at'] = formatInstant(at)
    if (starts.day.kind !== 'date' || starts.day.year === null) notes.push(dateNote(starts.text, first))
    from = at > from ? instant(at - 1) : from
  }
  if (ends !== null) {
    const last = dayOf(ends.day, place, first)
    const at = momentOf(place.zone, last * DAY_SECONDS + (ends.time?.second ?? DAY_SECONDS - 1)).at
    if (at <= from) return complainOf(ends, { en: 'that is over before it begins', zh: '结束早于开始' })
    fields['ends_at'] = formatInstant(at)
    if (ends.time === null)
      notes.push({ en: `${formatDay(last)} is the last day`, zh: `${formatDay(last)} 是最后一天` })
  }
  if (fires !== null) fields['max_fires'] = fires
  const left = leftOut(said, place)
  if (left.dates.length > 0) fields['exclude'] = left.dates
  return { fields, notes: [...notes, ...left.notes], from }
}

function leftOut(
  { except }: Said,
  place: Place,
): { readonly dates: readonly string[]; readonly notes: readonly Note[] } {
  const today = localDayOf(place.zone, place.now)
  const days = except.flatMap((one) => one.days)
  const dates = days.flatMap((day) => {
    if (day.kind !== 'date' || day.year !== null) return [dayOf(day, place)]
    return Array.from({ length: YEARS_AHEAD }, (_, years) => dayOf(day, place, today + years * 366))
  })
  const isYearly = days.some((day) => day.kind === 'date' && day.year === null)
  const last = formatDay(largest([today, ...dates])).slice(0, 4)
  const notes = isYearly ? [{ en: `left out in every year up to ${last}`, zh: `到 ${last} 年为止每年都排除` }] : []
  return { dates: [...new Set(dates)].sort((a, b) => a - b).map(formatDay), notes }
}

/** Sentences that are understood, of every kind; each is in the guide and in a test. */
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

const lettersOf = (text: string): ReadonlySet<string> =>
  new Set(text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+/gu) ?? [])

/** The example that shares the most words with a text; of equals the first. */
function nearestExample(text: string): string {
  const given = lettersOf(text)
  const isChinese = /\p{Script=Han}/u.test(text)
  let [best, most] = ['', -1]
  for (const example of EXAMPLES) {
    if (/\p{Script=Han}/u.test(example) !== isChinese) continue
    const shared = [...lettersOf(example)].filter((word) => given.has(word)).length
    if (shared > most) [best, most] = [example, shared]
  }
  return best
}
