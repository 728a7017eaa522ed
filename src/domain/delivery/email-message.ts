import type { MessageBody } from './message.ts'

/** A message for people: a subject, a text, and details to look it up by. */
export interface TextMessage {
  readonly subject: string
  readonly text: string
  readonly details: readonly string[]
}

/** The common shape of all outgoing messages except callbacks. */
export interface Envelope {
  readonly type: string
  readonly timestamp: string
  readonly data: EnvelopeData
  /** The display name of the subject. */
  readonly about?: string | null
}

type EnvelopeData = Readonly<Record<string, unknown>>

const MAX_SUBJECT_LENGTH = 150
/** The maximum length of each part of a digest; the run has the full text. */
const MAX_PART_LENGTH = 2_000

/** The envelope of a message that is not a callback. */
export const parseEnvelope = (body: MessageBody): Envelope =>
  (typeof body === 'string' ? JSON.parse(body) : body) as Envelope

/** Renders an envelope as text for people. */
export function renderTextMessage(envelope: Envelope): TextMessage {
  switch (envelope.type) {
    case 'run.completed':
      return renderRun(envelope)
    case 'alert.raised':
    case 'alert.cleared':
      return renderAlert(envelope)
    case 'digest':
      return renderDigest(envelope)
    case 'target.test':
      return {
        subject: 'Test message',
        text: `Messages to target ${textOfValue(envelope.data['name'])} arrive here.`,
        details: [`target ${textOfValue(envelope.data['target_id'])}`],
      }
    default:
      return { subject: subjectLine(envelope.type), text: textOfValue(envelope.data), details: [] }
  }
}

const ENDING_TEXTS: Readonly<Record<string, string>> = {
  success: 'succeeded',
  failed: 'failed',
  timeout: 'timed out',
  cancelled: 'was cancelled',
  expired: 'expired before it could start',
  dropped: 'was dropped from its full queue',
}

function renderRun({ data, about }: Envelope): TextMessage {
  const status = textOfValue(data['status'])
  const name = about ?? textOfValue(data['agent_id'])
  const details = [
    `run ${textOfValue(data['id'])}`,
    ...(data['schedule_id'] === null || data['schedule_id'] === undefined
      ? []
      : [`schedule ${textOfValue(data['schedule_id'])}`]),
    ...(typeof data['nominal_time'] === 'string' ? [`for ${data['nominal_time']}`] : []),
    ...(typeof data['finished_at'] === 'string' ? [`ended ${data['finished_at']}`] : []),
  ]
  return { subject: subjectLine(`${name} ${ENDING_TEXTS[status] ?? status}`), text: textOfRun(data, status), details }
}

function textOfRun(data: EnvelopeData, status: string): string {
  if (status === 'success') return textOfValue(data['output'] ?? data['result_summary'] ?? '') || '(no output)'
  const code = textOfValue(data['error_code'] ?? data['reason'] ?? status)
  const message = textOfValue(data['error_message'] ?? '')
  const attempts = typeof data['attempt'] === 'number' ? ` (attempt ${data['attempt']})` : ''
  return `${code}${attempts}${message === '' ? '' : `: ${message}`}`
}

function renderAlert({ type, data, about }: Envelope): TextMessage {
  const isOver = type === 'alert.cleared'
  const what = textOfValue(data['kind']).replaceAll('_', ' ')
  const name = about ?? textOfValue(data['subject_id'])
  return {
    subject: subjectLine(`${isOver ? 'Cleared' : 'Alert'}: ${what}: ${name}`),
    text: textOfValue(isOver ? data['cleared_sentence'] : data['sentence']),
    details: [
      `alert ${textOfValue(data['id'])}`,
      `${textOfValue(data['subject_kind'])} ${textOfValue(data['subject_id'])}`,
      ...(typeof data['raised_at'] === 'string' ? [`raised ${data['raised_at']}`] : []),
      ...(typeof data['cleared_at'] === 'string' ? [`cleared ${data['cleared_at']}`] : []),
    ],
  }
}

function renderDigest({ data }: Envelope): TextMessage {
  const items = (data['items'] as readonly Envelope[] | undefined) ?? []
  const parts = items.map((item, index) => {
    const { subject, text, details } = renderTextMessage(item)
    return `${index + 1}. ${subject} (${item.timestamp})\n${shorten(text)}\n   ${details[0] ?? ''}`
  })
  return {
    subject: `${items.length} messages from quiet hours`,
    text: parts.join('\n\n'),
    details: [`until ${textOfValue(data['until'])}`],
  }
}

const shorten = (text: string): string => (text.length > MAX_PART_LENGTH ? `${text.slice(0, MAX_PART_LENGTH)} …` : text)

/** Strings as they are, everything else as indented JSON. */
function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value, null, 2)
}

/** Control characters are removed, because a subject is a mail header. */
function subjectLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > MAX_SUBJECT_LENGTH ? `${line.slice(0, MAX_SUBJECT_LENGTH - 1)}…` : line
}
