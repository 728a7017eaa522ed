import { addAll } from '../long-lists.ts'
import { flawed, parsed, parseWord, type Flaw, type Parsed } from '../input.ts'
import type { Admittance } from './admittance.ts'
import type { ChannelKind } from './channel.ts'
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

type Given = Readonly<Record<string, unknown>>

/** Reads the settings of a kind; what is left out stays, and null is the default. */
export function parseChannelSettings(
  kind: ChannelKind,
  given: Given,
  existing: ChannelSettings | null,
): Parsed<ChannelSettings> {
  const flaws: Flaw[] = []
  const read: Record<string, unknown> = { ...(existing ?? USUAL[kind]) }
  for (const name of Object.keys(READERS) as SettingName[]) {
    const value = given[name]
    if (value === undefined) continue
    if (!SETTINGS_OF[kind].includes(name)) {
      const allowed = SETTINGS_OF[kind].join(', ')
      if (value !== null)
        flaws.push({ field: name, value, message: `has no meaning for a channel of kind ${kind}`, allowed })
      continue
    }
    const answer = value === null ? parsed(USUAL[kind][name]) : READERS[name](name, value)
    if (answer.ok) read[name] = answer.value
    else addAll(flaws, answer.flaws)
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(read as unknown as ChannelSettings)
}

const MOST_NAMED = 1_000

function parseFlag(field: string, value: unknown): Parsed<boolean> {
  return typeof value === 'boolean'
    ? parsed(value)
    : flawed({ field, value, message: 'must be true or false', allowed: 'true, false' })
}

const shortText =
  (allowed: string) =>
  (field: string, value: unknown): Parsed<string> =>
    typeof value === 'string' && isShort(value)
      ? parsed(value)
      : flawed({ field, value, message: 'is not that', allowed })

const isShort = (text: string): boolean => text.trim() !== '' && text.length <= 200 && !text.includes('\u0000')

/** Ids as the service has them; Telegram's are numbers, and who copies one means the number. */
function parseIds(field: string, value: unknown): Parsed<readonly string[]> {
  const allowed = `a list of up to ${MOST_NAMED} ids`
  if (!Array.isArray(value) || value.length > MOST_NAMED)
    return flawed({ field, value, message: 'must be a list', allowed })
  const ids = value.map((id: unknown) => (typeof id === 'number' ? String(id) : id))
  const flaws = ids.flatMap((id, index): readonly Flaw[] =>
    typeof id === 'string' && isShort(id)
      ? []
      : [{ field: `${field}.${index}`, value: id, message: 'is no id', allowed: 'an id such as 4711' }],
  )
  return flaws.length > 0 ? flawed(flaws) : parsed([...new Set(ids as string[])])
}

function parseTemplate(field: string, value: unknown): Parsed<string> {
  const allowed = 'a text of 1 to 2000 characters, with {{body.x}} for what the request says'
  if (typeof value !== 'string' || value.trim() === '' || value.length > 2_000 || value.includes('\u0000'))
    return flawed({ field, value, message: 'must be a text', allowed })
  const flaw = templateFlaw(value)
  return flaw === null ? parsed(value) : flawed({ field, value, message: flaw, allowed })
}

const READERS: { readonly [Name in SettingName]: (field: string, value: unknown) => Parsed<ChannelSettings[Name]> } = {
  mode: (field, value) => parseWord(field, value, TELEGRAM_MODES),
  hears_all: parseFlag,
  open: parseFlag,
  allowed_users: parseIds,
  allowed_chats: parseIds,
  default_recipient: shortText(
    'whom the channel writes to when nobody is named: a chat or a user as the service knows it',
  ),
  session: parseTemplate,
  text: parseTemplate,
  lane: shortText('the name of a lane'),
}

/** Who may speak, by the settings of a channel. */
export const admittanceOf = (settings: ChannelSettings): Admittance => ({
  open: settings.open === true,
  allowedUsers: settings.allowed_users ?? [],
  allowedChats: settings.allowed_chats ?? [],
})
