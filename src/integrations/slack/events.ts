import { createHmac, timingSafeEqual } from 'node:crypto'
import { type HeardMessage, joinPeer } from '../../core/channel/channel.ts'

/** What an event of Slack is to us. */
export type SlackHeard =
  /** Slack asks whether somebody is there. */
  | { readonly kind: 'challenge'; readonly challenge: string }
  | { readonly kind: 'message'; readonly message: HeardMessage }
  | { readonly kind: 'ignored'; readonly why: string }

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads what the Events API sends. Messages to the bot alone are heard, and in channels those that name it; the thread of
 * a message is its conversation. What bots say, our own included, is not heard: two of them would never stop.
 */
export function readSlackEvent(body: unknown): SlackHeard {
  const outer = fieldsOf(body)
  if (outer['type'] === 'url_verification')
    return { kind: 'challenge', challenge: typeof outer['challenge'] === 'string' ? outer['challenge'] : '' }
  if (outer['type'] !== 'event_callback') return ignored(`is of type ${nameOf(outer['type'])}`)
  const event = fieldsOf(outer['event'])
  const isDm = event['channel_type'] === 'im' && event['type'] === 'message'
  if (!isDm && event['type'] !== 'app_mention') return ignored(`has an event of type ${nameOf(event['type'])}`)
  if (event['bot_id'] !== undefined || event['subtype'] !== undefined) return ignored('was not written by a person')
  const [id, user, channel, ts] = [outer['event_id'], event['user'], event['channel'], event['ts']].map(textOf)
  if (id === null || user === null || channel === null || ts === null) return ignored('lacks what a message has')
  if (id === undefined || user === undefined || channel === undefined || ts === undefined) return ignored('is empty')
  const text = withoutMentions(textOf(event['text']) ?? '')
  const attachments = filesOf(event['files'])
  if (text === '' && attachments.length === 0) return ignored('says nothing')
  const thread = textOf(event['thread_ts'])
  return {
    kind: 'message',
    message: {
      eventId: id,
      // A chat with one person is one conversation unless they begin a thread; in a channel every answer opens one.
      chat: { kind: isDm ? 'dm' : 'group', peer: joinPeer(channel, isDm ? thread : (thread ?? ts)), title: null },
      sender: { id: user, name: null },
      messageId: ts,
      ...{ text, attachments },
      // The fraction of Slack's time is a counter, not milliseconds.
      sentAt: null,
    },
  }
}

const ignored = (why: string): SlackHeard => ({ kind: 'ignored', why })

/** The name of a type as far as it is one; anything may stand where it should. */
const nameOf = (type: unknown): string => (typeof type === 'string' ? type.slice(0, 100) : typeof type)

/** The name of the bot, where it begins or ends what is said, and Slack's escapes. */
const withoutMentions = (text: string): string =>
  withoutLastMention(text.replace(/^(?:\s*<@[A-Z0-9]+(?:\|[^>]*)?>)+[\s,:]*/, '').trimEnd())
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim()

/** Looked for at the end alone: from every place of a long text it would take all day. */
function withoutLastMention(text: string): string {
  const at = text.endsWith('>') ? text.lastIndexOf('<@') : -1
  return at !== -1 && /^<@[A-Z0-9]+(?:\|[^>]*)?>$/.test(text.slice(at)) ? text.slice(0, at) : text
}

function filesOf(files: unknown): readonly unknown[] {
  if (!Array.isArray(files)) return []
  return files.flatMap((file: unknown) => {
    const { id, name, mimetype } = fieldsOf(file)
    return typeof id === 'string' ? [{ kind: 'file', file_id: id, name, mime_type: mimetype }] : []
  })
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

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
