import { flawed, parsed, type Flaw, type Parsed } from '../input.ts'
import type { Admittance } from '../../core/channel/admittance.ts'
import type { ChannelKind } from '../../core/channel/channel.ts'
import { templateFlaw } from './hook-body.ts'

/** How updates of a bot come: it asks for them, or Telegram brings them to an address that others can reach. */
export const TELEGRAM_MODES = ['polling', 'webhook'] as const
export type TelegramMode = (typeof TELEGRAM_MODES)[number]

/** What a person decides about a channel, beside whose it is and its secrets. Null where it has no meaning for the kind. */
export interface ChannelSettings {
  readonly mode: TelegramMode | null
  /** In groups, also what does not speak to the bot. */
  readonly hears_all: boolean | null
  readonly open: boolean | null
  readonly allowed_users: readonly string[] | null
  readonly allowed_chats: readonly string[] | null
  /** Who is meant when a message goes to the channel and nobody is named. */
  readonly default_recipient: string | null
  /** Templates of a hook: which conversation a request belongs to, and what it says. */
  readonly session: string | null
  readonly text: string | null
  readonly lane: string | null
}

export type SettingName = keyof ChannelSettings

const MESSENGER = ['open', 'allowed_users', 'allowed_chats', 'default_recipient'] as const
/** Which settings a kind has. */
export const SETTINGS_OF: Readonly<Record<ChannelKind, readonly SettingName[]>> = {
  telegram: ['mode', 'hears_all', ...MESSENGER],
  slack: MESSENGER,
  hook: ['session', 'text', 'lane'],
}

/** Which secrets a kind needs. */
export const SECRETS_OF: Readonly<Record<ChannelKind, readonly ('token' | 'signing_secret')[]>> = {
  telegram: ['token'],
  slack: ['token', 'signing_secret'],
  hook: ['signing_secret'],
}

const NONE: ChannelSettings = {
  ...{ mode: null, hears_all: null, open: null, allowed_users: null, allowed_chats: null, default_recipient: null },
  ...{ session: null, text: null, lane: null },
}

const USUAL: Readonly<Record<ChannelKind, ChannelSettings>> = {
  telegram: { ...NONE, mode: 'polling', hears_all: false, open: false, allowed_users: [], allowed_chats: [] },
  slack: { ...NONE, open: false, allowed_users: [], allowed_chats: [] },
  hook: { ...NONE, session: 'main' },
}

/** Settings as they are given: ids of users and chats may be numbers. */
export type GivenSettings = {
  readonly [Name in SettingName]?: ChannelSettings[Name] | readonly (string | number)[] | undefined
}

/** The settings of a kind; what is left out stays, and null is the default. */
export function settingsOf(kind: ChannelKind, given: GivenSettings, existing: ChannelSettings | null): ChannelSettings {
  const before = existing ?? USUAL[kind]
  const own = SETTINGS_OF[kind].flatMap((name) => {
    const value = given[name]
    return value === undefined ? [] : [[name, value === null ? USUAL[kind][name] : value]]
  })
  return { ...before, ...(Object.fromEntries(own) as Partial<ChannelSettings>) }
}

type Given = Readonly<Record<string, unknown>>

/** What has no meaning for the kind, and secrets that are missing or are none of the kind. */
export function channelFlaws(kind: ChannelKind, given: Given, isNew: boolean): readonly Flaw[] {
  return [...meaningless(kind, given), ...SECRETS_OF[kind].flatMap((name) => secretFlaws(kind, name, { given, isNew }))]
}

/** In place of what may be a secret, only wrong. */
const HIDDEN = '***'

function meaningless(kind: ChannelKind, given: Given): readonly Flaw[] {
  const message = `has no meaning for a channel of kind ${kind}`
  const isStrange = (name: string, own: readonly string[]): boolean =>
    (given[name] ?? null) !== null && !own.includes(name)
  const settings = EVERY_SETTING.filter((name) => isStrange(name, SETTINGS_OF[kind]))
  const secrets = EVERY_SECRET.filter((name) => isStrange(name, SECRETS_OF[kind]))
  return [
    ...settings.map((field) => ({ field, value: given[field], message, allowed: SETTINGS_OF[kind].join(', ') })),
    ...secrets.map((field) => ({ field, value: HIDDEN, message, allowed: SECRETS_OF[kind].join(', ') })),
  ]
}

const EVERY_SETTING = Object.keys(NONE) as readonly SettingName[]
const EVERY_SECRET = ['token', 'signing_secret'] as const

const SECRET_SHAPES: Readonly<Record<string, { readonly shape: RegExp; readonly allowed: string }>> = {
  'telegram.token': { shape: /^\d+:[\w-]+$/, allowed: 'the token that BotFather gave, such as 4711:AAH…' },
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
  const { shape, allowed = 'a text' } = SECRET_SHAPES[`${kind}.${field}`] ?? {}
  if (value === undefined) return isNew ? [{ field, value, message: 'is missing', allowed }] : []
  return typeof value === 'string' && shape?.test(value) === true
    ? []
    : [{ field, value: HIDDEN, message: `is not one of ${kind}`, allowed }]
}

/** So many users or chats may be named. */
export const MAX_NAMED_IDS = 1_000

const shortText =
  (allowed: string) =>
  (field: string, value: unknown): Parsed<string> =>
    typeof value === 'string' && isShort(value)
      ? parsed(value)
      : flawed({ field, value, message: 'is not that', allowed })

const isShort = (text: string): boolean => text.trim() !== '' && text.length <= 200 && !text.includes('\u0000')

/** Reads whom a channel writes to when nobody is named. */
export const parseRecipient = shortText(
  'whom the channel writes to when nobody is named: a chat or a user as the service knows it',
)

/** Reads the lane of the runs of a hook. */
export const parseHookLane = shortText('the name of a lane')

/** Ids as the service has them; Telegram's are numbers, and who copies one means the number. */
export function parseChannelIds(field: string, value: unknown): Parsed<string[]> {
  const allowed = `a list of up to ${MAX_NAMED_IDS} ids`
  if (!Array.isArray(value) || value.length > MAX_NAMED_IDS)
    return flawed({ field, value, message: 'must be a list', allowed })
  const ids = value.map((id: unknown) => (Number.isSafeInteger(id) ? String(id) : id))
  const flaws = ids.flatMap((id, index): readonly Flaw[] =>
    typeof id === 'string' && isShort(id)
      ? []
      : [{ field: `${field}.${index}`, value: id, message: 'is no id', allowed: 'an id such as 4711' }],
  )
  return flaws.length > 0 ? flawed(flaws) : parsed([...new Set(ids as string[])])
}

/** Reads a template of a hook. */
export function parseHookTemplate(field: string, value: unknown): Parsed<string> {
  const allowed = 'a text of 1 to 2000 characters, with {{body.x}} for what the request says'
  if (typeof value !== 'string' || value.trim() === '' || value.length > 2_000 || value.includes('\u0000'))
    return flawed({ field, value, message: 'must be a text', allowed })
  const flaw = templateFlaw(value)
  return flaw === null ? parsed(value) : flawed({ field, value, message: flaw, allowed })
}

/** Who may speak, by the settings of a channel. */
export const admittanceOf = (settings: ChannelSettings): Admittance => ({
  open: settings.open === true,
  allowedUsers: settings.allowed_users ?? [],
  allowedChats: settings.allowed_chats ?? [],
})
