import { Button, Progress } from '@mantine/core'
import { IconHistory, IconPlayerSkipBack } from '@tabler/icons-react'
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { BackfillView } from '../../../../src/features/backfill/schema.ts'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { api } from '../../../api/client.ts'
import { EmptyState } from '../../../parts/EmptyState.tsx'
import { ErrorState } from '../../../parts/ErrorState.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { Permitted } from '../../../parts/Permitted.tsx'
import { Sentence } from '../../../parts/Sentence.tsx'
import { useSay } from '../../../texts/TextProvider.tsx'
import { Time } from '../../../time/Time.tsx'
import { BackfillDrawer } from './BackfillDrawer.tsx'
import { CancelBackfill } from './CancelBackfill.tsx'
import type { ScheduleOneSearch } from './one-search.ts'
import './backfill.css'

const PAGE = 20

const backfillsOf = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['backfills', 'list', id],
    queryFn: ({ pageParam, signal }) =>
      api.backfills.list(
        { schedule_id: id, limit: PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
  })

interface BackfillTabProps {
  readonly schedule: ScheduleView
  readonly search: ScheduleOneSearch
}

/** The backfills of a schedule, with how far the present one has come, and the way to begin another. */
export function BackfillTab({ schedule, search }: BackfillTabProps): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/automation/schedules/$id' })
  const list = useInfiniteQuery(backfillsOf(schedule.id))
  const show = (isOpen: boolean): void =>
    void navigate({ search: { tab: 'backfills', ...(isOpen ? { backfill: 'new' } : {}) }, resetScroll: false })
  const begin = (
    <Permitted permission="schedules:run">
      <Button
        {...{ variant: 'default', leftSection: <IconPlayerSkipBack size={15} aria-hidden /> }}
        disabled={schedule.state === 'pending_approval'}
        onClick={() => show(true)}
      >
        {say('backfill.open')}
      </Button>
    </Permitted>
  )
  const items = (list.data?.pages ?? []).flatMap((page) => page.items)
  return (
    <div className="backfills">
      {search.backfill === 'new' && <BackfillDrawer schedule={schedule} close={() => show(false)} />}
      {list.isPending && <Lines count={4} />}
      {list.error !== null && items.length === 0 && <ErrorState error={list.error} retry={() => void list.refetch()} />}
      {list.isSuccess && items.length === 0 && (
        <EmptyState
          {...{ icon: <IconHistory size={22} aria-hidden />, title: say('backfill.none') }}
          {...{ text: say('backfill.none.text'), action: begin }}
        />
      )}
      {items.length > 0 && <div className="backfills-head">{begin}</div>}
      {items.length > 0 && (
        <ul className="rows">
          {items.map((one) => (
            <Row key={one.id} backfill={one} zone={schedule.timezone} />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {say('one.audit.more')}
        </Button>
      )}
    </div>
  )
}

interface RowProps {
  readonly backfill: BackfillView
  readonly zone: string
}

function Row({ backfill, zone }: RowProps): ReactNode {
  const say = useSay()
  const [isAsking, setAsking] = useState(false)
  const { state, why, from, to, which, ended, total, remaining } = backfill
  return (
    <li className="row backfill-row">
      <div className="backfill-main">
        <span className="backfill-head">
          <strong data-state={state}>{say(`backfill.state.${state}`)}</strong>
          <span className="quiet">
            <Time at={from} zone={zone} show="short" /> {'–'} <Time at={to} zone={zone} show="short" />
          </span>
          <code className="tag">{which}</code>
        </span>
        <Bar backfill={backfill} />
        <span className="row-sub backfill-facts">
          <span>{say('backfill.progress', { ended, total })}</span>
          {backfill.in_flight > 0 && <span>{say('backfill.inFlight', { count: backfill.in_flight })}</span>}
          {state !== 'running' && remaining > 0 && <span>{say('backfill.remaining', { count: remaining })}</span>}
          {backfill.runs_per_minute !== null && state === 'running' && (
            <span>{say('backfill.pace', { rate: backfill.runs_per_minute })}</span>
          )}
          {backfill.eta !== null && (
            <span>
              {say('backfill.over')} <Time at={backfill.eta} />
            </span>
          )}
          <span>
            <Time at={backfill.created_at} /> {say('backfill.by', { who: backfill.created_by })}
          </span>
        </span>
        {why !== null && (
          <span className="row-sub">
            <Sentence why={why} />
          </span>
        )}
      </div>
      {state === 'running' && (
        <Permitted permission="schedules:run">
          <Button variant="default" size="compact-sm" onClick={() => setAsking(true)}>
            {say('backfill.cancel')}
          </Button>
        </Permitted>
      )}
      {isAsking && <CancelBackfill id={backfill.id ?? ''} close={() => setAsking(false)} />}
    </li>
  )
}

/** How much is done and how it went, as one bar. */
function Bar({ backfill: { ended, total, counts, state } }: { readonly backfill: BackfillView }): ReactNode {
  const say = useSay()
  const share = (count: number): number => (total === 0 ? 0 : (100 * count) / total)
  const success = counts.success ?? 0
  const parts = [
    { name: 'success', value: share(success), color: 'var(--success)' },
    { name: 'failure', value: share(ended - success), color: 'var(--failure)' },
  ]
  return (
    <Progress.Root size="sm" className="backfill-bar" data-state={state}>
      {parts.map(({ name, value, color }, index) => (
        <Progress.Section
          {...{ key: name, value, color, 'aria-hidden': index > 0 }}
          aria-label={say('backfill.progress', { ended, total })}
        />
      ))}
    </Progress.Root>
  )
}
