import { type Logger, pino } from 'pino'

export type Level = 'debug' | 'info' | 'warn' | 'error'

/** A log message with its fields. */
export interface LogEntry {
  readonly level: Level
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** A message, and its fields as the inside of a JSON object: `"run":"run_1","status":"queued"`. */
export type FinishedLine = readonly [message: string, facts: string]

/** The log of the server. */
export interface ServerLog {
  readonly log: (entry: LogEntry) => void
  /** Whether this level is logged, to skip expensive preparations. */
  readonly isOn: (level: Level) => boolean
  readonly setLevel: (level: Level | 'silent') => void
  /** Writes preformatted lines at level `info`, for high volumes. */
  readonly info: (lines: readonly FinishedLine[]) => void
  /** Resolves when everything is written, or after a time limit if the reader is stuck. Call last. */
  readonly end: () => Promise<void>
}

/** Buffer size before a write; the buffer is also written every FLUSH_MS. */
const BATCH_BYTES = 65_536
/** Maximum size of a write, each of which wakes another thread. Must be above BATCH_BYTES. */
const WRITE_BYTES = 4 * BATCH_BYTES
const FLUSH_MS = 200
const MAX_END_MS = 2_000
/** Maximum size of buffered lines when the reader is slow; lines beyond it are dropped and counted. */
const MAX_BUFFERED_BYTES = 8 * 1_048_576

export interface ServerLogOptions {
  readonly level: Level | 'silent'
  /** True: short lines for people, unbuffered. False: one JSON object per line, buffered. */
  readonly pretty: boolean
  /** The file descriptor or function to write to. */
  readonly to: number | ((text: string) => void)
}

/** Creates the log of the server. Logging never waits for the reader. */
export function createServerLog({ level, pretty, to }: ServerLogOptions): ServerLog {
  const sink = openSink(to, pretty)
  const logger: Logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: sink.write },
  )
  sink.onLost((lost) => {
    logger.warn({ lost }, 'Log lines were dropped because the reader is too slow')
  })
  return {
    log: ({ level: entryLevel, message, facts }) => {
      logger[entryLevel](facts, message)
      if (entryLevel === 'error') sink.flush()
    },
    info: (lines) => {
      // Same format as pino at a tenth of the cost, because all lines share time and level.
      const begin = `{"level":"info"${pino.stdTimeFunctions.isoTime()},`
      let text = ''
      for (const [message, facts] of lines) text += `${begin}${facts},"msg":"${message}"}\n`
      sink.write(text)
    },
    isOn: (entryLevel) => logger.isLevelEnabled(entryLevel),
    setLevel: (next) => {
      logger.level = next
    },
    end: sink.end,
  }
}

interface Sink {
  /** Writes one or more complete lines. */
  readonly write: (text: string) => void
  /** Calls the listener with the number of dropped lines, once there is room again. */
  readonly onLost: (listener: (count: number) => void) => void
  readonly flush: () => void
  readonly end: () => Promise<void>
}

const noop = (): void => undefined

/** Writes buffered lines synchronously. */
function flushNow(destination: ReturnType<typeof pino.destination>, done: () => void): void {
  try {
    destination.flushSync()
  } catch {
    // The process is ending, so the error cannot be reported.
  }
  done()
}

function openSink(to: number | ((text: string) => void), pretty: boolean): Sink {
  if (typeof to === 'function') {
    const write = pretty ? (text: string) => to(prettyText(text)) : to
    return { write, onLost: noop, flush: noop, end: () => Promise.resolve() }
  }
  const destination = pino.destination({
    fd: to,
    sync: false,
    // 1 instead of 0, because with 0 there is no event after a write.
    minLength: pretty ? 1 : BATCH_BYTES,
    maxWrite: WRITE_BYTES,
    periodicFlush: pretty ? 0 : FLUSH_MS,
    maxLength: MAX_BUFFERED_BYTES,
  })
  let lost = 0
  destination.on('drop', (text: string) => (lost += text.split('\n').length - 1))
  // The reader is gone, and there is nowhere to report it. Disables the flush before the process ends, which would retry
  // forever.
  const flushSync = destination.flushSync.bind(destination)
  destination.on('error', () => (destination.flushSync = noop))
  destination.on('write', () => (destination.flushSync = flushSync))
  return {
    write: (text) => void destination.write(pretty ? prettyText(text) : text),
    onLost: (listener) => {
      destination.on('drain', () => {
        if (lost === 0) return
        const count = lost
        lost = 0
        listener(count)
      })
    },
    flush: () => {
      destination.flush()
    },
    end: () =>
      new Promise((resolve) => {
        // A stuck reader must not block the end of the process.
        const timer = setTimeout(resolve, lost > 0 ? 0 : MAX_END_MS)
        const done = (): void => {
          clearTimeout(timer)
          resolve()
        }
        // Waits for the running write, then writes the rest, which is less than a batch.
        destination.flush(() => {
          flushNow(destination, done)
        })
      }),
  }
}

const LEVEL_COLORS: Readonly<Record<string, string>> = {
  debug: '\u001b[90m',
  info: '\u001b[36m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
}
const DIM = '\u001b[2m'
const RESET = '\u001b[0m'

/** Formats JSON log lines for people: time of day, level, message and fields. */
const prettyText = (text: string): string => text.trimEnd().split('\n').map(prettyLine).join('')

function prettyLine(line: string): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as Readonly<Record<string, unknown>>
  const levelName = String(level)
  const about = Object.entries(facts)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${withoutControlCharacters(name)}=${logValue(value)}`)
    .join(' ')
  const colour = LEVEL_COLORS[levelName] ?? ''
  const clock = String(time).slice(11, 19)
  return `${DIM}${clock}${RESET} ${colour}${levelName.padEnd(5)}${RESET} ${withoutControlCharacters(String(msg))}${about === '' ? '' : ` ${DIM}${about}${RESET}`}\n`
}

function logValue(value: unknown): string {
  if (typeof value === 'string' && /^[\w:.@/+-]+$/.test(value)) return value
  return withoutControlCharacters(JSON.stringify(value))
}

/**
 * Replaces control characters, so that untrusted text cannot control the terminal. JSON escapes only the first 32 of them,
 * but U+009B also starts a terminal command.
 */
const withoutControlCharacters = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, ' ')
