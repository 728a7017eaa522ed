import { DELIVERY_TRIES } from '../../domain/delivery/delivery-retry.ts'
import { bodyJson, type OutgoingMessage, type SendOnce, type TryOutcome } from '../../domain/delivery/message.ts'
import { type OutboundResponse, type OutboundRequest, retryAfterMs } from '../../platform/outbound/request.ts'
import { signatureOf } from './signature.ts'

/** The dependencies of the webhook sender. */
export interface WebhookContext {
  readonly send: (request: OutboundRequest) => Promise<OutboundResponse>
  /** The clock that receivers check signatures by. */
  readonly now: () => number
  /** The value of the User-Agent header. */
  readonly program: string
}

/** The maximum response size; only the beginning is stored as an error message. */
const MAX_WEBHOOK_RESPONSE_BYTES = 64 * 1024
const MAX_ERROR_TEXT = 500

/** Sends messages by the rules of Standard Webhooks. */
export function createWebhookSender(ctx: WebhookContext): SendOnce {
  return async (message, signal) => {
    const body = bodyJson(message.body)
    const answer = await ctx.send({
      ...{ url: message.url, method: 'POST', headers: headersOf({ ...message, body }, ctx), body, signal },
      ...{ timeoutMs: DELIVERY_TRIES.timeoutMs, maxBytes: MAX_WEBHOOK_RESPONSE_BYTES, purpose: message.purpose },
    })
    return webhookOutcome(answer)
  }
}

function headersOf(
  message: OutgoingMessage & { readonly body: string },
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

function webhookOutcome(answer: OutboundResponse): TryOutcome | null {
  switch (answer.kind) {
    case 'answered':
      return responseOutcome(answer)
    // The receiver has accepted the message; the rest of its response is not read.
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

function responseOutcome(answer: Extract<OutboundResponse, { readonly kind: 'answered' }>): TryOutcome {
  const { status, headers, body } = answer
  if (isGood(status)) return { ok: true, statusCode: status }
  const errorText = body
    .subarray(0, MAX_ERROR_TEXT * 4)
    .toString('utf8')
    .slice(0, MAX_ERROR_TEXT)
    .trim()
  const askedMs = status === 429 || status === 503 ? (retryAfterMs(headers) ?? undefined) : undefined
  return { ...refusedWith(status, errorText), retryAfterMs: askedMs }
}

const refusedWith = (status: number, errorText: string): Extract<TryOutcome, { readonly ok: false }> => ({
  ...{ ok: false, statusCode: status, error: 'http' },
  message: `answered ${status}${errorText === '' ? '' : `: ${errorText}`}`,
})
