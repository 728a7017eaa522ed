import { createHmac, timingSafeEqual } from 'node:crypto'

/** A request is not believed when its time is further away than this. */
const SLACK_TOLERANCE_SECONDS = 300

/** What is wrong with a request that says it comes from Slack, or null. */
export function slackFlaw(
  request: {
    readonly timestamp: string | undefined
    readonly signature: string | undefined
    readonly body: Uint8Array
    /** In milliseconds. */
    readonly now: number
  },
  signingSecret: string,
): string | null {
  const { timestamp, signature, body, now } = request
  if (timestamp === undefined || signature === undefined)
    return 'It carries no signature of Slack: X-Slack-Request-Timestamp and X-Slack-Signature are missing'
  if (!/^\d{1,12}$/.test(timestamp)) return 'X-Slack-Request-Timestamp is no number of seconds'
  if (Math.abs(now / 1_000 - Number(timestamp)) > SLACK_TOLERANCE_SECONDS)
    return `X-Slack-Request-Timestamp is more than ${SLACK_TOLERANCE_SECONDS} s away from now`
  const expected = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(body).digest('hex')
  const [given, wanted] = [Buffer.from(signature), Buffer.from(`v0=${expected}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
    ? null
    : 'The signature does not fit the body: is it the signing secret of this app?'
}
