import type { OutBody } from '../../domain/delivery/message.ts'

/** A message for people: what it is about in one line, what there is to say, and what it is found again by. */
export interface Letter {
  readonly subject: string
  readonly text: string
  readonly details: readonly string[]
}

/** Everything that is sent, whatever to: what it is, since when it is so, and the thing itself. */
export interface Envelope {
  readonly type: string
  readonly timestamp: string
  readonly data: Facts
  /** What people call what it is about. */
  readonly about?: string | null
}

type Facts = Readonly<Record<string, unknown>>

const LONGEST_SUBJECT = 150
/** Of each part of a digest so much is written out; the whole is in the run. */
const LONGEST_PART = 2_000

/** The envelope of a message that is not a callback. */
export const envelopeIn = (body: OutBody): Envelope => (typeof body === 'string' ? JSON.parse(body) : body) as Envelope

/** Writes for people what programs get as JSON. */
export function writeLetter(envelope: Envelope): Letter {
  switch (envelope.type) {
    case 'run.completed':
      return runLetter(envelope)
    case 'alert.raised':
    case 'alert.cleared':
      return alertLetter(envelope)
    case 'digest':
      return digestLetter(envelope)
    case 'target.test':
      return {
        subject: 'A test of this target',
        text: `Messages for the target ${words(envelope.data['name'])} arrive here.`,
        details: [`target ${words(envelope.data['target_id'])}`],
      }
    default:
      return { subject: oneLine(envelope.type), text: words(envelope.data), details: [] }
  }
}

const OUTCOMES: Readonly<Record<string, string>> = {
  success: 'succeeded',
  failed: 'failed',
  timeout: 'timed out',
  cancelled: 'was cancelled',
  expired: 'expired before it could start',
  dropped: 'was pushed out of its queue',
}

function runLetter({ data, about }: Envelope): Letter {
  const status = words(data['status'])
  const name = about ?? words(data['agent_id'])
  const details = [
    `run ${words(data['id'])}`,
    ...(data['schedule_id'] === null || data['schedule_id'] === undefined
      ? []
      : [`schedule ${words(data['schedule_id'])}`]),
    ...(typeof data['nominal_time'] === 'string' ? [`for ${data['nominal_time']}`] : []),
    ...(typeof data['finished_at'] === 'string' ? [`ended ${data['finished_at']}`] : []),
  ]
  return { subject: oneLine(`${name} ${OUTCOMES[status] ?? status}`), text: textOfRun(data, status), details }
}

function textOfRun(data: Facts, status: string): string {
  if (status === 'success') return words(data['output'] ?? data['result_summary'] ?? '') || '(no output)'
  const code = words(data['error_code'] ?? data['reason'] ?? status)
  const message = words(data['error_message'] ?? '')
  const attempts = typeof data['attempt'] === 'number' ? ` (attempt ${data['attempt']})` : ''
  return `${code}${attempts}${message === '' ? '' : `: ${message}`}`
}

function alertLetter({ type, data, about }: Envelope): Letter {
  const isOver = type === 'alert.cleared'
  const what = words(data['kind']).replaceAll('_', ' ')
  const name = about ?? words(data['subject_id'])
  return {
    subject: oneLine(`${isOver ? 'Cleared' : 'Alert'}: ${what}: ${name}`),
    text: words(isOver ? data['cleared_sentence'] : data['sentence']),
    details: [
      `alert ${words(data['id'])}`,
      `${words(data['subject_kind'])} ${words(data['subject_id'])}`,
      ...(typeof data['raised_at'] === 'string' ? [`raised ${data['raised_at']}`] : []),
      ...(typeof data['cleared_at'] === 'string' ? [`cleared ${data['cleared_at']}`] : []),
    ],
  }
}

function digestLetter({ data }: Envelope): Letter {
  const items = (data['items'] as readonly Envelope[] | undefined) ?? []
  const parts = items.map((item, index) => {
    const { subject, text, details } = writeLetter(item)
    return `${index + 1}. ${subject} (${item.timestamp})\n${cut(text)}\n   ${details[0] ?? ''}`
  })
  return {
    subject: `${items.length} messages from quiet hours`,
    text: parts.join('\n\n'),
    details: [`until ${words(data['until'])}`],
  }
}

const cut = (text: string): string => (text.length > LONGEST_PART ? `${text.slice(0, LONGEST_PART)} …` : text)

/** A text as it is; everything else as JSON that people can read. */
function words(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value, null, 2)
}

/** Nothing in a subject may end it: it stands in a header. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
  return line.length > LONGEST_SUBJECT ? `${line.slice(0, LONGEST_SUBJECT - 1)}…` : line
}
