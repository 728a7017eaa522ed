import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { useAgentName } from '../../api/names.ts'
import { runPage } from '../../api/queries.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { OutcomeMark } from '../../parts/outcome/OutcomeMark.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'

/** Under steady work there are new ones all the time; this is often enough to read them. */
const CALM_MS = 5_000

/** The newest runs that did not end well. */
export function RecentFailures(): ReactNode {
  const say = useSay()
  const { data, error, refetch } = useQuery({
    ...runPage({ status: 'failed,timeout', limit: 6 }),
    meta: { calmMs: CALM_MS },
  })
  return (
    <Panel title={say('overview.failures')}>
      {error !== null && data === undefined ? (
        <ErrorState error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Lines />
      ) : data.items.length === 0 ? (
        <p className="panel-none">{say('overview.noFailures')}</p>
      ) : (
        <ul className="rows">
          {data.items.map((run) => (
            <Failure key={run.id} run={run} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Failure({ run }: { readonly run: RunView }): ReactNode {
  const doors = useDoors()
  const agentName = useAgentName(run.agent_id)
  return (
    <li className="row">
      <OutcomeMark status={run.status} bare />
      <span className="row-main">
        <Door to={doors.run(run.id)}>{run.error_message ?? run.error_code ?? run.id}</Door>
        <span className="row-sub">
          {agentName} · <code>{run.error_code}</code>
        </span>
      </span>
      <span className="quiet">
        <Time at={run.finished_at ?? run.created_at} />
      </span>
    </li>
  )
}
