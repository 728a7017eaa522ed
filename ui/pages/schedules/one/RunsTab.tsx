import { ActionIcon, Button, Select, Tooltip } from '@mantine/core'
import { IconHistory, IconMessage, IconRefresh, IconX } from '@tabler/icons-react'
import { infiniteQueryOptions, keepPreviousData, useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, type ReactNode } from 'react'
import type { RunFilter, RunView } from '../../../../src/features/runs/schema.ts'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { api } from '../../../api/client.ts'
import { PAGE_SIZE } from '../../../api/queries.ts'
import { messageOf } from '../../../api/refusal.ts'
import { useDoors } from '../../../parts/doors.ts'
import { EmptyState } from '../../../parts/EmptyState.tsx'
import { ErrorState } from '../../../parts/ErrorState.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { Permitted } from '../../../parts/Permitted.tsx'
import { toast } from '../../../parts/toasts/toast-store.ts'
import type { Column } from '../../../table/column.ts'
import { DataTable } from '../../../table/DataTable.tsx'
import { useTableCursor } from '../../../table/use-table-cursor.ts'
import { useSay } from '../../../texts/TextProvider.tsx'
import { momentOf } from '../../../time/wall.ts'
import { STATUSES, type ScheduleOneSearch } from './one-search.ts'
import { StatusCell, TookCell, WhatCell, WhenCell } from './run-cells.tsx'

interface RunsTabProps {
  readonly schedule: ScheduleView
  readonly search: ScheduleOneSearch
}

type Filter = Omit<RunFilter, 'status'> & { readonly status?: string }

const runsOf = (id: string, filter: Filter) =>
  infiniteQueryOptions({
    queryKey: ['schedules', 'runs', id, 'log', filter],
    queryFn: ({ pageParam, signal }) =>
      api.schedules.runs(
        id,
        { ...filter, limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
    placeholderData: keepPreviousData,
  })

const DAY_HOURS = 26

/** From midnight to midnight on the clock of the zone; a day with a change of the clock is not 24 hours long. */
function dayBounds(day: string, zone: string): Pick<RunFilter, 'from' | 'to'> {
  const start = momentOf(`${day}T00:00`, zone) ?? Date.parse(day)
  const next = new Date(Date.parse(day) + DAY_HOURS * 3_600_000).toISOString().slice(0, 10)
  const end = momentOf(`${next}T00:00`, zone) ?? start
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() }
}

/** The log: every occurrence and what became of it, the newest on top. */
export function RunsTab({ schedule, search }: RunsTabProps): ReactNode {
  const { status, day } = search
  const filter: Filter = {
    ...(status === undefined ? {} : { status }),
    ...(day === undefined ? {} : dayBounds(day, schedule.timezone)),
  }
  const list = useInfiniteQuery(runsOf(schedule.id, filter))
  const runs = useMemo(() => (list.data?.pages ?? []).flatMap(({ items }) => items), [list.data])
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const more = (): void => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }
  return (
    <>
      <LogFilters schedule={schedule} search={search} />
      {list.isPending ? (
        <Lines count={6} height={26} />
      ) : list.error !== null && runs.length === 0 ? (
        <ErrorState error={list.error} retry={() => void list.refetch()} />
      ) : runs.length === 0 ? (
        <NoRuns schedule={schedule} isFiltered={status !== undefined || day !== undefined} />
      ) : (
        <Log runs={runs} zone={schedule.timezone} more={more} />
      )}
    </>
  )
}

function LogFilters({ schedule, search }: RunsTabProps): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/automation/schedules/$id' })
  const { status, day } = search
  const change = (status_: string | null): void =>
    void navigate({
      search: {
        ...(day === undefined ? {} : { day }),
        ...(status_ === null ? {} : { status: status_ as RunView['status'] }),
      },
      ...{ replace: true, resetScroll: false },
    })
  return (
    <div className="log-filters">
      <Select
        {...{ value: status ?? null, clearable: true, onChange: change, 'aria-label': say('one.status') }}
        placeholder={say('one.anyStatus')}
        data={STATUSES.map((word) => ({ value: word, label: say(`status.${word}`) }))}
      />
      {day !== undefined && (
        <Link
          {...{
            to: '/automation/schedules/$id',
            params: { id: schedule.id },
            className: 'log-chip',
            resetScroll: false,
          }}
          search={status === undefined ? {} : { status }}
        >
          {say('one.onDay', { day })} <IconX size={12} aria-hidden />
        </Link>
      )}
    </div>
  )
}

