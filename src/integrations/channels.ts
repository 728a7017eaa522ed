import { createHmac, timingSafeEqual } from 'node:crypto'
import type {
  ChannelRequestResult,
  ChannelRequest,
  ChannelsPort,
  OutgoingChannelMessage,
  OpenChannel,
} from '../domain/channel/services.ts'
import type { TryOutcome } from '../domain/delivery/message.ts'
import { createMask } from '../domain/secret/mask.ts'
import type { OutboundResponse, OutboundRequest } from '../platform/outbound/request.ts'
import { createSlack, type SlackAccess } from './slack/chat.ts'
import { readSlackEvent, slackFlaw } from './slack/events.ts'
import { type CallResult, createTelegramCalls, type TelegramAccess } from './telegram/api.ts'
import { createTelegram, POLL_SECONDS, type TelegramChat } from './telegram/chat.ts'
import { readUpdate, updateId } from './telegram/updates.ts'

/** The dependencies of the chat services. */
export interface ChannelsContext {
  readonly send: (request: OutboundRequest) => Promise<OutboundResponse>
  /** The base URLs of the services, set by the operator. */
  readonly baseUrls: () => { readonly telegram: string; readonly slack: string }
}

const SENT: TryOutcome = { ok: true, statusCode: 200 }
const NEVER_ABORTED = new AbortController().signal

/**
 * The secret that Telegram sends with every update, so that others cannot forge updates. It is derived from the token.
 */
const telegramHookSecret = (token: string): string =>
  createHmac('sha256', token).update('escapement telegram webhook').digest('hex')

/** Creates the port to the services of channels. */
export function createChannels({ send, baseUrls }: ChannelsContext): ChannelsPort {
  const telegram = createTelegram(createTelegramCalls(send))
  const slack = createSlack(send)
  const root = (text: string): string => text.replace(/\/+$/, '')
  const bot = ({ credentials }: OpenChannel): TelegramAccess => ({
    ...{ token: credentials.token ?? '', root: root(baseUrls().telegram) },
  })
  const app = ({ credentials }: OpenChannel): SlackAccess => ({
    ...{ token: credentials.token ?? '', root: root(baseUrls().slack) },
  })
  const chatOf = (channel: OpenChannel, peer: string): TelegramChat => ({ access: bot(channel), peer })
  return {
    receive: readHookRequest,
    updateId,
    readUpdate: (channel, update) =>
      readUpdate(update, channel.identity, { hearsAll: channel.settings.hears_all === true }),
    pollUpdates: async (channel, after, signal) => {
      const got = await telegram.updates(bot(channel), { after, seconds: POLL_SECONDS, signal })
      if (got === null) return null
      if (got.ok) return { ok: true, updates: got.value } as const
      return { ok: false, message: maskOf(channel)(got.message), retryAfterMs: got.retryAfterMs ?? null } as const
    },
    send: async (channel, reply, signal) => {
      if (channel.kind === 'hook') return { ok: false, statusCode: null, error: 'not_configured', message: NO_REPLIES }
      if (channel.kind === 'slack')
        return reply.text === '' ? SENT : masked(channel, await slack.send(app(channel), reply, signal))
      return masked(channel, await sendInTelegram(telegram, chatOf(channel, reply.peer), { words: reply, signal }))
    },
    identify: async (channel, signal) => {
      if (channel.kind === 'hook') return null
      if (channel.kind === 'slack') {
        const outcome = masked(channel, await slack.identify(app(channel), signal))
        return outcome === null ? null : { outcome, identity: null }
      }
      const found = await telegram.identify(bot(channel), signal)
      if (found === null) return null
      const outcome = masked(channel, telegramOutcome(found)) ?? SENT
      return { outcome, identity: found.ok ? found.value : null }
    },
    setWebhook: async (channel, url, signal) => {
      const hook = url === null ? null : { url, secret: telegramHookSecret(channel.credentials.token ?? '') }
      return masked(channel, telegramOutcome(await telegram.setWebhook(bot(channel), hook, signal)))
    },
    markSeen: async (channel, { peer, messageId }) => {
      if (channel.kind === 'telegram')
        await telegram.react(chatOf(channel, peer), { messageId, seen: true }, NEVER_ABORTED)
    },
    showTyping: async (channel, peer) => {
      if (channel.kind === 'telegram') await telegram.typing(chatOf(channel, peer), NEVER_ABORTED)
    },
    showPlaceholder: (channel, peer) =>
      channel.kind === 'telegram'
        ? telegram.sendPlaceholder(chatOf(channel, peer), NEVER_ABORTED)
        : Promise.resolve(null),
    removeMessage: (channel, { peer, messageId }) =>
      telegram.deleteMessage(chatOf(channel, peer), messageId, NEVER_ABORTED),
  }
}

const NO_REPLIES = 'a webhook channel only receives messages and cannot send any'

