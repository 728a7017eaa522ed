import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentWork } from '../../../src/features/stats/schema.ts'
import { useAgentName } from '../../api/names.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

interface AgentSharesProps {
  readonly agents: readonly AgentWork[] | undefined
  readonly error: unknown
  readonly retry: () => void
}

/** Who has how many turns, and who waits for how many: bars on one scale, so that unfairness is seen. */
export function AgentShares({ agents, error, retry }: AgentSharesProps): ReactNode {
  const say = useSay()
  const most = Math.max(1, ...(agents ?? []).map(({ active, queued }) => active + queued))
  const all = (agents ?? []).reduce((sum, { active }) => sum + active, 0)
  return (
    <Panel title={say('queue.agents')}>
      {agents === undefined ? (
        error === null ? (
          <Lines count={4} />
        ) : (
          <ErrorState error={error} retry={retry} />
        )
      ) : agents.length === 0 ? (
        <p className="panel-none">{say('queue.agentNone')}</p>
      ) : (
        <ul className="rows">
          {agents.map((work) => (
            <Share key={work.agent_id} {...{ work, most, all }} />
          ))}
        </ul>
      )}
      <p className="panel-hint">{say('queue.fairness')}</p>
    </Panel>
  )
}

interface ShareProps {
  readonly work: AgentWork
  readonly most: number
  readonly all: number
}

const PENDING = { active: 'assigned,running,awaiting_callback,stopping', queued: 'queued' } as const

function Share({ work: { agent_id: id, active, queued }, most, all }: ShareProps): ReactNode {
  const say = useSay()
  const name = useAgentName(id)
  const share = all === 0 ? 0 : Math.round((active / all) * 100)
  const runs = (status: string) => ({ to: '/automation/runs', search: { agent_id: id, status } }) as const
  return (
    <li className="share">
      <span className="share-name" title={id}>
        {name}
      </span>
      <span className="share-bar" role="img" aria-label={say('queue.agentShare', { active, share, queued })}>
        <span className="share-active" style={{ width: `${(active / most) * 100}%` }} />
        <span className="share-queued" style={{ width: `${(queued / most) * 100}%` }} />
      </span>
      <span className="share-counts small">
        <Link {...runs(PENDING.active)} className="door">
          {say('queue.agentActive', { count: active })}
        </Link>
        <Link {...runs(PENDING.queued)} className="door quiet">
          {say('queue.agentQueued', { count: queued })}
        </Link>
      </span>
    </li>
  )
}
