import type { ServerResponse } from 'node:http'
import { json, startPeer, type Peer } from '../../platform/outbound/peer.ts'

/** A call of the Bot API as it came in. */
export interface BotCall {
  readonly method: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A message that stands in a chat. */
export interface BotMessage {
  readonly id: number
  readonly chat: number
  readonly thread: number | null
  text: string
}

/** Telegram, as far as a bot sees it: updates are kept until they are confirmed, and chats show what stands in them. */
export interface BotApi extends Pick<Peer, 'url' | 'close'> {
  readonly token: string
  readonly calls: readonly BotCall[]
  /** What stands in a chat now, in order. */
  readonly shown: (chat: number) => readonly string[]
  /** The messages of people that are marked as seen. */
  readonly seen: ReadonlySet<number>
  /** Somebody writes. Answers with the number of the update. */
  readonly write: (message: Readonly<Record<string, unknown>>) => number
  /** Sends an update once more, as Telegram does with what nobody has confirmed. */
  readonly repeat: (update: number) => void
  /** How many wait for updates right now. */
  readonly asking: () => number
  /** Answers the next call of a method otherwise. */
  readonly failNext: (
    method: string,
    error: { readonly code: number; readonly description: string; readonly retryAfter?: number },
  ) => void
}

interface Update {
  readonly update_id: number
  readonly message: Readonly<Record<string, unknown>>
}

/** Starts a server that speaks the documented JSON of the Bot API. */
export async function startBotApi(token = '4711:AAH-secret-token'): Promise<BotApi> {
  const calls: BotCall[] = []
  const messages: BotMessage[] = []
  const seen = new Set<number>()
  const all: Update[] = []
  let queue: Update[] = []
  let waiting: { readonly response: ServerResponse; readonly offset: number }[] = []
  const failures = new Map<
    string,
    { readonly code: number; readonly description: string; readonly retryAfter?: number }
  >()
  let [updates, ids] = [100, 1_000]

  const fine = (response: ServerResponse, result: unknown): void => json(response, 200, { ok: true, result })
  const handOut = (): void => {
    const asking = waiting
    waiting = []
    for (const { response, offset } of asking) answerUpdates(response, offset)
  }
  const answerUpdates = (response: ServerResponse, offset: number): void => {
    queue = queue.filter(({ update_id: id }) => id >= offset)
    if (queue.length > 0) fine(response, queue)
    else if (!response.destroyed) waiting.push({ response, offset })
  }
  const idOf = (value: unknown): number => Number(value)
  const refuse = (response: ServerResponse, code: number, description: string): void =>
    json(response, code, { ok: false, error_code: code, description })
  const METHODS: Readonly<Record<string, (fields: BotCall['fields'], response: ServerResponse) => void>> = {
    getMe: (_, response) => fine(response, { id: 4711, is_bot: true, first_name: 'Esc', username: 'esc_bot' }),
    getUpdates: ({ offset }, response) => answerUpdates(response, idOf(offset ?? 0)),
    setWebhook: (_, response) => fine(response, true),
    deleteWebhook: (_, response) => fine(response, true),
    sendChatAction: (_, response) => fine(response, true),
    sendMessage: ({ chat_id: chat, text, message_thread_id: thread }, response) => {
      const message = {
        id: (ids += 1),
        chat: idOf(chat),
        thread: (thread as number | undefined) ?? null,
        text: String(text),
      }
      if (message.text.length > 4_096) {
        refuse(response, 400, 'Bad Request: message is too long')
        return
      }
      messages.push(message)
      fine(response, { message_id: message.id, date: 0, chat: { id: message.chat }, text })
    },
    editMessageText: ({ message_id: id, text }, response) => {
      const message = messages.find((one) => one.id === id)
      if (message === undefined) refuse(response, 400, 'Bad Request: message to edit not found')
      else if (message.text === text) refuse(response, 400, 'Bad Request: message is not modified')
      else {
        message.text = String(text)
        fine(response, true)
      }
    },
    deleteMessage: ({ message_id: id }, response) => {
      const at = messages.findIndex((one) => one.id === id)
      if (at !== -1) messages.splice(at, 1)
      fine(response, true)
    },
    setMessageReaction: ({ message_id: id, reaction }, response) => {
      if ((reaction as readonly unknown[]).length > 0) seen.add(idOf(id))
      else seen.delete(idOf(id))
      fine(response, true)
    },
  }
  const peer = await startPeer(({ url, body }, response) => {
    const [, given, method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(url) ?? []
    const fields = (body === '' ? {} : JSON.parse(body)) as BotCall['fields']
    calls.push({ method, fields })
    const failure = failures.get(method)
    failures.delete(method)
    if (given !== token) refuse(response, 401, 'Unauthorized')
    else if (failure !== undefined) {
      const { code, description, retryAfter } = failure
      const parameters = retryAfter === undefined ? {} : { parameters: { retry_after: retryAfter } }
      json(response, code, { ok: false, error_code: code, description, ...parameters })
    } else METHODS[method]?.(fields, response)
  })
  return {
    ...{ url: peer.url, close: peer.close, token, calls, seen },
    shown: (chat) => messages.filter((one) => one.chat === chat).map(({ text }) => text),
    write: (message) => {
      const update = { update_id: (updates += 1), message: { message_id: (ids += 1), date: 1_700_000_000, ...message } }
      all.push(update)
      queue.push(update)
      handOut()
      return update.update_id
    },
    repeat: (id) => {
      const update = all.find((one) => one.update_id === id)
      if (update !== undefined) queue.unshift(update)
      handOut()
    },
    asking: () => waiting.filter(({ response }) => !response.destroyed).length,
    failNext: (method, error) => void failures.set(method, error),
  }
}

/** What somebody writes to the bot alone. */
export const dm = (user: number, text: string): Readonly<Record<string, unknown>> => ({
  chat: { id: user, type: 'private', first_name: 'Ann' },
  from: { id: user, is_bot: false, first_name: 'Ann', last_name: 'Lee' },
  text,
})

/** What somebody writes in a group. */
export const inGroup = (
  group: number,
  user: { readonly id: number; readonly name: string },
  text: string,
): Readonly<Record<string, unknown>> => ({
  chat: { id: group, type: 'supergroup', title: 'Ops' },
  from: { id: user.id, is_bot: false, first_name: user.name },
  text,
})
