import { Button } from '@mantine/core'
import { IconArrowUp, IconPlayerPlay, IconSearchOff } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, type ReactNode } from 'react'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Timeline } from '../../ribbon/Timeline.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { ExportMenu } from './ExportMenu.tsx'
import { RunFilters } from './RunFilters.tsx'
import { readRunSearch, type RunSearch } from './run-search.ts'
import { RunTable } from './RunTable.tsx'
import { useRunLog } from './one/use-run-log.ts'
import './runs.css'

/** Every run of the org, live. */
export function RunsPage(): ReactNode {
  const say = useSay()
  const search = useSearch({ from: '/shell/automation/runs', select: readRunSearch, structuralSharing: true })
  const log = useRunLog(search)
  return (
    <>
      <PageHead title={say('runs.title')} lead={say('runs.lead')} actions={<ExportMenu search={search} />} />
      <Panel className="runs-over-time">
        <Histogram search={search} />
      </Panel>
      <Panel className="runs">
        <RunFilters search={search} />
        <Content log={log} isFiltered={Object.keys(search).length > 0} />
      </Panel>
      {log.newer > 0 && (
        <Button className="runs-newer" leftSection={<IconArrowUp size={14} aria-hidden />} onClick={log.show}>
          {say('runs.newer', { count: log.newer })}
        </Button>
      )}
    </>
  )
}

/** How many runs were created when, and how they ended; a bucket narrows the list down to its runs. */
function Histogram({ search }: { readonly search: RunSearch }): ReactNode {
  const { schedule_id: schedule, agent_id: agent, status, trigger, session } = search
  const of = useMemo(
    () =>
      schedule !== undefined
        ? { schedule_id: schedule }
        : agent !== undefined
          ? { agent_id: agent, by: 'agent' as const }
          : { by: 'org' as const },
    [schedule, agent],
  )
  const keep = {
    ...(status === undefined ? {} : { status }),
    ...(trigger === undefined ? {} : { trigger }),
    ...(session === undefined ? {} : { session }),
    ...(schedule === undefined || agent === undefined ? {} : { agent_id: agent }),
  }
  return <Timeline of={of} span="24h" keep={keep} />
}

interface ContentProps {
  readonly log: ReturnType<typeof useRunLog>
  readonly isFiltered: boolean
}

function Content({ log: { list, rows, more }, isFiltered }: ContentProps): ReactNode {
  if (list.isPending) return <Lines count={8} height={30} />
  if (list.error !== null && rows.length === 0)
    return <ErrorState error={list.error} retry={() => void list.refetch()} />
  if (rows.length === 0) return isFiltered ? <NothingFits /> : <NoRuns />
  return <RunTable rows={rows} more={more} />
}

function NoRuns(): ReactNode {
  const say = useSay()
  return (
    <EmptyState
      icon={<IconPlayerPlay size={22} aria-hidden />}
      title={say('runs.empty.title')}
      text={say('runs.empty.text')}
      command={say('overview.first.command')}
    />
  )
}

function NothingFits(): ReactNode {
  const say = useSay()
  const navigate = useNavigate()
  return (
    <EmptyState
      icon={<IconSearchOff size={22} aria-hidden />}
      title={say('runs.none.title')}
      text={say('runs.none.text')}
      action={
        <Button variant="default" onClick={() => void navigate({ to: '/automation/runs', search: {} })}>
          {say('runs.clear')}
        </Button>
      }
    />
  )
}
