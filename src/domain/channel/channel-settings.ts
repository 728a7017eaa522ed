import { flawed, parsed, type Flaw, type Parsed } from '../input.ts'
import type { ChannelAccess, ChannelKind } from './channel.ts'
import { templateFlaw } from './hook-body.ts'

/** How a Telegram bot receives updates: by polling, or by a webhook that Telegram calls. */
export const TELEGRAM_MODES = ['polling', 'webhook'] as const
export type TelegramMode = (typeof TELEGRAM_MODES)[number]

/** The settings of a channel besides its agent and its secrets; null where a setting does not apply to the kind. */
export interface ChannelSettings {
  readonly mode: TelegramMode | null
  /** Whether the bot also reads group messages that do not mention it. */
  readonly hears_all: boolean | null
  readonly open: boolean | null
  readonly allowed_users: readonly string[] | null
  readonly allowed_chats: readonly string[] | null
  /** The recipient of messages to the channel that name none. */
  readonly default_recipient: string | null
  /** Templates of a hook: the session of a request, and the text of its message. */
  readonly session: string | null
  readonly text: string | null
  readonly lane: string | null
}

export type SettingName = keyof ChannelSettings

const MESSENGER = ['open', 'allowed_users', 'allowed_chats', 'default_recipient'] as const
/** The settings of each kind. */
export const SETTINGS_OF: Readonly<Record<ChannelKind, readonly SettingName[]>> = {
  telegram: ['mode', 'hears_all', ...MESSENGER],
  slack: MESSENGER,
  hook: ['session', 'text', 'lane'],
}

/** The secrets of each kind. */
export const SECRETS_OF: Readonly<Record<ChannelKind, readonly ('token' | 'signing_secret')[]>> = {
  telegram: ['token'],
  slack: ['token', 'signing_secret'],
  hook: ['signing_secret'],
}

const NO_CHANNEL_SETTINGS: ChannelSettings = {
  ...{ mode: null, hears_all: null, open: null, allowed_users: null, allowed_chats: null, default_recipient: null },
  ...{ session: null, text: null, lane: null },
}

const DEFAULT_CHANNEL_SETTINGS: Readonly<Record<ChannelKind, ChannelSettings>> = {
  telegram: {
    ...NO_CHANNEL_SETTINGS,
    mode: 'polling',
    hears_all: false,
    open: false,
    allowed_users: [],
    allowed_chats: [],
  },
  slack: { ...NO_CHANNEL_SETTINGS, open: false, allowed_users: [], allowed_chats: [] },
  hook: { ...NO_CHANNEL_SETTINGS, session: 'main' },
}

/** Settings as the client sends them; ids of users and chats may be numbers. */
export type GivenSettings = {
  readonly [Name in SettingName]?: ChannelSettings[Name] | readonly (string | number)[] | undefined
}

/** The settings of a channel: omitted ones keep their value, and null resets to the default. */
export function channelSettingsOf(
  kind: ChannelKind,
  given: GivenSettings,
  existing: ChannelSettings | null,
): ChannelSettings {
  const before = existing ?? DEFAULT_CHANNEL_SETTINGS[kind]
  const own = SETTINGS_OF[kind].flatMap((name) => {
    const value = given[name]
    return value === undefined ? [] : [[name, value === null ? DEFAULT_CHANNEL_SETTINGS[kind][name] : value]]
  })
  return { ...before, ...(Object.fromEntries(own) as Partial<ChannelSettings>) }
}

type Given = Readonly<Record<string, unknown>>

/** Flaws: settings that do not apply to the kind, and missing or malformed secrets. */
export function channelFlaws(kind: ChannelKind, given: Given, isNew: boolean): readonly Flaw[] {
  return [
    ...inapplicableFlaws(kind, given),
    ...SECRETS_OF[kind].flatMap((name) => secretFlaws(kind, name, { given, isNew })),
  ]
}

/** Shown instead of a rejected value that may be a secret. */
const HIDDEN = '***'

