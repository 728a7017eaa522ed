import type { Command } from 'commander'
import type { OrgInput, OrgView } from '../../contract/org.ts'
import type { Column } from '../output/table.ts'
import { oneLine, valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import { bodyOf, namesOf, number, seconds, withBody, type FieldOption } from '../remote/fields.ts'
import { readPages, showDone, showList, showOne, withPages, type Facts, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { commandOf, groupOf } from './group.ts'

const COMMON: readonly FieldOption[] = [
  { flags: '--name <name>', field: 'name', about: 'what it is called' },
  { flags: '--tz <zone>', field: 'default_timezone', about: 'zone of its schedules, budgets and days' },
  { flags: '--max-concurrent <n>', field: 'max_concurrent', read: number, about: 'how many of its runs at once' },
  { flags: '--max-schedules <n>', field: 'max_schedules', read: number, about: 'how many schedules' },
  { flags: '--runs-per-day <n>', field: 'runs_per_day', read: number, about: 'how many runs a day' },
  {
    ...{ flags: '--max-timeout <duration>', field: 'max_timeout_seconds', read: seconds },
    about: 'longest time limit of an attempt, such as 10m',
  },
]

const NEW_FIELDS: readonly FieldOption[] = [
  { flags: '--id <id>', field: 'id', about: 'a short name; made unless given' },
  { flags: '--with-key', field: 'with_key', stands: true, about: 'also create its first owner key, shown once' },
  ...COMMON,
]

const FIELDS: readonly FieldOption[] = [
  ...COMMON,
  { flags: '--default-agent <id>', field: 'default_agent_id', about: 'whom work wakes that names nobody' },
]

/** `escapement orgs …`: the tenants of the deployment. */
export function addOrgs(program: Command, desk: Desk): void {
  const group = groupOf(program, 'orgs', 'make, see and change orgs (operator only)')
  remote<PageOptions>(desk, withPages(commandOf(group, 'list', 'list orgs')), {
    work: async (talk, _, options) => {
      const page = await readPages(talk, options, (asked) => talk.client.orgs.list(asked))
      await showList(talk, page, { columns: columnsOf(talk), none: 'No orgs.' })
    },
  })
  remote(desk, commandOf(group, 'get <id>', 'show an org'), {
    work: async (talk, [id = '']) => show(talk, await talk.client.orgs.get(id)),
  })
  remote(desk, withBody(commandOf(group, 'create', 'make an org'), NEW_FIELDS, 'new'), {
    names: namesOf(NEW_FIELDS),
    work: async (talk, _, options) => {
      const body = await bodyOf(talk.terminal, NEW_FIELDS, options)
      const made = await talk.client.orgs.create(body as unknown as OrgInput)
      await showOne(talk, made, () => [
        ...factsOf(talk, made),
        [
          'first key',
          made.first_key === undefined ? null : (made.first_key.key ?? `${made.first_key.id}, shown before`),
        ],
      ])
      await talk.note(`Add a member next: escapement members add ${made.id} --name … --role owner\n`)
    },
  })
  remote(desk, withBody(commandOf(group, 'update <id>', 'change an org and its limits'), FIELDS, 'change'), {
    names: namesOf(FIELDS),
    work: async (talk, [id = ''], options) =>
      show(talk, await talk.client.orgs.update(id, await bodyOf(talk.terminal, FIELDS, options))),
  })
  remote(desk, commandOf(group, 'delete <id>', 'delete an org in which nothing is pending or planned'), {
    work: async (talk, [id = '']) => {
      await talk.client.orgs.delete(id)
      await showDone(talk, { id, deleted: true }, `${id} is deleted.`)
    },
  })
}

const show = (talk: Talk, org: OrgView): Promise<void> => showOne(talk, org, () => factsOf(talk, org))

const limitText = (limit: number | null): string => (limit === null ? 'no limit' : String(limit))

/** Servers of an earlier release know no such limit. */
const timeoutText = (limit: number | null | undefined): string =>
  limit === null || limit === undefined ? 'no limit' : `${limit} s`

function columnsOf({ terminal }: Talk): readonly Column<OrgView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ id }) => id },
    { title: 'NAME', of: ({ name }) => name, flexible: true },
    { title: 'ZONE', of: ({ default_timezone }) => default_timezone },
    { title: 'AT ONCE', of: ({ max_concurrent }) => limitText(max_concurrent), right: true },
    { title: 'SCHEDULES', of: ({ max_schedules }) => limitText(max_schedules), right: true },
    { title: 'RUNS A DAY', of: ({ runs_per_day }) => limitText(runs_per_day), right: true },
    { title: 'TIMEOUT', of: ({ max_timeout_seconds }) => timeoutText(max_timeout_seconds), right: true },
    { title: 'MADE', of: ({ created_at }) => agoText(created_at, now) },
  ]
}

const factsOf = ({ terminal }: Talk, org: OrgView): Facts => [
  ['id', org.id],
  ['name', oneLine(org.name)],
  ['zone', org.default_timezone],
  ['default agent', valueText(org.default_agent_id)],
  ['at once', limitText(org.max_concurrent)],
  ['schedules', limitText(org.max_schedules)],
  ['runs a day', limitText(org.runs_per_day)],
  ['max timeout', timeoutText(org.max_timeout_seconds)],
  ['made', momentText(org.created_at, terminal.now())],
]
