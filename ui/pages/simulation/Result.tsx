import { useMemo, useState, type ReactNode } from 'react'
import type { SimulateAnswer } from '../../../src/features/simulation/schema.ts'
import type { SimulationView } from '../../../src/features/simulation/result-schema.ts'
import { Panel } from '../../parts/Panel.tsx'
import type { RibbonView } from '../../ribbon/view.ts'
import { occurrenceName } from '../../ribbon/simulated-items.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Gantt } from './Gantt.tsx'
import { Occurrences } from './Occurrences.tsx'
import { Totals } from './Totals.tsx'

const CLOSEST = 5_000

const wholeOf = ({ from, to }: SimulationView): RibbonView => {
  const span = Date.parse(to) - Date.parse(from)
  return { from: Date.parse(from), span, follows: null, shortest: Math.min(span, CLOSEST), longest: span }
}

/** The answer: the picture, what it comes to, and every occurrence behind it. */
export function Result({ answer }: { readonly answer: SimulateAnswer }): ReactNode {
  const say = useSay()
  const { against, diff } = answer
  const whole = useMemo(() => wholeOf(answer), [answer])
  const [moved, setMoved] = useState<{ readonly of: RibbonView; readonly to: RibbonView } | null>(null)
  // Another window is shown whole; both pictures show the same stretch of it.
  const view = moved !== null && moved.of === whole ? moved.to : whole
  const sight = { view, setView: (to: RibbonView) => setMoved({ of: whole, to }), whole }
  const marked = useMemo(
    () => (diff === null ? undefined : new Set(diff.changes.map((change) => occurrenceName(change)))),
    [diff],
  )
  return (
    <>
      <Panel title={say('sim.result')} aside={<Basis answer={answer} />} className="simulate-gantt">
        <Gantt {...{ simulation: answer, sight, marked }} />
      </Panel>
      {against !== null && (
        <Panel title={say('sim.result.b')} aside={<Changed answer={answer} />} className="simulate-gantt">
          <Gantt {...{ simulation: against, sight, marked }} />
        </Panel>
      )}
      <Totals before={answer.totals} after={against?.totals ?? null} />
      <Occurrences answer={answer} />
    </>
  )
}

/** On what it rests. */
function Basis({ answer: { basis } }: { readonly answer: SimulateAnswer }): ReactNode {
  const say = useSay()
  const observed = basis.reduce((sum, one) => sum + one.observed_runs, 0)
  const recorded = basis.reduce((sum, one) => sum + one.recorded_attempts, 0)
  const words = [
    observed === 0 ? say('sim.basedNothing') : say('sim.based', { count: observed }),
    ...(recorded === 0 ? [] : [say('sim.recorded', { count: recorded })]),
  ]
  return <span className="quiet small">{words.join(' · ')}</span>
}

function Changed({ answer: { diff } }: { readonly answer: SimulateAnswer }): ReactNode {
  const say = useSay()
  if (diff === null) return null
  const { changed, unchanged } = diff
  return (
    <span className="small">
      {changed === 0 ? say('sim.unchanged') : say('sim.changed', { count: changed, all: changed + unchanged })}
    </span>
  )
}
