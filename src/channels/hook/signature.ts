import { createHmac, timingSafeEqual } from 'node:crypto'

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
