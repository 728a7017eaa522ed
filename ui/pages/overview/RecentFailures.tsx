import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { runPage } from '../../api/queries.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { OutcomeMark } from '../../parts/outcome/OutcomeMark.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'

/** The newest runs that did not end well. */
export function RecentFailures(): ReactNode {
  const say = useSay()
  const { data, error, refetch } = useQuery(runPage({ status: 'failed,timeout', limit: 6 }))
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
  return (
    <li className="row">
      <OutcomeMark status={run.status} bare />
      <span className="row-main">
        <Door to={doors.run(run.id)}>{run.error_message ?? run.error_code ?? run.id}</Door>
        <span className="row-sub">
          {run.agent_id} · <code>{run.error_code}</code>
        </span>
      </span>
      <span className="quiet">
        <Time at={run.finished_at ?? run.created_at} />
      </span>
    </li>
  )
}
