import { IconServer2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { NodeView } from '../../../src/features/nodes/schema.ts'
import { nodeList } from '../../api/admin-queries.ts'
import { useIsOperator } from '../../api/session.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import '../../parts/records.css'

/** The server processes: which are there, and what they can do. */
export function NodesPage(): ReactNode {
  const say = useSay()
  return (
    <>
      <PageHead title={say('nodes.title')} lead={say('nodes.lead')} />
      <Panel className="nodes">{useIsOperator() ? <Nodes /> : <OperatorsOnly />}</Panel>
    </>
  )
}

function OperatorsOnly(): ReactNode {
  const say = useSay()
  return <EmptyState title={say('form.operators')} text={say('form.operatorsText')} />
}

function Nodes(): ReactNode {
  const say = useSay()
  const { data, isPending, error, refetch } = useQuery(nodeList)
  if (isPending) return <Lines count={3} height={30} />
  if (data === undefined) return <ErrorState error={error} retry={() => void refetch()} />
  if (data.items.length === 0)
    return (
      <EmptyState
        icon={<IconServer2 size={22} aria-hidden />}
        title={say('nodes.empty.title')}
        text={say('nodes.empty.text')}
      />
    )
  return (
    <ul className="rows">
      {data.items.map((node) => (
        <Node key={node.id} node={node} />
      ))}
    </ul>
  )
}

function Node({ node }: { readonly node: NodeView }): ReactNode {
  const say = useSay()
  const { id, alive, draining, executors, started_at: started, lease_until: lease } = node
  return (
    <li className="node">
      <span className="node-dot" data-alive={alive} data-draining={draining} aria-hidden />
      <div className="node-main">
        <div>
          <strong>{id}</strong>{' '}
          <span className={alive ? 'quiet' : 'bad'}>{say(alive ? 'nodes.alive' : 'nodes.gone')}</span>
        </div>
        {draining && <div className="late">{say('nodes.draining')}</div>}
        <div className="node-kinds">
          <span className="quiet small">{say('nodes.executors')}</span>
          {executors.map((kind) => (
            <span key={kind} className="tag">
              {kind}
            </span>
          ))}
        </div>
      </div>
      <div className="node-times small">
        <div>
          <span className="quiet">{say('nodes.since')}</span> <Time at={started} show="short" />
        </div>
        <div>
          <span className="quiet">{say('nodes.lease')}</span> <Time at={lease} />
        </div>
      </div>
    </li>
  )
}
