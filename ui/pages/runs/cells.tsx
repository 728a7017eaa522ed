import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAgentName, useScheduleName } from '../../api/names.ts'
import { OutcomeMark } from '../../parts/outcome/OutcomeMark.tsx'
import { Sentence } from '../../parts/Sentence.tsx'
import { nameOfSession } from '../../parts/session-name.ts'
import { useSay, useTexts } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { listedTime, type RunRow } from './run-row.ts'

interface CellProps {
  readonly run: RunRow
}

/** How it stands, and which attempt it is when it is not the first. */
export function StateCell({ run: { status, attempt } }: CellProps): ReactNode {
  const say = useSay()
  return (
    <div>
      <OutcomeMark status={status} />
      {attempt > 1 && <div className="run-attempt">{say('runs.attempt', { count: attempt })}</div>}
    </div>
  )
}

/** What it is about, and below it what came of it or what woke it. */
export function WhatCell({ run }: CellProps): ReactNode {
  return (
    <div className="run-what">
      <Link to="/automation/runs/$id" params={{ id: run.id }} className="door run-title">
        <Name run={run} />
      </Link>
      <div className="run-sub">
        <Below run={run} />
      </div>
    </div>
  )
}

function Name({ run }: CellProps): ReactNode {
  const say = useSay()
  const name = useScheduleName(run.schedule_id)
  if (run.schedule_id !== null) return name ?? run.text ?? (name === null ? say('runs.gone') : run.schedule_id)
  return run.text ?? <span className="quiet">{say('runs.without')}</span>
}

/** Why it went wrong or did not take place; of all others what woke them. */
function Below({ run }: CellProps): ReactNode {
  const say = useSay()
  const { error_message: message, status, decision, trigger } = run
  const code = run.agent_error_code ?? run.error_code
  // A code that says no more than the state does is no news.
  if (message !== null || (code !== null && code !== status))
    return (
      <>
        <span className="run-error">{message ?? say(`status.${status}`)}</span>
        {code !== null && <span className="tag">{code}</span>}
      </>
    )
  if (status === 'skipped')
    return (
      <>
        <span className="run-error">
          <Sentence why={decision} />
        </span>
        <span className="tag">{decision.reason}</span>
      </>
    )
  return (
    <span>
      {say(`trigger.${trigger}`)}
      {isShared(run) && ` · ${sessionText(run.session_key)}`}
    </span>
  )
}

/** Whether it is in a session that others may be in too; one of its own has nothing to say in a list. */
const isShared = (run: RunRow): run is RunRow & { readonly session_key: string } =>
  run.session_key !== null && !run.session_key.endsWith(`:run:${run.id}`)

/** What a session is called; whom it talks to stands beside it. */
function sessionText(key: string): string {
  const { agent, name } = nameOfSession(key)
  return agent === null || name !== '' ? name : key
}

/** Who does it; leads to everything they did. */
export function AgentCell({ run: { agent_id: agent } }: CellProps): ReactNode {
  const name = useAgentName(agent)
  return (
    <Link to="/automation/runs" search={{ agent_id: agent }} className="door run-agent" title={agent}>
      {name}
    </Link>
  )
}

/** When it was created: the order of the list. */
export function WhenCell({ run }: CellProps): ReactNode {
  return <Time at={listedTime(run)} show="both" />
}

/** What it used: tokens, and what they cost. */
export function UsedCell({ run: { tokens, cost } }: CellProps): ReactNode {
  const { say, locale } = useTexts()
  if (tokens === null && cost === null) return null
  return (
    <div className="figures-inline">
      {tokens !== null && (
        <div>
          {say('runs.tokens', {
            count: tokens.toLocaleString(locale, { notation: 'compact', maximumFractionDigits: 1 }),
          })}
        </div>
      )}
      {cost !== null && (
        <div className="run-attempt">
          {cost.toLocaleString(locale, { minimumFractionDigits: 2, maximumFractionDigits: 4 })}
        </div>
      )}
    </div>
  )
}
