import type { Command } from 'commander'
import type { ChannelInput, ChannelView } from '../../contract/channel.ts'
import { CHANNEL_KINDS } from '../../core/channel/channel.ts'
import { SECRETS_OF } from '../../core/channel/channel-settings.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { agoText, momentText } from '../output/times.ts'
import { bodyOf, list, namesOf, withBody, type FieldOption, type FieldValues } from '../remote/fields.ts'
import { readHidden } from '../remote/hidden-text.ts'
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
import { EXIT, type ExitCode } from '../terminal.ts'
import { commandOf, groupOf } from './group.ts'

const CHANGEABLE: readonly FieldOption[] = [
  { flags: '--agent <id>', field: 'agent_id', about: 'who answers' },
  {
    flags: '--allow-users <ids>',
    field: 'allowed_users',
    read: list,
    about: 'people who may speak in private, with commas',
  },
  {
    flags: '--allow-chats <ids>',
    field: 'allowed_chats',
    read: list,
    about: 'groups and channels it may be spoken to in',
  },
  { flags: '--open', field: 'open', about: 'everybody may speak' },
  { flags: '--mode <mode>', field: 'mode', about: 'of a bot of Telegram: polling or webhook' },
  { flags: '--hears-all', field: 'hears_all', about: 'in groups, also what does not speak to the bot' },
  { flags: '--default-recipient <id>', field: 'default_recipient', about: 'who is meant when nobody is named' },
  {
    flags: '--session <template>',
    field: 'session',
    about: 'of a hook: the conversation, as in build-{{body.branch}}',
  },
  { flags: '--text <template>', field: 'text', about: 'of a hook: what the agent is told' },
  { flags: '--lane <name>', field: 'lane', about: 'of a hook: the lane of its runs' },
]

const FIELDS: readonly FieldOption[] = [
  { flags: '--name <name>', field: 'name', about: 'what it is called; part of session keys' },
  { flags: '--kind <kind>', field: 'kind', about: CHANNEL_KINDS.join(', ') },
  ...CHANGEABLE,
  { flags: '--disabled', field: 'enabled', stands: false, about: 'switched off: nothing is heard' },
]

/** `escapement channels …`: where messages come from besides the API. */
export function addChannels(program: Command, desk: Desk): void {
  const group = groupOf(program, 'channels', 'Telegram, Slack and signed hooks: where messages come from')
  remote<PageOptions>(desk, withPages(commandOf(group, 'list', 'list channels and how they fare')), {
    work: async (talk, _, options) => {
      const page = await readPages(talk, options, (asked) => talk.client.channels.list(asked))
      const none = 'No channels. Make one: escapement channels create --name … --kind telegram --agent …'
      await showList(talk, page, { columns: columnsOf(talk), none })
    },
  })
  remote(desk, commandOf(group, 'get <id>', 'show a channel'), {
    work: async (talk, [id = '']) => show(talk, await talk.client.channels.get(id)),
  })
  const create = commandOf(
    group,
    'create',
    'make a channel; its secrets are asked for, or read line by line from a pipe',
  )
  remote(desk, withBody(create, FIELDS, 'new'), {
    names: namesOf(FIELDS),
    work: async (talk, _, options) => {
      const body = await withSecrets(talk, await bodyOf(talk.terminal, FIELDS, options))
      await show(talk, await talk.client.channels.create(body as unknown as ChannelInput))
    },
  })
  const update = commandOf(group, 'update <id>', 'change a channel').option(
    '--secrets',
    'also its secrets, which are asked for',
  )
  remote<{ readonly secrets?: boolean }>(desk, withBody(update, CHANGEABLE, 'change'), {
    names: namesOf(CHANGEABLE),
    work: async (talk, [id = ''], options) => {
      const given = await bodyOf(talk.terminal, CHANGEABLE, options)
      const kind = options.secrets === true ? (await talk.client.channels.get(id)).kind : undefined
      const { kind: _kind, ...body } = await withSecrets(talk, kind === undefined ? given : { ...given, kind })
      await show(talk, await talk.client.channels.update(id, body))
    },
  })
  addDoing(group, desk)
}

