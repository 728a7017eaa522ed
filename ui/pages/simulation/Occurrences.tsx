import { Checkbox } from '@mantine/core'
import { useMemo, useState, type ReactNode } from 'react'
import type { SimulateAnswer } from '../../../src/features/simulation/schema.ts'
import type { SimulatedRunView } from '../../../src/features/simulation/result-schema.ts'
import { OutcomeMark } from '../../parts/outcome/OutcomeMark.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { occurrenceName } from '../../ribbon/simulated-items.ts'
import { useSay, useTexts } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'
import { dayTime, fullTime, secondTime } from '../../time/zone.ts'

const MOST_LINES = 200
const DAY = 86_400_000

/** An occurrence, and what the other policies make of it. */
interface Line {
  readonly id: string
  readonly run: SimulatedRunView | null
  readonly other: SimulatedRunView | null
  readonly isChanged: boolean
}

/** Every occurrence, one by one; beside it, where two sets of policies are compared, the other one. */
export function Occurrences({ answer }: { readonly answer: SimulateAnswer }): ReactNode {
  const say = useSay()
  const [isOnlyChanged, setOnlyChanged] = useState(false)
  const lines = useMemo(() => linesOf(answer), [answer])
  const kept = isOnlyChanged && answer.diff !== null ? lines.filter(({ isChanged }) => isChanged) : lines
  const shown = kept.slice(0, MOST_LINES)
  const filter = answer.diff !== null && (
    <Checkbox
      {...{ checked: isOnlyChanged, size: 'xs', label: say('sim.onlyChanged') }}
      onChange={(event) => setOnlyChanged(event.currentTarget.checked)}
    />
  )
  return (
    <Panel title={say('sim.occurrences')} aside={filter} className="simulate-occurrences">
      {shown.length === 0 ? (
        <p className="panel-none">{say('sim.none')}</p>
      ) : (
        <div className="ribbon-table" tabIndex={0} role="region" aria-label={say('sim.occurrences')}>
          <OccurrenceTable {...{ answer, lines: shown }} />
        </div>
      )}
      {kept.length > shown.length && (
        <p className="ribbon-note">{say('sim.more', { count: kept.length - shown.length })}</p>
      )}
    </Panel>
  )
}

function linesOf({ rows, against, diff }: SimulateAnswer): readonly Line[] {
  const changed = new Set((diff?.changes ?? []).map((change) => occurrenceName(change)))
  const others = new Map((against?.rows ?? []).map((run) => [occurrenceName(run), run]))
  const lines = rows.map((run): Line => {
    const name = occurrenceName(run)
    return { id: run.id, run, other: others.get(name) ?? null, isChanged: changed.has(name) }
  })
  const added = (diff?.changes ?? []).flatMap(({ before, after }): readonly Line[] =>
    before === null && after !== null ? [{ id: `b ${after.id}`, run: null, other: after, isChanged: true }] : [],
  )
  return [...lines, ...added]
}

interface OccurrenceTableProps {
  readonly answer: SimulateAnswer
  readonly lines: readonly Line[]
}

function OccurrenceTable({ answer, lines }: OccurrenceTableProps): ReactNode {
  const { say, locale } = useTexts()
  const names = new Map(answer.schedules.map(({ id, name }) => [id, name]))
  const isCompared = answer.against !== null
  const hasMany = answer.schedules.length > 1
  const timeOf = Date.parse(answer.to) - Date.parse(answer.from) <= DAY ? secondTime : dayTime
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{say('sim.col.time')}</th>
          {hasMany && <th scope="col">{say('sim.col.schedule')}</th>}
          <th scope="col">{say(isCompared ? 'sim.before' : 'sim.col.what')}</th>
          {isCompared && <th scope="col">{say('sim.after')}</th>}
          {!isCompared && <th scope="col">{say('sim.col.why')}</th>}
        </tr>
      </thead>
      <tbody>
        {lines.map(({ id, run, other, isChanged }) => {
          const told = run ?? other
          const at = Date.parse(told?.nominal_time ?? told?.created_at ?? '')
          return (
            <tr key={id} data-changed={isChanged}>
              <td title={fullTime(at, { locale })}>{timeOf(at, { locale })}</td>
              {hasMany && <td>{names.get(told?.schedule_id ?? '')}</td>}
              <td>
                <Became run={run} hasWhy={isCompared} />
              </td>
              {isCompared && (
                <td>
                  <Became run={other} hasWhy />
                </td>
              )}
              {!isCompared && <td className="quiet">{run === null ? '' : whyOf(run)}</td>}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

/** One that went as planned needs no reason. */
const whyOf = ({ status, trigger, sentence, decision }: SimulatedRunView): string => {
  if (status === 'running') return ''
  if (status !== 'success') return sentence
  return trigger === 'schedule' ? '' : decision.sentence
}

function Became({ run, hasWhy }: { readonly run: SimulatedRunView | null; readonly hasWhy: boolean }): ReactNode {
  const { say, locale } = useTexts()
  if (run === null) return <span className="quiet">{say('sim.notThere')}</span>
  const [first] = run.attempts
  const start = first === undefined ? null : Date.parse(first.started_at)
  const end = run.finished_at === null ? null : Date.parse(run.finished_at)
  const parts = [
    ...(first === undefined ? [] : [say('sim.attempt', { count: run.attempt })]),
    ...(start === null
      ? []
      : [`${secondTime(start, { locale })}${end === null ? '' : `–${secondTime(end, { locale })}`}`]),
    ...(run.lateness_ms === null || run.lateness_ms === 0 ? [] : [`+${spanText(run.lateness_ms, say)}`]),
  ]
  return (
    <span className="simulate-became">
      <OutcomeMark status={run.status} /> <span className="quiet small">{parts.join(' · ')}</span>
      {hasWhy && run.status !== 'success' && <span className="quiet small">{run.reason}</span>}
    </span>
  )
}
