import { IconKey } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { KeyInput, KeyView } from '../../../src/features/access/schema.ts'
import { keyList } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import type { FieldSpec, FormValues } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { railFields, railsOf, withRails } from '../../forms/restriction-fields.ts'
import { ShownOnce } from '../../forms/ShownOnce.tsx'
import { RailsNote } from '../../parts/RestrictionsNote.tsx'
import type { Column } from '../../table/column.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { ThingList } from '../../forms/ThingList.tsx'
import { ROLE_CHOICES } from './role-choices.ts'
import { useOpen } from '../../forms/use-open.ts'

const NONE: readonly KeyView[] = []
const TOUCHES = [['keys']]

const NAME: FieldSpec = { path: 'name', label: 'keys.name', kind: 'text', isRequired: true, hint: 'keys.nameHint' }
const EXPIRES: FieldSpec = { path: 'expires_at', label: 'keys.expires', kind: 'moment', hint: 'keys.expiresHint' }
const PERMISSIONS: readonly FieldSpec[] = [
  { path: 'role', label: 'keys.role', kind: 'choice', choices: ROLE_CHOICES, isRequired: true },
  {
    path: 'scopes',
    label: 'keys.scopes',
    kind: 'list',
    hint: 'keys.scopesHint',
    whenEmpty: 'null',
    example: 'runs:read',
  },
]

/** Guard rails bring the permissions that they leave room for. */
const fieldsOf = (values: FormValues): readonly FieldSpec[] => {
  const rails = railFields('guard_rails', values)
  return [NAME, ...(rails.length > 1 ? [] : PERMISSIONS), EXPIRES, ...rails]
}

/** What programs sign in with: made once, shown once, ended at any time. */
export function KeysSection(): ReactNode {
  const say = useSay()
  const list = useQuery(keyList)
  const { open, show } = useOpen()
  const [made, setMade] = useState<string | null>(null)
  return (
    <>
      <ThingList<KeyView>
        {...{ title: say('settings.keys'), hint: say('keys.hint'), list, rows: list.data?.items ?? NONE, show }}
        {...{ columns: useColumns(), idOf: ({ id }) => id, nameOf: ({ name }) => name, touches: TOUCHES }}
        {...{ permission: 'keys:write', create: say('keys.new'), canEdit: false }}
        empty={{ icon: <IconKey size={22} aria-hidden />, title: say('keys.empty.title'), text: say('keys.hint') }}
        removal={{
          word: say('keys.revoke'),
          title: ({ name }) => say('keys.revoke.title', { name }),
          text: say('keys.revoke.text'),
          act: ({ id }) => api.keys.revoke(id),
          done: ({ name }) => say('keys.revoked', { name }),
          isPossible: ({ state }) => state === 'active',
        }}
      />
      {open === 'new' && (
        <FormDrawer
          {...{
            title: say('keys.new'),
            fields: fieldsOf,
            thing: withRails('guard_rails', { role: 'member' }),
            touches: TOUCHES,
          }}
          {...{ saved: say('keys.made'), submit: say('keys.create'), close: () => show(null) }}
          save={(body) => api.keys.create(railsOf('guard_rails', body) as unknown as KeyInput)}
          then={({ key }) => {
            show(null)
            setMade(key)
          }}
        />
      )}
      {made !== null && (
        <ShownOnce
          {...{ title: say('keys.once'), text: say('keys.onceText'), secret: made, close: () => setMade(null) }}
        />
      )}
    </>
  )
}

function useColumns(): readonly Column<KeyView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'name', width: 'minmax(160px, 2fr)', header: say('keys.name') },
      cell: ({ name, hint, state }) => (
        <div className={state === 'active' ? '' : 'over'}>
          <div className="thing-name">{name}</div>
          <code className="quiet small">{hint}</code>
        </div>
      ),
    },
    {
      ...{ id: 'role', width: 'minmax(120px, 1.4fr)', header: say('keys.role') },
      cell: ({ role, scopes, guard_rails: rails }) =>
        rails === null ? (
          <div>
            {say(`role.${role}`)}
            {scopes !== null && <div className="quiet small">{scopes.join(', ')}</div>}
          </div>
        ) : (
          <RailsNote rails={rails} />
        ),
    },
    {
      ...{ id: 'state', width: '130px', header: say('keys.state') },
      cell: ({ state, expires_at: expires, revoked_at: revoked }) => (
        <div>
          <span className={state === 'active' ? '' : 'quiet'}>{say(`keys.state.${state}`)}</span>
          {revoked !== null ? (
            <div className="quiet small">
              <Time at={revoked} />
            </div>
          ) : expires === null ? null : (
            <div className="quiet small">
              {say('keys.until')} <Time at={expires} />
            </div>
          )}
        </div>
      ),
    },
    {
      ...{ id: 'used', width: '120px', header: say('keys.used') },
      ...{ cardLabel: say('keys.used') },
      cell: ({ last_used_at: at }) => (at === null ? <span className="quiet">{say('never')}</span> : <Time at={at} />),
    },
  ]
}
