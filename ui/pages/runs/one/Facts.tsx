import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RunDetail } from '../../../../src/features/runs/schema.ts'
import { useAgentName, useScheduleName } from '../../../api/names.ts'
import { Copyable } from '../../../parts/Copyable.tsx'
import { Door } from '../../../parts/Door.tsx'
import { useDoors } from '../../../parts/doors.ts'
import { Panel } from '../../../parts/Panel.tsx'
import { ShortId } from '../../../parts/ShortId.tsx'
import { useSay, useTexts } from '../../../texts/TextProvider.tsx'
import { Time } from '../../../time/Time.tsx'

/** Whose run it is, where it comes from and what limits it; everything that has a page is a door to it. */
export function Facts({ run }: { readonly run: RunDetail }): ReactNode {
  const { say, locale } = useTexts()
  const doors = useDoors()
  const agent = useAgentName(run.agent_id)
  const { trace_id: trace, conversation, session_id: session, agent_error_code: code } = run
  return (
    <Panel title={say('run.facts')}>
      <dl className="facts run-facts">
        <Row name={say('run.fact.schedule')}>{run.schedule_id !== null && <Schedule id={run.schedule_id} />}</Row>
        <Row name={say('run.fact.agent')}>
          <Link to="/automation/runs" search={{ agent_id: run.agent_id }} className="door door-seen">
            {agent}
          </Link>
        </Row>
        <Row name={say('run.fact.session')}>
          {conversation !== null && (
            <Door to={doors.session(conversation)} className="door door-seen">
              {conversation}
            </Door>
          )}
        </Row>
        <Row name={say('run.fact.agentSession')}>
          {session !== null && session !== conversation && <Id id={session} />}
        </Row>
        <Row name={say('run.fact.trigger')}>
          <Link to="/automation/runs" search={{ trigger: run.trigger }} className="door door-seen">
            {say(`trigger.${run.trigger}`)}
          </Link>
        </Row>
        <Moments run={run} />
        <Row name={say('run.fact.lane')}>
          <code>{run.lane}</code>
        </Row>
        <Row name={say('probe.asked')}>{run.probe !== null && <Asked probe={run.probe} />}</Row>
        <Row name={say('run.fact.priority')}>{run.priority !== 0 && run.priority.toLocaleString(locale)}</Row>
        <Row name={say('run.fact.attempts')}>{run.attempts.length > 0 && run.attempts.length}</Row>
        <Row name={say('run.fact.retryOf')}>{run.retry_of !== null && <RunDoor id={run.retry_of} />}</Row>
        <Row name={say('run.fact.edits')}>{run.edits !== null && <Edited edits={run.edits} />}</Row>
        <Row name={say('run.fact.parent')}>{run.parent_run_id !== null && <RunDoor id={run.parent_run_id} />}</Row>
        <Row name={say('run.fact.message')}>{run.message_id !== null && <Id id={run.message_id} />}</Row>
        <Row name={say('run.fact.agentMessage')}>
          {run.agent_message_id !== null && run.agent_message_id !== run.message_id && <Id id={run.agent_message_id} />}
        </Row>
        <Row name={say('run.fact.agentError')}>
          {code !== null && (
            <Link to="/automation/runs" search={{ agent_error_code: code }} className="door door-seen">
              <code>{code}</code>
            </Link>
          )}
        </Row>
        <Row name={say('run.fact.trace')}>{trace !== null && <Id id={trace} />}</Row>
        <Row name={say('run.fact.id')}>
          <Id id={run.id} />
        </Row>
      </dl>
    </Panel>
  )
}

/** A line of the list; without anything to say there is none. */
function Row({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  if (children === false) return null
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** What was changed when it was run again. */
function Edited({ edits: { parts, model } }: { readonly edits: NonNullable<RunDetail['edits']> }): ReactNode {
  const say = useSay()
  return (
    <>
      {parts.map((part) => say(`again.part.${part}`)).join(', ')}
      {model !== null && (
        <>
          {' '}
          <code>{model}</code>
        </>
      )}
    </>
  )
}

/** The check that ran before the agent, and its answer. */
function Asked({ probe }: { readonly probe: NonNullable<RunDetail['probe']> }): ReactNode {
  const say = useSay()
  return (
    <span title={probe.seen}>
      <code>{probe.asked}</code> {say(`probe.answer.${probe.answer}`)}: {probe.sentence}
    </span>
  )
}

function Moments({ run }: { readonly run: RunDetail }): ReactNode {
  const say = useSay()
  const moment = (at: string | null): ReactNode => at !== null && <Time at={at} show="short" />
  return (
    <>
      <Row name={say('run.fact.nominal')}>{moment(run.nominal_time)}</Row>
      <Row name={say('run.fact.notBefore')}>{moment(run.not_before)}</Row>
      <Row name={say('run.fact.deadline')}>{moment(run.deadline)}</Row>
    </>
  )
}

function Schedule({ id }: { readonly id: string }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const name = useScheduleName(id)
  if (name === null) return <span className="quiet">{say('runs.gone')}</span>
  return (
    <Door to={doors.schedule(id)} className="door door-seen">
      {name ?? <ShortId id={id} />}
    </Door>
  )
}

function RunDoor({ id }: { readonly id: string }): ReactNode {
  return (
    <Link to="/automation/runs/$id" params={{ id }} className="door door-seen">
      <ShortId id={id} />
    </Link>
  )
}

function Id({ id }: { readonly id: string }): ReactNode {
  return (
    <span className="run-id">
      <ShortId id={id} />
      <Copyable text={id} name={id} />
    </span>
  )
}
