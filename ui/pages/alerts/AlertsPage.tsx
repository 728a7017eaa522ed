import { SegmentedControl } from '@mantine/core'
import { IconBellRinging, IconCircleCheck } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AlertView } from '../../../src/features/alerts/schema.ts'
import { alertPages } from '../../api/admin-queries.ts'
import { Door } from '../../parts/Door.tsx'
import { useDoors, type Doors } from '../../parts/doors.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { Sentence } from '../../parts/Sentence.tsx'
import { ShortId } from '../../parts/ShortId.tsx'
import type { Column } from '../../table/column.ts'
import { Listing } from '../../table/Listing.tsx'
import { usePages } from '../../table/use-pages.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { readAlertSearch } from './alert-search.ts'
import '../../parts/records.css'

const SHOWN = ['open', 'cleared', 'all'] as const

/** Open and cleared alerts. */
export function AlertsPage(): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/operations/alerts' })
  const { show = 'open' } = useSearch({
    ...{ from: '/shell/operations/alerts', select: readAlertSearch, structuralSharing: true },
  })
  const list = useInfiniteQuery(alertPages(show === 'all' ? {} : { status: show }))
  const { rows, more } = usePages(list)
  const columns = useColumns()
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
      <Panel className="alerts">
        <Listing<AlertView>
          {...{ list, rows, columns, onEnd: more, label: say('alerts.title'), idOf: ({ id }) => id }}
          empty={
            <EmptyState
              icon={<IconCircleCheck size={22} aria-hidden />}
              title={say('alerts.empty.title')}
              text={say('alerts.empty.text')}
            />
          }
        />
      </Panel>
    </>
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
          <Sentence why={why} /> <span className="tag">{kind}</span>
        </div>
      ),
    },
    {
      ...{ id: 'subject', width: 'minmax(110px, 1fr)', header: say('audit.col.object') },
      cell: (alert) => (
        <Door to={subjectOf(alert, doors)}>
          <span className="quiet">{alert.subject_kind}</span> <ShortId id={alert.subject_id} />
        </Door>
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

/** Where what an alert is about is shown. */
function subjectOf({ subject_kind: kind, subject_id: id }: AlertView, doors: Doors): string | undefined {
  const word: string = kind
  if (word === 'schedule') return doors.schedule(id)
  if (word === 'budget') return '/settings/limits'
  if (word === 'agent') return '/agents/heartbeats'
  return word === 'node' ? '/operations/nodes' : '/settings/targets'
}
