import { Button } from '@mantine/core'
import { IconMessages, IconPencil, IconPlayerPlay } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, type ReactNode } from 'react'
import type { AgentView } from '../../../src/features/agents/schema.ts'
import { agentOf } from '../../api/admin-queries.ts'
import { runPage } from '../../api/queries.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { OutcomeMark } from '../../parts/outcome/OutcomeMark.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { newSessionKey } from '../../parts/session-name.ts'
import { Timeline } from '../../ribbon/Timeline.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { spanText } from '../../time/span.ts'
import { Time } from '../../time/Time.tsx'
import { readAgentOneSearch, type AgentOneSearch } from './agent-search.ts'
import { AgentFacts } from './AgentFacts.tsx'
import { AgentFigures } from './AgentFigures.tsx'
import { AgentSchedules, AgentSessions } from './AgentLists.tsx'
import { placeOf } from './executor-fields.ts'
import './agents.css'

const AgentDrawer = lazy(async () => ({ default: (await import('./AgentDrawer.tsx')).AgentDrawer }))
const AgentTest = lazy(async () => ({ default: (await import('./AgentTest.tsx')).AgentTest }))

const ICON = { size: 14, 'aria-hidden': true } as const
const RUNS = 8

/** One agent: how its runs went, what uses it, what limits it. */
export function AgentPage(): ReactNode {
  const say = useSay()
  const { id } = useParams({ from: '/shell/agents/$id' })
  const { data: agent, error, refetch } = useQuery(agentOf(id))
  if (agent === undefined)
    return (
      <>
        <PageHead title={say('nav.agents')} lead={<span className="quiet">{id}</span>} />
        <Panel>
          {error === null ? <Lines count={8} height={24} /> : <ErrorState error={error} retry={() => void refetch()} />}
        </Panel>
      </>
    )
  return <Known key={agent.id} agent={agent} />
}

function Known({ agent }: { readonly agent: AgentView }): ReactNode {
  const say = useSay()
  const { open } = useSearch({
    ...{ from: '/shell/agents/$id', select: readAgentOneSearch, structuralSharing: true },
  })
  const navigate = useNavigate({ from: '/agents/$id' })
  const show = (what: AgentOneSearch['open'] | null): void =>
    void navigate({ search: what === null || what === undefined ? {} : { open: what }, replace: what === null })
  const { id, name, description, executor } = agent
  const place = placeOf(agent)
  return (
    <>
      <PageHead
        title={name}
        lead={
          <>
            <span className="tag">{executor.kind}</span>
            {place !== null && ` ${place}`}
            {name !== id && <span className="quiet"> · {id}</span>}
            {description !== '' && <div>{description}</div>}
          </>
        }
        actions={<Actions {...{ id, show }} />}
      />
      <div className="agent-page">
        <AgentFigures id={id} />
        <Panel title={say('overview.ribbon')}>
          <Timeline of={{ agent_id: id }} span="24h" />
        </Panel>
        <div className="agent-columns">
          <div className="agent-column">
            <RecentRuns id={id} />
            <AgentSchedules id={id} />
          </div>
          <div className="agent-column">
            <AgentFacts agent={agent} />
            <AgentSessions id={id} />
          </div>
        </div>
      </div>
      <Suspense fallback={null}>
        {open === 'edit' && <AgentDrawer id={id} close={() => show(null)} />}
        {open === 'test' && <AgentTest agent={agent} close={() => show(null)} />}
      </Suspense>
    </>
  )
}

interface ActionsProps {
  readonly id: string
  readonly show: (what: 'edit' | 'test') => void
}

function Actions({ id, show }: ActionsProps): ReactNode {
  const say = useSay()
  return (
    <>
      <Permitted permission="sessions:write">
        <Button variant="default" leftSection={<IconPlayerPlay {...ICON} />} onClick={() => show('test')}>
          {say('agents.test')}
        </Button>
      </Permitted>
      <Button
        variant="default"
        leftSection={<IconMessages {...ICON} />}
        renderRoot={(props) => <Link {...props} to="/chat/$key" params={{ key: newSessionKey(id, '') }} search={{}} />}
      >
        {say('agents.chat')}
      </Button>
      <Permitted permission="agents:write">
        <Button variant="default" leftSection={<IconPencil {...ICON} />} onClick={() => show('edit')}>
          {say('form.edit')}
        </Button>
      </Permitted>
    </>
  )
}

function RecentRuns({ id }: { readonly id: string }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const { data } = useQuery(runPage({ agent_id: id, limit: RUNS }))
  const all = (
    <Link to="/automation/runs" search={{ agent_id: id }} className="door small">
      {say('agents.allRuns')}
    </Link>
  )
  return (
    <Panel title={say('agents.col.last')} aside={all}>
      {data === undefined ? (
        <Lines />
      ) : data.items.length === 0 ? (
        <p className="panel-none">{say('agents.noRuns')}</p>
      ) : (
        <ul className="rows">
          {data.items.map((run) => (
            <li key={run.id} className="row">
              <OutcomeMark status={run.status} bare />
              <span className="row-main">
                <Door to={doors.run(run.id)}>{run.error_message ?? say(`status.${run.status}`)}</Door>
              </span>
              {run.duration_ms !== null && <span className="quiet">{spanText(run.duration_ms, say)}</span>}
              <span className="quiet">
                <Time at={run.created_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
