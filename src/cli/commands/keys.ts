import type { Command } from 'commander'
import type { KeyInput, KeyView } from '../../contract/key.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import { list, moment, namesOf, valuesOf, withFields, type FieldOption } from '../remote/fields.ts'
import { readPages, showDone, showList, showOne, withPages, type Facts, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { commandOf, groupOf } from './group.ts'
import { gatherRails, RAIL_FIELDS, RAIL_NAMES } from './rail-fields.ts'
import { railsText } from './rails-text.ts'

const FIELDS: readonly FieldOption[] = [
  { flags: '--name <name>', field: 'name', about: 'what it is for' },
  { flags: '--role <role>', field: 'role', about: 'owner, admin, member (default) or viewer' },
  {
    flags: '--scopes <scopes>',
    field: 'scopes',
    read: list,
    about: 'what of its role it may do, as in schedules:*,runs:read',
  },
  { flags: '--expires <time>', field: 'expires_at', read: moment, about: 'a time, or how long from now, as in 90d' },
  ...RAIL_FIELDS,
]

/** `escapement keys …`: what programs sign in with. */
export function addKeys(program: Command, desk: Desk): void {
  const group = groupOf(program, 'keys', 'make, see and end API keys')
  remote(desk, withFields(commandOf(group, 'create', 'make a key; its text is shown once'), FIELDS), {
    names: { ...namesOf(FIELDS), ...RAIL_NAMES },
    work: async (talk, _, options) => {
      const given = gatherRails(valuesOf(FIELDS, options, talk.terminal.now()))
      const made = await talk.client.keys.create(given as unknown as KeyInput)
      await showOne(talk, made, () => [
        ...factsOf(talk, made),
        ['key', made.key === null ? null : talk.style.bold(made.key)],
      ])
      await talk.note('Keep it now: nobody can show it again.\n')
    },
  })
  const all = withPages(commandOf(group, 'list', 'list keys')).option('--state <state>', 'active, expired or revoked')
  remote<PageOptions & { readonly state?: KeyView['state'] }>(desk, all, {
    names: { '/state': '--state' },
    work: async (talk, _, options) => {
      const filter = options.state === undefined ? {} : { state: options.state }
      const page = await readPages(talk, options, (asked) => talk.client.keys.list({ ...filter, ...asked }))
      await showList(talk, page, { columns: columnsOf(talk), none: 'No keys.' })
    },
  })
  remote(desk, commandOf(group, 'revoke <id>', 'end a key'), {
    work: async (talk, [id = '']) => {
      const key = await talk.client.keys.revoke(id)
      await showDone(talk, key, `${id} is ${key.state}.`)
    },
  })
}

function columnsOf({ terminal, style }: Talk): readonly Column<KeyView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ id }) => id },
    { title: 'NAME', of: ({ name }) => name, flexible: true },
    { title: 'BEGINS', of: ({ hint }) => hint },
    { title: 'ROLE', of: ({ role }) => role },
    { title: 'SCOPES', of: ({ scopes }) => scopes?.join(' ') ?? 'all', flexible: true },
    { title: 'RAILS', of: ({ guard_rails }) => (guard_rails === null ? '-' : 'yes') },
    { title: 'STATE', of: ({ state }) => state, paint: (text) => paintState(style, text) },
    { title: 'EXPIRES', of: ({ expires_at }) => agoText(expires_at, now) },
    { title: 'USED', of: ({ last_used_at }) => agoText(last_used_at, now) },
  ]
}

const factsOf = ({ terminal, style }: Talk, key: KeyView): Facts => [
  ['id', key.id],
  ['name', valueText(key.name)],
  ['role', key.role],
  ['scopes', key.scopes?.join(', ') ?? 'all of its role'],
  ['guard rails', railsText(key.guard_rails)],
  ['state', paintState(style, key.state)],
  ['expires', momentText(key.expires_at, terminal.now()) ?? 'never'],
]
