import type { ReactNode } from 'react'
import type { AgentWork } from '../../../src/features/stats/schema.ts'
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
          {agents.slice(0, MOST).map(({ agent_id: id, active, queued }) => (
            <li key={id} className="row">
              <span className="row-main">{id}</span>
              <span className="quiet">{say('overview.agentWork', { active, queued })}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
