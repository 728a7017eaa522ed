import type { Command } from 'commander'
import { keyFilter, keyInput, type KeyView, type MadeKey } from '../../contract/key.ts'
import { paintState } from '../output/style.ts'
import { valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import { filtersOf, optionsOf } from '../remote/schema-options.ts'
import type { Facts } from '../remote/show.ts'
import { commandOf, type Desk, type Talk } from '../remote/talk.ts'
import { addAction, addGet, addList, addWrite } from '../resource.ts'
import { gatherRails, RAIL_FIELDS, RAIL_NAMES } from './rail-fields.ts'
import { railsText } from './rails-text.ts'

/** `escapement keys …`: what programs sign in with. */
export function addKeys(group: Command, desk: Desk): void {
  addWrite<MadeKey, object>(desk, commandOf(group, 'create', 'create a key; its text is shown once'), {
    kind: 'new',
    fields: [...optionsOf(keyInput, { guard_rails: null }), ...RAIL_FIELDS],
    names: RAIL_NAMES,
    facts: (talk, made) => [...facts(talk, made), ['key', made.key === null ? null : talk.style.bold(made.key)]],
    send: (talk, body) => talk.client.keys.create(gatherRails(body) as never),
    note: () => 'Store it now: it cannot be shown again.',
  })
  addList<KeyView>(desk, commandOf(group, 'list', 'list keys'), {
    filter: filtersOf(keyFilter),
    none: 'No keys.',
    read: (talk, query) => talk.client.keys.list(query),
    columns: ({ now, style }) => [
      { title: 'ID', of: ({ id }) => id },
      { title: 'NAME', of: ({ name }) => name, flexible: true },
      { title: 'BEGINS', of: ({ hint }) => hint },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'SCOPES', of: ({ scopes }) => scopes?.join(' ') ?? 'all', flexible: true },
      { title: 'RAILS', of: ({ guard_rails }) => (guard_rails === null ? '-' : 'yes') },
      { title: 'STATE', of: ({ state }) => state, paint: (text) => paintState(style, text) },
      { title: 'EXPIRES', of: ({ expires_at }) => agoText(expires_at, now) },
      { title: 'USED', of: ({ last_used_at }) => agoText(last_used_at, now) },
    ],
  })
  addGet(desk, commandOf(group, 'get <id>', 'show a key, without its text'), {
    facts,
    read: (talk, [id = '']) => talk.client.keys.get(id),
  })
  addAction(desk, commandOf(group, 'revoke <id>', 'revoke a key'), {
    call: (talk, [id = '']) => talk.client.keys.revoke(id),
    say: ({ state }, id) => `${id} is ${state}.`,
  })
}

const facts = ({ now, style }: Talk, key: KeyView): Facts => [
  ['id', key.id],
  ['name', valueText(key.name)],
  ['role', key.role],
  ['scopes', key.scopes?.join(', ') ?? 'all of its role'],
  ['guard rails', railsText(key.guard_rails)],
  ['state', paintState(style, key.state)],
  ['expires', momentText(key.expires_at, now) ?? 'never'],
]
