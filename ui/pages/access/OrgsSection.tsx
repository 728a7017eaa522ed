import { IconBuilding } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { OrgInput, OrgView } from '../../../src/features/access/schema.ts'
import { orgList } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import { changedOf, type FieldSpec } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { ShownOnce } from '../../forms/ShownOnce.tsx'
import type { Column } from '../../table/column.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { ThingList } from '../../forms/ThingList.tsx'
import { useOpen } from '../../forms/use-open.ts'

const NONE: readonly OrgView[] = []
const TOUCHES = [['orgs']]

const limit = (path: string, label: FieldSpec['label']): FieldSpec => ({
  ...{ path, label, kind: 'number', whenEmpty: 'null' },
})
const FIELDS: readonly FieldSpec[] = [
  { path: 'name', label: 'orgs.name', kind: 'text', isRequired: true },
  { path: 'default_timezone', label: 'orgs.zone', kind: 'code', example: 'Europe/Berlin' },
  limit('max_concurrent', 'orgs.maxConcurrent'),
  limit('max_schedules', 'orgs.maxSchedules'),
  limit('runs_per_day', 'orgs.runsPerDay'),
  limit('max_timeout_seconds', 'orgs.maxTimeout'),
]
const NEW: readonly FieldSpec[] = [
  { path: 'id', label: 'agents.id', kind: 'code', hint: 'orgs.idHint', example: 'acme' },
  ...FIELDS,
  { path: 'with_key', label: 'orgs.withKey', kind: 'flag', hint: 'orgs.withKeyHint' },
]
const EDIT: readonly FieldSpec[] = [
  ...FIELDS,
  { path: 'default_agent_id', label: 'orgs.agent', kind: 'code', whenEmpty: 'null' },
]

/** The tenants of the deployment, each with its limits. */
export function OrgsSection(): ReactNode {
  const say = useSay()
  const list = useQuery(orgList)
  const { open, show } = useOpen()
  const [made, setMade] = useState<string | null>(null)
  const rows = list.data?.items ?? NONE
  const edited = rows.find(({ id }) => id === open)
  const form = { touches: TOUCHES, saved: say('orgs.saved'), close: () => show(null) }
  return (
    <>
      <ThingList<OrgView>
        {...{ title: say('settings.orgs'), hint: say('orgs.hint'), list, rows, show, touches: TOUCHES }}
        {...{ columns: useColumns(), idOf: ({ id }) => id, nameOf: ({ name }) => name }}
        {...{ permission: 'admin:*', operatorOnly: true, create: say('orgs.new') }}
        empty={{ icon: <IconBuilding size={22} aria-hidden />, title: say('orgs.empty.title'), text: say('orgs.hint') }}
        removal={{
          word: say('action.delete'),
          title: ({ name }) => say('orgs.delete.title', { name }),
          text: say('orgs.delete.text'),
          act: ({ id }) => api.orgs.delete(id),
          done: ({ name }) => say('orgs.deleted', { name }),
        }}
      />
      {open === 'new' && (
        <FormDrawer
          {...{ ...form, title: say('orgs.new'), fields: () => NEW, thing: {} }}
          save={(body) => api.orgs.create(body as unknown as OrgInput)}
          then={({ first_key: first }) => {
            show(null)
            setMade(first?.key ?? null)
          }}
        />
      )}
      {made !== null && (
        <ShownOnce
          {...{ title: say('keys.once'), text: say('keys.onceText'), secret: made, close: () => setMade(null) }}
        />
      )}
      {edited !== undefined && (
        <FormDrawer
          {...{ ...form, key: edited.id, title: edited.name, fields: () => EDIT, thing: edited }}
          save={(body) => api.orgs.update(edited.id, changedOf(body, { ...edited }))}
        />
      )}
    </>
  )
}

function useColumns(): readonly Column<OrgView>[] {
  const say = useSay()
  const limitOf = (value: number | null): ReactNode =>
    value === null ? <span className="quiet">{say('form.none')}</span> : say('orgs.count', { count: value })
  return [
    {
      ...{ id: 'name', width: 'minmax(150px, 2fr)', header: say('orgs.name') },
      cell: ({ id, name, default_timezone: zone }) => (
        <div>
          <div className="thing-name">{name}</div>
          <div className="quiet small">
            <code>{id}</code> · {zone}
          </div>
        </div>
      ),
    },
    {
      ...{ id: 'concurrent', width: '130px', header: say('orgs.maxConcurrent'), cardLabel: say('orgs.maxConcurrent') },
      cell: ({ max_concurrent: most }) => limitOf(most),
    },
    {
      ...{ id: 'schedules', width: '120px', header: say('orgs.maxSchedules'), cardLabel: say('orgs.maxSchedules') },
      cell: ({ max_schedules: most }) => limitOf(most),
    },
    {
      ...{ id: 'runs', width: '120px', header: say('orgs.runsPerDay'), cardLabel: say('orgs.runsPerDay') },
      cell: ({ runs_per_day: most }) => limitOf(most),
    },
  ]
}
