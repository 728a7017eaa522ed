import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { AgentStats } from '../../../src/features/agents/schema.ts'
import { agentStatsOf } from '../../api/admin-queries.ts'
import { Bars, type Bar } from '../../parts/figures/Bars.tsx'
import { useTexts } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'
import { dayName } from '../../time/zone.ts'

type Day = AgentStats['days'][number]

interface FigureProps {
  readonly name: string
  readonly value: string | undefined
  readonly note: string
  readonly bars: readonly Bar[]
}

/** Runs, success, duration, tokens and cost of an agent, day by day. */
export function AgentFigures({ id }: { readonly id: string }): ReactNode {
  const { say, locale } = useTexts()
  const { data } = useQuery(agentStatsOf(id))
  const total = data?.total
  const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  const money = new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 })
  const spanOf = (ms: number | null): string => (ms === null ? '–' : spanText(ms, say))
  const barsOf = (what: (day: Day) => string, parts: (day: Day) => Bar['parts']): readonly Bar[] =>
    (data?.days ?? []).map((day) => ({
      id: day.at,
      title: `${dayName(Date.parse(day.at), { locale, zone: 'UTC' })}: ${what(day)}`,
      parts: parts(day),
    }))
  const days = say('agents.days', { count: data?.days.length ?? 0 })
  const runs = barsOf(
    ({ runs: count, success }) => say('agents.dayRuns', { count, success }),
    ({ runs: count, success }) => [
      { value: success, color: 'var(--success)' },
      { value: count - success, color: 'var(--failure)' },
    ],
  )
  const durations = barsOf(
    ({ duration_p50_ms: p50, duration_p95_ms: p95 }) => `P50 ${spanOf(p50)}, P95 ${spanOf(p95)}`,
    ({ duration_p95_ms: p95 }) => [{ value: p95 ?? 0, color: 'var(--accent)' }],
  )
  const tokens = barsOf(
    (day) => say('overview.tokens', { count: day.tokens.toLocaleString(locale) }),
    (day) => [{ value: day.tokens, color: 'var(--ink-3)' }],
  )
  const costs = barsOf(
    ({ cost }) => money.format(cost),
    ({ cost }) => [{ value: cost, color: 'var(--late)' }],
  )
  const figures: readonly FigureProps[] = [
    {
      ...{ name: say('agents.figure.runs'), value: total?.runs.toLocaleString(locale), bars: runs },
      note:
        total === undefined || total.runs === 0
          ? days
          : say('overview.share', { percent: percent.format(total.success / total.runs) }),
    },
    {
      ...{ name: say('overview.p95'), value: total && spanOf(total.duration_p95_ms), bars: durations },
      note: total === undefined ? '' : say('overview.median', { span: spanOf(total.duration_p50_ms) }),
    },
    { ...{ name: say('agents.figure.tokens'), value: total && short.format(total.tokens), bars: tokens, note: days } },
    { ...{ name: say('agents.figure.cost'), value: total && money.format(total.cost), bars: costs, note: days } },
  ]
  return (
    <section className="figures" aria-label={days}>
      {figures.map((figure) => (
        <Figure key={figure.name} {...figure} />
      ))}
    </section>
  )
}

function Figure({ name, value, note, bars }: FigureProps): ReactNode {
  return (
    <div className="figure">
      <div className="figure-name">{name}</div>
      <div className="figure-value">{value ?? <Skeleton height={28} width={72} />}</div>
      <div className="figure-note">{note}</div>
      <Bars bars={bars} label={`${name}: ${value ?? ''}`} />
    </div>
  )
}
