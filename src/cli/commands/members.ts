import type { Command } from 'commander'
import { memberInput, memberPatch, type MemberView } from '../../contract/member.ts'
import { oneLine, valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import { optionsOf } from '../remote/schema-options.ts'
import type { Facts } from '../remote/show.ts'
import { withLink } from '../remote/sign-in-link.ts'
import { commandOf, type Desk, type Talk } from '../remote/talk.ts'
import { addAction, addList, addWrite } from '../resource.ts'

/** `escapement members …`: people, and how they get in. */
export function addMembers(group: Command, desk: Desk): void {
  addList<MemberView>(desk, commandOf(group, 'list <org>', 'list the members of an org'), {
    none: 'No members.',
    read: (talk, query, [org = '']) => talk.client.members.list(org, query),
    columns: ({ now }) => [
      { title: 'ID', of: ({ id }) => id },
      { title: 'NAME', of: ({ name }) => name, flexible: true },
      { title: 'E-MAIL', of: ({ email }) => valueText(email), flexible: true },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'SIGNED IN', of: ({ last_sign_in_at }) => agoText(last_sign_in_at, now) },
    ],
  })
  addWrite<MemberView, object>(desk, commandOf(group, 'add <org>', 'add a member'), {
    kind: 'new',
    fields: optionsOf(memberInput),
    facts,
    send: (talk, body, { args: [org = ''] }) => talk.client.members.create(org, body as never),
    note: ({ id }, [org = '']) => `A link that signs them in: escapement members invite ${org} ${id}`,
  })
  addWrite<MemberView, object>(desk, commandOf(group, 'update <org> <id>', 'update a member'), {
    kind: 'change',
    fields: optionsOf(memberPatch),
    facts,
    send: (talk, body, { args: [org_id = '', id = ''] }) => talk.client.members.update({ org_id, id }, body),
  })
  addAction(desk, commandOf(group, 'remove <org> <id>', 'remove a member'), {
    call: async (talk, [org_id = '', id = '']) => {
      await talk.client.members.delete({ org_id, id })
      return { id, deleted: true }
    },
    say: (_, id) => `${id} is no member any more.`,
  })
  addAction(desk, commandOf(group, 'invite <org> <id>', 'create a link that signs a member in, once'), {
    call: async (talk, [org_id = '', id = '']) => withLink(talk, await talk.client.members.invite({ org_id, id })),
    say: ({ url }) => url,
  })
}

const facts = ({ now }: Talk, member: MemberView): Facts => [
  ['id', member.id],
  ['org', member.org_id],
  ['name', oneLine(member.name)],
  ['e-mail', member.email === null ? null : oneLine(member.email)],
  ['role', member.role],
  ['signed in', momentText(member.last_sign_in_at, now) ?? 'never'],
]
