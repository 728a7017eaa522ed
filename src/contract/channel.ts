import { z } from 'zod'
import { CHANNEL_KINDS } from '../core/channel/channel.ts'
import { TELEGRAM_MODES } from '../core/channel/channel-settings.ts'
import { id, moment, pageOf } from './common.ts'
import { named, type Shape } from './shape.ts'

const ids = z.array(z.union([z.string().min(1).max(200), z.int()])).max(1_000)
const short = z.string().min(1).max(200)
const template = z.string().min(1).max(2_000)

const changeable = {
  enabled: z.boolean().optional().describe('True unless given.'),
  token: z.string().min(1).max(1_000).optional().describe('Of a bot or an app. Never shown.'),
  signing_secret: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe("By which requests are recognised as Slack's, or as those of whoever calls a hook. Never shown."),
  mode: z
    .enum(TELEGRAM_MODES)
    .nullable()
    .optional()
    .describe('How updates of a bot come: `polling`, unless given, or `webhook`.'),
  hears_all: z.boolean().nullable().optional().describe('In groups, also what does not speak to the bot.'),
  open: z.boolean().nullable().optional().describe('Everybody may speak. Unless given, only those who are named.'),
  allowed_users: ids.nullable().optional(),
  allowed_chats: ids.nullable().optional(),
  default_recipient: short
    .nullable()
    .optional()
    .describe('Who is meant when a message goes to the channel and nobody is named.'),
  session: template
    .nullable()
    .optional()
    .describe(
      'Of a hook: which conversation a request belongs to, with `{{body.x}}` for what it says; `main` unless given.',
    ),
  text: template
    .nullable()
    .optional()
    .describe('Of a hook: what the agent is told; the field `text` of the body, or all of it, unless given.'),
  lane: short.nullable().optional().describe('Of a hook: the lane of its runs.'),
}

export const channelInput = named(
  'ChannelInput',
  z.strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]*$/)
      .max(60)
      .describe('Part of session keys: lower case letters, digits, `-` and `_`. It never changes.'),
    kind: z.enum(CHANNEL_KINDS),
    agent_id: id.describe('Who answers.'),
    ...changeable,
  }),
  'A new channel: where messages come from and answers go. Which fields there are depends on its kind.',
)
export type ChannelInput = Shape<typeof channelInput>

export const channelPatch = named(
  'ChannelPatch',
  z.strictObject({ agent_id: id.optional(), ...changeable }),
  'What may change about a channel: everything but its name and its kind.',
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
    hears_all: z.boolean().nullable().describe('In groups, also what does not speak to the bot.'),
    open: z.boolean().nullable(),
    allowed_users: z.array(z.string()).nullable(),
    allowed_chats: z.array(z.string()).nullable(),
    default_recipient: z
      .string()
      .nullable()
      .describe('Who is meant when a message goes to the channel and nobody is named.'),
    session: z
      .string()
      .nullable()
      .describe('Templates of a hook: which conversation a request belongs to, and what it says.'),
    text: z.string().nullable(),
    lane: z.string().nullable(),
    hook_path: z.string().describe('Where requests to it go.'),
    username: z.string().nullable().describe('The name of the bot, once Telegram has told it.'),
    attended_by: z.string().nullable().describe('The node that attends to it.'),
    last_heard_at: moment.nullable(),
    last_failed_at: moment.nullable(),
    failure: z.string().nullable().describe('What is wrong with it.'),
    created_by: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
  }),
  'A channel, and how it fares.',
)
export type ChannelView = Shape<typeof channel>

export const channelPage = pageOf('ChannelPage', channel)

export const channelTest = named(
  'ChannelTest',
  z.strictObject({
    ok: z.boolean(),
    username: z.string().nullable().describe('The name of the bot, if its service has told it.'),
    status_code: z.int().nullable(),
    message: z.string().nullable(),
  }),
  'What came of trying a channel out.',
)
export type ChannelTestView = Shape<typeof channelTest>

export const hookReceipt = named(
  'HookReceipt',
  z.strictObject({
    run_id: z.string().nullable().describe('The run that answers it; null when there was nothing to answer.'),
    outcome: z
      .enum(['accepted', 'stopped', 'ignored', 'turned_away'])
      .describe('What happened: a run was made, work was stopped, or it was passed over.'),
    duplicate: z.literal(true).optional().describe('The message was sent before: this is the run of the first one.'),
  }),
  'What became of a request to a channel.',
)
export type HookReceipt = Shape<typeof hookReceipt>

/** What a channel is told: the JSON of the service it belongs to, or of whoever calls a hook. */
export const hookMessage = named('HookMessage', z.record(z.string(), z.unknown()))

/** What a service wants to hear when nothing is made of what it said. */
export const hookAnswer = named('HookAnswer', z.record(z.string(), z.unknown()))
