import { formatInstant, type Instant } from '../../domain/instant.ts'
import { DAY_SECONDS, formatDay } from '../../domain/time/calendar.ts'
import { parseTiming } from '../time/parse-timing.ts'
import { nextOccurrence } from '../../domain/time/timing.ts'
import { localDayOf } from '../../domain/time/wall-clock.ts'
import { cronDays, dayFieldsOf, ruleDays, saysDays, type DayFields } from './day-fields.ts'
import { complainOf, partOf, type Said } from './gather.ts'
import { type Composed, momentOf, type Place, timesMeant } from '../../domain/words/times.ts'
import type { Complaint, Note } from '../../domain/words/parts.ts'
import { cronOfTimes, productOf } from './within-day.ts'

const note = (en: string, zh: string): Note => ({ en, zh })

/** On days, at times: cron where it can say it, a rule where it cannot. */
export function composeRepeat(said: Said, place: Place & { readonly from: Instant }): Composed | Complaint {
  if (said.span !== null)
    return complainOf(
      said.span,
      note('how often between these hours is not said, as in every 30 minutes', '没有说明这段时间内多久一次'),
    )
  const isEveryPart = said.parts.some((part) => part.kind === 'part' && part.isEvery)
  if (said.step === null && !saysDays(said) && !isEveryPart)
    return complainOf(
      said.parts[0] ?? { at: 0 },
      note('how often is not said: every day, on Mondays, tomorrow …', '没有说明多久一次：每天、每周一、明天……'),
    )
  const days = dayFieldsOf(said)
  if ('note' in days) return days
  const { seconds, notes } = timesMeant(said.times, said.part)
  if (seconds.includes(DAY_SECONDS) && (saysDays(said) || days.weekdays.length > 0))
    return complainOf(
      partOf(said, 'times') ?? { at: 0 },
      note('midnight belongs to two days: say 0:00 and the day after', '午夜跨两天，请说第二天零点'),
    )
  const times = [...new Set(seconds.map((second) => second % DAY_SECONDS))].sort((a, b) => a - b)
  const all = [...days.notes, ...notes, ...singleDayNote(said)]
  const planned =
    (said.step?.count ?? 1) > 1 ? byInterval(said, { days, times, place }) : byDays(said, { days, times, place })
  return 'fields' in planned ? { ...planned, notes: [...all, ...planned.notes] } : planned
}

/** "On Friday" may be one Friday, and "the 15th" one 15th. */
function singleDayNote({ parts, step }: Said): readonly Note[] {
  if (step !== null) return []
  return parts.flatMap((part) => {
    const text = part.text.trim()
    if (part.kind === 'weekdays' && !part.isEvery)
      return [
        note(
          `"${text}" is read as every week; say next in front of it for once`,
          `“${text}”理解为每周；只要一次请说“下”`,
        ),
      ]
    const isPlace = part.kind === 'dates' || part.kind === 'places' || part.kind === 'nearest'
    if (!isPlace || /month|every|each|每|of /iu.test(text)) return []
    return [note(`"${text}" is read as every month; name the month for once`, `“${text}”理解为每月`)]
  })
}

interface Plan {
  readonly days: DayFields
  readonly times: readonly number[]
  readonly place: Place & { readonly from: Instant }
}

function byDays(said: Said, { days, times, place }: Plan): Composed | Complaint {
  const clock = productOf(times)
  if (clock !== null) return { fields: { cron: `${cronOfTimes(clock)} ${cronDays(days)}` }, notes: [] }
  const rule = ruleDays(days)
  if (rule === null || days.places.length > 0 || times.some((second) => second % 60 !== 0))
    return complainOf(
      partOf(said, 'times') ?? { at: 0 },
      note('these times need a schedule each', '这些时间请分成多个计划'),
    )
  // Of all minutes in all hours only some are meant; their places among all of them tell which.
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
  const midnight = momentOf(place.zone, localDayOf(place.zone, place.from) * DAY_SECONDS).at
  return { fields: { rrule: parts.join(';'), anchor: formatInstant(midnight) }, notes: [] }
}

const FREQUENCIES = { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY' } as const

/** Every other week and its like: counted from the first one that is to come. */
function byInterval(said: Said, { days, times, place }: Plan): Composed | Complaint {
  const { step } = said
  const clock = productOf(times)
  const rule = ruleDays(days)
  if (step === null || clock === null || rule === null || !(step.unit in FREQUENCIES))
    return complainOf(
      partOf(said, 'times', 'nearest') ?? step ?? { at: 0 },
      note('this cannot be combined with such an interval', '这不能与这样的间隔一起使用'),
    )
  if (step.unit === 'day' && saysDays(said))
    return complainOf(
      partOf(said, 'weekdays', 'places', 'dates', 'nearest', 'yearday') ?? step,
      note('either every so many days, or certain days', '间隔天数与指定日期不能同时使用'),
    )
  const first = firstOf(`${cronOfTimes(clock)} ${cronDays(days)}`, place)
  if (first === null) return complainOf(step, note('there is no such day', '没有这样的日子'))
  const frequency = FREQUENCIES[step.unit as keyof typeof FREQUENCIES]
  const parts = [
    `FREQ=${frequency}`,
    `INTERVAL=${step.count}`,
    ...rule,
    `BYHOUR=${clock.hours.join(',')}`,
    `BYMINUTE=${clock.minutes.join(',')}`,
  ]
  const date = formatDay(localDayOf(place.zone, first))
  const counted = note(`counted from ${date}`, `从 ${date} 开始计算`)
  return {
    fields: { rrule: parts.join(';'), anchor: formatInstant(first) },
    notes: [counted],
  }
}

function firstOf(cron: string, { from, zone }: Plan['place']): Instant | null {
  const timing = parseTiming({ cron }, { now: from, defaultZone: zone })
  return timing.ok ? nextOccurrence(timing.value, from) : null
}
