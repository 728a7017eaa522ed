import type { Command } from 'commander'
import type { TargetInput, TargetView } from '../../contract/target.ts'
import { TARGET_KIND_WORDS } from '../../core/delivery/target-kinds.ts'
import { explainWhy } from '../../core/reasons.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { agoText, lengthText, momentText } from '../output/times.ts'
import { bodyOf, json, list, namesOf, withBody, type FieldOption, type ReadText } from '../remote/fields.ts'
import {
  printJson,
  readPages,
  showDone,
  showList,
  showOne,
  withPages,
  type Facts,
  type PageOptions,
} from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { commandOf, groupOf } from './group.ts'

const mailTo: ReadText = (text, about) => ({ to: list(text, about) })

const yesOrNo: ReadText = (text) => {
  if (text !== 'yes' && text !== 'no') throw new UsageError(`--alerts "${text}" is not understood. Allowed: yes, no`)
  return text === 'yes'
}

const QUIET = /^(\d{1,2}:\d{2})-(\d{1,2}:\d{2})@(\S+)$/

const quietHours: ReadText = (text) => {
  if (text === 'none') return null
  const [, start, end, timezone] = QUIET.exec(text) ?? []
  if (start === undefined)
    throw new UsageError(`--quiet-hours "${text}" is not understood. Allowed: none, or as in 22:00-07:00@Europe/Berlin`)
  return { start: start.padStart(5, '0'), end: end?.padStart(5, '0'), timezone }
}

const CHANGEABLE: readonly FieldOption[] = [
  { flags: '--name <name>', field: 'name', about: 'what it is called' },
  { flags: '--to <url>', field: 'url', about: 'where messages are posted' },
  { flags: '--mail-to <addresses>', field: 'settings', read: mailTo, about: 'who gets the mail; commas between them' },
  { flags: '--settings <json>', field: 'settings', read: json, about: 'what its kind needs to know' },
  {
    ...{ flags: '--quiet-hours <from-to@zone>', field: 'quiet_hours', read: quietHours },
    about: 'what comes then is sent as one digest at the end, as in 22:00-07:00@Europe/Berlin; none: never',
  },
  { flags: '--alerts [yes|no]', field: 'alerts', read: yesOrNo, stands: true, about: 'whether alerts go to it' },
  { flags: '--disabled', field: 'enabled', stands: false, about: 'switched off: what is for it is held' },
]

const FIELDS: readonly FieldOption[] = [
  ...CHANGEABLE,
  { flags: '--kind <kind>', field: 'kind', about: TARGET_KIND_WORDS.join(', ') },
]

/** `escapement targets …`: where results are delivered. */
export function addTargets(program: Command, desk: Desk): void {
  const group = groupOf(program, 'targets', 'make, see, change and try out where results are delivered')
  remote<PageOptions>(desk, withPages(commandOf(group, 'list', 'list targets and how they fare')), {
    work: async (talk, _, options) => {
      const page = await readPages(talk, options, (asked) => talk.client.targets.list(asked))
      const none = 'No targets. Make one: escapement targets create --name … --to https://…'
      await showList(talk, page, { columns: columnsOf(talk), none })
    },
  })
  remote(desk, commandOf(group, 'get <id>', 'show a target'), {
    work: async (talk, [id = '']) => show(talk, await talk.client.targets.get(id)),
  })
  remote(desk, withBody(commandOf(group, 'create', 'make a target'), FIELDS, 'new'), {
    names: namesOf(FIELDS),
    work: async (talk, _, options) => {
      const body = await bodyOf(talk.terminal, FIELDS, options)
      await show(talk, await talk.client.targets.create(body as unknown as TargetInput))
    },
  })
  remote(desk, withBody(commandOf(group, 'update <id>', 'change a target'), CHANGEABLE, 'change'), {
    names: namesOf(CHANGEABLE),
    work: async (talk, [id = ''], options) =>
      show(talk, await talk.client.targets.update(id, await bodyOf(talk.terminal, CHANGEABLE, options))),
  })
  remote(desk, commandOf(group, 'delete <id>', 'delete a target that no schedule delivers to'), {
    work: async (talk, [id = '']) => {
      await talk.client.targets.delete(id)
      await showDone(talk, { id, deleted: true }, `${id} is deleted.`)
    },
  })
  addDoing(group, desk)
}

