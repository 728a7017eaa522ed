import { DELIVERY_TRIES } from '../../domain/delivery/delivery-retry.ts'
import { parseEnvelope } from '../../domain/delivery/email-message.ts'
import type { SendOnce, TryOutcome } from '../../domain/delivery/message.ts'
import { createMask } from '../../domain/secret/mask.ts'
import { type OutboundResponse, type OutboundRequest, retryAfterMs } from '../../platform/outbound/request.ts'
import { envelopeText } from '../chat-sender.ts'

const MAX_SLACK_WEBHOOK_RESPONSE_BYTES = 64 * 1024
/** Slack truncates longer texts. */
const MAX_SLACK_WEBHOOK_TEXT = 40_000

/** Sends messages to a Slack incoming webhook or, if the target has none, through a channel. */
export function createSlackSender(
  send: (request: OutboundRequest) => Promise<OutboundResponse>,
  throughChannel: SendOnce,
): SendOnce {
  return async (message, signal) => {
    if (message.url === '') return throughChannel(message, signal)
    const text = envelopeText(parseEnvelope(message.body)).slice(0, MAX_SLACK_WEBHOOK_TEXT)
    const answer = await send({
      ...{ url: message.url, method: 'POST', headers: { 'content-type': 'application/json; charset=utf-8' }, signal },
      ...{ body: JSON.stringify({ text: escaped(text) }), timeoutMs: DELIVERY_TRIES.timeoutMs },
      ...{ maxBytes: MAX_SLACK_WEBHOOK_RESPONSE_BYTES, purpose: message.purpose },
    })
    const outcome = slackWebhookOutcome(answer)
    // The URL is a secret: everyone who knows it can post there.
    if (outcome === null || outcome.ok) return outcome
    const { href, pathname } = new URL(message.url)
    return { ...outcome, message: createMask([href, pathname]).text(outcome.message) }
  }
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function slackWebhookOutcome(answer: OutboundResponse): TryOutcome | null {
  if (answer.kind === 'aborted') return null
  if (answer.kind !== 'answered')
    return {
      ok: false,
      statusCode: null,
      error: answer.kind === 'too_large' ? 'malformed' : answer.kind,
      message: answer.message,
    }
  const { status, headers, body } = answer
  if (status === 200) return { ok: true, statusCode: status }
  const responseText = body.subarray(0, 500).toString('utf8').trim()
  const message = `Slack answered ${status}${responseText === '' ? '' : `: ${responseText}`}`
  return { ok: false, statusCode: status, error: 'http', message, retryAfterMs: retryAfterMs(headers) ?? undefined }
}
