import type { ReactNode } from 'react'
import type { AgentWork } from '../../../src/features/stats/schema.ts'
import { useAgentName } from '../../api/names.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { Lines } from '../../parts/Lines.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

const MOST = 6

/** The agents with the most to do. */
export function BusyAgents({ agents }: { readonly agents: readonly AgentWork[] | undefined }): ReactNode {
  const say = useSay()
  return (
    <Panel title={say('overview.agents')}>
      {agents === undefined ? (
        <Lines />
      ) : agents.length === 0 ? (
        <p className="panel-none">{say('overview.noAgents')}</p>
      ) : (
        <ul className="rows">
          {agents.slice(0, MOST).map((work) => (
            <Busy key={work.agent_id} work={work} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Busy({ work: { agent_id: id, active, queued } }: { readonly work: AgentWork }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const name = useAgentName(id)
  return (
    <li className="row">
      <span className="row-main">
        <Door to={doors.agent(id)}>{name}</Door>
      </span>
      <span className="quiet">{say('overview.agentWork', { active, queued })}</span>
    </li>
  )
}