function addDoing(group: Command, desk: Desk): void {
  for (const verb of ['enable', 'disable'] as const)
    remote(
      desk,
      commandOf(group, `${verb} <id>`, verb === 'enable' ? 'switch a channel on' : 'hear nothing any more'),
      {
        work: async (talk, [id = '']) => {
          const changed = await talk.client.channels[verb](id)
          await showDone(talk, changed, `${id} is ${changed.enabled ? 'enabled' : 'disabled'}.`)
        },
      },
    )
  remote(desk, commandOf(group, 'delete <id>', 'delete a channel; its conversations stay'), {
    work: async (talk, [id = '']) => {
      await talk.client.channels.delete(id)
      await showDone(talk, { id, deleted: true }, `${id} is deleted.`)
    },
  })
  remote(desk, commandOf(group, 'test <id>', 'ask the service who the channel is, and see whether its token is good'), {
    work: (talk, [id = '']) => test(talk, id),
  })
}

/** Asks for the secrets of a kind that a file has not given. They are never arguments, which others can read. */
async function withSecrets(talk: Talk, body: FieldValues): Promise<FieldValues> {
  const kind = CHANNEL_KINDS.find((one) => one === body['kind'])
  const wanted = (kind === undefined ? [] : SECRETS_OF[kind]).filter((name) => body[name] === undefined)
  const found: Record<string, string> = {}
  let rest: readonly string[] = []
  for (const name of wanted) {
    if (rest.length === 0)
      rest = (await readHidden(talk.terminal, `${name.replace('_', ' ')} (is not shown): `)).split(/\r?\n/)
    const [first = '', ...more] = rest
    if (first !== '') found[name] = first.trim()
    rest = more
  }
  return { ...body, ...found }
}

async function test(talk: Talk, id: string): Promise<ExitCode> {
  const result = await talk.client.channels.test(id)
  const who = result.username === null ? '' : ` as @${result.username}`
  if (talk.json) await printJson(talk, result)
  else
    await talk.print(result.ok ? `${id} is known${who}.\n` : `${id} is not: ${result.message ?? 'nobody knows why'}\n`)
  return result.ok ? EXIT.ok : EXIT.refused
}

const show = (talk: Talk, channel: ChannelView): Promise<void> => showOne(talk, channel, () => factsOf(talk, channel))

const stateOf = ({ enabled, failure }: ChannelView): string =>
  enabled ? (failure === null ? 'active' : 'failed') : 'paused'

function columnsOf({ terminal, style }: Talk): readonly Column<ChannelView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ id }) => id },
    { title: 'NAME', of: ({ name }) => name, flexible: true },
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'STATE', of: stateOf, paint: (text) => paintState(style, text) },
    { title: 'AGENT', of: ({ agent_id }) => agent_id, flexible: true },
    { title: 'HEARD', of: ({ last_heard_at }) => agoText(last_heard_at, now) },
  ]
}

function factsOf({ terminal, style }: Talk, channel: ChannelView): Facts {
  const now = terminal.now()
  const allowed = [...(channel.allowed_users ?? []), ...(channel.allowed_chats ?? [])].join(', ')
  return [
    ['id', channel.id],
    ['name', channel.name],
    ['kind', channel.kind],
    ['state', paintState(style, stateOf(channel))],
    ['failure', channel.failure],
    ['agent', channel.agent_id],
    ['bot', channel.username === null ? null : `@${channel.username}`],
    ['mode', channel.mode],
    ['may speak', channel.open === null ? null : channel.open ? 'everybody' : allowed === '' ? 'nobody' : allowed],
    ['default recipient', channel.default_recipient],
    ['session', channel.session],
    ['text', channel.text],
    ['lane', channel.lane],
    ['requests go to', channel.mode === 'polling' ? null : channel.hook_path],
    ['attended by', channel.attended_by],
    ['last heard', momentText(channel.last_heard_at, now)],
    ['made', momentText(channel.created_at, now)],
  ]
}
