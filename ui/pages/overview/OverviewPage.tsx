import { IconCalendarPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { StatsView } from '../../../src/features/stats/schema.ts'
import { schedulePage, statsOf } from '../../api/queries.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Timeline } from '../../ribbon/Timeline.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { Attention } from './Attention.tsx'
import { Figures } from './Figures.tsx'
import { Lanes } from './Lanes.tsx'
import { BusyAgents } from './BusyAgents.tsx'
import { RecentFailures } from './RecentFailures.tsx'
import './overview.css'

/** What just happened, what is happening, what comes next. */
export function OverviewPage(): ReactNode {
  const say = useSay()
  const stats = useQuery(statsOf())
  const isNew = stats.data !== undefined && isUntouched(stats.data)
  return (
    <>
      <PageHead title={say('overview.title')} lead={<Headline stats={stats.data} />} />
      {stats.error !== null && stats.data === undefined ? (
        <Panel>
          <ErrorState error={stats.error} retry={() => void stats.refetch()} />
        </Panel>
      ) : (
        <div className="overview">
          {isNew ? <FirstSteps /> : <OverviewTimeline />}
          <Figures stats={stats.data} />
          <div className="overview-columns">
            <div className="overview-column">
              <Attention />
              <Lanes lanes={stats.data?.lanes} />
            </div>
            <div className="overview-column">
              <RecentFailures />
              <BusyAgents agents={stats.data?.agents} />
            </div>
          </div>
        </div>
      )}
    </>
  )
}

const isUntouched = ({ runs, pending, schedules }: StatsView): boolean =>
  [...Object.values(runs.by_status), ...Object.values(pending), ...Object.values(schedules)].every((n) => n === 0)

/** "12 running · 3 waiting · next: Inbox triage in 4 min". */
function Headline({ stats }: { readonly stats: StatsView | undefined }): ReactNode {
  const say = useSay()
  const next = useQuery(schedulePage({ state: 'active', sort: 'next_run_at', limit: 1 })).data?.items[0]
  if (stats === undefined) return <span className="quiet">{say('loading')}</span>
  const { active, waiting, queued } = stats.pending
  return (
    <span className="headline">
      <span>{say('overview.running', { count: active })}</span>
      <span>{say('overview.waiting', { count: waiting + queued })}</span>
      {next?.next_run_at == null ? (
        <span>{say('overview.nothingNext')}</span>
      ) : (
        <span>
          <Link to="/automation/schedules" search={{ sort: 'next_run_at' }}>
            {say('overview.next', { name: next.name })}
          </Link>{' '}
          <Time at={next.next_run_at} zone={next.timezone} />
        </span>
      )}
    </span>
  )
}

function FirstSteps(): ReactNode {
  const say = useSay()
  return (
    <Panel>
      <EmptyState
        icon={<IconCalendarPlus size={22} aria-hidden />}
        title={say('overview.first.title')}
        text={say('overview.first.text')}
        command={say('overview.first.command')}
      />
    </Panel>
  )
}

function OverviewTimeline(): ReactNode {
  const say = useSay()
  return (
    <Panel className="overview-ribbon" title={say('overview.ribbon')}>
      <Timeline of={EVERYTHING} span="24h" isWide />
    </Panel>
  )
}

const EVERYTHING = {}
