import { parseJson } from '../input-fields.ts'
import { type Flaw, flawed, parsed, type Parsed, parseFields } from '../input.ts'
import { nearestWord } from '../nearest-word.ts'

/** The recipients of mail and the prefix of its subjects. */
export interface MailSettings {
  readonly to: readonly string[]
  readonly subject_prefix?: string
}

/** The SMTP server, as the operator configured it. */
export interface MailServer {
  readonly host: string
  readonly port: number
  /** Implicit TLS; otherwise STARTTLS when the server offers it. */
  readonly secure: boolean
  readonly user: string | null
  readonly password: string | null
  readonly from: string
}

const MAX_RECIPIENTS = 20
const MAX_ADDRESS_LENGTH = 254
const TO_ALLOWED = `one address, or a list of 1 to ${MAX_RECIPIENTS}`

/**
 * One mailbox. Characters that could end a header or add a second recipient are refused; only the mail server knows
 * whether the mailbox exists.
 */
const ADDRESS = /^[^\s\p{Cc}@<>(),;:\\"[\]]{1,64}@[^\s\p{Cc}@<>(),;:\\"[\]]+$/u

/** Reads `{to, subject_prefix}`, the settings of an email target. */
export function parseMailSettings(field: string, value: unknown): Parsed<MailSettings & Record<string, unknown>> {
  if (value === undefined) return flawed({ field: `${field}.to`, value, message: 'is missing', allowed: TO_ALLOWED })
  const read = parseFields(field, value, { to: parseRecipients, subject_prefix: parsePrefix })
  if (!read.ok) return read
  const { to, subject_prefix } = read.value
  if (to === undefined)
    return flawed({ field: `${field}.to`, value: undefined, message: 'is missing', allowed: TO_ALLOWED })
  return parsed({ to, ...(subject_prefix === undefined ? {} : { subject_prefix }) })
}

function parseRecipients(field: string, value: unknown): Parsed<readonly string[]> {
  const given: unknown = typeof value === 'string' ? [value] : value
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_RECIPIENTS)
    return flawed({ field, value, message: 'must name the recipients', allowed: TO_ALLOWED })
  const wrong = given.findIndex((one) => typeof one !== 'string' || !isAddress(one))
  if (wrong !== -1)
    return flawed({
      ...{ field: typeof value === 'string' ? field : `${field}.${wrong}`, value: given[wrong] as unknown },
      ...{ message: 'is not an email address', allowed: 'an address like ops@example.com' },
    })
  return parsed(given as readonly string[])
}

const isAddress = (text: string): boolean => text.length <= MAX_ADDRESS_LENGTH && ADDRESS.test(text)

const MAX_PREFIX_LENGTH = 60

function parsePrefix(field: string, value: unknown): Parsed<string> {
  const allowed = `a text of at most ${MAX_PREFIX_LENGTH} characters in one line`
  return typeof value === 'string' && value.length <= MAX_PREFIX_LENGTH && !/[\p{Cc}\p{Surrogate}]/u.test(value)
    ? parsed(value)
    : flawed({ field, value, message: 'cannot be used as a subject prefix', allowed })
}

/** The stored settings of a chat target. */
type ChatSettings = Readonly<Record<string, unknown>>

const targetTextField =
  (allowed: string, max = 200) =>
  (field: string, value: unknown): Parsed<string> => {
    const given = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
    const isFine = typeof given === 'string' && given.trim() !== '' && given.length <= max && !given.includes('\u0000')
    return isFine
      ? parsed(given.trim())
      : flawed({ field, value, message: `is not a text of 1 to ${max} characters`, allowed })
  }

const parseChannelName = targetTextField('the name of a channel')

function requiredTexts(
  field: string,
  value: unknown,
  of: Readonly<Record<string, (field: string, value: unknown) => Parsed<string>>>,
): Parsed<ChatSettings> {
  const names = Object.keys(of)
  if (value === undefined)
    return flawed(names.map((name) => ({ field: `${field}.${name}`, value, message: 'is missing' })))
  const read = parseFields(field, value, of)
  if (!read.ok) return read
  const missing = names.filter((name) => read.value[name] === undefined)
  return missing.length === 0
    ? parsed(read.value as ChatSettings)
    : flawed(missing.map((name) => ({ field: `${field}.${name}`, value: undefined, message: 'is missing' })))
}

/** Reads `{channel, chat_id}`, the settings of a Telegram target. */
const parseTelegramSettings = (field: string, value: unknown): Parsed<ChatSettings> =>
  requiredTexts(field, value, {
    channel: parseChannelName,
    chat_id: targetTextField('the id of a chat, or @name of a public channel'),
  })

