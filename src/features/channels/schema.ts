import { z } from 'zod'
import { CHANNEL_KINDS } from '../../domain/channel/channel.ts'
import {
  channelFlaws,
  MAX_NAMED_IDS,
  parseChannelIds,
  parseHookLane,
  parseHookTemplate,
  parseRecipient,
  TELEGRAM_MODES,
} from '../../domain/channel/channel-settings.ts'
import { isoTime, pageOf } from '../../api/common.ts'
import {
  confidential,
  fieldsRule,
  named,
  readWith,
  rule,
  type Shape,
  text,
  textLike,
  withFixed,
} from '../../api/fields.ts'

const ids = z
  .array(z.union([z.string().min(1).max(200), z.int()]))
  .max(MAX_NAMED_IDS)
  .check(readWith<(string | number)[]>(parseChannelIds))
const short = z.string().min(1).max(200)
const template = z.string().min(1).max(2_000).check(rule(parseHookTemplate))
const secret = confidential(text(1, 1_000))
const agent = text(1, 512)

const changeable = {
  enabled: z.boolean().optional().describe('Default: true.'),
  token: secret.optional().describe('Token of the bot or app. Never shown.'),
  signing_secret: secret
    .optional()
    .describe('Secret that verifies requests from Slack or from callers of the webhook. Never shown.'),
  mode: z.enum(TELEGRAM_MODES).nullable().optional().describe('How updates arrive: `polling` (default) or `webhook`.'),
  hears_all: z
    .boolean()
    .nullable()
    .optional()
    .describe('In groups, also receive messages that do not address the bot.'),
  open: z
    .boolean()
    .nullable()
    .optional()
    .describe('Accept messages from everyone. Default: only from `allowed_users` and `allowed_chats`.'),
  allowed_users: ids.nullable().optional().describe('Ids of users who may send direct messages.'),
  allowed_chats: ids.nullable().optional().describe('Ids of groups and channels to answer in.'),
  default_recipient: short
    .check(rule(parseRecipient))
    .nullable()
    .optional()
    .describe('Recipient of messages to the channel that name no recipient.'),
  session: template
    .nullable()
    .optional()
    .describe('Webhook only: session of a request, as a template with `{{body.x}}`. Default: `main`.'),
  text: template
    .nullable()
    .optional()
    .describe(
      'Webhook only: message to the agent, as a template. Default: the field `text` of the body, or the whole body.',
    ),
  lane: short.check(rule(parseHookLane)).nullable().optional().describe('Webhook only: lane of the runs it creates.'),
}

export const channelInput = named(
  'ChannelInput',
  z
    .strictObject({
      name: textLike(/^(?!(?:last|none)$)[a-z0-9][a-z0-9_-]{0,59}$/, {
        max: 60,
        message: 'is not a valid channel name',
        allowed: 'up to 60 lowercase letters, digits, - and _, except last and none',
      }).describe('Name, part of session keys: lowercase letters, digits, `-` and `_`. It cannot be changed.'),
      kind: z.enum(CHANNEL_KINDS).describe('Kind of channel.'),
      agent_id: agent.describe('The agent that answers.'),
      ...changeable,
    })
    .check(
      fieldsRule((given) => {
        const kind = CHANNEL_KINDS.find((word) => word === given.kind)
        return kind === undefined ? [] : channelFlaws(kind, given, true)
      }),
    ),
  'A new channel: a source of messages and the way back for replies. Fields depend on the kind.',
)
export type ChannelInput = Shape<typeof channelInput>

export const channelPatch = named(
  'ChannelPatch',
  withFixed(z.strictObject({ agent_id: agent.optional().describe('The agent that answers.'), ...changeable }), {
    names: ['name', 'kind'],
    allowed: 'a new channel',
  }),
  'A change of a channel. Name and kind cannot be changed.',
)
export type ChannelPatch = Shape<typeof channelPatch>

export const channel = named(
  'Channel',
  z.strictObject({
    id: z.string(),
    org_id: z.string(),
    name: z.string(),
    kind: z.enum(CHANNEL_KINDS),
    agent_id: z.string(),
    enabled: z.boolean(),
    has_token: z.boolean(),
    has_signing_secret: z.boolean(),
    mode: z.enum(TELEGRAM_MODES).nullable(),
    hears_all: z.boolean().nullable(),
    open: z.boolean().nullable(),
    allowed_users: z.array(z.string()).nullable(),
    allowed_chats: z.array(z.string()).nullable(),
    default_recipient: z.string().nullable(),
    session: z
      .string()
      .nullable()
      .describe('Webhook only: template of the session; `text` is the template of the message.'),
    text: z.string().nullable(),
    lane: z.string().nullable(),
    hook_path: z.string().describe('Path for webhook requests.'),
    username: z.string().nullable().describe('Username of the bot, once Telegram has reported it.'),
    attended_by: z.string().nullable().describe('Node that polls the channel.'),
    last_heard_at: isoTime.nullable(),
    last_failed_at: isoTime.nullable(),
    failure: z.string().nullable().describe('The last error.'),
    created_by: z.string().nullable(),
    created_at: isoTime,
    updated_at: isoTime,
  }),
  'A channel and its state.',
)
export type ChannelView = Shape<typeof channel>

export const channelPage = pageOf('ChannelPage', channel)

export const channelTest = named(
  'ChannelTest',
  z.strictObject({
    ok: z.boolean(),
    username: z.string().nullable().describe('Username of the bot, if the service reported it.'),
    status_code: z.int().nullable(),
    message: z.string().nullable(),
  }),
  'Result of testing a channel.',
)
export type ChannelTestView = Shape<typeof channelTest>

export const hookReceipt = named(
  'HookReceipt',
  z.strictObject({
    run_id: z.string().nullable().describe('Run that handles the request. Null: there was nothing to handle.'),
    outcome: z
      .enum(['accepted', 'stopped', 'ignored', 'turned_away'])
      .describe('Whether a run was created, runs were stopped, or the message was ignored.'),
    duplicate: z
      .literal(true)
      .optional()
      .describe('The message was received before; this is the run of the first one.'),
  }),
  'Outcome of a request to a channel.',
)
export type HookReceipt = Shape<typeof hookReceipt>

/** The body of a webhook request: JSON of the service, or of any other client. */
export const hookMessage = named('HookMessage', z.record(z.string(), z.unknown()))

/** The response that a service expects if the message is not processed. */
export const hookAnswer = named('HookAnswer', z.record(z.string(), z.unknown()))
