import type { Command } from 'commander'
import { channelInput, channelPatch, type ChannelTestView, type ChannelView } from './schema.ts'
import { CHANNEL_KINDS } from '../../domain/channel/channel.ts'
import { SECRETS_OF } from '../../domain/channel/channel-settings.ts'
import { paintState } from '../../cli/output/style.ts'
import { relativeTimeText, cliTimeText } from '../../cli/output/times.ts'
import type { FieldValues } from '../../cli/remote/fields.ts'
import { readSecretText } from '../../cli/remote/hidden-text.ts'
import type { Facts } from '../../cli/remote/show.ts'
import { commandOf, type CliContext, type CliCall } from '../../cli/remote/call.ts'
import { addAction, addResource } from '../../cli/resource.ts'

/** `escapement channels …`: messaging channels such as Telegram and Slack. */
export function addChannels(group: Command, cli: CliContext): void {
  addResource<ChannelView, ChannelView, { readonly secrets?: boolean }>(group, cli, {
    singular: 'a channel',
    input: channelInput,
    patch: channelPatch,
    operations: ({ channels }) => channels,
    flags: {
      // Other users of the machine can read arguments, so secrets are prompted for.
      token: null,
      signing_secret: null,
      allowed_users: '--allow-users <ids>',
      allowed_chats: '--allow-chats <ids>',
    },
    extra: {
      options: (command, kind) =>
        kind === 'new' ? command : command.option('--secrets', 'also prompt for new secrets'),
      body: async (call, body, { changed, options }) => {
        if (changed === null) return promptForSecrets(call, body)
        if (options.secrets !== true) return body
        const { kind } = await call.client.channels.get(changed)
        const { kind: _kind, ...change } = await promptForSecrets(call, { ...body, kind })
        return change
      },
    },
    none: 'No channels. Create one: escapement channels create --name … --kind telegram --agent …',
    descriptions: {
      create: 'create a channel; reads secrets from a prompt or, one per line, from a pipe',
      delete: 'delete a channel; its sessions are kept',
    },
    columns: ({ now, style }) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name, flexible: true },
      { title: 'KIND', value: ({ kind }) => kind },
      { title: 'STATE', value: stateOf, paint: (text) => paintState(style, text) },
      { title: 'AGENT', value: ({ agent_id }) => agent_id, flexible: true },
      { title: 'LAST MESSAGE', value: ({ last_heard_at }) => relativeTimeText(last_heard_at, now) },
    ],
    facts: channelFacts,
  })
  for (const verb of ['enable', 'disable'] as const)
    addAction(cli, commandOf(group, `${verb} <id>`, `${verb} a channel`), {
      call: (call, [id = '']) => call.client.channels[verb](id),
      resultText: ({ enabled }, id) => `${id} is ${enabled ? 'enabled' : 'disabled'}.`,
    })
  addAction(cli, commandOf(group, 'test <id>', 'test the token of a channel'), {
    call: (call, [id = '']) => call.client.channels.test(id),
    resultText: testText,
    isSuccess: ({ ok }) => ok,
  })
}

/** Prompts for the secrets of a kind that a file has not given. Never reads arguments, which other users can read. */
async function promptForSecrets(call: CliCall, body: FieldValues): Promise<FieldValues> {
  const kind = CHANNEL_KINDS.find((one) => one === body['kind'])
  const missing = (kind === undefined ? [] : SECRETS_OF[kind]).filter((name) => body[name] === undefined)
  const found: Record<string, string> = {}
  let rest: readonly string[] = []
  for (const name of missing) {
    if (rest.length === 0)
      rest = (await readSecretText(call.terminal, `${name.replace('_', ' ')} (hidden): `)).split(/\r?\n/)
    const [first = '', ...more] = rest
    if (first !== '') found[name] = first.trim()
    rest = more
  }
  return { ...body, ...found }
}

function testText({ ok, username, message }: ChannelTestView, id: string): string {
  const who = username === null ? '' : ` of @${username}`
  return ok ? `${id}: the token${who} works.` : `${id}: the token does not work: ${message ?? 'unknown error'}`
}

const stateOf = ({ enabled, failure }: ChannelView): string =>
  enabled ? (failure === null ? 'active' : 'failed') : 'paused'

function channelFacts({ now, style }: CliCall, channel: ChannelView): Facts {
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
    ['allowed senders', channel.open === null ? null : channel.open ? 'everyone' : allowed === '' ? 'none' : allowed],
    ['default recipient', channel.default_recipient],
    ['session', channel.session],
    ['text', channel.text],
    ['lane', channel.lane],
    ['webhook path', channel.mode === 'polling' ? null : channel.hook_path],
    ['polled by', channel.attended_by],
    ['last message', cliTimeText(channel.last_heard_at, now)],
    ['created', cliTimeText(channel.created_at, now)],
  ]
}
