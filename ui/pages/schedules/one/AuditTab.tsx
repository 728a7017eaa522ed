import { Button, Code } from '@mantine/core'
import { IconLock, IconNotebook } from '@tabler/icons-react'
import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { AuditView } from '../../../../src/features/audit/schema.ts'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { api } from '../../../api/client.ts'
import { useMay } from '../../../api/session.ts'
import { EmptyState } from '../../../parts/EmptyState.tsx'
import { ErrorState } from '../../../parts/ErrorState.tsx'
import { Lines } from '../../../parts/Lines.tsx'
import { CATALOGUE } from '../../../texts/catalogue.ts'
import type { PlainKey } from '../../../texts/fill.ts'
import { useSay } from '../../../texts/TextProvider.tsx'
import { Time } from '../../../time/Time.tsx'

const PAGE = 50

const auditOf = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['audit', 'list', { object_id: id }],
    queryFn: ({ pageParam, signal }) =>
      api.audit.list({ object_id: id, limit: PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next,
  })

/** Who has done what to it, with what changed. */
export function AuditTab({ schedule }: { readonly schedule: ScheduleView }): ReactNode {
  const say = useSay()
  const may = useMay('audit:read')
  const list = useInfiniteQuery({ ...auditOf(schedule.id), enabled: may })
  const records = (list.data?.pages ?? []).flatMap(({ items }) => items)
  if (!may)
    return (
      <EmptyState
        icon={<IconLock size={22} aria-hidden />}
        title={say('one.audit.closed')}
        text={say('permission.lacking', { permission: 'audit:read' })}
      />
    )
  if (list.isPending) return <Lines count={5} />
  if (list.error !== null && records.length === 0)
    return <ErrorState error={list.error} retry={() => void list.refetch()} />
  if (records.length === 0)
    return (
      <EmptyState
        icon={<IconNotebook size={22} aria-hidden />}
        title={say('one.audit.none')}
        text={say('one.audit.none.text')}
      />
    )
  return (
    <>
      <ul className="rows">
        {records.map((record) => (
          <Record key={record.no} record={record} />
        ))}
      </ul>
      {list.hasNextPage && (
        <div className="audit-more">
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {say('one.audit.more')}
          </Button>
        </div>
      )}
    </>
  )
}

function Record({ record }: { readonly record: AuditView }): ReactNode {
  const say = useSay()
  const { action, actor, at } = record
  const key = `one.audit.${action}`
  const changes = changesOf(record)
  return (
    <li className="row audit-row">
      <div className="audit-main">
        <strong>{key in CATALOGUE.en ? say(key as PlainKey) : action}</strong> <code className="tag">{action}</code>
        <span className="row-sub">{actor}</span>
        {changes.length > 0 && (
          <details className="audit-changes">
            <summary>{say('one.audit.changes', { count: changes.length })}</summary>
            <ul>
              {changes.map(({ field, before, after }) => (
                <li key={field}>
                  <code className="tag">{field}</code> <Code>{before}</Code> {'→'} <Code>{after}</Code>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
      <span className="quiet">
        <Time at={at} />
      </span>
    </li>
  )
}

interface Change {
  readonly field: string
  readonly before: string
  readonly after: string
}

/** Moves with every change, and says nothing. */
const NOISE = new Set(['version', 'updated_at'])

/** The fields that differ between before and after; none where there is only one of them. */
function changesOf({ before, after }: AuditView): readonly Change[] {
  if (!isRecord(before) || !isRecord(after)) return []
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((field) => !NOISE.has(field))
  return fields.flatMap((field) => {
    const [was, is] = [written(before[field]), written(after[field])]
    return was === is ? [] : [{ field, before: was, after: is }]
  })
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))
