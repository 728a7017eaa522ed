import type { ReactNode } from 'react'
import { useTexts } from '../texts/TextProvider.tsx'
import { Time } from '../time/Time.tsx'
import { Door } from './Door.tsx'
import { useDoors } from './doors.ts'
import { ShortId } from './ShortId.tsx'

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/** One fact that a decision rested on: ids lead to what they name, and moments are told as moments are. */
export function Fact({ value }: { readonly value: string | number | boolean | null }): ReactNode {
  const { say, locale } = useTexts()
  const doors = useDoors()
  if (value === null) return <span className="quiet">{say('none')}</span>
  if (typeof value === 'number') return value.toLocaleString(locale)
  if (typeof value === 'boolean') return String(value)
  if (MOMENT.test(value)) return <Time at={value} show="short" />
  const to = value.startsWith('run_') ? doors.run(value) : value.startsWith('sch_') ? doors.schedule(value) : undefined
  return to === undefined ? (
    value
  ) : (
    <Door to={to} className="door door-seen">
      <ShortId id={value} />
    </Door>
  )
}
