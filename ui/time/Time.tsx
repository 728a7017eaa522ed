import { Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTexts } from '../texts/TextProvider.tsx'
import { useNow } from './clock.ts'
import { relativeText, stepOf } from './span.ts'
import { dayTime, fullTime, OWN_ZONE, shortTime } from './zone.ts'

interface TimeProps {
  /** RFC 3339, or milliseconds. */
  readonly at: string | number
  /** The zone it was meant in, as that of a schedule; shown beside the person's own where they differ. */
  readonly zone?: string | undefined
  /** `relative` ticks; `short` is day and time; `both` shows one above the other; `wall` is what a clock in `zone` shows. */
  readonly show?: 'relative' | 'short' | 'both' | 'wall'
}

/** How every time is shown: relative, with the absolute time and its zone on hover and focus. */
export function Time({ at, zone, show = 'relative' }: TimeProps): ReactNode {
  const { say, locale } = useTexts()
  const moment = typeof at === 'number' ? at : Date.parse(at)
  const now = useNow(stepOf(moment, Date.now()))
  const relative = relativeText(moment, now, say)
  const short = shortTime(moment, { locale })
  const lines = [say('time.yourZone', { time: fullTime(moment, { locale }), zone: OWN_ZONE })]
  if (zone !== undefined && zone !== OWN_ZONE)
    lines.push(say('time.otherZone', { time: fullTime(moment, { locale, zone }), zone }))
  return (
    <Tooltip
      label={
        <span className="time-lines">
          {lines.map((line) => (
            <span key={line}>{line}</span>
          ))}
        </span>
      }
    >
      <time dateTime={new Date(moment).toISOString()} className="time" data-show={show}>
        {show === 'wall'
          ? dayTime(moment, zone === undefined ? { locale } : { locale, zone })
          : show === 'short'
            ? short
            : relative}
        {show === 'both' && <span className="time-absolute">{short}</span>}
      </time>
    </Tooltip>
  )
}
