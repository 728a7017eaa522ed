import { IconLock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { SecretInput, SecretView } from '../../../src/features/secrets/schema.ts'
import { secretList } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import { changedOf, type FieldSpec } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { Copyable } from '../../parts/Copyable.tsx'
import type { Column } from '../../table/column.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { ThingList } from '../../forms/ThingList.tsx'
import { useOpen } from '../../forms/use-open.ts'

const NONE: readonly SecretView[] = []
const TOUCHES = [['secrets']]

const HOSTS: FieldSpec = {
  ...{ path: 'hosts', label: 'secrets.hosts', kind: 'list', isRequired: true, hint: 'secrets.hostsHint' },
  example: 'api.openai.com',
}
const NEW: readonly FieldSpec[] = [
  { path: 'name', label: 'secrets.name', kind: 'code', isRequired: true, example: 'OPENAI_KEY' },
  { path: 'value', label: 'secrets.value', kind: 'secret', isRequired: true, hint: 'secrets.valueHint' },
  HOSTS,
]
const EDIT: readonly FieldSpec[] = [
  { path: 'value', label: 'secrets.newValue', kind: 'secret', hint: 'secrets.newValueHint' },
  HOSTS,
]

/** Secrets: values that agents may send; they are set here and never shown again. */
export function SecretsSection(): ReactNode {
  const say = useSay()
  const list = useQuery(secretList)
  const { open, show } = useOpen()
  const rows = list.data?.items ?? NONE
  const edited = rows.find(({ name }) => name === open)
  const form = { touches: TOUCHES, saved: say('secrets.saved'), close: () => show(null) }
  return (
    <>
      <ThingList<SecretView>
        {...{ title: say('settings.secrets'), hint: say('secrets.hint'), list, rows, show, touches: TOUCHES }}
        {...{ columns: useColumns(), idOf: ({ name }) => name, nameOf: ({ name }) => name }}
        {...{ permission: 'secrets:write', create: say('secrets.new') }}
        empty={{
          icon: <IconLock size={22} aria-hidden />,
          title: say('secrets.empty.title'),
          text: say('secrets.hint'),
        }}
        removal={{
          word: say('action.delete'),
          title: ({ name }) => say('secrets.delete.title', { name }),
          text: say('secrets.delete.text'),
          act: ({ name, version }) => api.secrets.delete(name, { ifMatch: version }),
          done: ({ name }) => say('secrets.deleted', { name }),
        }}
      />
      {open === 'new' && (
        <FormDrawer
          {...{ ...form, title: say('secrets.new'), fields: () => NEW, thing: {} }}
          save={(body) => api.secrets.create(body as unknown as SecretInput)}
        />
      )}
      {edited !== undefined && (
        <FormDrawer
          {...{ ...form, key: edited.name, title: edited.name, fields: () => EDIT, thing: edited }}
          save={(body) => api.secrets.update(edited.name, changedOf(body, { ...edited }), { ifMatch: edited.version })}
        />
      )}
    </>
  )
}

/** What agents write where the value is to stand. */
const placeFor = (name: string): string => `{{secret:${name}}}`

function useColumns(): readonly Column<SecretView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'name', width: 'minmax(170px, 1.4fr)', header: say('secrets.name') },
      cell: ({ name }) => (
        <div className="secret-name">
          <code>{placeFor(name)}</code>
          <Copyable text={placeFor(name)} name={name} />
        </div>
      ),
    },
    {
      ...{ id: 'hosts', width: 'minmax(120px, 1.2fr)', header: say('secrets.hosts'), cardLabel: say('secrets.hosts') },
      cell: ({ hosts }) => <span className="small">{hosts.join(', ')}</span>,
    },
    {
      ...{ id: 'used', width: 'minmax(100px, 1fr)', header: say('secrets.usedBy'), cardLabel: say('secrets.usedBy') },
      cell: ({ used_by: agents }) =>
        agents.length === 0 ? <span className="quiet">{say('secrets.unused')}</span> : agents.join(', '),
    },
    {
      ...{ id: 'set', width: '110px', header: say('secrets.setAt'), cardLabel: say('secrets.setAt') },
      cell: ({ value_set_at: at }) => <Time at={at} />,
    },
  ]
}