function inapplicableFlaws(kind: ChannelKind, given: Given): readonly Flaw[] {
  const message = `does not apply to a channel of kind ${kind}`
  const isInapplicable = (name: string, own: readonly string[]): boolean =>
    (given[name] ?? null) !== null && !own.includes(name)
  const settings = ALL_SETTINGS.filter((name) => isInapplicable(name, SETTINGS_OF[kind]))
  const secrets = ALL_SECRETS.filter((name) => isInapplicable(name, SECRETS_OF[kind]))
  return [
    ...settings.map((field) => ({ field, value: given[field], message, allowed: SETTINGS_OF[kind].join(', ') })),
    ...secrets.map((field) => ({ field, value: HIDDEN, message, allowed: SECRETS_OF[kind].join(', ') })),
  ]
}

const ALL_SETTINGS = Object.keys(NO_CHANNEL_SETTINGS) as readonly SettingName[]
const ALL_SECRETS = ['token', 'signing_secret'] as const

const SECRET_SHAPES: Readonly<Record<string, { readonly shape: RegExp; readonly allowed: string }>> = {
  'telegram.token': { shape: /^\d+:[\w-]+$/, allowed: 'the token from BotFather, such as 4711:AAH…' },
  'slack.token': { shape: /^xox[a-z]-[\w-]+$/, allowed: 'the bot token of the app, xoxb-…' },
  'slack.signing_secret': { shape: /^[\x21-\x7e]{8,200}$/, allowed: 'the signing secret of the app' },
  'hook.signing_secret': {
    shape: /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/,
    allowed: 'whsec_ and at least 24 random bytes in base64: openssl rand -base64 32',
  },
}

function secretFlaws(
  kind: ChannelKind,
  field: string,
  { given, isNew }: { readonly given: Given; readonly isNew: boolean },
): readonly Flaw[] {
  const value = given[field]
  const { shape, allowed = 'a string' } = SECRET_SHAPES[`${kind}.${field}`] ?? {}
  if (value === undefined) return isNew ? [{ field, value, message: 'is missing', allowed }] : []
  return typeof value === 'string' && shape?.test(value) === true
    ? []
    : [{ field, value: HIDDEN, message: `is not a valid ${field} for ${kind}`, allowed }]
}

/** The maximum number of allowed users or chats. */
export const MAX_NAMED_IDS = 1_000

const shortTextField =
  (allowed: string) =>
  (field: string, value: unknown): Parsed<string> =>
    typeof value === 'string' && isShort(value)
      ? parsed(value)
      : flawed({ field, value, message: 'is not a text of 1 to 200 characters', allowed })

const isShort = (text: string): boolean => text.trim() !== '' && text.length <= 200 && !text.includes('\u0000')

/** Reads the default recipient of a channel. */
export const parseRecipient = shortTextField('the id of a chat or a user, as the service has it')

/** Reads the lane of the runs of a hook. */
export const parseHookLane = shortTextField('the name of a lane')

/** Reads ids of users or chats. Telegram ids are often copied as numbers, so numbers are accepted. */
export function parseChannelIds(field: string, value: unknown): Parsed<string[]> {
  const allowed = `a list of up to ${MAX_NAMED_IDS} ids`
  if (!Array.isArray(value) || value.length > MAX_NAMED_IDS)
    return flawed({ field, value, message: 'must be a list', allowed })
  const ids = value.map((id: unknown) => (Number.isSafeInteger(id) ? String(id) : id))
  const flaws = ids.flatMap((id, index): readonly Flaw[] =>
    typeof id === 'string' && isShort(id)
      ? []
      : [{ field: `${field}.${index}`, value: id, message: 'is not an id', allowed: 'an id such as 4711' }],
  )
  return flaws.length > 0 ? flawed(flaws) : parsed([...new Set(ids as string[])])
}

/** Reads a template of a hook. */
export function parseHookTemplate(field: string, value: unknown): Parsed<string> {
  const allowed = 'a text of 1 to 2000 characters, with {{body.x}} for a field of the request'
  if (typeof value !== 'string' || value.trim() === '' || value.length > 2_000 || value.includes('\u0000'))
    return flawed({ field, value, message: 'must be a text', allowed })
  const flaw = templateFlaw(value)
  return flaw === null ? parsed(value) : flawed({ field, value, message: flaw, allowed })
}

/** The access rules in the settings of a channel. */
export const channelAccessOf = (settings: ChannelSettings): ChannelAccess => ({
  open: settings.open === true,
  allowedUsers: settings.allowed_users ?? [],
  allowedChats: settings.allowed_chats ?? [],
})
