import { splitPeer } from '../../domain/channel/channel.ts'
import { splitText } from '../../domain/channel/reply.ts'
import type { TryOutcome } from '../../domain/delivery/message.ts'
import { type OutboundResponse, type OutboundRequest, retryAfterMs } from '../../platform/outbound/request.ts'

/** The credentials and base URL of a Slack app. */
export interface SlackAccess {
  readonly token: string
  /** The base URL of the Web API, without a trailing slash. */
  readonly root: string
}

/** The maximum message length that Slack recommends; longer texts are truncated. */
const MAX_SLACK_TEXT = 4_000

const SLACK_TIMEOUT_MS = 10_000
const MAX_SLACK_RESPONSE_BYTES = 256 * 1024

/** The operations of a Slack app. */
export interface Slack {
  /** Sends a text to a channel or a thread, in several messages if necessary. Null: aborted. */
  readonly send: (
    access: SlackAccess,
    content: { readonly peer: string; readonly text: string },
    signal: AbortSignal,
  ) => Promise<TryOutcome | null>
  /** Checks the token. */
  readonly identify: (access: SlackAccess, signal: AbortSignal) => Promise<TryOutcome | null>
}

type Send = (request: OutboundRequest) => Promise<OutboundResponse>

/** Creates a client of Slack's Web API. */
export const createSlack = (send: Send): Slack => ({
  send: async (access, { peer, text }, signal) => {
    const { chat, thread } = splitPeer(peer)
    let last: TryOutcome | null = { ok: true, statusCode: 200 }
    for (const piece of splitText(text, MAX_SLACK_TEXT)) {
      const fields = { channel: chat, text: escaped(piece), ...(thread === null ? {} : { thread_ts: thread }) }
      last = await call(send, access, { method: 'chat.postMessage', fields, signal })
      if (last?.ok !== true) return last
    }
    return last
  },
  identify: (access, signal) => call(send, access, { method: 'auth.test', fields: {}, signal }),
})

/** Escapes the characters of Slack's markup. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

async function call(
  send: Send,
  { token, root }: SlackAccess,
  { method, fields, signal }: { readonly method: string; readonly fields: object; readonly signal: AbortSignal },
): Promise<TryOutcome | null> {
  const answer = await send({
    ...{ url: `${root}/${method}`, method: 'POST', body: JSON.stringify(fields), signal },
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` },
    ...{ timeoutMs: SLACK_TIMEOUT_MS, maxBytes: MAX_SLACK_RESPONSE_BYTES, purpose: 'operator' },
  })
  switch (answer.kind) {
    case 'answered':
      return slackOutcome(answer)
    case 'aborted':
      return null
    case 'too_large':
      return { ok: false, statusCode: answer.status, error: 'malformed', message: answer.message }
    case 'refused':
    case 'network':
    case 'timeout':
    case 'malformed':
      return { ok: false, statusCode: null, error: answer.kind, message: answer.message }
  }
}

/** Slack responds with status 200 even to refused calls; the body contains the result. */
function slackOutcome({ status, headers, body }: Extract<OutboundResponse, { readonly kind: 'answered' }>): TryOutcome {
  const content = readJson(body.toString('utf8'))
  if (status === 200 && content?.['ok'] === true) return { ok: true, statusCode: status }
  const error = typeof content?.['error'] === 'string' ? content['error'] : 'not a response of the Slack API'
  const waitMs = status === 429 || status === 503 ? (retryAfterMs(headers) ?? undefined) : undefined
  const message = status === 200 ? `Slack refused the call: ${error}` : `Slack answered ${status}: ${error}`
  return { ok: false, statusCode: status, error: 'http', message, retryAfterMs: waitMs }
}

function readJson(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}
