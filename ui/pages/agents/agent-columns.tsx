import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentView } from '../../../src/features/agents/schema.ts'
import { outcomesOfAgents } from '../../api/admin-queries.ts'
import { agentList, statsOf } from '../../api/queries.ts'
import { Sparkline } from '../../parts/figures/Sparkline.tsx'
import type { Column } from '../../table/column.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { AgentActions } from './AgentActions.tsx'
import { placeOf } from './executor-fields.ts'

interface CellProps {
  readonly agent: AgentView
}

/** The columns of the table of agents. */
export function useAgentColumns(show: (id: string) => void): readonly Column<AgentView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'name', width: 'minmax(180px, 2fr)', header: say('agents.col.name') },
      cell: (agent) => (
        <div className="agent-name">
          <Link to="/agents/$id" params={{ id: agent.id }} search={{}} className="door">
            {agent.name}
          </Link>
          <div className="quiet small ellipsis-line">{agent.description === '' ? agent.id : agent.description}</div>
        </div>
      ),
    },
    {
      ...{ id: 'kind', width: 'minmax(150px, 1.6fr)', header: say('agents.col.kind') },
      cell: (agent) => (
        <div className="agent-kind">
          <span className="tag">{agent.executor.kind}</span>
          <div className="quiet small ellipsis-line" title={placeOf(agent) ?? undefined}>
            {placeOf(agent)}
          </div>
        </div>
      ),
    },
    { ...{ id: 'work', width: '150px', header: say('agents.col.work') }, cell: (agent) => <WorkCell agent={agent} /> },
    {
      ...{ id: 'limits', width: '150px', header: say('agents.col.limits') },
      cell: (agent) => <LimitCell agent={agent} />,
    },
    { ...{ id: 'last', width: '124px', header: say('agents.col.last') }, cell: (agent) => <LastCell agent={agent} /> },
    {
      ...{ id: 'actions', width: '34px', cell: (agent) => <AgentActions agent={agent} show={show} /> },
      header: <span className="visually-hidden">{say('agents.col.actions')}</span>,
    },
  ]
}

function WorkCell({ agent }: CellProps): ReactNode {
  const say = useSay()
  const work = useQuery(statsOf()).data?.agents.find(({ agent_id: id }) => id === agent.id)
  if (work === undefined) return <span className="quiet">{say('agents.idle')}</span>
  return (
    <Link to="/automation/runs" search={{ agent_id: agent.id }} className="door">
      {say('agents.work', work)}
    </Link>
  )
}

function LimitCell({ agent: { max_concurrent: most, timeout_seconds: timeout } }: CellProps): ReactNode {
  const say = useSay()
  if (most === null && timeout === null) return <span className="quiet card-hidden">{say('form.default')}</span>
  return (
    <div className="small">
      {most !== null && <div>{say('agents.limit', { count: most })}</div>}
      {timeout !== null && timeout > 0 && <div className="quiet">{say('agents.timeoutOf', { count: timeout })}</div>}
    </div>
  )
}

function LastCell({ agent }: CellProps): ReactNode {
  const ids = useQuery(agentList).data?.items.map(({ id }) => id) ?? []
  const { data, isPending } = useQuery(outcomesOfAgents(ids))
  const runs = data?.items.find(({ agent_id: id }) => id === agent.id)?.runs ?? []
  return isPending ? <Skeleton height={18} width={120} /> : <Sparkline runs={runs} />
}
