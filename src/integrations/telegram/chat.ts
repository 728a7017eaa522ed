import type { Api } from 'grammy'
import { splitPeer } from '../../domain/channel/channel.ts'
import { splitText } from '../../domain/channel/reply.ts'
import type { CallTelegram, CallResult, TelegramAccess } from './api.ts'
import type { BotIdentity } from './updates.ts'

/** The maximum length of a Telegram message. */
const MAX_TELEGRAM_TEXT = 4_096

/** The reaction on a message until it is answered. */
const SEEN_EMOJI = '👀'
/** The placeholder of an answer. */
const PLACEHOLDER = '…'

const TELEGRAM_TIMEOUT_MS = 10_000
/** The duration of a long poll; the connection may take a little longer. */
export const POLL_SECONDS = 25

/** A chat of a bot. */
export interface TelegramChat {
  readonly access: TelegramAccess
  readonly peer: string
}

/** The operations of a bot. Failures of those that only decorate a chat are ignored. */
export interface Telegram {
  readonly identify: (access: TelegramAccess, signal: AbortSignal) => Promise<CallResult<BotIdentity> | null>
  readonly updates: (
    access: TelegramAccess,
    query: { readonly after: number | null; readonly seconds: number; readonly signal: AbortSignal },
  ) => Promise<CallResult<readonly unknown[]> | null>
  readonly setWebhook: (
    access: TelegramAccess,
    hook: { readonly url: string; readonly secret: string } | null,
    signal: AbortSignal,
  ) => Promise<CallResult<unknown> | null>
  /** Sends a text, in several messages if necessary. The placeholder becomes the first of them. */
  readonly send: (
    chat: TelegramChat,
    message: { readonly text: string; readonly placeholder: string | null },
    signal: AbortSignal,
  ) => Promise<CallResult<unknown> | null>
  /** Shows the typing indicator. */
  readonly typing: (chat: TelegramChat, signal: AbortSignal) => Promise<void>
  readonly sendPlaceholder: (chat: TelegramChat, signal: AbortSignal) => Promise<string | null>
  readonly react: (
    chat: TelegramChat,
    reaction: { readonly messageId: string; readonly seen: boolean },
    signal: AbortSignal,
  ) => Promise<void>
  readonly deleteMessage: (chat: TelegramChat, messageId: string, signal: AbortSignal) => Promise<void>
}

/** Creates a client of the Bot API. */
export function createTelegram(call: CallTelegram): Telegram {
  const quick = <T>(access: TelegramAccess, signal: AbortSignal, ask: (api: Api) => Promise<T>) =>
    call(access, { ask, timeoutMs: TELEGRAM_TIMEOUT_MS, signal })
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
        ...{ timeoutMs: seconds * 1_000 + TELEGRAM_TIMEOUT_MS, signal },
      }),
    setWebhook: (access, hook, signal) =>
      quick<unknown>(access, signal, (api) =>
        hook === null
          ? api.deleteWebhook()
          : api.setWebhook(hook.url, { secret_token: hook.secret, allowed_updates: ['message'] }),
      ),
    send: (chat, message, signal) => sendText(quick, chat, { ...message, signal }),
    typing: async ({ access, peer }, signal) => {
      const { id, thread } = chatTarget(peer)
      await quick(access, signal, (api) => api.sendChatAction(id, 'typing', thread))
    },
    sendPlaceholder: async ({ access, peer }, signal) => {
      const { id, thread } = chatTarget(peer)
      const sent = await quick(access, signal, (api) => api.sendMessage(id, PLACEHOLDER, { ...thread, ...SILENT }))
      return sent?.ok === true ? String(sent.value.message_id) : null
    },
    react: async ({ access, peer }, { messageId, seen }, signal) => {
      const reactions = seen ? [{ type: 'emoji', emoji: SEEN_EMOJI } as const] : []
      await quick(access, signal, (api) => api.setMessageReaction(chatTarget(peer).id, Number(messageId), reactions))
    },
    deleteMessage: async ({ access, peer }, messageId, signal) => {
      await quick(access, signal, (api) => api.deleteMessage(chatTarget(peer).id, Number(messageId)))
    },
  }
}

const SILENT = { disable_notification: true } as const

const offsetAfter = (after: number | null): { readonly offset?: number } =>
  after === null ? {} : { offset: after + 1 }

/** A chat id is a number, or a name such as `@news`. */
function chatTarget(peer: string): { readonly id: number | string; readonly thread: { message_thread_id?: number } } {
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
) => Promise<CallResult<T> | null>

async function sendText(
  quick: Quick,
  { access, peer }: TelegramChat,
  {
    text,
    placeholder,
    signal,
  }: { readonly text: string; readonly placeholder: string | null; readonly signal: AbortSignal },
): Promise<CallResult<unknown> | null> {
  const { id, thread } = chatTarget(peer)
  const [first = '', ...more] = splitText(text, MAX_TELEGRAM_TEXT)
  const begun =
    placeholder === null
      ? await quick<unknown>(access, signal, (api) => api.sendMessage(id, first, thread))
      : await editPlaceholder(quick, { access, id, thread, placeholder, first, signal })
  let last = begun
  for (const piece of more) {
    if (last?.ok !== true) return last
    last = await quick<unknown>(access, signal, (api) => api.sendMessage(id, piece, thread))
  }
  return last
}

interface PlaceholderEdit {
  readonly access: TelegramAccess
  readonly id: number | string
  readonly thread: { message_thread_id?: number }
  readonly placeholder: string
  readonly first: string
  readonly signal: AbortSignal
}

/** Replaces the placeholder by the answer, or sends a new message if the placeholder was deleted. */
async function editPlaceholder(
  quick: Quick,
  { access, id, thread, placeholder, first, signal }: PlaceholderEdit,
): Promise<CallResult<unknown> | null> {
  const edited = await quick<unknown>(access, signal, (api) => api.editMessageText(id, Number(placeholder), first))
  if (edited === null || edited.ok) return edited
  // An earlier try has already edited the placeholder.
  if (/not modified/i.test(edited.message)) return { ok: true, value: null }
  if (edited.statusCode !== 400) return edited
  return quick<unknown>(access, signal, (api) => api.sendMessage(id, first, thread))
}
