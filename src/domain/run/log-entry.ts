import type { Instant } from '../instant.ts'

/** The levels of a log line, least important first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** A log line, as an attempt reports it among its progress events. */
export interface LogEvent {
  readonly type: 'log'
  readonly level: LogLevel
  readonly message: string
  /** Where the line comes from, such as `stderr`. */
  readonly source?: string
  readonly fields?: unknown
}

/** Creates a log line. */
export const logEvent = (
  level: LogLevel,
  message: string,
  more: Pick<LogEvent, 'source' | 'fields'> = {},
): LogEvent => ({
  type: 'log',
  level,
  message,
  ...(more.source === undefined ? {} : { source: more.source }),
  ...(more.fields === undefined ? {} : { fields: more.fields }),
})

/** What an attempt printed: an event, and an id that is unique in its run and tells its time. */
export interface LogEntry {
  readonly id: string
  /** Text of the output, a `LogEvent`, or any other JSON: a step. */
  readonly event: unknown
}

/** The digits of an id that are its time, in microseconds to the base 36. */
const TIME_DIGITS = 11

/** Creates ids that increase on a node even within a millisecond. They end with a mark of the node. */
export function createEntryIds(now: () => Instant, mark: () => string): () => string {
  let last = 0
  return () => {
    last = Math.max(last + 1, now() * 1_000)
    return last.toString(36).padStart(TIME_DIGITS, '0') + mark()
  }
}

/** The time of an entry. */
export const entryTimeOf = (id: string): string =>
  new Date(Math.floor(Number.parseInt(id.slice(0, TIME_DIGITS), 36) / 1_000)).toISOString()

/** The parts of a progress event. */
export interface EventParts {
  readonly kind: 'output' | 'log' | 'step'
  /** The words of the output, or the message of the log line. */
  readonly text: string | null
  readonly level: LogLevel | null
  readonly source: string | null
  /** The fields of the log line, or the step. */
  readonly data: unknown
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Tells words, log lines and steps apart. A log line without a known level has the level `info`. */
export function partsOfEvent(event: unknown): EventParts {
  if (typeof event === 'string') return { kind: 'output', text: event, level: null, source: null, data: null }
  if (!isObject(event) || event['type'] !== 'log' || typeof event['message'] !== 'string')
    return { kind: 'step', text: null, level: null, source: null, data: event ?? null }
  const { level, message, source, fields } = event
  return {
    kind: 'log',
    text: message,
    level: LOG_LEVELS.find((known) => known === level) ?? 'info',
    source: typeof source === 'string' ? source : null,
    data: fields ?? null,
  }
}

/** An entry as the API shows it. */
export interface ShownEntry extends EventParts {
  readonly id: string
  readonly attempt: number
  readonly at: string
}

/** The entry of an attempt as the API shows it. */
export const showEntry = ({ id, event }: LogEntry, attempt: number): ShownEntry => ({
  id,
  attempt,
  at: entryTimeOf(id),
  ...partsOfEvent(event),
})

/** The log entries in an event `run.output`; null if its output was cut, so that they must be read from the log. */
export function entriesOfEvent({
  data,
}: {
  readonly data: Readonly<Record<string, unknown>>
}): readonly ShownEntry[] | null {
  const { attempt, output, ids } = data
  if (!Array.isArray(output) || !Array.isArray(ids) || typeof attempt !== 'number') return null
  return output.map((event, index) => showEntry({ id: String(ids[index]), event }, attempt))
}

/** Joins consecutive words into entries with the id of their first piece: a model emits fifty pieces a second. */
export function joinWords(pieces: readonly LogEntry[]): readonly LogEntry[] {
  const joined: LogEntry[] = []
  let words: { readonly id: string; readonly texts: string[] } | null = null
  const close = (): void => {
    if (words !== null) joined.push({ id: words.id, event: words.texts.join('') })
    words = null
  }
  for (const { id, event } of pieces)
    if (typeof event === 'string') {
      words ??= { id, texts: [] }
      words.texts.push(event)
    } else {
      close()
      joined.push({ id, event })
    }
  close()
  return joined
}

/** The longest line that is kept together. */
const MAX_LINE_LENGTH = 8_192

/** Splits a text that arrives in pieces into lines; empty lines are left out. */
export function createLines(onLine: (line: string) => void): {
  readonly push: (piece: string) => void
  /** Passes on a last line without an end. */
  readonly end: () => void
} {
  let rest = ''
  const pass = (line: string): void => {
    if (line.trim() !== '') onLine(line)
  }
  return {
    push: (piece) => {
      const lines = (rest + piece).split(/\r?\n/)
      rest = lines.pop() ?? ''
      lines.forEach(pass)
      while (rest.length > MAX_LINE_LENGTH) {
        pass(rest.slice(0, MAX_LINE_LENGTH))
        rest = rest.slice(MAX_LINE_LENGTH)
      }
    },
    end: () => {
      pass(rest)
      rest = ''
    },
  }
}
