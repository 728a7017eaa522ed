import { Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Spread, StatsView } from '../../../src/contract/stats.ts'
import { outcomeColor, outcomeOf, type Outcome } from '../../parts/outcome.ts'
import type { RunView } from '../../../src/contract/run.ts'
import { useSay, useTexts } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'

/** Four numbers about the last day, each with what it means beside it. */
export function Figures({ stats }: { readonly stats: StatsView | undefined }): ReactNode {
  const { say, locale } = useTexts()
  const runs = stats?.runs
  const share = runs?.share
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
  return (
    <section className="figures" aria-label={say('overview.day')}>
      <Figure name={say('overview.ended')} value={runs?.ended.toLocaleString(locale)} note={say('overview.day')} />
      <Figure
        name={say('overview.success')}
        value={share === undefined ? undefined : share === null ? '–' : percent.format(share.success)}
        note={<OutcomeBar byStatus={runs?.by_status ?? {}} />}
      />
      <SpreadFigure name={say('overview.p95')} spread={runs?.duration_ms} note="median" />
      <SpreadFigure name={say('overview.lateness')} spread={runs?.lateness_ms} note="max" />
    </section>
  )
}

interface FigureProps {
  readonly name: string
  /** Undefined while it is not known. */
  readonly value: string | undefined
  readonly note: ReactNode
}

function Figure({ name, value, note }: FigureProps): ReactNode {
  return (
    <div className="figure">
      <div className="figure-name">{name}</div>
      <div className="figure-value">{value ?? <Skeleton height={28} width={72} />}</div>
      <div className="figure-note">{note}</div>
    </div>
  )
}

interface SpreadFigureProps {
  readonly name: string
  readonly spread: Spread | null | undefined
  readonly note: 'median' | 'max'
}

function SpreadFigure({ name, spread, note }: SpreadFigureProps): ReactNode {
  const say = useSay()
  if (spread == null)
    return <Figure {...{ name, value: spread === null ? '–' : undefined, note: say('overview.noNumber') }} />
  const words =
    note === 'median'
      ? say('overview.median', { span: spanText(spread.p50, say) })
      : say('overview.latest', { span: spanText(spread.max, say) })
  return <Figure {...{ name, value: spanText(spread.p95, say), note: words }} />
}

const ORDER: readonly Outcome[] = ['success', 'failure', 'late', 'quiet']

/** The shares of the outcomes as one bar; the words are on hover and for those who do not see it. */
function OutcomeBar({ byStatus }: { readonly byStatus: StatsView['runs']['by_status'] }): ReactNode {
  const { say } = useTexts()
  const entries = Object.entries(byStatus) as (readonly [RunView['status'], number])[]
  const sums = ORDER.map((outcome) => [outcome, sumOf(entries, outcome)] as const).filter(([, sum]) => sum > 0)
  const label = entries.filter(([, n]) => n > 0).map(([status, n]) => `${say(`status.${status}`)} ${n}`)
  if (sums.length === 0) return say('overview.noNumber')
  return (
    <span className="outcome-bar" role="img" aria-label={label.join(', ')} title={label.join(', ')}>
      {sums.map(([outcome, sum]) => (
        <span key={outcome} style={{ flexGrow: sum, background: outcomeColor(outcome) }} />
      ))}
    </span>
  )
}

const sumOf = (entries: readonly (readonly [RunView['status'], number])[], outcome: Outcome): number =>
  entries.filter(([status]) => outcomeOf(status) === outcome).reduce((sum, [, n]) => sum + n, 0)