function addDoing(group: Command, desk: Desk): void {
  remote(desk, commandOf(group, 'enable <id>', 'switch a target on and send what was held for it'), {
    work: async (talk, [id = '']) => {
      const enabled = await talk.client.targets.enable(id)
      await showDone(talk, enabled, `${id} is enabled; held messages on their way: ${enabled.released}.`)
    },
  })
  remote(desk, commandOf(group, 'test <id>', 'send one message to a target and see what comes of it'), {
    work: (talk, [id = '']) => test(talk, id),
  })
  const secret = commandOf(group, 'signing-secret', 'show what webhooks are signed with')
  remote<{ readonly rotate?: boolean }>(desk, secret.option('--rotate', 'make a new one; for a day both sign'), {
    work: async (talk, _, { rotate }) => {
      const { targets } = talk.client
      const found = rotate === true ? await targets.rotateSecret() : await targets.signingSecret()
      const now = talk.terminal.now()
      await showOne(talk, found, () => [
        ['secret', found.secret],
        ['made', momentText(found.created_at, now)],
        ['the one before signs until', momentText(found.previous_until, now)],
      ])
    },
  })
}

async function test(talk: Talk, id: string): Promise<ExitCode> {
  const result = await talk.client.targets.test(id)
  if (talk.json) await printJson(talk, result)
  else {
    const took = lengthText(result.duration_ms)
    const said = result.delivered
      ? `${id} accepted it with ${result.status_code ?? 'no status'} after ${took}.`
      : `${id} did not accept it: ${result.message ?? 'nobody knows why'} (after ${took}).`
    await talk.print(`${said}\n`)
  }
  return result.delivered ? EXIT.ok : EXIT.refused
}

const show = (talk: Talk, target: TargetView): Promise<void> => showOne(talk, target, () => factsOf(talk, target))

/** Where it leads, in one line. */
const placeOf = ({ url, settings }: TargetView): string =>
  url ??
  Object.values(settings)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(' ')

const quietText = ({ quiet_hours: hours }: TargetView): string | null =>
  hours === null ? null : `${hours.start}-${hours.end} ${hours.timezone}`

const stateOf = ({ enabled }: TargetView): string => (enabled ? 'active' : 'paused')

function columnsOf({ terminal, style }: Talk): readonly Column<TargetView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ id }) => id },
    { title: 'NAME', of: ({ name }) => name, flexible: true },
    { title: 'STATE', of: stateOf, paint: (text) => paintState(style, text) },
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'TO', of: placeOf, flexible: true },
    { title: 'HELD', of: ({ held }) => String(held), right: true },
    { title: 'FAILURES', of: ({ failures_in_a_row }) => String(failures_in_a_row), right: true },
    { title: 'DELIVERED', of: ({ last_delivered_at }) => agoText(last_delivered_at, now) },
  ]
}

function factsOf({ terminal, style }: Talk, target: TargetView): Facts {
  const now = terminal.now()
  return [
    ['id', target.id],
    ['name', target.name],
    ['state', paintState(style, stateOf(target))],
    ['why', target.disabled_why === null ? null : explainWhy(target.disabled_why)],
    ['kind', target.kind],
    ['to', placeOf(target)],
    ['alerts', target.alerts ? 'go to it' : null],
    ['quiet hours', quietText(target)],
    ['held', String(target.held)],
    ['failures in a row', String(target.failures_in_a_row)],
    ['last delivered', momentText(target.last_delivered_at, now)],
    ['last failed', momentText(target.last_failed_at, now)],
    ['made', momentText(target.created_at, now)],
  ]
}
