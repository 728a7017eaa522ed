import { joinPeer, type HeardMessage } from '../../core/channel/channel.ts'

/** Who the bot is: by this it knows whether it is meant. */
export interface BotIdentity {
  readonly id: string
  /** Without the `@`. */
  readonly username: string
}

type Fields = Readonly<Record<string, unknown>>

/** The number of an update, by which the next ones are asked for. Null when it is none. */
export function updateId(update: unknown): number | null {
  const id = fieldsOf(update)['update_id']
  return typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? id : null
}

/**
 * Reads an update. Null: there is nothing in it for us, such as an edit, a message of a bot, or talk in a group that does
 * not speak to the bot. In a group the bot is meant when it is named, answered or given a command.
 */
export function readUpdate(
  update: unknown,
  bot: BotIdentity | null,
  options: { readonly hearsAll: boolean },
): HeardMessage | null {
  const number = updateId(update)
  const message = fieldsOf(fieldsOf(update)['message'])
  const chat = fieldsOf(message['chat'])
  const from = fieldsOf(message['from'])
  const [chatId, messageId, fromId] = [idOf(chat['id']), idOf(message['message_id']), idOf(from['id'])]
  if (number === null || chatId === null || messageId === null || fromId === null) return null
  if (from['is_bot'] === true) return null
  const isDm = chat['type'] === 'private'
  const said = textOf(message['text']) ?? textOf(message['caption']) ?? ''
  const attachments = attachmentsOf(message)
  if (said.trim() === '' && attachments.length === 0) return null
  const text = isDm ? withoutOwnName(said, bot) : addressed(said, { message, bot, ...options })
  if (text === null) return null
  const thread = message['is_topic_message'] === true ? idOf(message['message_thread_id']) : null
  return {
    eventId: String(number),
    chat: { kind: isDm ? 'dm' : 'group', peer: joinPeer(chatId, thread), title: textOf(chat['title']) },
    sender: { id: fromId, name: nameOf(from) },
    messageId,
    ...{ text, attachments },
    // Telegram tells seconds, which is too coarse to say what came before what.
    sentAt: null,
  }
}

/** What is said to the bot in a group, without its name; null when it is not meant. */
function addressed(
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
    return name === undefined || isOwn(name, bot) ? withoutOwnName(text, bot) : null
  }
  const answers = idOf(fieldsOf(fieldsOf(message['reply_to_message'])['from'])['id'])
  const isNamed = bot !== null && nameIn(bot).test(text)
  const isAnswered = bot !== null && answers === bot.id
  return hearsAll || isNamed || isAnswered ? withoutOwnName(text, bot) : null
}

const isOwn = (name: string, bot: BotIdentity | null): boolean => name.toLowerCase() === bot?.username.toLowerCase()

/** Names of bots are of letters, digits and underscores. */
const nameIn = ({ username }: BotIdentity): RegExp => new RegExp(`@${username.replaceAll(/\W/g, '')}\\b`, 'gi')

const withoutOwnName = (text: string, bot: BotIdentity | null): string =>
  bot === null
    ? text
    : text
        .replace(nameIn(bot), '')
        .replaceAll(/[^\S\n]{2,}/g, ' ')
        .trim()

const FILES = ['document', 'voice', 'audio', 'video', 'video_note', 'animation', 'sticker'] as const

/** Files by reference: whoever wants one asks Telegram for it. */
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

function nameOf(from: Fields): string | null {
  const name = [textOf(from['first_name']), textOf(from['last_name'])].filter((part) => part !== null).join(' ')
  return name === '' ? textOf(from['username']) : name
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** What no row can hold, NUL and halves of characters, is shown as what it is. */
const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? Buffer.from(value.replaceAll('\u0000', '\u2400')).toString() : null

const idOf = (value: unknown): string | null =>
  typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : null
