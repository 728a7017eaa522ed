import { z } from 'zod'
import { CHANNEL_KINDS } from '../../core/channel/channel.ts'
import { TELEGRAM_MODES } from '../../core/channel/channel-settings.ts'
import type { ChannelInput, ChannelPatch, ChannelTestView, ChannelView, HookReceipt } from '../channel.ts'
import { id, moment, pageOf } from './common.ts'
import { named, shaped } from './shaped.ts'

const ids = z.array(z.union([z.string().min(1).max(200), z.int()])).max(1_000)
const short = z.string().min(1).max(200)
const template = z.string().min(1).max(2_000)

const changeable = {
  enabled: z.boolean().optional(),
  token: z.string().min(1).max(1_000).optional(),
  signing_secret: z.string().min(1).max(1_000).optional(),
  mode: z.enum(TELEGRAM_MODES).nullable().optional(),
  hears_all: z.boolean().nullable().optional(),
  open: z.boolean().nullable().optional(),
  allowed_users: ids.nullable().optional(),
  allowed_chats: ids.nullable().optional(),
  default_recipient: short.nullable().optional(),
  session: template.nullable().optional(),
  text: template.nullable().optional(),
  lane: short.nullable().optional(),
}

export const channelInput: z.ZodType<ChannelInput> = named(
  'ChannelInput',
  shaped<ChannelInput>()({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]*$/)
      .max(60),
    kind: z.enum(CHANNEL_KINDS),
    agent_id: id,
    ...changeable,
  }),
)

export const channelPatch: z.ZodType<ChannelPatch> = named(
  'ChannelPatch',
  shaped<ChannelPatch>()({ agent_id: id.optional(), ...changeable }),
)

export const channel: z.ZodType<ChannelView> = named(
  'Channel',
  shaped<ChannelView>()({
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
    session: z.string().nullable(),
    text: z.string().nullable(),
    lane: z.string().nullable(),
    hook_path: z.string(),
    username: z.string().nullable(),
    attended_by: z.string().nullable(),
    last_heard_at: moment.nullable(),
    last_failed_at: moment.nullable(),
    failure: z.string().nullable(),
    created_by: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
  }),
)

export const channelPage = pageOf('ChannelPage', channel)

export const channelTest: z.ZodType<ChannelTestView> = named(
  'ChannelTest',
  shaped<ChannelTestView>()({
    ok: z.boolean(),
    username: z.string().nullable(),
    status_code: z.int().nullable(),
    message: z.string().nullable(),
  }),
)

export const hookReceipt: z.ZodType<HookReceipt> = named(
  'HookReceipt',
  shaped<HookReceipt>()({
    run_id: z.string().nullable(),
    outcome: z.enum(['accepted', 'stopped', 'ignored', 'turned_away']),
    duplicate: z.literal(true).optional(),
  }),
)

/** What a channel is told: the JSON of the service it belongs to, or of whoever calls a hook. */
export const hookMessage = named('HookMessage', z.record(z.string(), z.unknown()))

/** What a service wants to hear when nothing is made of what it said. */
export const hookAnswer = named('HookAnswer', z.record(z.string(), z.unknown()))
