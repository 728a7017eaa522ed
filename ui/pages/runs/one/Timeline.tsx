import type { ReactNode } from 'react'
import type { RunDetail, TimelineEntry } from '../../../../src/features/runs/schema.ts'
import { isPending } from '../../../api/run-actions.ts'
import { OutcomeMark } from '../../../parts/outcome/OutcomeMark.tsx'
import { outcomeColor, outcomeOf } from '../../../parts/outcome/outcome.ts'
import { Panel } from '../../../parts/Panel.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { useNow } from '../../../time/clock.ts'
import { spanText } from '../../../time/span.ts'
import { Time } from '../../../time/Time.tsx'

/** The way of a run from top to bottom: each state as long as it lasted, each attempt with what came of it. */
export function Timeline({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  const { timeline } = run
  return (
    <Panel title={say('run.timeline')}>
      <ol className="way">
        {timeline.map((entry, index) => (
          <Step
            // Steps are only added at the end.
            key={index}
            {...{ entry, run }}
            until={timeline[index + 1]?.at ?? null}
          />
        ))}
      </ol>
    </Panel>
  )
}

interface StepProps {
  readonly run: RunDetail
  readonly entry: TimelineEntry
  /** When the next one began; null for the last. */
  readonly until: string | null
}

function Step({ run, entry, until }: StepProps): ReactNode {
  const say = useSay()
  const isLast = until === null
  const attempt = run.attempts.find(({ number }) => number === entry.attempt)
  // The step behind an attempt says what came of it.
  const error = entry.status === 'running' ? null : (attempt?.error_message ?? null)
  return (
    <li className="way-step" data-last={isLast && !isPending(run)}>
      <span className="way-mark">
        <OutcomeMark status={entry.status} bare />
        <Bar {...{ entry, until, isPending: isPending(run) }} />
      </span>
      <div className="way-words">
        <div className="way-head">
          <span className="way-status">{say(`status.${entry.status}`)}</span>
          {entry.attempt !== null && entry.status === 'running' && (
            <span className="quiet">{say('run.attempt', { count: entry.attempt })}</span>
          )}
          {entry.reason !== null && <span className="tag">{entry.reason}</span>}
        </div>
        <div className="way-time">
          <Time at={entry.at} show="short" />
          {(!isLast || isPending(run)) && <Stayed from={entry.at} until={until} />}
          {entry.status === 'running' && attempt?.node_id != null && (
            <span title={attempt.node_id} className="way-node">
              {say('run.node', { node: attempt.node_id })}
            </span>
          )}
        </div>
        {error !== null && <p className="way-error">{error}</p>}
      </div>
    </li>
  )
}

function Stayed({ from, until }: { readonly from: string; readonly until: string | null }): ReactNode {
  const say = useSay()
  const now = useNow()
  const span = Math.max(0, (until === null ? now : Date.parse(until)) - Date.parse(from))
  return <span>{say('run.stayed', { span: spanText(span, say) })}</span>
}

const SHORTEST = 10
const PER_DOUBLING = 3

interface BarProps {
  readonly entry: TimelineEntry
  readonly until: string | null
  readonly isPending: boolean
}

/** As long as the state lasted, on a scale on which a day still fits. */
function Bar({ entry, until, isPending: goesOn }: BarProps): ReactNode {
  const now = useNow()
  if (until === null && !goesOn) return null
  const span = Math.max(1, (until === null ? now : Date.parse(until)) - Date.parse(entry.at))
  const height = SHORTEST + PER_DOUBLING * Math.log2(span)
  const color = outcomeColor(outcomeOf(entry.status))
  return <span className="way-bar" style={{ minHeight: height, background: color }} data-open={until === null} />
}
