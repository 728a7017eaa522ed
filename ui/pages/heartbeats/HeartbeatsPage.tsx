import { IconRobot } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentView } from '../../../src/features/agents/schema.ts'
import { heartbeatOf } from '../../api/admin-queries.ts'
import { agentList } from '../../api/queries.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { HeartbeatDetails } from './HeartbeatDetails.tsx'
import { readHeartbeatSearch, type HeartbeatSearch } from './heartbeat-search.ts'
import './heartbeats.css'

const NONE: readonly AgentView[] = []

/** Agents that look after a checklist by themselves: what they check, how often, and what came of it. */
export function HeartbeatsPage(): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/agents/heartbeats' })
  const search = useSearch({
    ...{ from: '/shell/agents/heartbeats', select: readHeartbeatSearch, structuralSharing: true },
  })
  const list = useQuery(agentList)
  const agents = list.data?.items ?? NONE
  const agent = agents.find(({ id }) => id === search.agent) ?? agents[0]
  const change = (part: { readonly [Name in keyof HeartbeatSearch]?: string | null }): void => {
    const next = Object.entries({ ...search, ...part }).filter(([, value]) => value != null)
    void navigate({ search: Object.fromEntries(next) as HeartbeatSearch })
  }
  return (
    <>
      <PageHead title={say('beats.title')} lead={say('beats.lead')} />
      {list.isPending ? (
        <Lines count={6} height={28} />
      ) : list.data === undefined ? (
        <ErrorState error={list.error} retry={() => void list.refetch()} />
      ) : agent === undefined ? (
        <EmptyState
          icon={<IconRobot size={22} aria-hidden />}
          title={say('agents.empty.title')}
          text={say('agents.empty.text')}
        />
      ) : (
        <div className="beats">
          <Panel className="beats-agents" title={say('nav.agents')}>
            <ul className="rows">
              {agents.map((one) => (
                <AgentLine key={one.id} agent={one} isShown={one.id === agent.id} />
              ))}
            </ul>
          </Panel>
          <HeartbeatDetails key={agent.id} {...{ agent, search, change }} />
        </div>
      )}
    </>
  )
}

interface AgentLineProps {
  readonly agent: AgentView
  readonly isShown: boolean
}

function AgentLine({ agent: { id, name }, isShown }: AgentLineProps): ReactNode {
  const say = useSay()
  const beat = useQuery(heartbeatOf(id)).data
  return (
    <li>
      <Link
        {...{ to: '/agents/heartbeats', search: { agent: id }, className: 'beats-agent' }}
        {...(isShown ? { 'aria-current': 'true' } : {})}
      >
        <span className="beats-name">{name}</span>
        <span className="quiet small">
          {beat === undefined ? ' ' : beat.next_at === null ? say('beats.off') : <Time at={beat.next_at} />}
        </span>
      </Link>
    </li>
  )
}
