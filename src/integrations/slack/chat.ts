import { splitPeer } from '../../core/channel/channel.ts'
import { splitText } from '../../core/channel/reply.ts'
import type { TryOutcome } from '../../domain/delivery/message.ts'
import type { OutboundAnswer, OutboundRequest } from '../../outbound/request.ts'
import { retryAfterMs } from '../../outbound/retry-after.ts'

/** How an app is spoken for. */
export interface SlackAccess {
  readonly token: string
  /** Where the Web API is, without a slash at the end. */
  readonly root: string
}

/** Slack cuts longer texts; this is what it recommends at most. */
const MOST_SLACK_TEXT = 4_000

const CALL_MS = 10_000
const MOST_ANSWER_BYTES = 256 * 1024

/** What an app does. */
export interface Slack {
  /** Says something into a channel or a thread, in as many messages as it takes. Null: it was stopped. */
  readonly say: (
    access: SlackAccess,
    said: { readonly peer: string; readonly text: string },
    signal: AbortSignal,
  ) => Promise<TryOutcome | null>
  /** Whether the token is good. */
  readonly identify: (access: SlackAccess, signal: AbortSignal) => Promise<TryOutcome | null>
}

type Send = (request: OutboundRequest) => Promise<OutboundAnswer>

/** Talks to Slack's Web API. */
export const createSlack = (send: Send): Slack => ({
  say: async (access, { peer, text }, signal) => {
    const { chat, thread } = splitPeer(peer)
    let last: TryOutcome | null = { ok: true, statusCode: 200 }
    for (const piece of splitText(text, MOST_SLACK_TEXT)) {
      const fields = { channel: chat, text: escaped(piece), ...(thread === null ? {} : { thread_ts: thread }) }
      last = await call(send, access, { method: 'chat.postMessage', fields, signal })
      if (last?.ok !== true) return last
    }
    return last
  },
  identify: (access, signal) => call(send, access, { method: 'auth.test', fields: {}, signal }),
})

/** What Slack would read as markup of its own. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

async function call(
  send: Send,
  { token, root }: SlackAccess,
  { method, fields, signal }: { readonly method: string; readonly fields: object; readonly signal: AbortSignal },
): Promise<TryOutcome | null> {
  const answer = await send({
    ...{ url: `${root}/${method}`, method: 'POST', body: JSON.stringify(fields), signal },
    headers: { 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token}` },
    ...{ timeoutMs: CALL_MS, maxBytes: MOST_ANSWER_BYTES, purpose: 'operator' },
  })
  switch (answer.kind) {
    case 'answered':
      return judged(answer)
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

/** Slack answers 200 whatever it thinks of a request; the body says what it thinks. */
function judged({ status, headers, body }: Extract<OutboundAnswer, { readonly kind: 'answered' }>): TryOutcome {
  const said = readJson(body.toString('utf8'))
  if (status === 200 && said?.['ok'] === true) return { ok: true, statusCode: status }
  const error = typeof said?.['error'] === 'string' ? said['error'] : 'something that is no answer of Slack'
  const asked = status === 429 || status === 503 ? (retryAfterMs(headers) ?? undefined) : undefined
  const message = status === 200 ? `Slack refused it: ${error}` : `Slack answered ${status}: ${error}`
  return { ok: false, statusCode: status, error: 'http', message, retryAfterMs: asked }
}

function readJson(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : null
  } catch {
    return null
  }
}
