import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { ForecastAmount, ForecastFigures, ForecastView } from '../../../src/features/forecast/schema.ts'
import { budgetForecast, FORECAST_DAYS } from '../../api/admin-queries.ts'
import { Panel } from '../../parts/Panel.tsx'
import { useSay, useTexts } from '../../texts/TextProvider.tsx'

type Unit = 'tokens' | 'cost'

const MOST_SOURCES = 5

/** What the next days will use, day by day, and what uses most. Silent while there is nothing to say. */
export function ForecastPanel(): ReactNode {
  const say = useSay()
  const view = useQuery(budgetForecast).data
  const [chosen, choose] = useState<Unit | null>(null)
  if (view === undefined) return null
  const unit = chosen ?? (view.total.cost === null ? 'tokens' : 'cost')
  const units = (['tokens', 'cost'] as const).map((value) => ({ value, label: say(`forecast.unit.${value}`) }))
  return (
    <Panel
      className="forecast-panel"
      title={say('forecast.title', { days: FORECAST_DAYS })}
      aside={
        <SegmentedControl
          {...{ size: 'xs', data: units, value: unit, 'aria-label': say('forecast.unit') }}
          onChange={(value) => choose(value)}
        />
      }
    >
      <div className="forecast">
        {view.sources.length === 0 ? (
          <p className="quiet">{say('forecast.nothing')}</p>
        ) : (
          <Course {...{ view, unit }} />
        )}
        <HeldBack {...{ view, unit }} />
        <p className="quiet small">{say('forecast.hint')}</p>
      </div>
    </Panel>
  )
}

/** What budgets hold back of the plan. Silent where they hold nothing back. */
function HeldBack({ view, unit }: { readonly view: ForecastView; readonly unit: Unit }): ReactNode {
  const { say, locale } = useTexts()
  const text = textOf(locale)
  const { runs, [unit]: amount } = view.held_back
  if (runs === 0) return null
  const words =
    amount === null
      ? say('forecast.heldBackRuns', { runs })
      : say('forecast.heldBack', { runs, amount: text(amount.expected), unit: say(`forecast.unit.${unit}`) })
  return <p className="bad small">{words}</p>
}

function Course({ view, unit }: { readonly view: ForecastView; readonly unit: Unit }): ReactNode {
  const { say, locale } = useTexts()
  const text = textOf(locale)
  const total = view.total[unit]
  if (total === null) return <p className="quiet">{say('forecast.unknown')}</p>
  const label = say('forecast.chart', { unit: say(`forecast.unit.${unit}`), total: text(total.expected) })
  return (
    <>
      <p className="forecast-total">
        <strong>{say('forecast.total', { expected: text(total.expected), high: text(total.high) })}</strong>{' '}
        <span className="quiet">{say('forecast.runs', { runs: text(view.total.runs) })}</span>
      </p>
      <Chart {...{ days: view.days, unit, label }} />
      <div className="forecast-dates quiet small" aria-hidden>
        <span>{view.days[0]?.date}</span>
        <span>{view.days.at(-1)?.date}</span>
      </div>
      <h4 className="forecast-heading">{say('forecast.most')}</h4>
      <ul className="forecast-sources">
        {view.sources.slice(0, MOST_SOURCES).map((source) => (
          <li key={`${source.kind} ${source.schedule_id ?? source.agent_id}`}>
            <span className="forecast-name">{source.name}</span>
            <span className="quiet small">{say(`forecast.source.${source.kind}`)}</span>
            {source.held_back_runs > 0 && (
              <span className="bad small">{say('forecast.sourceHeldBack', { runs: text(source.held_back_runs) })}</span>
            )}
            <span className="forecast-amount">{source[unit] === null ? '–' : text(source[unit].expected)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

const textOf =
  (locale: string) =>
  (value: number): string =>
    value.toLocaleString(locale, { maximumFractionDigits: value < 10 ? 2 : 0 })

const [STEP, WIDTH, HEIGHT] = [10, 7, 60]
/** What is there at all is seen. */
const LEAST = 1

interface ChartProps {
  readonly days: readonly (ForecastFigures & { readonly date: string })[]
  readonly unit: Unit
  readonly label: string
}

/** A bar for each day: what is expected, and above it in a lighter colour what it is at most. */
function Chart({ days, unit, label }: ChartProps): ReactNode {
  const { say, locale } = useTexts()
  const text = textOf(locale)
  const most = Math.max(...days.map((day) => day[unit]?.high ?? 0))
  return (
    <svg
      {...{ className: 'forecast-chart', role: 'img', 'aria-label': label, preserveAspectRatio: 'none' }}
      viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
    >
      {days.map((day, index) => {
        const amount: ForecastAmount = day[unit] ?? { expected: 0, high: 0 }
        const heightOf = (value: number): number => (value > 0 ? Math.max(LEAST, (value / most) * HEIGHT) : 0)
        const place = { x: (STEP - WIDTH) / 2, width: WIDTH }
        const words = { date: day.date, expected: text(amount.expected), high: text(amount.high) }
        return (
          <g key={day.date} transform={`translate(${index * STEP} 0)`}>
            <title>{say('forecast.day', words)}</title>
            <rect className="forecast-ground" width={STEP} height={HEIGHT} />
            <rect
              {...place}
              className="forecast-high"
              y={HEIGHT - heightOf(amount.high)}
              height={heightOf(amount.high)}
            />
            <rect
              {...{ ...place, className: 'forecast-expected' }}
              {...{ y: HEIGHT - heightOf(amount.expected), height: heightOf(amount.expected) }}
            />
          </g>
        )
      })}
    </svg>
  )
}
