import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { runExplanation } from '../../api/admin-queries.ts'
import type { AgentWork } from '../../../src/features/stats/schema.ts'
import { useAgentName } from '../../api/names.ts'
import { runPage } from '../../api/queries.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { ShortId } from '../../parts/ShortId.tsx'
import { useReasonText } from '../../parts/reason-text.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { likelyNext } from './likely-next.ts'

const READ = 200
const SHOWN = 10

/** The runs that are likely to get the next slots, each with what it waits for. */
export function NextInLine({ agents }: { readonly agents: readonly AgentWork[] }): ReactNode {
  const say = useSay()
  const queued = useQuery(runPage({ status: 'queued', limit: READ }))
  const all = queued.data?.items ?? []
  const first = likelyNext(all, agents, SHOWN)
  const isCut = queued.data?.next_cursor != null
  return (
    <Panel
      className="queue-next"
      title={say('queue.waiting')}
      aside={
        <Link to="/automation/runs" search={{ status: 'queued' }} className="door small">
          {say('queue.more')}
        </Link>
      }
    >
      {queued.isPending ? (
        <Lines count={5} />
      ) : queued.data === undefined ? (
        <ErrorState error={queued.error} retry={() => void queued.refetch()} />
      ) : first.length === 0 ? (
        <p className="panel-none">{say('queue.waitingNone')}</p>
      ) : (
        <ol className="rows">
          {first.map((run) => (
            <Waiting key={run.id} run={run} />
          ))}
        </ol>
      )}
      <p className="panel-hint">{isCut ? say('queue.cut', { count: READ }) : say('queue.waitingHint')}</p>
    </Panel>
  )
}

function Waiting({ run }: { readonly run: RunView }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const name = useAgentName(run.agent_id)
  const reason = useReasonText()
  const why = useQuery(runExplanation(run.id)).data
  return (
    <li className="row">
      <span className="row-main">
        <Door to={doors.run(run.id)}>{name}</Door> <ShortId id={run.id} />
        <span className="row-sub">{why === undefined ? ' ' : reason(why)}</span>
      </span>
      {run.priority !== 0 && <span className="tag">{say('queue.priority', { priority: run.priority })}</span>}
      <span className="tag">{run.lane}</span>
      <span className="quiet">
        <Time at={run.created_at} />
      </span>
    </li>
  )
}
