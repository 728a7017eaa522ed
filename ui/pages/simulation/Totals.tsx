import type { ReactNode } from 'react'
import type { SimulationTotals } from '../../../src/features/simulation/result-schema.ts'
import { Panel } from '../../parts/Panel.tsx'
import type { PlainKey, Say } from '../../texts/fill.ts'
import { useTexts } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'

interface TotalsProps {
  readonly before: SimulationTotals
  /** Null: nothing to compare with. */
  readonly after: SimulationTotals | null
}

interface Line {
  readonly name: PlainKey
  readonly of: (totals: SimulationTotals) => string
  /** What it is made of. */
  readonly parts?: (totals: SimulationTotals) => string
}

/** What a window comes to; beside it what the other policies make of it. */
export function Totals({ before, after }: TotalsProps): ReactNode {
  const { say, locale } = useTexts()
  const lines = linesOf(say, locale).filter(({ of }) => of(before) !== '' || (after !== null && of(after) !== ''))
  return (
    <Panel title={say('sim.totals')}>
      <table className="simulate-totals">
        <thead className={after === null ? 'visually-hidden' : ''}>
          <tr>
            <th scope="col">{say('sim.total.name')}</th>
            <th scope="col">{say('sim.before')}</th>
            {after !== null && <th scope="col">{say('sim.after')}</th>}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.name} data-changed={after !== null && textOf(line, after) !== textOf(line, before)}>
              <th scope="row">{say(line.name)}</th>
              <Cell line={line} totals={before} />
              {after !== null && <Cell line={line} totals={after} />}
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

const textOf = ({ of, parts }: Line, totals: SimulationTotals): string => `${of(totals)} ${parts?.(totals) ?? ''}`

function Cell({ line: { of, parts }, totals }: { readonly line: Line; readonly totals: SimulationTotals }): ReactNode {
  return (
    <td>
      {of(totals)} {parts !== undefined && <span className="quiet small">{parts(totals)}</span>}
    </td>
  )
}

function linesOf(say: Say, locale: string): readonly Line[] {
  const number = (value: number): string => value.toLocaleString(locale)
  const some = (value: number): string => (value === 0 ? '' : number(value))
  const span = (ms: number | null): string => (ms === null ? '' : spanText(ms, say))
  const counts = (all: Readonly<Partial<Record<string, number>>>, name: (word: string) => string): string =>
    Object.entries(all)
      .filter(([word, count]) => word !== 'skipped' && (count ?? 0) > 0)
      .sort(([, a], [, b]) => (b ?? 0) - (a ?? 0))
      .map(([word, count]) => `${number(count ?? 0)} ${name(word)}`)
      .join(' · ')
  const status = (word: string): string => say(`status.${word}` as PlainKey)
  return [
    { name: 'sim.total.occurrences', of: (one) => number(one.occurrences) },
    { name: 'sim.total.runs', of: (one) => number(one.runs), parts: (one) => counts(one.by_status, status) },
    {
      ...{ name: 'sim.total.skipped', of: (one) => number(one.by_status.skipped ?? 0) },
      parts: (one) => counts(one.skipped_by_reason, (word) => word),
    },
    { name: 'sim.total.superseded', of: (one) => some(one.superseded) },
    { name: 'sim.total.attempts', of: (one) => number(one.attempts) },
    { name: 'sim.total.busy', of: (one) => span(one.busy_ms) },
    { name: 'sim.total.waiting', of: (one) => number(one.max_waiting) },
    { name: 'sim.total.running', of: (one) => number(one.max_running) },
    { name: 'sim.total.p50', of: (one) => span(one.lateness_p50_ms) },
    { name: 'sim.total.p99', of: (one) => span(one.lateness_p99_ms) },
    { name: 'sim.total.tokens', of: (one) => some(one.tokens) },
    { name: 'sim.total.cost', of: (one) => (one.cost === 0 ? '' : one.cost.toLocaleString(locale, MONEY)) },
  ]
}

const MONEY: Intl.NumberFormatOptions = { maximumFractionDigits: 4 }
