import { Menu } from '@mantine/core'
import { IconLink, IconUsers } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { MemberInput, MemberView } from '../../../src/features/access/schema.ts'
import { memberList } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import { messageOf } from '../../api/refusal.ts'
import { useMe } from '../../api/session.ts'
import { changedOf, type FieldSpec } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { ShownOnce } from '../../forms/ShownOnce.tsx'
import { toast } from '../../parts/toasts/toast-store.ts'
import type { Column } from '../../table/column.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import { ThingList } from '../../forms/ThingList.tsx'
import { ROLE_CHOICES } from './role-choices.ts'
import { useOpen } from '../../forms/use-open.ts'

const NONE: readonly MemberView[] = []
const TOUCHES = [['members']]

const FIELDS: readonly FieldSpec[] = [
  { path: 'name', label: 'members.name', kind: 'text', isRequired: true },
  { path: 'email', label: 'members.email', kind: 'text', whenEmpty: 'null', example: 'night@example.com' },
  { path: 'role', label: 'keys.role', kind: 'choice', choices: ROLE_CHOICES, isRequired: true },
]

/** The people of the org. They sign in by links that are made for them. */
export function MembersSection(): ReactNode {
  const org = useMe()?.org.id
  return org === undefined ? null : <Members org={org} />
}

function Members({ org }: { readonly org: string }): ReactNode {
  const say = useSay()
  const list = useQuery(memberList(org))
  const { open, show } = useOpen()
  const [link, setLink] = useState<string | null>(null)
  const rows = list.data?.items ?? NONE
  const edited = rows.find(({ id }) => id === open)
  const invite = useMutation({
    mutationFn: (id: string) => api.members.invite({ org_id: org, id }),
    onSuccess: ({ token }) => setLink(`${location.origin}/#signin=${token}`),
    onError: (error) => toast({ tone: 'failed', message: messageOf(error, say) }),
  })
  const form = { fields: () => FIELDS, touches: TOUCHES, saved: say('members.saved'), close: () => show(null) }
  return (
    <>
      <ThingList<MemberView>
        {...{ title: say('settings.members'), hint: say('members.hint'), list, rows, show, touches: TOUCHES }}
        {...{ columns: useColumns(), idOf: ({ id }) => id, nameOf: ({ name }) => name }}
        {...{ permission: 'admin:*', create: say('members.new') }}
        empty={{
          icon: <IconUsers size={22} aria-hidden />,
          title: say('members.empty.title'),
          text: say('members.hint'),
        }}
        removal={{
          word: say('members.remove'),
          title: ({ name }) => say('members.remove.title', { name }),
          text: say('members.remove.text'),
          act: ({ id }) => api.members.delete({ org_id: org, id }),
          done: ({ name }) => say('members.removed', { name }),
        }}
        more={({ id }) => (
          <Menu.Item leftSection={<IconLink size={15} aria-hidden />} onClick={() => invite.mutate(id)}>
            {say('members.invite')}
          </Menu.Item>
        )}
      />
      {open === 'new' && (
        <FormDrawer
          {...{ ...form, title: say('members.new'), thing: { role: 'member' } }}
          save={(body) => api.members.create(org, body as unknown as MemberInput)}
        />
      )}
      {edited !== undefined && (
        <FormDrawer
          {...{ ...form, key: edited.id, title: edited.name, thing: edited }}
          save={(body) => api.members.update({ org_id: org, id: edited.id }, changedOf(body, { ...edited }))}
        />
      )}
      {link !== null && (
        <ShownOnce
          {...{ title: say('members.link'), text: say('members.linkText'), secret: link, close: () => setLink(null) }}
        />
      )}
    </>
  )
}

function useColumns(): readonly Column<MemberView>[] {
  const say = useSay()
  return [
    {
      ...{ id: 'name', width: 'minmax(160px, 2fr)', header: say('members.name') },
      cell: ({ name, email }) => (
        <div>
          <div className="thing-name">{name}</div>
          <div className="quiet small">{email}</div>
        </div>
      ),
    },
    { ...{ id: 'role', width: '120px', header: say('keys.role') }, cell: ({ role }) => say(`role.${role}`) },
    {
      ...{ id: 'used', width: '150px', header: say('members.signedIn') },
      ...{ cardLabel: say('members.signedIn') },
      cell: ({ last_sign_in_at: at }) =>
        at === null ? <span className="quiet">{say('never')}</span> : <Time at={at} />,
    },
  ]
}
