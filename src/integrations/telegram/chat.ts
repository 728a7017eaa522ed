import type { Api } from 'grammy'
import { splitPeer } from '../../core/channel/channel.ts'
import { splitText } from '../../core/channel/reply.ts'
import type { CallTelegram, Called, TelegramAccess } from './api.ts'
import type { BotIdentity } from './updates.ts'

/** Telegram takes so much in one message. */
const MOST_TELEGRAM_TEXT = 4_096

/** Shown on a message until it is answered. */
const SEEN = '👀'
/** Stands where the answer will be. */
const PLACEHOLDER = '…'

const CALL_MS = 10_000
/** How long an update is waited for; the connection may take a little longer. */
export const POLL_SECONDS = 25

/** One conversation of a bot. */
export interface TelegramChat {
  readonly access: TelegramAccess
  readonly peer: string
}

/** What a bot does. Everything that only decorates a chat is allowed to fail. */
export interface Telegram {
  readonly identify: (access: TelegramAccess, signal: AbortSignal) => Promise<Called<BotIdentity> | null>
  readonly updates: (
    access: TelegramAccess,
    asked: { readonly after: number | null; readonly seconds: number; readonly signal: AbortSignal },
  ) => Promise<Called<readonly unknown[]> | null>
  readonly setWebhook: (
    access: TelegramAccess,
    hook: { readonly url: string; readonly secret: string } | null,
    signal: AbortSignal,
  ) => Promise<Called<unknown> | null>
  /** Says something, in as many messages as it takes. What stands for the answer becomes the first of them. */
  readonly say: (
    chat: TelegramChat,
    said: { readonly text: string; readonly placeholder: string | null },
    signal: AbortSignal,
  ) => Promise<Called<unknown> | null>
  /** Shows that somebody is at it. Answers with the message that stands for the answer, if one was asked for. */
  readonly typing: (chat: TelegramChat, signal: AbortSignal) => Promise<void>
  readonly holdPlace: (chat: TelegramChat, signal: AbortSignal) => Promise<string | null>
  readonly react: (
    chat: TelegramChat,
    mark: { readonly messageId: string; readonly seen: boolean },
    signal: AbortSignal,
  ) => Promise<void>
  readonly forget: (chat: TelegramChat, messageId: string, signal: AbortSignal) => Promise<void>
}

/** Talks to Telegram. */
export function createTelegram(call: CallTelegram): Telegram {
  const quick = <T>(access: TelegramAccess, signal: AbortSignal, ask: (api: Api) => Promise<T>) =>
    call(access, { ask, timeoutMs: CALL_MS, signal })
  return {
    identify: async (access, signal) => {
      const found = await quick(access, signal, (api) => api.getMe())
      return found?.ok === true
        ? { ok: true, value: { id: String(found.value.id), username: found.value.username } }
        : found
    },
    updates: (access, { after, seconds, signal }) =>
      call<readonly unknown[]>(access, {
        ask: (api) => api.getUpdates({ ...offsetAfter(after), timeout: seconds, allowed_updates: ['message'] }),
        ...{ timeoutMs: seconds * 1_000 + CALL_MS, signal },
      }),
    setWebhook: (access, hook, signal) =>
      quick<unknown>(access, signal, (api) =>
        hook === null
          ? api.deleteWebhook()
          : api.setWebhook(hook.url, { secret_token: hook.secret, allowed_updates: ['message'] }),
      ),
    say: (chat, said, signal) => say(quick, chat, { ...said, signal }),
    typing: async ({ access, peer }, signal) => {
      const { id, thread } = placeOf(peer)
      await quick(access, signal, (api) => api.sendChatAction(id, 'typing', thread))
    },
    holdPlace: async ({ access, peer }, signal) => {
      const { id, thread } = placeOf(peer)
      const sent = await quick(access, signal, (api) => api.sendMessage(id, PLACEHOLDER, { ...thread, ...QUIETLY }))
      return sent?.ok === true ? String(sent.value.message_id) : null
    },
    react: async ({ access, peer }, { messageId, seen }, signal) => {
      const marks = seen ? [{ type: 'emoji', emoji: SEEN } as const] : []
      await quick(access, signal, (api) => api.setMessageReaction(placeOf(peer).id, Number(messageId), marks))
    },
    forget: async ({ access, peer }, messageId, signal) => {
      await quick(access, signal, (api) => api.deleteMessage(placeOf(peer).id, Number(messageId)))
    },
  }
}

const QUIETLY = { disable_notification: true } as const

const offsetAfter = (after: number | null): { readonly offset?: number } =>
  after === null ? {} : { offset: after + 1 }

/** A chat is a number, or a name such as `@news`. */
function placeOf(peer: string): { readonly id: number | string; readonly thread: { message_thread_id?: number } } {
  const { chat, thread } = splitPeer(peer)
  return {
    id: /^-?\d+$/.test(chat) ? Number(chat) : chat,
    thread: thread === null ? {} : { message_thread_id: Number(thread) },
  }
}

type Quick = <T>(
  access: TelegramAccess,
  signal: AbortSignal,
  ask: (api: Api) => Promise<T>,
) => Promise<Called<T> | null>

async function say(
  quick: Quick,
  { access, peer }: TelegramChat,
  {
    text,
    placeholder,
    signal,
  }: { readonly text: string; readonly placeholder: string | null; readonly signal: AbortSignal },
): Promise<Called<unknown> | null> {
  const { id, thread } = placeOf(peer)
  const [first = '', ...more] = splitText(text, MOST_TELEGRAM_TEXT)
  const begun =
    placeholder === null
      ? await quick<unknown>(access, signal, (api) => api.sendMessage(id, first, thread))
      : await put(quick, { access, id, thread, placeholder, first, signal })
  let last = begun
  for (const piece of more) {
    if (last?.ok !== true) return last
    last = await quick<unknown>(access, signal, (api) => api.sendMessage(id, piece, thread))
  }
  return last
}

interface Putting {
  readonly access: TelegramAccess
  readonly id: number | string
  readonly thread: { message_thread_id?: number }
  readonly placeholder: string
  readonly first: string
  readonly signal: AbortSignal
}

/** Puts the answer where its placeholder is. A placeholder that somebody has deleted is no reason to say nothing. */
async function put(
  quick: Quick,
  { access, id, thread, placeholder, first, signal }: Putting,
): Promise<Called<unknown> | null> {
  const edited = await quick<unknown>(access, signal, (api) => api.editMessageText(id, Number(placeholder), first))
  if (edited === null || edited.ok) return edited
  // An earlier try has put it there already.
  if (/not modified/i.test(edited.message)) return { ok: true, value: null }
  if (edited.statusCode !== 400) return edited
  return quick<unknown>(access, signal, (api) => api.sendMessage(id, first, thread))
}
