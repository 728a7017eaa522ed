import { createHmac, timingSafeEqual } from 'node:crypto'
import type {
  ChannelHeard,
  ChannelRequest,
  ChannelsPort,
  ChannelWords,
  OpenChannel,
} from '../domain/channel/services.ts'
import type { TryOutcome } from '../domain/delivery/message.ts'
import { createMask } from '../domain/secret/mask.ts'
import type { OutboundAnswer, OutboundRequest } from '../outbound/request.ts'
import { createSlack, type SlackAccess } from './slack/chat.ts'
import { readSlackEvent, slackFlaw } from './slack/events.ts'
import { type Called, createTelegramCalls, type TelegramAccess } from './telegram/api.ts'
import { createTelegram, POLL_SECONDS, type TelegramChat } from './telegram/chat.ts'
import { readUpdate, updateId } from './telegram/updates.ts'

/** What the services need from the world. */
export interface ChannelsContext {
  readonly send: (request: OutboundRequest) => Promise<OutboundAnswer>
  /** Where the services are; the operator decides. */
  readonly places: () => { readonly telegram: string; readonly slack: string }
}

const FINE: TryOutcome = { ok: true, statusCode: 200 }
const NEVER = new AbortController().signal

/** What Telegram sends back with every update, so that nobody else can bring some. It is made from the token. */
const telegramHookSecret = (token: string): string =>
  createHmac('sha256', token).update('escapement telegram webhook').digest('hex')

/** Puts the services behind channels together. */
export function createChannels({ send, places }: ChannelsContext): ChannelsPort {
  const telegram = createTelegram(createTelegramCalls(send))
  const slack = createSlack(send)
  const root = (text: string): string => text.replace(/\/+$/, '')
  const bot = ({ credentials }: OpenChannel): TelegramAccess => ({
    ...{ token: credentials.token ?? '', root: root(places().telegram) },
  })
  const app = ({ credentials }: OpenChannel): SlackAccess => ({
    ...{ token: credentials.token ?? '', root: root(places().slack) },
  })
  const chatOf = (channel: OpenChannel, peer: string): TelegramChat => ({ access: bot(channel), peer })
  return {
    hear,
    updateId,
    readUpdate: (channel, update) =>
      readUpdate(update, channel.identity, { hearsAll: channel.settings.hears_all === true }),
    updates: async (channel, after, signal) => {
      const got = await telegram.updates(bot(channel), { after, seconds: POLL_SECONDS, signal })
      if (got === null) return null
      if (got.ok) return { ok: true, updates: got.value } as const
      return { ok: false, message: maskOf(channel)(got.message), retryAfterMs: got.retryAfterMs ?? null } as const
    },
    say: async (channel, words, signal) => {
      if (channel.kind === 'hook') return { ok: false, statusCode: null, error: 'not_configured', message: NO_ANSWERS }
      if (channel.kind === 'slack')
        return words.text === '' ? FINE : masked(channel, await slack.say(app(channel), words, signal))
      return masked(channel, await sayInTelegram(telegram, chatOf(channel, words.peer), { words, signal }))
    },
    identify: async (channel, signal) => {
      if (channel.kind === 'hook') return null
      if (channel.kind === 'slack') {
        const outcome = masked(channel, await slack.identify(app(channel), signal))
        return outcome === null ? null : { outcome, identity: null }
      }
      const found = await telegram.identify(bot(channel), signal)
      if (found === null) return null
      const outcome = masked(channel, outcomeOf(found)) ?? FINE
      return { outcome, identity: found.ok ? found.value : null }
    },
    setWebhook: async (channel, url, signal) => {
      const hook = url === null ? null : { url, secret: telegramHookSecret(channel.credentials.token ?? '') }
      return masked(channel, outcomeOf(await telegram.setWebhook(bot(channel), hook, signal)))
    },
    markSeen: async (channel, { peer, messageId }) => {
      if (channel.kind === 'telegram') await telegram.react(chatOf(channel, peer), { messageId, seen: true }, NEVER)
    },
    showTyping: async (channel, peer) => {
      if (channel.kind === 'telegram') await telegram.typing(chatOf(channel, peer), NEVER)
    },
    holdPlace: (channel, peer) =>
      channel.kind === 'telegram' ? telegram.holdPlace(chatOf(channel, peer), NEVER) : Promise.resolve(null),
    removeMessage: (channel, { peer, messageId }) => telegram.forget(chatOf(channel, peer), messageId, NEVER),
  }
}

