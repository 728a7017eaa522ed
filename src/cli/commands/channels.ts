import type { Command } from 'commander'
import { channelInput, channelPatch, type ChannelTestView, type ChannelView } from '../../features/channels/schema.ts'
import { CHANNEL_KINDS } from '../../core/channel/channel.ts'
import { SECRETS_OF } from '../../domain/channel/channel-settings.ts'
import { paintState } from '../output/style.ts'
import { agoText, momentText } from '../output/times.ts'
import type { FieldValues } from '../remote/fields.ts'
import { readHidden } from '../remote/hidden-text.ts'
import type { Facts } from '../remote/show.ts'
import { commandOf, type Desk, type Talk } from '../remote/talk.ts'
import { addAction, addResource } from '../resource.ts'

/** `escapement channels …`: where messages come from besides the API. */
export function addChannels(group: Command, desk: Desk): void {
  addResource<ChannelView, ChannelView, { readonly secrets?: boolean }>(group, desk, {
    one: 'a channel',
    input: channelInput,
    patch: channelPatch,
    operations: ({ channels }) => channels,
    flags: {
      // Arguments can be read by others on the machine: secrets are asked for.
      token: null,
      signing_secret: null,
      allowed_users: '--allow-users <ids>',
      allowed_chats: '--allow-chats <ids>',
    },
    extra: {
      options: (command, kind) =>
        kind === 'new' ? command : command.option('--secrets', 'also change its secrets, which are asked for'),
      body: async (talk, body, { changed, options }) => {
        if (changed === null) return withSecrets(talk, body)
        if (options.secrets !== true) return body
        const { kind } = await talk.client.channels.get(changed)
        const { kind: _kind, ...change } = await withSecrets(talk, { ...body, kind })
        return change
      },
    },
    none: 'No channels. Make one: escapement channels create --name … --kind telegram --agent …',
    about: {
      create: 'create a channel; its secrets are asked for, or read line by line from a pipe',
      delete: 'delete a channel; its conversations stay',
    },
    columns: ({ now, style }) => [
      { title: 'ID', of: ({ id }) => id },
      { title: 'NAME', of: ({ name }) => name, flexible: true },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'STATE', of: stateOf, paint: (text) => paintState(style, text) },
      { title: 'AGENT', of: ({ agent_id }) => agent_id, flexible: true },
      { title: 'HEARD', of: ({ last_heard_at }) => agoText(last_heard_at, now) },
    ],
    facts,
  })
  for (const verb of ['enable', 'disable'] as const)
    addAction(desk, commandOf(group, `${verb} <id>`, `${verb} a channel`), {
      call: (talk, [id = '']) => talk.client.channels[verb](id),
      say: ({ enabled }, id) => `${id} is ${enabled ? 'enabled' : 'disabled'}.`,
    })
  addAction(desk, commandOf(group, 'test <id>', 'test the token of a channel'), {
    call: (talk, [id = '']) => talk.client.channels.test(id),
    say: testText,
    isDone: ({ ok }) => ok,
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

function testText({ ok, username, message }: ChannelTestView, id: string): string {
  const who = username === null ? '' : ` as @${username}`
  return ok ? `${id} is known${who}.` : `${id} is not: ${message ?? 'nobody knows why'}`
}

const stateOf = ({ enabled, failure }: ChannelView): string =>
  enabled ? (failure === null ? 'active' : 'failed') : 'paused'

function facts({ now, style }: Talk, channel: ChannelView): Facts {
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
