import { flawed, parsed, parseFields, type Parsed } from '../../domain/input.ts'

/** What such a target needs to know, as it is kept. */
type ChatSettings = Readonly<Record<string, unknown>>

const text =
  (allowed: string, most = 200) =>
  (field: string, value: unknown): Parsed<string> => {
    const given = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
    const isFine = typeof given === 'string' && given.trim() !== '' && given.length <= most && !given.includes('\u0000')
    return isFine ? parsed(given.trim()) : flawed({ field, value, message: 'is not that', allowed })
  }

const CHANNEL = text('the name of a channel')

function required(
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

/** Reads `{channel, chat_id}` of a target in Telegram. */
export const parseTelegramSettings = (field: string, value: unknown): Parsed<ChatSettings> =>
  required(field, value, { channel: CHANNEL, chat_id: text('the id of a chat, or @name of a public channel') })

/** Reads `{channel, to}` of a target in Slack; an incoming webhook has an address instead. */
export const parseSlackSettings = (field: string, value: unknown): Parsed<ChatSettings> =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
    ? parsed({})
    : required(field, value, { channel: CHANNEL, to: text('the id of a channel or a user, such as C024BE91L') })

/** Reads `{session}` of a target that is a conversation. */
export const parseSessionSettings = (field: string, value: unknown): Parsed<ChatSettings> =>
  required(field, value, { session: text('the key of a session', 512) })
