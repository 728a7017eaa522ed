import type { ReactNode } from 'react'
import type { LaneView } from '../../../src/features/lanes/schema.ts'
import { Lines } from '../../parts/Lines.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

/** How full each lane is. */
export function Lanes({ lanes }: { readonly lanes: readonly LaneView[] | undefined }): ReactNode {
  const say = useSay()
  return (
    <Panel title={say('overview.lanes')}>
      {lanes === undefined ? (
        <Lines />
      ) : (
        <ul className="rows">
          {lanes.map((lane) => (
            <Lane key={lane.name} lane={lane} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Lane({ lane: { name, concurrency: size, active, pending } }: { readonly lane: LaneView }): ReactNode {
  const say = useSay()
  const full = Math.min(1, active / size)
  return (
    <li className="row">
      <span className="row-main lane-name">{name}</span>
      {pending > 0 && <span className="quiet">{say('overview.lanePending', { count: pending })}</span>}
      <span className="lane-bar" role="img" aria-label={say('overview.lane', { name, active, size, pending })}>
        <span style={{ width: `${full * 100}%` }} />
      </span>
      <span className="lane-use">{say('overview.laneUse', { active, size })}</span>
    </li>
  )
}
