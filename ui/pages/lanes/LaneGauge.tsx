import { Button, NumberInput } from '@mantine/core'
import { useState, type ReactNode, type SyntheticEvent } from 'react'
import type { LaneView } from '../../../src/features/lanes/schema.ts'
import { api } from '../../api/client.ts'
import { useAct } from '../../api/use-act.ts'
import { Permitted } from '../../parts/Permitted.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

/** More slots than this are drawn as one bar: they are too many to count. */
const MOST_CELLS = 64

/** A lane: which of its slots are taken, what waits, and how large it is. */
export function LaneGauge({ lane, nodes }: { readonly lane: LaneView; readonly nodes: number }): ReactNode {
  const say = useSay()
  const { name, active, pending, concurrency: size } = lane
  const room = Math.max(size * nodes, 1)
  const label = say('queue.slots', { name, active, room, pending })
  return (
    <li className="lane">
      <div className="lane-head">
        <span className="lane-title">{name}</span>
        <span className="quiet small">
          {nodes > 1 ? say('queue.nodes', { size, count: nodes }) : say('queue.use', { active, room })}
        </span>
        <OrgShare lane={lane} />
        {active >= room && <span className="lane-full">{say('queue.full')}</span>}
        {pending > 0 && <span className="lane-pending">{say('queue.pending', { count: pending })}</span>}
      </div>
      {room <= MOST_CELLS ? (
        <div className="lane-cells" role="img" aria-label={label}>
          {Array.from({ length: room }, (_, slot) => (
            <span key={slot} data-taken={slot < active} />
          ))}
        </div>
      ) : (
        <div className="lane-gauge" role="img" aria-label={label}>
          <span style={{ width: `${Math.min(1, active / room) * 100}%` }} />
        </div>
      )}
      <LaneSize key={size} name={name} size={size} />
    </li>
  )
}

/** How orgs share the lane. A node of an earlier release says nothing of it. */
function OrgShare({ lane }: { readonly lane: Partial<LaneView> }): ReactNode {
  const say = useSay()
  const { max_per_org: most, largest_org: largest } = lane
  if (most === undefined || most === null) return null
  const limit = say('queue.perOrg', { count: most })
  const holder = largest ? say('queue.largestOrg', { org: largest.org_id, held: largest.held }) : null
  return <span className="quiet small">{holder === null ? limit : `${limit} · ${holder}`}</span>
}

function LaneSize({ name, size }: { readonly name: string; readonly size: number }): ReactNode {
  const say = useSay()
  const [typed, setTyped] = useState<string | number>(size)
  const { run, isPending } = useAct({
    act: (concurrency: number) => api.lanes.set(name, { concurrency }),
    touches: [['lanes'], ['stats'], ['config'], ['audit']],
    told: (lane) => ({ tone: 'done', message: say('queue.sizeSet', { name, size: lane.concurrency }) }),
  })
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault()
    run(Number(typed))
  }
  const isChanged = String(typed) !== String(size) && Number(typed) >= 1
  return (
    <form className="lane-size" onSubmit={submit}>
      <Permitted permission="admin:*" operatorOnly>
        <NumberInput
          {...{ value: typed, onChange: setTyped, min: 1, max: 1_000_000, allowDecimal: false, allowNegative: false }}
          aria-label={say('queue.size', { name })}
        />
      </Permitted>
      {isChanged && (
        <Button type="submit" loading={isPending}>
          {say('queue.setSize')}
        </Button>
      )}
    </form>
  )
}
