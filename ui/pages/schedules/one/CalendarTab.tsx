import { Tooltip } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { timelineOf } from '../../../api/queries.ts'
import { ErrorState } from '../../../parts/ErrorState.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { outcomeColor, type Outcome } from '../../../parts/outcome/outcome.ts'
import type { Say } from '../../../texts/fill.ts'
import { useTexts } from '../../../texts/TextProvider.tsx'
import { useNow } from '../../../time/clock.ts'
import { momentOf } from '../../../time/wall.ts'
import { calendarOf, firstDay, lastDay, type CalendarDay } from './calendar.ts'

const MINUTE = 60_000
const HOUR_SECONDS = 3_600

/** Up to four weeks back and some ahead: how much ran each day and how it ended, and how much is planned. */
export function CalendarTab({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const { say } = useTexts()
  const now = useNow(MINUTE)
  const { timezone: zone } = schedule
  const facts = { now, zone, createdAt: Date.parse(schedule.created_at) }
  const startOf = (day: string): string => new Date(momentOf(`${day}T00:00`, zone) ?? now).toISOString()
  const [from, to] = [startOf(firstDay(facts)), startOf(lastDay(facts))]
  // By the hour, because days begin at other hours in other zones, and are shorter or longer when clocks change.
  const { data, error, refetch } = useInfiniteQuery(
    timelineOf({ schedule_id: schedule.id, from, to, step_seconds: HOUR_SECONDS }, true),
  )
  if (data === undefined)
    return error === null ? <Lines count={7} height={40} /> : <ErrorState error={error} retry={() => void refetch()} />
  const row = data.pages[0]?.items[0]
  const weeks = calendarOf({ ...facts, buckets: row?.buckets ?? [] })
  const most = Math.max(1, ...weeks.flat().map(({ runs: count, coming: planned }) => count + planned))
  return (
    <div className="calendar">
      <Grid weeks={weeks} most={most} id={schedule.id} />
      <p className="edit-note">
        {say('one.calendar.zone', { zone: zone.replaceAll('_', ' ') })}
        {row?.held != null && ` ${row.held.sentence}`}
      </p>
    </div>
  )
}

interface GridProps {
  readonly weeks: readonly (readonly CalendarDay[])[]
  readonly most: number
  readonly id: string
}

function Grid({ weeks, most, id }: GridProps): ReactNode {
  const { say, locale } = useTexts()
  const names = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
  return (
    <table className="calendar-grid" aria-label={say('one.tab.calendar')}>
      <thead>
        <tr>
          {(weeks[0] ?? []).map(({ day }) => (
            <th key={day} scope="col">
              {names.format(Date.parse(day))}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]?.day}>
            {week.map((day) => (
              <td key={day.day}>
                <Day {...{ day, most, id }} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface DayProps {
  readonly day: CalendarDay
  readonly most: number
  readonly id: string
}

const STRONGEST = 55

/** One day: the more there is, the stronger its ground; a stripe says how it ended, a hollow mark what is to come. */
function Day({ day, most, id }: DayProps): ReactNode {
  const { say, locale } = useTexts()
  const { runs, coming, isToday } = day
  const date = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    Date.parse(day.day),
  )
  const words = wordsOf(day, say)
  const strength = Math.round((STRONGEST * Math.sqrt(runs + coming)) / Math.sqrt(most))
  const look = {
    className: 'calendar-day',
    'data-today': isToday,
    style: {
      backgroundColor: `color-mix(in srgb, var(--accent-soft) ${runs + coming === 0 ? 0 : strength + 20}%, var(--paper))`,
    },
  }
  const inside = (
    <>
      <span className="calendar-date">{date}</span>
      <span className="visually-hidden">{words}</span>
      {runs > 0 && (
        <span className="calendar-count" aria-hidden>
          {runs.toLocaleString(locale)}
        </span>
      )}
      {coming > 0 && (
        <span className="calendar-coming" aria-hidden>
          {coming.toLocaleString(locale)}
        </span>
      )}
      <Stripe outcomes={day.outcomes} />
    </>
  )
  return (
    <Tooltip label={words}>
      {runs > 0 ? (
        <Link {...{ ...look, to: '/automation/schedules/$id', params: { id }, search: { day: day.day } }}>
          {inside}
        </Link>
      ) : (
        <div {...look}>{inside}</div>
      )}
    </Tooltip>
  )
}

function wordsOf({ outcomes, runs, coming }: CalendarDay, say: Say): string {
  const bad = (outcomes.failure ?? 0) + (outcomes.late ?? 0)
  const parts = [
    ...(runs > 0 ? [say('one.calendar.runs', { count: runs })] : []),
    ...(bad > 0 ? [say('one.calendar.bad', { count: bad })] : []),
    ...((outcomes.quiet ?? 0) > 0 ? [say('one.calendar.quiet', { count: outcomes.quiet ?? 0 })] : []),
    ...(coming > 0 ? [say('one.calendar.coming', { count: coming })] : []),
  ]
  return parts.length > 0 ? parts.join(', ') : say('one.calendar.none')
}

const ORDER: readonly Outcome[] = ['failure', 'late', 'active', 'waiting', 'quiet', 'success']

function Stripe({ outcomes }: { readonly outcomes: CalendarDay['outcomes'] }): ReactNode {
  const shown = ORDER.flatMap((outcome) => {
    const count = outcomes[outcome] ?? 0
    return count === 0 ? [] : [{ outcome, count }]
  })
  return (
    <span className="calendar-stripe" aria-hidden>
      {shown.map(({ outcome, count }) => (
        <span key={outcome} data-outcome={outcome} style={{ flexGrow: count, background: outcomeColor(outcome) }} />
      ))}
    </span>
  )
}
