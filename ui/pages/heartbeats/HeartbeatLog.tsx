import { Select } from '@mantine/core'
import { IconHeartbeat } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { HeartbeatLogView } from '../../../src/features/heartbeats/schema.ts'
import { heartbeatLog } from '../../api/admin-queries.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Sentence } from '../../parts/Sentence.tsx'
import { ShortId } from '../../parts/ShortId.tsx'
import type { Column } from '../../table/column.ts'
import { Listing } from '../../table/Listing.tsx'
import { usePages } from '../../table/use-pages.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import type { HeartbeatProps } from './heartbeat-props.ts'
import { OUTCOMES } from './heartbeat-search.ts'

/** What became of every heartbeat, and why. */
export function HeartbeatLog({ agent, search: { outcome }, change }: HeartbeatProps): ReactNode {
  const say = useSay()
  const list = useInfiniteQuery(heartbeatLog(agent.id, outcome === undefined ? {} : { outcome }))
  const { rows, more } = usePages(list)
  return (
    <Panel
      {...{ className: 'beats-log', title: say('beats.log') }}
      aside={
        <Select
          {...{ value: outcome ?? null, clearable: true, 'aria-label': say('beats.outcome') }}
          placeholder={say('beats.all')}
          data={OUTCOMES.map((value) => ({ value, label: say(`beats.outcome.${value}`) }))}
          onChange={(value) => change({ outcome: value })}
        />
      }
    >
      <Listing<HeartbeatLogView>
        {...{ list, rows, columns: useColumns(), onEnd: more, label: say('beats.log'), idOf: ({ id }) => id }}
        empty={
          <EmptyState
            icon={<IconHeartbeat size={22} aria-hidden />}
            title={say('beats.empty.title')}
            text={say('beats.empty.text')}
          />
        }
      />
    </Panel>
  )
}

const BAD: readonly HeartbeatLogView['outcome'][] = ['failed']
const GOOD: readonly HeartbeatLogView['outcome'][] = ['news']

function useColumns(): readonly Column<HeartbeatLogView>[] {
  const say = useSay()
  const doors = useDoors()
  return [
    {
      ...{ id: 'outcome', width: '130px', header: say('beats.outcome') },
      cell: ({ outcome, kind }) => (
        <div>
          <span className={BAD.includes(outcome) ? 'bad' : GOOD.includes(outcome) ? 'strong-text' : 'quiet'}>
            {say(`beats.outcome.${outcome}`)}
          </span>
          {kind === 'asked' && <div className="quiet small">{say('beats.asked')}</div>}
        </div>
      ),
    },
    {
      ...{ id: 'why', width: 'minmax(180px, 3fr)', header: say('beats.why') },
      cell: ({ why, content, looks }) => (
        <div>
          {content !== null && <div className="beats-content">{content}</div>}
          <div className={content === null ? '' : 'quiet small'}>
            <Sentence why={why} /> <span className="tag">{why.reason}</span>
            {looks > 1 && <span className="quiet small"> {say('beats.looks', { count: looks })}</span>}
          </div>
        </div>
      ),
    },
    {
      ...{ id: 'run', width: '110px', header: say('deliveries.run') },
      cell: ({ run_id: run }) =>
        run === null ? null : (
          <Door to={doors.run(run)}>
            <ShortId id={run} />
          </Door>
        ),
    },
    { ...{ id: 'when', width: '100px', header: say('audit.col.when') }, cell: ({ at }) => <Time at={at} /> },
  ]
}
