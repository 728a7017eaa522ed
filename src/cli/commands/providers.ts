import type { Command } from 'commander'
import type { ProviderInput, ProviderView } from '../../contract/provider.ts'
import type { Column } from '../output/table.ts'
import { agoText, momentText } from '../output/times.ts'
import { bodyOf, namesOf, number, withBody, type FieldOption } from '../remote/fields.ts'
import { readPages, showDone, showList, showOne, withPages, type Facts, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { commandOf, groupOf } from './group.ts'

const QUOTAS: readonly FieldOption[] = [
  { flags: '--requests <n>', field: 'requests_per_minute', read: number, about: 'requests a minute' },
  { flags: '--tokens <n>', field: 'tokens_per_minute', read: number, about: 'tokens a minute' },
  { flags: '--max-concurrent <n>', field: 'max_concurrent', read: number, about: 'attempts at a time' },
]

const FIELDS: readonly FieldOption[] = [
  { flags: '--name <name>', field: 'name', about: 'what agents call it' },
  ...QUOTAS,
]

/** `escapement providers …`: what several agents call, with quotas they share. */
export function addProviders(program: Command, desk: Desk): void {
  const group = groupOf(program, 'providers', 'make, see and change quotas that agents share')
  remote<PageOptions>(desk, withPages(commandOf(group, 'list', 'list providers and what is left of their quotas')), {
    work: async (talk, _, options) => {
      const page = await readPages(talk, options, (asked) => talk.client.providers.list(asked))
      await showList(talk, page, { columns: columnsOf(talk), none: 'No providers.' })
    },
  })
  remote(desk, commandOf(group, 'get <name>', 'show a provider'), {
    work: async (talk, [name = '']) => show(talk, await talk.client.providers.get(name)),
  })
  remote(desk, withBody(commandOf(group, 'create', 'make a provider'), FIELDS, 'new'), {
    names: namesOf(FIELDS),
    work: async (talk, _, options) => {
      const body = await bodyOf(talk.terminal, FIELDS, options)
      await show(talk, await talk.client.providers.create(body as unknown as ProviderInput))
    },
  })
  remote(desk, withBody(commandOf(group, 'update <name>', 'change the quotas of a provider'), QUOTAS, 'change'), {
    names: namesOf(QUOTAS),
    work: async (talk, [name = ''], options) =>
      show(talk, await talk.client.providers.update(name, await bodyOf(talk.terminal, QUOTAS, options))),
  })
  remote(desk, commandOf(group, 'delete <name>', 'delete a provider that no agent names'), {
    work: async (talk, [name = '']) => {
      await talk.client.providers.delete(name)
      await showDone(talk, { name, deleted: true }, `${name} is deleted.`)
    },
  })
}

const show = (talk: Talk, provider: ProviderView): Promise<void> =>
  showOne(talk, provider, () => factsOf(talk, provider))

/** What is left of what there is; a dash where there is no quota. */
const leftText = (left: number | null, of: number | null): string => (of === null ? '-' : `${left ?? of}/${of}`)

function columnsOf({ terminal }: Talk): readonly Column<ProviderView>[] {
  const now = terminal.now()
  return [
    { title: 'NAME', of: ({ name }) => name, flexible: true },
    { title: 'REQUESTS', of: (one) => leftText(one.requests_left, one.requests_per_minute), right: true },
    { title: 'TOKENS', of: (one) => leftText(one.tokens_left, one.tokens_per_minute), right: true },
    {
      title: 'IN FLIGHT',
      of: (one) => (one.max_concurrent === null ? String(one.in_flight) : `${one.in_flight}/${one.max_concurrent}`),
      right: true,
    },
    { title: 'WAITING', of: ({ waiting }) => String(waiting), right: true },
    { title: 'OPENS', of: ({ closed }) => (closed === null ? 'open' : agoText(closed.until, now)) },
  ]
}

const quotaText = (left: number | null, of: number | null): string =>
  of === null ? 'any number' : `${left ?? of} of ${of} left`

const factsOf = ({ terminal }: Talk, provider: ProviderView): Facts => [
  ['name', provider.name],
  ['requests a minute', quotaText(provider.requests_left, provider.requests_per_minute)],
  ['tokens a minute', quotaText(provider.tokens_left, provider.tokens_per_minute)],
  ['at a time', provider.max_concurrent === null ? 'any number' : String(provider.max_concurrent)],
  ['in flight', String(provider.in_flight)],
  ['waiting', String(provider.waiting)],
  [
    'closed until',
    provider.closed === null ? null : `${momentText(provider.closed.until, terminal.now())} (${provider.closed.quota})`,
  ],
  ['agents', provider.agents.length === 0 ? 'none' : provider.agents.join(', ')],
]
