import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { laneList, nodeList } from '../../api/admin-queries.ts'
import { statsOf } from '../../api/queries.ts'
import { useIsOperator } from '../../api/session.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { AgentShares } from './AgentShares.tsx'
import { LaneGauge } from './LaneGauge.tsx'
import { NextInLine } from './NextInLine.tsx'
import { ProviderPanel } from './ProviderPanel.tsx'
import './queue.css'

/** What has a slot, what waits for one, and whose turn it is. */
export function QueuePage(): ReactNode {
  const say = useSay()
  const stats = useQuery(statsOf())
  const pending = stats.data?.pending
  return (
    <>
      <PageHead title={say('queue.title')} lead={pending === undefined ? ' ' : say('queue.lead', pending)} />
      <div className="queue">
        <Lanes />
        <div className="queue-side">
          <AgentShares agents={stats.data?.agents} error={stats.error} retry={() => void stats.refetch()} />
          <ProviderPanel />
          <NextInLine agents={stats.data?.agents ?? []} />
        </div>
      </div>
    </>
  )
}

function Lanes(): ReactNode {
  const say = useSay()
  const lanes = useQuery(laneList)
  const nodes = useQuery({ ...nodeList, enabled: useIsOperator() })
  const alive = nodes.data?.items.filter((node) => node.alive && !node.draining).length ?? 1
  return (
    <Panel className="queue-lanes" title={say('queue.lanes')}>
      {lanes.isPending ? (
        <Lines count={4} height={28} />
      ) : lanes.data === undefined ? (
        <ErrorState error={lanes.error} retry={() => void lanes.refetch()} />
      ) : (
        <ul className="rows">
          {lanes.data.items.map((lane) => (
            <LaneGauge key={lane.name} lane={lane} nodes={Math.max(1, alive)} />
          ))}
        </ul>
      )}
      <p className="panel-hint">{say('queue.lanesHint')}</p>
    </Panel>
  )
}
