import { Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, type ReactNode } from 'react'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { scheduleOf } from '../../../api/queries.ts'
import { useMay } from '../../../api/session.ts'
import { useOpenEditor } from '../../../editor/hooks/use-editor.ts'
import { useRunNow } from '../../../api/run-now.ts'
import { ErrorState } from '../../../parts/ErrorState.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { PageHead } from '../../../parts/PageHead.tsx'
import { Panel } from '../../../parts/Panel.tsx'
import { Timeline } from '../../../ribbon/Timeline.tsx'
import { useShortcuts } from '../../../shell/shortcuts.ts'
import { useSay } from '../../../texts/TextProvider.tsx'
import { Facts } from './Facts.tsx'
import { HeadActions } from './HeadActions.tsx'
import { HeadLead } from './HeadLead.tsx'
import { readScheduleOneSearch, TABS, type ScheduleOneSearch, type Tab } from './one-search.ts'
import '../schedules.css'
import './one.css'

// Loaded on demand: few schedules need approval, and the others need not wait for this code.
const Approval = lazy(async () => ({ default: (await import('./Approval.tsx')).Approval }))
const Pace = lazy(async () => ({ default: (await import('./Pace.tsx')).Pace }))
const Origin = lazy(async () => ({ default: (await import('./Origin.tsx')).Origin }))
// Loaded when they are looked at: what is seen first is there first.
const AuditTab = lazy(async () => ({ default: (await import('./AuditTab.tsx')).AuditTab }))
const BackfillTab = lazy(async () => ({ default: (await import('./BackfillTab.tsx')).BackfillTab }))
const CalendarTab = lazy(async () => ({ default: (await import('./CalendarTab.tsx')).CalendarTab }))
const RunsTab = lazy(async () => ({ default: (await import('./RunsTab.tsx')).RunsTab }))
const PolicyTab = lazy(async () => ({ default: (await import('./PolicyTab.tsx')).PolicyTab }))

/** One schedule: how it stands, how it went, what comes, and why. */
export function SchedulePage(): ReactNode {
  const say = useSay()
  const { id } = useParams({ from: '/shell/automation/schedules/$id' })
  const { data: schedule, error, refetch } = useQuery(scheduleOf(id))
  if (schedule === undefined)
    return (
      <>
        <PageHead title={say('nav.schedules')} lead={<span className="quiet">{id}</span>} />
        <Panel>
          {error === null ? <Lines count={8} height={24} /> : <ErrorState error={error} retry={() => void refetch()} />}
        </Panel>
      </>
    )
  return <Known schedule={schedule} />
}

function Known({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const open = useOpenEditor()
  const runNow = useRunNow()
  const [mayWrite, mayRun] = [useMay('schedules:write'), useMay('schedules:run')]
  useShortcuts({
    ...(mayWrite ? { e: () => open({ edit: schedule.id }) } : {}),
    ...(mayRun ? { r: () => runNow(schedule) } : {}),
  })
  return (
    <>
      <PageHead
        title={schedule.name}
        lead={<HeadLead schedule={schedule} />}
        actions={<HeadActions schedule={schedule} />}
      />
      <div className="one">
        {schedule.approval !== null && (
          <Suspense fallback={<Lines count={3} />}>
            <Approval schedule={schedule} approval={schedule.approval} />
          </Suspense>
        )}
        <Facts schedule={schedule} />
        {schedule.pace !== null && (
          <Suspense fallback={<Lines count={3} />}>
            <Pace pace={schedule.pace} zone={schedule.timezone} />
          </Suspense>
        )}
        {/* What an agent made by itself has a run too; what a person made of one is compared with it. */}
        {schedule.created_by_run !== null && schedule.owner === null && (
          <Suspense fallback={<Lines count={3} />}>
            <Origin schedule={schedule} runId={schedule.created_by_run} />
          </Suspense>
        )}
        <Panel title={say('overview.ribbon')}>
          <Timeline of={{ schedule_id: schedule.id }} span="24h" />
        </Panel>
        <Parts schedule={schedule} />
      </div>
    </>
  )
}

function Parts({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const search = useOneSearch()
  const navigate = useNavigate({ from: '/automation/schedules/$id' })
  const { tab = 'runs' } = search
  const show = (next: string | null): void =>
    void navigate({ search: next === 'runs' ? {} : { tab: next as Tab }, resetScroll: false })
  const page = { runs: RunsTab, calendar: CalendarTab, backfills: BackfillTab, policy: PolicyTab, audit: AuditTab }
  const Page = page[tab]
  return (
    <Panel className="one-parts">
      <Tabs value={tab} onChange={show}>
        <Tabs.List aria-label={say('one.parts')}>
          {TABS.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {say(`one.tab.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab}>
          <Suspense fallback={<Lines count={6} />}>
            <Page schedule={schedule} search={search} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Panel>
  )
}

const useOneSearch = (): ScheduleOneSearch =>
  useSearch({
    ...{ from: '/shell/automation/schedules/$id', select: readScheduleOneSearch, structuralSharing: true },
  })