function NoRuns({
  schedule,
  isFiltered,
}: {
  readonly schedule: ScheduleView
  readonly isFiltered: boolean
}): ReactNode {
  const say = useSay()
  return (
    <EmptyState
      icon={<IconHistory size={22} aria-hidden />}
      title={say(isFiltered ? 'one.noneFit' : 'one.noRuns')}
      text={say(isFiltered ? 'schedules.none.text' : 'one.noRuns.text')}
      action={
        isFiltered ? (
          <Link to="/automation/schedules/$id" params={{ id: schedule.id }} search={{}} resetScroll={false}>
            {say('schedules.clearFilters')}
          </Link>
        ) : undefined
      }
    />
  )
}

interface LogProps {
  readonly runs: readonly RunView[]
  readonly zone: string
  readonly more: () => void
}

function Log({ runs, zone, more }: LogProps): ReactNode {
  const say = useSay()
  const cursor = useTableCursor(runs, {})
  const columns: readonly Column<RunView>[] = [
    {
      ...{ id: 'status', width: '128px', header: say('one.col.status') },
      cell: (run) => <StatusCell run={run} />,
    },
    {
      ...{ id: 'when', width: '132px', header: say('one.col.when') },
      cell: (run) => <WhenCell run={run} zone={zone} />,
    },
    {
      ...{ id: 'what', width: 'minmax(200px, 1fr)', header: say('one.col.what') },
      cell: (run) => <WhatCell run={run} />,
    },
    {
      ...{ id: 'took', width: '84px', header: say('one.col.took') },
      cell: (run) => <TookCell run={run} />,
    },
    {
      ...{ id: 'actions', width: '68px', cell: (run) => <LogActions run={run} /> },
      header: <span className="visually-hidden">{say('schedules.col.actions')}</span>,
    },
  ]
  return (
    <div className="log">
      <DataTable {...{ columns, cursor, rows: runs, label: say('one.tab.runs'), onEnd: more }} idOf={({ id }) => id} />
    </div>
  )
}

const RETRYABLE: readonly RunView['status'][] = [
  ...(['failed', 'timeout', 'cancelled', 'skipped', 'expired', 'dropped', 'rejected'] as const),
]

/** Jump to the conversation, and run it again where that makes sense. */
function LogActions({ run }: { readonly run: RunView }): ReactNode {
  const say = useSay()
  const doors = useDoors()
  const session = run.conversation === null ? undefined : doors.session(run.conversation)
  const { mutate, isPending } = useMutation({
    mutationFn: () => api.runs.retry(run.id),
    onSuccess: () => toast({ tone: 'done', message: say('one.retried') }),
    onError: (error) => toast({ tone: 'failed', message: messageOf(error, say) }),
  })
  return (
    <div className="row-actions">
      {session !== undefined && (
        <Tooltip label={say('one.toSession')}>
          <ActionIcon component={Link} {...{ to: session }} aria-label={say('one.toSession')}>
            <IconMessage size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
      {RETRYABLE.includes(run.status) && (
        <Permitted permission="schedules:run" otherwise="hide">
          <RetryButton retry={() => mutate()} isPending={isPending} />
        </Permitted>
      )}
    </div>
  )
}

interface RetryButtonProps {
  readonly retry: () => void
  readonly isPending: boolean
  readonly disabled?: boolean
}

function RetryButton({ retry, isPending }: RetryButtonProps): ReactNode {
  const say = useSay()
  return (
    <Tooltip label={say('one.retry')}>
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        loading={isPending}
        onClick={retry}
        aria-label={say('one.retry')}
      >
        <IconRefresh size={16} aria-hidden />
      </Button>
    </Tooltip>
  )
}
