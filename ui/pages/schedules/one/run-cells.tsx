import { useState, type ReactNode } from 'react'
import type { RunView } from '../../../../src/features/runs/schema.ts'
import { Door } from '../../../parts/Door.tsx'
import { useDoors } from '../../../parts/doors.ts'
import { OutcomeMark } from '../../../parts/outcome/OutcomeMark.tsx'
import { Sentence } from '../../../parts/Sentence.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { useNow } from '../../../time/clock.ts'
import { spanText } from '../../../time/span.ts'
import { Time } from '../../../time/Time.tsx'

interface CellProps {
  readonly run: RunView
}

/** How it stands; leads to the run. */
export function StatusCell({ run }: CellProps): ReactNode {
  const doors = useDoors()
  return (
    <Door to={doors.run(run.id)}>
      <OutcomeMark status={run.status} />
    </Door>
  )
}

/** When it was planned, or made where nothing was planned; and what woke it when it was not the plan. */
export function WhenCell({ run, zone }: CellProps & { readonly zone: string }): ReactNode {
  const say = useSay()
  const isBackfilled = run.trigger === 'manual' && run.nominal_time !== null
  return (
    <div>
      <Time at={run.nominal_time ?? run.created_at} zone={zone} show="both" />
      {run.trigger !== 'schedule' && (
        <div className="quiet small">{say(isBackfilled ? 'backfill.trigger' : `trigger.${run.trigger}`)}</div>
      )}
    </div>
  )
}

const LONG = 140

/** What came of it in a line: the answer, the error, or the sentence that says why it did not run. */
export function WhatCell({ run }: CellProps): ReactNode {
  const say = useSay()
  const [isOpen, setOpen] = useState(false)
  const { status, error_message: error, attempt, first_attempt: first } = run
  // What the runtime calls its failure says more than our word for it.
  const code = run.agent_error_code ?? run.error_code
  if (status === 'skipped')
    return (
      <div className="log-what">
        <Sentence why={run.decision} /> <code className="tag">{run.decision.reason}</code>
      </div>
    )
  const text = error ?? outputText(run.result_summary ?? run.output)
  const isLong = text.length > LONG || text.includes('\n')
  return (
    <div className="log-what">
      {text === '' ? (
        <span className="quiet">{code ?? say(`status.${status}`)}</span>
      ) : (
        <span className={error === null ? '' : 'log-error'} data-open={isOpen}>
          {isLong && !isOpen ? `${text.slice(0, LONG).split('\n')[0]}…` : text}
        </span>
      )}{' '}
      {code !== null && text !== '' && <code className="tag">{code}</code>}{' '}
      {attempt > first && <span className="quiet small">{say('one.attempts', { count: attempt - first + 1 })}</span>}
      {isLong && (
        <button className="plain-link small" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {say(isOpen ? 'one.less' : 'one.whole')}
        </button>
      )}
    </div>
  )
}

/** An answer as one text. */
function outputText(output: unknown): string {
  if (output == null) return ''
  return typeof output === 'string' ? output : JSON.stringify(output)
}

/** How long it took, or has taken. */
export function TookCell({ run }: CellProps): ReactNode {
  const say = useSay()
  const now = useNow()
  if (run.duration_ms !== null && run.status !== 'skipped') return spanText(run.duration_ms, say)
  if (run.started_at === null || run.finished_at !== null) return <span className="quiet">–</span>
  return <span className="quiet">{spanText(Math.max(0, now - Date.parse(run.started_at)), say)}</span>
}
