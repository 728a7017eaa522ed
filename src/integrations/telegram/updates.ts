import { joinPeer, type ReceivedChannelMessage } from '../../domain/channel/channel.ts'

/** The account of the bot, which decides whether a message addresses it. */
export interface BotIdentity {
  readonly id: string
  /** Without the `@`. */
  readonly username: string
}

type Fields = Readonly<Record<string, unknown>>

/** The id of an update, from which the next ones are requested. Null: it has none. */
export function updateId(update: unknown): number | null {
  const id = fieldsOf(update)['update_id']
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : null
}

/**
 * Reads an update. Null: nothing to process, such as an edit, a message of a bot, or a message in a group that does not
 * address the bot. In a group the bot is addressed by a mention, a reply or a command.
 */
export function readUpdate(
  update: unknown,
  bot: BotIdentity | null,
  options: { readonly hearsAll: boolean },
): ReceivedChannelMessage | null {
  const number = updateId(update)
  const message = fieldsOf(fieldsOf(update)['message'])
  const chat = fieldsOf(message['chat'])
  const from = fieldsOf(message['from'])
  const [chatId, messageId, fromId] = [idOf(chat['id']), idOf(message['message_id']), idOf(from['id'])]
  if (number === null || chatId === null || messageId === null || fromId === null) return null
  if (from['is_bot'] === true) return null
  const isDm = chat['type'] === 'private'
  const rawText = textOf(message['text']) ?? textOf(message['caption']) ?? ''
  const attachments = attachmentsOf(message)
  if (rawText.trim() === '' && attachments.length === 0) return null
  const text = isDm ? withoutOwnName(rawText, bot) : addressedText(rawText, { message, bot, ...options })
  if (text === null) return null
  const thread = message['is_topic_message'] === true ? idOf(message['message_thread_id']) : null
  return {
    eventId: String(number),
    chat: { kind: isDm ? 'dm' : 'group', peer: joinPeer(chatId, thread), title: textOf(chat['title']) },
    sender: { id: fromId, name: senderName(from) },
    messageId,
    ...{ text, attachments },
    // Telegram's times are in seconds, which is too coarse to order messages.
    sentAt: null,
  }
}

/** The text of a group message without the bot's name; null if the message does not address the bot. */
function addressedText(
  text: string,
  {
    message,
    bot,
    hearsAll,
  }: { readonly message: Fields; readonly bot: BotIdentity | null; readonly hearsAll: boolean },
): string | null {
  const command = /^\/[a-z0-9_]+(?:@([\w]+))?$/i.exec(text.trim())
  if (command !== null) {
    const name = command[1]
    return name === undefined || isOwnName(name, bot) ? withoutOwnName(text, bot) : null
  }
  const answers = idOf(fieldsOf(fieldsOf(message['reply_to_message'])['from'])['id'])
  const isNamed = bot !== null && nameIn(bot).test(text)
  const isAnswered = bot !== null && answers === bot.id
  return hearsAll || isNamed || isAnswered ? withoutOwnName(text, bot) : null
}

const isOwnName = (name: string, bot: BotIdentity | null): boolean => name.toLowerCase() === bot?.username.toLowerCase()

/** Bot names consist of letters, digits and underscores. */
const nameIn = ({ username }: BotIdentity): RegExp => new RegExp(`@${username.replaceAll(/\W/g, '')}\\b`, 'gi')

const withoutOwnName = (text: string, bot: BotIdentity | null): string =>
  bot === null
    ? text
    : text
        .replace(nameIn(bot), '')
        .replaceAll(/[^\S\n]{2,}/g, ' ')
        .trim()

const FILES = ['document', 'voice', 'audio', 'video', 'video_note', 'animation', 'sticker'] as const

/** Attachments by reference; their content can be requested from Telegram. */
function attachmentsOf(message: Fields): readonly unknown[] {
  const sizes = message['photo']
  const photo: unknown = Array.isArray(sizes) ? sizes.at(-1) : undefined
  return [...fileOf('photo', photo), ...FILES.flatMap((kind) => fileOf(kind, message[kind]))]
}

function fileOf(kind: string, value: unknown): readonly unknown[] {
  const file = fieldsOf(value)
  const id = textOf(file['file_id'])
  if (id === null) return []
  const [name, type] = [textOf(file['file_name']), textOf(file['mime_type'])]
  return [
    {
      ...{ kind, file_id: id },
      ...(name === null ? {} : { name }),
      ...(type === null ? {} : { mime_type: type }),
    },
  ]
}

function senderName(from: Fields): string | null {
  const name = [textOf(from['first_name']), textOf(from['last_name'])].filter((part) => part !== null).join(' ')
  return name === '' ? textOf(from['username']) : name
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** Replaces characters that PostgreSQL cannot store: NUL and lone surrogates. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? Buffer.from(value.replaceAll('\u0000', '\u2400')).toString() : null

const idOf = (value: unknown): string | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null
