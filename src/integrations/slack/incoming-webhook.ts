import { DELIVERY_TRIES } from '../../domain/delivery/delivery-retry.ts'
import { envelopeIn } from '../../core/delivery/letter.ts'
import type { Post, TryOutcome } from '../../domain/delivery/message.ts'
import { createMask } from '../../domain/secret/mask.ts'
import type { OutboundAnswer, OutboundRequest } from '../../outbound/request.ts'
import { retryAfterMs } from '../../outbound/retry-after.ts'
import { wordsOf } from '../../delivery/chat.ts'

const MOST_ANSWER_BYTES = 64 * 1024
/** Slack cuts what is longer. */
const MOST_TEXT = 40_000

/** Sends messages to an incoming webhook of Slack, or, where a target has none, through a channel. */
export function createSlackPost(
  send: (request: OutboundRequest) => Promise<OutboundAnswer>,
  throughChannel: Post,
): Post {
  return async (message, signal) => {
    if (message.url === '') return throughChannel(message, signal)
    const text = wordsOf(envelopeIn(message.body)).slice(0, MOST_TEXT)
    const answer = await send({
      ...{ url: message.url, method: 'POST', headers: { 'content-type': 'application/json; charset=utf-8' }, signal },
      ...{ body: JSON.stringify({ text: escaped(text) }), timeoutMs: DELIVERY_TRIES.timeoutMs },
      ...{ maxBytes: MOST_ANSWER_BYTES, purpose: message.purpose },
    })
    const outcome = outcomeOf(answer)
    // Whoever knows the address can post there.
    if (outcome === null || outcome.ok) return outcome
    const { href, pathname } = new URL(message.url)
    return { ...outcome, message: createMask([href, pathname]).text(outcome.message) }
  }
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function outcomeOf(answer: OutboundAnswer): TryOutcome | null {
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
  const words = body.subarray(0, 500).toString('utf8').trim()
  const message = `Slack answered ${status}${words === '' ? '' : `: ${words}`}`
  return { ok: false, statusCode: status, error: 'http', message, retryAfterMs: retryAfterMs(headers) ?? undefined }
}
