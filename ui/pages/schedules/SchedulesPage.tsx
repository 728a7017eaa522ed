import { Button } from '@mantine/core'
import { IconCalendarOff, IconCalendarPlus, IconFileImport, IconPlus } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, type ReactNode } from 'react'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { scheduleList } from '../../api/queries.ts'
import { useOpenEditor } from '../../editor/hooks/use-editor.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useShortcuts } from '../../shell/shortcuts.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Filters } from './Filters.tsx'
import { ImportDrawer } from './ImportDrawer.tsx'
import { usePendingDeletes } from './pending-deletes.ts'
import { readScheduleSearch, type ImportSource, type ScheduleSearch } from './schedule-search.ts'
import { ScheduleTable } from './ScheduleTable.tsx'
import './schedules.css'

/** Every schedule of the org: what it does, when it is next, how it went. */
export function SchedulesPage(): ReactNode {
  const say = useSay()
  const { from, ...search } = useSearch({
    ...{ from: '/shell/automation/schedules', select: readScheduleSearch, structuralSharing: true },
  })
  const list = useInfiniteQuery(scheduleList(search))
  const gone = usePendingDeletes()
  const schedules = useMemo(
    () => (list.data?.pages ?? []).flatMap(({ items }) => items).filter(({ id }) => !gone.has(id)),
    [list.data, gone],
  )
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const count = schedules.length
  return (
    <>
      <PageHead
        title={say('schedules.title')}
        lead={list.data === undefined ? ' ' : say('schedules.count', { count })}
        actions={
          <>
            <OpenImport />
            <NewSchedule />
          </>
        }
      />
      <Panel className="schedules">
        <Filters search={search} />
        <Content {...{ list, schedules, more, isFiltered: isFiltered(search) }} />
      </Panel>
      {from !== undefined && <Importing source={from} />}
    </>
  )
}

/** Goes to the drawer for files of other schedulers, or away from it; filters stay. */
function useImport(): (source: ImportSource | undefined) => void {
  const navigate = useNavigate({ from: '/automation/schedules' })
  return (from) =>
    void navigate({
      search: (before) => {
        const { from: _, ...rest } = readScheduleSearch(before)
        return from === undefined ? rest : { ...rest, from }
      },
      replace: true,
    })
}

function Importing({ source }: { readonly source: ImportSource }): ReactNode {
  const open = useImport()
  return <ImportDrawer source={source} choose={open} close={() => open(undefined)} />
}

function OpenImport(): ReactNode {
  const say = useSay()
  const open = useImport()
  return (
    <Permitted permission="schedules:write">
      <Button variant="default" leftSection={<IconFileImport size={14} aria-hidden />} onClick={() => open('crontab')}>
        {say('import.open')}
      </Button>
    </Permitted>
  )
}

const isFiltered = (search: ScheduleSearch): boolean => Object.keys(search).some((name) => name !== 'sort')

interface ContentProps {
  readonly list: { readonly isPending: boolean; readonly error: unknown; readonly refetch: () => unknown }
  readonly schedules: readonly ScheduleView[]
  readonly more: () => void
  readonly isFiltered: boolean
}

function Content({ list, schedules, more, isFiltered: filtered }: ContentProps): ReactNode {
  if (list.isPending) return <Lines count={8} height={30} />
  if (list.error !== null && schedules.length === 0)
    return <ErrorState error={list.error} retry={() => void list.refetch()} />
  if (schedules.length === 0) return filtered ? <NothingFits /> : <NoSchedules />
  return <ScheduleTable schedules={schedules} more={more} />
}

function NoSchedules(): ReactNode {
  const say = useSay()
  return (
    <EmptyState
      icon={<IconCalendarPlus size={22} aria-hidden />}
      title={say('schedules.empty.title')}
      text={say('schedules.empty.text')}
      command={say('overview.first.command')}
      action={<NewSchedule />}
    />
  )
}

function NewSchedule(): ReactNode {
  const say = useSay()
  const open = useOpenEditor()
  useShortcuts({ c: () => open({ edit: 'new' }) })
  return (
    <Permitted permission="schedules:write">
      <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => open({ edit: 'new' })}>
        {say('edit.new')}
      </Button>
    </Permitted>
  )
}

function NothingFits(): ReactNode {
  const say = useSay()
  const navigate = useNavigate()
  return (
    <EmptyState
      icon={<IconCalendarOff size={22} aria-hidden />}
      title={say('schedules.none.title')}
      text={say('schedules.none.text')}
      action={
        <Button variant="default" onClick={() => void navigate({ to: '/automation/schedules', search: {} })}>
          {say('schedules.clearFilters')}
        </Button>
      }
    />
  )
}