const NO_ANSWERS = 'a hook only listens; nothing can be said through it'

/** An answer takes the place of its placeholder; without one the placeholder goes. Then nothing is marked any more. */
async function sayInTelegram(
  telegram: ReturnType<typeof createTelegram>,
  chat: TelegramChat,
  { words, signal }: { readonly words: ChannelWords; readonly signal: AbortSignal },
): Promise<TryOutcome | null> {
  const { text, placeholder, marked } = words
  if (text === '' && placeholder !== null) await telegram.forget(chat, placeholder, signal)
  const said = text === '' ? FINE : outcomeOf(await telegram.say(chat, { text, placeholder }, signal))
  if (said?.ok === true) for (const messageId of marked) await telegram.react(chat, { messageId, seen: false }, signal)
  return said
}

const outcomeOf = (called: Called<unknown> | null): TryOutcome | null => (called?.ok === true ? FINE : called)

/** What a service says is kept, and it may repeat what it was told. */
const maskOf = ({ credentials }: OpenChannel): ((text: string) => string) =>
  createMask(Object.values(credentials).filter((value): value is string => value !== undefined && value !== '')).text

const masked = (channel: OpenChannel, outcome: TryOutcome | null): TryOutcome | null =>
  outcome === null || outcome.ok ? outcome : { ...outcome, message: maskOf(channel)(outcome.message) }

/** Judges a request by its signature, and reads it when that is good. */
function hear(channel: OpenChannel, request: ChannelRequest, parse: (bytes: Uint8Array) => unknown): ChannelHeard {
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
    const heard = readSlackEvent(parse(body))
    if (heard.kind === 'challenge') return { kind: 'challenge', answer: { challenge: heard.challenge } }
    return heard.kind === 'message' ? heard : { kind: 'ignored' }
  }
  const id = header('webhook-id')
  const [timestamp, signature] = [header('webhook-timestamp'), header('webhook-signature')]
  const flaw = hookFlaw({ id, timestamp, signature, body, now }, secret)
  return flaw === null ? { kind: 'body', id: id ?? '', body: parse(body) } : { kind: 'unsigned', message: flaw }
}

function telegramFlaw(given: string | undefined, { credentials, settings }: OpenChannel): string | null {
  if (settings.mode !== 'webhook') return 'The channel asks Telegram for updates itself; set its mode to webhook'
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(telegramHookSecret(credentials.token ?? ''))]
  return a.length === b.length && timingSafeEqual(a, b)
    ? null
    : 'X-Telegram-Bot-Api-Secret-Token is missing or wrong: only Telegram knows it'
}

/** A request is not believed when its time is further away than this. */
const HOOK_TOLERANCE_SECONDS = 300

/** What is wrong with a request that should be signed as Standard Webhooks says, or null. */
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
    return 'It is not signed: webhook-id, webhook-timestamp and webhook-signature belong to every request'
  if (id.length > 256) return 'webhook-id is longer than 256 characters'
  if (!/^\d{1,12}$/.test(timestamp)) return 'webhook-timestamp is no number of seconds'
  if (Math.abs(now / 1_000 - Number(timestamp)) > HOOK_TOLERANCE_SECONDS)
    return `webhook-timestamp is more than ${HOOK_TOLERANCE_SECONDS} s away from now`
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  return signature.split(' ').some((one) => isOf(one, wanted))
    ? null
    : 'No signature fits the body: is it the secret of this hook?'
}

function isOf(signature: string, wanted: Buffer): boolean {
  if (!signature.startsWith('v1,')) return false
  const given = Buffer.from(signature.slice(3), 'base64')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
