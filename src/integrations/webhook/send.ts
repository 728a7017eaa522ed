import { DELIVERY_TRIES } from '../../domain/delivery/delivery-retry.ts'
import { jsonOf, type OutMessage, type Post, type TryOutcome } from '../../domain/delivery/message.ts'
import type { OutboundAnswer, OutboundRequest } from '../../outbound/request.ts'
import { retryAfterMs } from '../../outbound/retry-after.ts'
import { signatureOf } from './signature.ts'

/** What posting needs from the world. */
export interface WebhookContext {
  readonly send: (request: OutboundRequest) => Promise<OutboundAnswer>
  /** By the clock that signatures are judged by. */
  readonly now: () => number
  /** How a sender names itself. */
  readonly program: string
}

/** Of an answer nobody reads more than what says why it is a refusal. */
const MOST_ANSWER_BYTES = 64 * 1024
const MOST_WORDS = 500

/** Sends messages as Standard Webhooks says. */
export function createPost(ctx: WebhookContext): Post {
  return async (message, signal) => {
    const body = jsonOf(message.body)
    const answer = await ctx.send({
      ...{ url: message.url, method: 'POST', headers: headersOf({ ...message, body }, ctx), body, signal },
      ...{ timeoutMs: DELIVERY_TRIES.timeoutMs, maxBytes: MOST_ANSWER_BYTES, purpose: message.purpose },
    })
    return outcomeOf(answer)
  }
}

function headersOf(
  message: OutMessage & { readonly body: string },
  { now, program }: WebhookContext,
): Readonly<Record<string, string>> {
  const timestampSeconds = Math.floor(now() / 1_000)
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': program.replace(' ', '/'),
    'webhook-id': message.id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatureOf({ id: message.id, body: message.body, timestampSeconds }, message.secrets),
    'idempotency-key': message.id,
    ...message.headers,
  }
}

function outcomeOf(answer: OutboundAnswer): TryOutcome | null {
  switch (answer.kind) {
    case 'answered':
      return judged(answer)
    // The receiver has accepted, and says more about it than anybody reads.
    case 'too_large':
      return isGood(answer.status) ? { ok: true, statusCode: answer.status } : refusedWith(answer.status, '')
    case 'aborted':
      return null
    case 'refused':
    case 'network':
    case 'timeout':
    case 'malformed':
      return { ok: false, statusCode: null, error: answer.kind, message: answer.message }
  }
}

const isGood = (status: number): boolean => status >= 200 && status < 300

function judged(answer: Extract<OutboundAnswer, { readonly kind: 'answered' }>): TryOutcome {
  const { status, headers, body } = answer
  if (isGood(status)) return { ok: true, statusCode: status }
  const words = body
    .subarray(0, MOST_WORDS * 4)
    .toString('utf8')
    .slice(0, MOST_WORDS)
    .trim()
  const askedMs = status === 429 || status === 503 ? (retryAfterMs(headers) ?? undefined) : undefined
  return { ...refusedWith(status, words), retryAfterMs: askedMs }
}

const refusedWith = (status: number, words: string): Extract<TryOutcome, { readonly ok: false }> => ({
  ...{ ok: false, statusCode: status, error: 'http' },
  message: `answered ${status}${words === '' ? '' : `: ${words}`}`,
})
