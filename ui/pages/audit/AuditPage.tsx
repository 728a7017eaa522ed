import { IconHistory } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AuditView } from '../../../src/features/audit/schema.ts'
import { auditList } from '../../api/admin-queries.ts'
import { EmptyState } from '../../parts/EmptyState.tsx'
import { PageHead } from '../../parts/PageHead.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { ShortId } from '../../parts/ShortId.tsx'
import type { Column } from '../../table/column.ts'
import { Listing } from '../../table/Listing.tsx'
import { usePages } from '../../table/use-pages.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { AuditFilters, type AuditChange } from './AuditFilters.tsx'
import { AuditRecord } from './AuditRecord.tsx'
import { differencesOf } from './differences.ts'
import { readAuditSearch } from './audit-search.ts'
import { VerifyChain } from './VerifyChain.tsx'
import '../../parts/records.css'

/** Who changed what, and how; and whether the records are as they were written. */
export function AuditPage(): ReactNode {
  const say = useSay()
  const navigate = useNavigate({ from: '/operations/audit' })
  const search = useSearch({
    ...{ from: '/shell/operations/audit', select: readAuditSearch, structuralSharing: true },
  })
  const { record, ...filter } = search
  const list = useInfiniteQuery(auditList(filter))
  const { rows, more } = usePages(list)
  const change = (part: AuditChange): void => {
    const next = Object.entries({ ...search, ...part }).filter(([, value]) => value != null && value !== '')
    void navigate({ search: Object.fromEntries(next) as typeof search, replace: !('record' in part) })
  }
  const show = (no: number): void => change({ record: String(no) })
  const columns = useColumns(change, show)
  const open = rows.find(({ no }) => String(no) === record)
  return (
    <>
      <PageHead title={say('audit.title')} lead={say('audit.lead')} actions={<VerifyChain />} />
      <Panel className="audit">
        <AuditFilters search={search} change={change} />
        <Listing<AuditView>
          {...{ list, rows, columns, onEnd: more, label: say('audit.title'), idOf: ({ no }) => String(no) }}
          keys={{ e: ({ no }) => show(no) }}
          empty={
            <EmptyState
              icon={<IconHistory size={22} aria-hidden />}
              title={say('audit.empty.title')}
              text={say('audit.empty.text')}
            />
          }
        />
      </Panel>
      {open !== undefined && <AuditRecord record={open} close={() => change({ record: null })} />}
    </>
  )
}

function useColumns(change: (part: AuditChange) => void, show: (no: number) => void): readonly Column<AuditView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'when', width: '120px', header: say('audit.col.when') },
      cell: ({ at }) => <Time at={at} show="both" />,
    },
    {
      ...{ id: 'action', width: 'minmax(120px, 1fr)', header: say('audit.col.action') },
      cell: ({ no, action }) => (
        <button type="button" className="plain strong" onClick={() => show(no)}>
          {action}
        </button>
      ),
    },
    {
      ...{ id: 'object', width: 'minmax(140px, 1.4fr)', header: say('audit.col.object') },
      cell: ({ object: { kind, id } }) => (
        <button type="button" className="plain" onClick={() => change({ object_kind: kind, object_id: id })}>
          <span className="quiet">{kind}</span> <ShortId id={id} />
        </button>
      ),
    },
    {
      ...{ id: 'actor', width: 'minmax(110px, 1fr)', header: say('audit.col.actor') },
      cell: ({ actor }) => (
        <button type="button" className="plain" onClick={() => change({ actor })}>
          <ShortId id={actor} />
        </button>
      ),
    },
    {
      ...{ id: 'change', width: '90px', header: say('audit.col.change') },
      cell: ({ before, after }) => (
        <span className="quiet">{say('audit.changes', { count: differencesOf(before, after).length })}</span>
      ),
    },
  ]
}
