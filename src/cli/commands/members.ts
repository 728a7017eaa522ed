import type { Command } from 'commander'
import type { MemberInput, MemberView } from '../../contract/member.ts'
import type { Column } from '../output/table.ts'
import { oneLine, valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import { namesOf, valuesOf, withFields, type FieldOption } from '../remote/fields.ts'
import { readPages, showDone, showList, showOne, withPages, type Facts, type PageOptions } from '../remote/show.ts'
import { signInLink } from '../remote/sign-in-link.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { commandOf, groupOf } from './group.ts'

const FIELDS: readonly FieldOption[] = [
  { flags: '--name <name>', field: 'name', about: 'what they are called' },
  { flags: '--email <address>', field: 'email', about: 'their address' },
  { flags: '--role <role>', field: 'role', about: 'owner, admin, member (default) or viewer' },
]

/** `escapement members …`: people, and how they get in. */
export function addMembers(program: Command, desk: Desk): void {
  const group = groupOf(program, 'members', 'let people into an org, and show them out')
  remote<PageOptions>(desk, withPages(commandOf(group, 'list <org>', 'list the members of an org')), {
    work: async (talk, [org = ''], options) => {
      const page = await readPages(talk, options, (asked) => talk.client.members.list(org, asked))
      await showList(talk, page, { columns: columnsOf(talk), none: 'No members.' })
    },
  })
  remote(desk, withFields(commandOf(group, 'add <org>', 'let somebody in'), FIELDS), {
    names: namesOf(FIELDS),
    work: async (talk, [org = ''], options) => {
      const body = valuesOf(FIELDS, options, talk.terminal.now()) as unknown as MemberInput
      const made = await talk.client.members.create(org, body)
      await showOne(talk, made, () => factsOf(talk, made))
      await talk.note(`A link that signs them in: escapement members invite ${org} ${made.id}\n`)
    },
  })
  remote(desk, withFields(commandOf(group, 'update <org> <id>', 'change a member'), FIELDS), {
    names: namesOf(FIELDS),
    work: async (talk, [org_id = '', id = ''], options) => {
      const change = valuesOf(FIELDS, options, talk.terminal.now())
      const member = await talk.client.members.update({ org_id, id }, change)
      await showOne(talk, member, () => factsOf(talk, member))
    },
  })
  remote(desk, commandOf(group, 'remove <org> <id>', 'show somebody out'), {
    work: async (talk, [org_id = '', id = '']) => {
      await talk.client.members.delete({ org_id, id })
      await showDone(talk, { id, deleted: true }, `${id} is no member any more.`)
    },
  })
  remote(desk, commandOf(group, 'invite <org> <id>', 'make a link that signs a member in, once'), {
    work: async (talk, [org_id = '', id = '']) => {
      const link = await talk.client.members.invite({ org_id, id })
      const url = await signInLink(talk, link.token)
      await showDone(talk, { ...link, url }, url)
    },
  })
}

function columnsOf({ terminal }: Talk): readonly Column<MemberView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ id }) => id },
    { title: 'NAME', of: ({ name }) => name, flexible: true },
    { title: 'E-MAIL', of: ({ email }) => valueText(email), flexible: true },
    { title: 'ROLE', of: ({ role }) => role },
    { title: 'SIGNED IN', of: ({ last_sign_in_at }) => agoText(last_sign_in_at, now) },
  ]
}

const factsOf = ({ terminal }: Talk, member: MemberView): Facts => [
  ['id', member.id],
  ['org', member.org_id],
  ['name', oneLine(member.name)],
  ['e-mail', member.email === null ? null : oneLine(member.email)],
  ['role', member.role],
  ['signed in', momentText(member.last_sign_in_at, terminal.now()) ?? 'never'],
]
