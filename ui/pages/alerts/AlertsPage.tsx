import { SegmentedControl } from '@mantine/core'
import { IconBellRinging, IconCircleCheck } from '@tabler/icons-react'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AlertView } from '../../../src/features/alerts/schema.ts'
import { alertPages } from '../../api/admin-queries.ts'
import { incidentsOf } from '../../api/incidents.ts'
import { openAlerts } from '../../api/queries.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors } from '../../parts/doors.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Sentence } from '../../parts/Sentence.tsx'
import type { Column } from '../../table/column.ts'
import { Listing } from '../../table/Listing.tsx'
import { usePages } from '../../table/use-pages.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { useNow } from '../../time/clock.ts'
import { Time } from '../../time/Time.tsx'
import { readAlertSearch } from './alert-search.ts'
import { doorOf, IncidentCard } from './IncidentCard.tsx'
import '../../parts/records.css'
import './alerts.css'

const MINUTE_MS = 60_000
const SHOWN = ['open', 'cleared', 'all'] as const

/** Open alerts by cause, and the history of all. */
export function AlertsPage(): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/operations/alerts' })
  const { show = 'open' } = useSearch({
    ...{ from: '/shell/operations/alerts', select: readAlertSearch, structuralSharing: true },
  })
  return (
    <>
      <PageHead
        {...{ title: say('alerts.title'), lead: say('alerts.lead') }}
        actions={
          <SegmentedControl
            {...{ value: show, 'aria-label': say('alerts.show') }}
            data={SHOWN.map((value) => ({ value, label: say(`alerts.${value}`) }))}
            onChange={(value) =>
              void navigate({ search: value === 'open' ? {} : readAlertSearch({ show: value }), replace: true })
            }
          />
        }
      />
      {show === 'open' ? <Incidents /> : <History show={show} />}
    </>
  )
}

/** Open alerts, one card per cause. */
function Incidents(): ReactNode {
  const now = useNow(MINUTE_MS)
  const { data, error, refetch } = useQuery(openAlerts)
  if (data === undefined)
    return (
      <Panel>{error === null ? <Lines count={4} /> : <ErrorState error={error} retry={() => void refetch()} />}</Panel>
    )
  const incidents = incidentsOf(data.items, now)
  if (incidents.length === 0)
    return (
      <Panel className="alerts">
        <NoAlerts />
      </Panel>
    )
  return (
    <div className="incidents">
      {incidents.map((incident) => (
        <IncidentCard key={`${incident.kind} ${incident.id}`} incident={incident} />
      ))}
    </div>
  )
}

/** Every alert, one by one. */
function History({ show }: { readonly show: 'cleared' | 'all' }): ReactNode {
  const say = useSay()
  const list = useInfiniteQuery(alertPages(show === 'all' ? {} : { status: show }))
  const { rows, more } = usePages(list)
  const columns = useColumns()
  return (
    <Panel className="alerts">
      <Listing<AlertView>
        {...{ list, rows, columns, onEnd: more, label: say('alerts.title'), idOf: ({ id }) => id }}
        empty={<NoAlerts />}
      />
    </Panel>
  )
}

function NoAlerts(): ReactNode {
  const say = useSay()
  return (
    <EmptyState
      icon={<IconCircleCheck size={22} aria-hidden />}
      title={say('alerts.empty.title')}
      text={say('alerts.empty.text')}
    />
  )
}

function useColumns(): readonly Column<AlertView>[] {
  const say = useSay()
  const doors = useDoors()
  return [
    {
      ...{ id: 'mark', width: '18px', header: <span className="visually-hidden">{say('alerts.show')}</span> },
      cell: ({ status }) =>
        status === 'open' ? (
          <IconBellRinging size={16} className="bad" role="img" aria-label={say('alerts.open')} />
        ) : (
          <IconCircleCheck size={16} className="quiet" role="img" aria-label={say('alerts.cleared')} />
        ),
    },
    {
      ...{ id: 'sentence', width: 'minmax(200px, 3fr)', header: say('alerts.title') },
      cell: ({ why, kind }) => (
        <div>
          <Sentence why={why} /> <span className="tag">{say(`alerts.kind.${kind}`)}</span>
        </div>
      ),
    },
    {
      ...{ id: 'subject', width: 'minmax(110px, 1fr)', header: say('audit.col.object') },
      cell: (alert) => (
        <>
          <Door to={doorOf({ kind: alert.subject_kind, id: alert.subject_id }, doors)}>{alert.subject_name}</Door>
          <div className="quiet small">{say(`alerts.cause.${alert.subject_kind}`)}</div>
        </>
      ),
    },
    {
      ...{ id: 'when', width: '150px', header: say('alerts.raised') },
      cell: ({ raised_at: raised, cleared_at: cleared }) => (
        <div>
          <Time at={raised} />
          {cleared !== null && (
            <div className="quiet small">
              {say('alerts.clearedAt')} <Time at={cleared} />
            </div>
          )}
        </div>
      ),
    },
  ]
}