/** Reads `{channel, to}`, the settings of a Slack target; an incoming webhook has a URL instead. */
const parseSlackSettings = (field: string, value: unknown): Parsed<ChatSettings> =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
    ? parsed({})
    : requiredTexts(field, value, {
        channel: parseChannelName,
        to: targetTextField('the id of a channel or a user, such as C024BE91L'),
      })

/** Reads `{session}`, the settings of a session target. */
const parseSessionSettings = (field: string, value: unknown): Parsed<ChatSettings> =>
  requiredTexts(field, value, { session: targetTextField('the key of a session', 512) })

/** The stored settings of a target. */
export type TargetSettings = Readonly<Record<string, unknown>>

/** The rules of a target kind. */
interface TargetKindRule {
  /** Whether the target has a URL. */
  readonly url: 'required' | 'optional' | 'none'
  /** Programs receive every ending as JSON; people receive text, and no endings that a person caused. */
  readonly audience: 'program' | 'people'
  /** Reads `settings` from a request; undefined when omitted. */
  readonly settings: (field: string, value: unknown) => Parsed<TargetSettings>
  /** The settings without values that must not be shown again; omitted when all may be shown. */
  readonly visible?: (settings: TargetSettings) => TargetSettings
  /** The URL itself grants access, so only its origin is shown. */
  readonly hidesUrl?: boolean
}

/** The kinds of target. */
export const TARGET_KINDS = {
  webhook: { url: 'required', audience: 'program', settings: noSettings },
  email: { url: 'none', audience: 'people', settings: parseMailSettings },
  slack: { url: 'optional', audience: 'people', settings: parseSlackSettings, hidesUrl: true },
  telegram: { url: 'none', audience: 'people', settings: parseTelegramSettings },
  session: { url: 'none', audience: 'people', settings: parseSessionSettings },
} as const satisfies Readonly<Record<string, TargetKindRule>>

export type TargetKind = keyof typeof TARGET_KINDS

/** The names of the kinds. */
export const TARGET_KIND_NAMES = Object.keys(TARGET_KINDS) as [TargetKind, ...TargetKind[]]

/** The rules of a kind. */
export const targetKindRule = (kind: TargetKind): TargetKindRule => TARGET_KINDS[kind]

/** Reads the name of a kind. */
export function parseTargetKind(field: string, value: unknown): Parsed<TargetKind> {
  const given = typeof value === 'string' ? value.toLowerCase() : null
  const kind = TARGET_KIND_NAMES.find((word) => word === given)
  if (kind !== undefined) return parsed(kind)
  const near = given === null ? null : nearestWord(given, TARGET_KIND_NAMES)
  const message = `is not a kind of target${near === null ? '' : `; did you mean ${near}?`}`
  return flawed({ field, value, message, allowed: TARGET_KIND_NAMES.join(', ') })
}

/** The kind of a new target that names none. */
export const DEFAULT_TARGET_KIND: TargetKind = 'webhook'

/** Reads `settings`; an update replaces them as a whole. */
export function parseTargetSettings(kind: TargetKind, value: unknown): Parsed<TargetSettings> {
  const json = value === undefined ? parsed(undefined) : parseJson('settings', value)
  return json.ok ? targetKindRule(kind).settings('settings', json.value) : json
}

/** Flaws of a target's URL that depend on its kind. */
export function targetUrlFlaws(kind: TargetKind, value: unknown, isNew: boolean): readonly Flaw[] {
  const { url } = targetKindRule(kind)
  if (url === 'none' && value !== undefined)
    return [{ field: 'url', value, message: `does not apply to a target of kind ${kind}`, allowed: 'settings' }]
  return url === 'required' && value === undefined && isNew ? [{ field: 'url', value, message: 'is missing' }] : []
}

/** The settings of a target without hidden values. */
export const visibleSettings = (kind: TargetKind, settings: TargetSettings): TargetSettings =>
  targetKindRule(kind).visible?.(settings) ?? settings

/** The URL of a target, shortened to its origin where it is a secret. */
export const visibleUrl = (kind: TargetKind, url: string): string =>
  targetKindRule(kind).hidesUrl === true && url !== '' ? `${originOf(url)}/***` : url

function originOf(url: string): string {
  try {
    return new URL(url).origin
  } catch {
    return ''
  }
}

/** Settings of kinds that have none. */
function noSettings(field: string, value: unknown): Parsed<TargetSettings> {
  const isEmpty =
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  return isEmpty ? parsed({}) : flawed({ field, value, message: 'does not apply to this kind', allowed: '{}' })
}
