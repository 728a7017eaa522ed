import { createHmac, timingSafeEqual } from 'node:crypto'
import { type ReceivedChannelMessage, joinPeer } from '../../domain/channel/channel.ts'

/** The content of a Slack event. */
export type SlackEvent =
  /** Slack verifies the URL. */
  | { readonly kind: 'challenge'; readonly challenge: string }
  | { readonly kind: 'message'; readonly message: ReceivedChannelMessage }
  | { readonly kind: 'ignored'; readonly why: string }

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads a request of the Events API. Accepts direct messages to the bot, and messages in channels that mention it; the
 * session is that of the thread. Messages of bots are ignored, because two bots could answer each other forever.
 */
export function readSlackEvent(body: unknown): SlackEvent {
  const outer = fieldsOf(body)
  if (outer['type'] === 'url_verification')
    return { kind: 'challenge', challenge: typeof outer['challenge'] === 'string' ? outer['challenge'] : '' }
  if (outer['type'] !== 'event_callback') return ignored(`is of type ${typeNameOf(outer['type'])}`)
  const event = fieldsOf(outer['event'])
  const isDm = event['channel_type'] === 'im' && event['type'] === 'message'
  if (!isDm && event['type'] !== 'app_mention') return ignored(`has an event of type ${typeNameOf(event['type'])}`)
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
      // A direct chat is one session unless a thread is started; in a channel every answer starts a thread.
      chat: { kind: isDm ? 'dm' : 'group', peer: joinPeer(channel, isDm ? thread : (thread ?? ts)), title: null },
      sender: { id: user, name: null },
      messageId: ts,
      ...{ text, attachments },
      // The fraction of Slack's timestamp is a counter, not milliseconds.
      sentAt: null,
    },
  }
}

const ignored = (why: string): SlackEvent => ({ kind: 'ignored', why })

/** The name of a type for the log, if it is a string. */
const typeNameOf = (type: unknown): string => (typeof type === 'string' ? type.slice(0, 100) : typeof type)

/** Removes a mention of the bot at the beginning or the end, and unescapes Slack's entities. */
const withoutMentions = (text: string): string =>
  withoutLastMention(text.replace(/^(?:\s*<@[A-Z0-9]+(?:\|[^>]*)?>)+[\s,:]*/, '').trimEnd())
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim()

/** Searched only at the end, because a search from every position of a long text would be slow. */
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

/** The maximum difference between the timestamp of a request and now. */
const SLACK_TOLERANCE_SECONDS = 300

/** Verifies a request from Slack. Returns the error, or null. */
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
    return 'The request is not signed; X-Slack-Request-Timestamp and X-Slack-Signature are required'
  if (!/^\d{1,12}$/.test(timestamp)) return 'X-Slack-Request-Timestamp is not a number of seconds'
  if (Math.abs(now / 1_000 - Number(timestamp)) > SLACK_TOLERANCE_SECONDS)
    return `X-Slack-Request-Timestamp is more than ${SLACK_TOLERANCE_SECONDS} s away from now`
  const expected = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(body).digest('hex')
  const [given, wanted] = [Buffer.from(signature), Buffer.from(`v0=${expected}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
    ? null
    : 'The signature does not match the body; check the signing secret of the channel'
}
