import { type Logger, pino } from 'pino'

export type Level = 'debug' | 'info' | 'warn' | 'error'

/** One thing that is said, with what it is about. */
export interface LogEntry {
  readonly level: Level
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** What happened, and what it is about as the inside of a JSON object: `"run":"run_1","status":"queued"`. */
export type FinishedLine = readonly [message: string, facts: string]

/** Where everything that is said goes. */
export interface ServerLog {
  readonly log: (entry: LogEntry) => void
  /** Whether anybody would read what is said at this level: who has to work for it asks first. */
  readonly isOn: (level: Level) => boolean
  readonly setLevel: (level: Level | 'silent') => void
  /** Lines at level `info` that are finished already, for whoever has thousands of them: `[message, facts as JSON]`. */
  readonly info: (lines: readonly FinishedLine[]) => void
  /** Resolves when everything is written, unless nobody takes it. To be called last. */
  readonly end: () => Promise<void>
}

/** Bytes that are collected before they are written; what waits longer than FLUSH_MS is written anyway. */
const BATCH_BYTES = 65_536
/** Bytes that are written at once at most; each write wakes another thread. Has to be above what is collected. */
const WRITE_BYTES = 4 * BATCH_BYTES
const FLUSH_MS = 200
const LONGEST_END_MS = 2_000
/** What waits to be written when the reader is slow. What would go beyond it is counted and not written. */
const MOST_WAITING_BYTES = 8 * 1_048_576

export interface ServerLogOptions {
  readonly level: Level | 'silent'
  /** For people: short lines, written at once. Otherwise one JSON object per line, written in batches. */
  readonly pretty: boolean
  /** The file descriptor to write to, or a function in its place. */
  readonly to: number | ((text: string) => void)
}

/** Opens the log of the server. Logging never waits for whoever reads it. */
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
    logger.warn({ lost }, 'Log lines were lost: whoever reads them is slower than they come')
  })
  return {
    log: ({ level: of, message, facts }) => {
      logger[of](facts, message)
      if (of === 'error') sink.hurry()
    },
    info: (lines) => {
      // The same form as pino's, at a tenth of its cost: the time and the level are the same for all of them.
      const begin = `{"level":"info"${pino.stdTimeFunctions.isoTime()},`
      let text = ''
      for (const [message, facts] of lines) text += `${begin}${facts},"msg":"${message}"}\n`
      sink.write(text)
    },
    isOn: (of) => logger.isLevelEnabled(of),
    setLevel: (next) => {
      logger.level = next
    },
    end: sink.end,
  }
}

interface Sink {
  /** Takes whole lines, one or many. */
  readonly write: (text: string) => void
  /** Tells how many lines were lost, once there is room again. */
  readonly onLost: (hear: (count: number) => void) => void
  readonly hurry: () => void
  readonly end: () => Promise<void>
}

const nothing = (): void => undefined

/** Writes what still waits on the spot. */
function flushNow(destination: ReturnType<typeof pino.destination>, done: () => void): void {
  try {
    destination.flushSync()
  } catch {
    // The process ends; there is nothing to be done about it.
  }
  done()
}

function openSink(to: number | ((text: string) => void), pretty: boolean): Sink {
  if (typeof to === 'function') {
    const write = pretty ? (text: string) => to(prettyText(text)) : to
    return { write, onLost: nothing, hurry: nothing, end: () => Promise.resolve() }
  }
  const destination = pino.destination({
    fd: to,
    sync: false,
    // One and not nothing: otherwise it does not say when a write has ended.
    minLength: pretty ? 1 : BATCH_BYTES,
    maxWrite: WRITE_BYTES,
    periodicFlush: pretty ? 0 : FLUSH_MS,
    maxLength: MOST_WAITING_BYTES,
  })
  let lost = 0
  destination.on('drop', (text: string) => (lost += text.split('\n').length - 1))
  // A closed pipe or terminal is nobody who reads; there is nowhere left to say it. What is left is not flushed before the
  // end of the process then: that would be tried for ever.
  const flushSync = destination.flushSync.bind(destination)
  destination.on('error', () => (destination.flushSync = nothing))
  destination.on('write', () => (destination.flushSync = flushSync))
  return {
    write: (text) => void destination.write(pretty ? prettyText(text) : text),
    onLost: (hear) => {
      destination.on('drain', () => {
        if (lost === 0) return
        const count = lost
        lost = 0
        hear(count)
      })
    },
    hurry: () => {
      destination.flush()
    },
    end: () =>
      new Promise((resolve) => {
        // Whoever does not read would keep us waiting for ever.
        const timer = setTimeout(resolve, lost > 0 ? 0 : LONGEST_END_MS)
        const done = (): void => {
          clearTimeout(timer)
          resolve()
        }
        // What is being written has to be waited for; what has come since is too little for a batch and is written now.
        destination.flush(() => {
          flushNow(destination, done)
        })
      }),
  }
}

const COLOURS: Readonly<Record<string, string>> = {
  debug: '\u001b[90m',
  info: '\u001b[36m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
}
const DIM = '\u001b[2m'
const PLAIN = '\u001b[0m'

/** Lines of the log for people: the time of day, the level, what happened, and what it is about. */
const prettyText = (text: string): string => text.trimEnd().split('\n').map(prettyLine).join('')

function prettyLine(line: string): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as Readonly<Record<string, unknown>>
  const word = String(level)
  const about = Object.entries(facts)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${visible(name)}=${shown(value)}`)
    .join(' ')
  const colour = COLOURS[word] ?? ''
  const clock = String(time).slice(11, 19)
  return `${DIM}${clock}${PLAIN} ${colour}${word.padEnd(5)}${PLAIN} ${visible(String(msg))}${about === '' ? '' : ` ${DIM}${about}${PLAIN}`}\n`
}

function shown(value: unknown): string {
  if (typeof value === 'string' && /^[\w:.@/+-]+$/.test(value)) return value
  return visible(JSON.stringify(value))
}

/**
 * What others have written must not move the cursor, colour the terminal or turn the line around. JSON escapes only the
 * first 32 of the control characters; the one at 9b begins a command as well as ESC [ does.
 */
const visible = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, ' ')
