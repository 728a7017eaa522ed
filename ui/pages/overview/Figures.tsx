import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { SeriesPoint, StatsView } from '../../../src/features/stats/schema.ts'
import { seriesOf } from '../../api/queries.ts'
import { useTexts } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'
import { Bars } from '../../parts/figures/Bars.tsx'
import { ILL, lengthBars, outcomeBars, sumOf, tokenBars, type Words } from './figure-bars.ts'

/** Four numbers about the last day, each with its course hour by hour, and each a door to the runs behind it. */
export function Figures({ stats }: { readonly stats: StatsView | undefined }): ReactNode {
  const words = useTexts()
  const points = useQuery(seriesOf()).data?.points ?? []
  const { say } = words
  const shown = { stats, points, words }
  return (
    <section className="figures" aria-label={say('overview.day')}>
      <RunsFigure {...shown} />
      <DurationFigure {...shown} />
      <LatenessFigure {...shown} />
      <UsageFigure {...shown} />
    </section>
  )
}

interface ShownProps {
  readonly stats: StatsView | undefined
  readonly points: readonly SeriesPoint[]
  readonly words: Words
}

function RunsFigure({ stats, points, words }: ShownProps): ReactNode {
  const { say, locale } = words
  const runs = stats?.runs
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const ill = ILL.reduce((sum, status) => sum + (runs?.by_status[status] ?? 0), 0)
  const note =
    runs === undefined ? (
      ''
    ) : runs.share === null ? (
      say('overview.noNumber')
    ) : (
      <>
        <span>{say('overview.share', { percent: percent.format(runs.share.success) })}</span>
        {ill > 0 && (
          <Link to="/automation/runs" search={{ status: ILL.join(','), within: '24h' }} className="bad">
            {say('overview.bad', { count: ill })}
          </Link>
        )}
      </>
    )
  const name = say('overview.ended')
  const bars = outcomeBars(points, words)
  return <Figure {...{ name, note, bars, words, value: runs?.ended.toLocaleString(locale) }} />
}

function DurationFigure({ stats, points, words }: ShownProps): ReactNode {
  const { say } = words
  const spread = stats?.runs.duration_ms
  const note =
    spread === undefined
      ? ''
      : spread === null
        ? say('overview.noNumber')
        : say('overview.median', { span: spanText(spread.p50, say) })
  const value = spread === undefined ? undefined : spread === null ? '–' : spanText(spread.p95, say)
  const bars = lengthBars(points, words, { of: (point) => point.duration_p95_ms, color: 'var(--accent)' })
  return <Figure {...{ name: say('overview.p95'), note, value, bars, words }} />
}

function LatenessFigure({ stats, points, words }: ShownProps): ReactNode {
  const { say } = words
  const spread = stats?.runs.lateness_ms
  const note =
    spread === undefined
      ? ''
      : spread === null
        ? say('overview.noNumber')
        : say('overview.median', { span: spanText(spread.p50, say) })
  const value = spread === undefined ? undefined : spread === null ? '–' : spanText(spread.p99, say)
  const bars = lengthBars(points, words, { of: (point) => point.lateness_p99_ms, color: 'var(--late)' })
  return <Figure {...{ name: say('overview.lateness'), note, value, bars, words, trigger: 'schedule' }} />
}

function UsageFigure({ stats, points, words }: ShownProps): ReactNode {
  const { say, locale } = words
  const tokens = sumOf(points, (point) => point.tokens)
  const cost = sumOf(points, (point) => point.cost)
  const money = new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 })
  const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
  const saved = stats?.probes.saved ?? 0
  const isLoading = stats === undefined || points.length === 0
  const notes = [
    cost > 0 ? say('overview.cost', { cost: money.format(cost) }) : '',
    saved > 0 ? say('probe.savedDay', { count: saved.toLocaleString(locale) }) : '',
  ].filter((text) => text !== '')
  const none = isLoading || tokens > 0 ? '' : say('overview.noUsage')
  const note = notes.length === 0 ? none : notes.join(' · ')
  const value = isLoading ? undefined : tokens === 0 ? '–' : short.format(tokens)
  return <Figure {...{ name: say('overview.usage'), note, value, bars: tokenBars(points, words), words }} />
}

interface FigureProps {
  readonly name: string
  /** Undefined while it is not known. */
  readonly value: string | undefined
  readonly note: ReactNode
  readonly bars: ReturnType<typeof outcomeBars>
  readonly words: Words
  /** Only runs that this woke are behind the number. */
  readonly trigger?: 'schedule'
}

function Figure({ name, value, note, bars, words: { say }, trigger }: FigureProps): ReactNode {
  const search = { within: '24h', ...(trigger === undefined ? {} : { trigger }) } as const
  const label = say('overview.perHour', { name, what: bars.at(-1)?.title ?? say('overview.nothing') })
  return (
    <div className="figure">
      <div className="figure-name">{name}</div>
      <div className="figure-value">
        {value === undefined ? (
          <Skeleton height={28} width={72} />
        ) : value === '–' ? (
          value
        ) : (
          <Link to="/automation/runs" search={search} aria-label={`${name}: ${value}`}>
            {value}
          </Link>
        )}
      </div>
      <div className="figure-note">{note}</div>
      <Bars bars={bars} label={label} />
    </div>
  )
}