/** Replaces the placeholder by the answer, or deletes it if there is no answer, and then removes the marks. */
async function sendInTelegram(
  telegram: ReturnType<typeof createTelegram>,
  chat: TelegramChat,
  { words: reply, signal }: { readonly words: OutgoingChannelMessage; readonly signal: AbortSignal },
): Promise<TryOutcome | null> {
  const { text, placeholder, seenMessages: marked } = reply
  if (text === '' && placeholder !== null) await telegram.deleteMessage(chat, placeholder, signal)
  const sent = text === '' ? SENT : telegramOutcome(await telegram.send(chat, { text, placeholder }, signal))
  if (sent?.ok === true) for (const messageId of marked) await telegram.react(chat, { messageId, seen: false }, signal)
  return sent
}

const telegramOutcome = (called: CallResult<unknown> | null): TryOutcome | null => (called?.ok === true ? SENT : called)

/** Masks secrets in error messages, because a service may repeat them and messages are stored. */
const maskOf = ({ credentials }: OpenChannel): ((text: string) => string) =>
  createMask(Object.values(credentials).filter((value): value is string => value !== undefined && value !== '')).text

const masked = (channel: OpenChannel, outcome: TryOutcome | null): TryOutcome | null =>
  outcome === null || outcome.ok ? outcome : { ...outcome, message: maskOf(channel)(outcome.message) }

/** Verifies the signature of a request, then parses it. */
function readHookRequest(
  channel: OpenChannel,
  request: ChannelRequest,
  parse: (bytes: Uint8Array) => unknown,
): ChannelRequestResult {
  const { body, now } = request
  const header = (name: string): string | undefined => {
    const value = request.headers[name]
    return typeof value === 'string' ? value : undefined
  }
  const secret = channel.credentials.signing_secret ?? ''
  if (channel.kind === 'telegram') {
    const flaw = telegramFlaw(header('x-telegram-bot-api-secret-token'), channel)
    if (flaw !== null) return { kind: 'unsigned', message: flaw }
    const message = readUpdate(parse(body), channel.identity, { hearsAll: channel.settings.hears_all === true })
    return message === null ? { kind: 'ignored' } : { kind: 'message', message }
  }
  if (channel.kind === 'slack') {
    const [timestamp, signature] = [header('x-slack-request-timestamp'), header('x-slack-signature')]
    const flaw = slackFlaw({ timestamp, signature, body, now }, secret)
    if (flaw !== null) return { kind: 'unsigned', message: flaw }
    const event = readSlackEvent(parse(body))
    if (event.kind === 'challenge') return { kind: 'challenge', answer: { challenge: event.challenge } }
    return event.kind === 'message' ? event : { kind: 'ignored' }
  }
  const id = header('webhook-id')
  const [timestamp, signature] = [header('webhook-timestamp'), header('webhook-signature')]
  const flaw = hookFlaw({ id, timestamp, signature, body, now }, secret)
  return flaw === null ? { kind: 'body', id: id ?? '', body: parse(body) } : { kind: 'unsigned', message: flaw }
}

function telegramFlaw(given: string | undefined, { credentials, settings }: OpenChannel): string | null {
  if (settings.mode !== 'webhook') return 'The channel is in mode polling; set its mode to webhook'
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(telegramHookSecret(credentials.token ?? ''))]
  return a.length === b.length && timingSafeEqual(a, b) ? null : 'X-Telegram-Bot-Api-Secret-Token is missing or wrong'
}

/** The maximum difference between the timestamp of a request and now. */
const HOOK_TOLERANCE_SECONDS = 300

/** Verifies a request by the rules of Standard Webhooks. Returns the error, or null. */
export function hookFlaw(
  request: {
    readonly id: string | undefined
    readonly timestamp: string | undefined
    readonly signature: string | undefined
    readonly body: Uint8Array
    /** In milliseconds. */
    readonly now: number
  },
  secret: string,
): string | null {
  const { id, timestamp, signature, body, now } = request
  if (id === undefined || timestamp === undefined || signature === undefined)
    return 'The request is not signed; webhook-id, webhook-timestamp and webhook-signature are required'
  if (id.length > 256) return 'webhook-id is longer than 256 characters'
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is not a number of seconds'
  if (Math.abs(now / 1_000 - Number(timestamp)) > HOOK_TOLERANCE_SECONDS)
    return `webhook-timestamp is more than ${HOOK_TOLERANCE_SECONDS} s away from now`
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  return signature.split(' ').some((one) => isSignatureOf(one, wanted))
    ? null
    : 'No signature matches the body; check the signing secret of the channel'
}

function isSignatureOf(signature: string, wanted: Buffer): boolean {
  if (!signature.startsWith('v1,')) return false
  const given = Buffer.from(signature.slice(3), 'base64')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
