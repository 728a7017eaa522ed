import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { Instant } from '../domain/instant.ts'

/** What a command may touch of the outside world. A test hands in its own. */
export interface Terminal {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly now: () => Instant
  /** Left out: nobody sends any. */
  readonly signals?: Signals
  /** Left out: those of this process. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
}

/** What the operating system tells a command that goes on until it is told to end. */
export type Signal = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGUSR1'

export interface Signals {
  /** Hears every signal from now on, and those that came before anybody was listening. */
  readonly listen: (hear: (signal: Signal) => void) => void
}

/** How a command ended, as other programs see it; `differs` only where it was asked for. */
export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3, differs: 4 } as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Writes, and waits while the reader is slower than we are. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}

/** Whether a person reads it. */
export const isTerminal = (stream: Writable): boolean => 'isTTY' in stream && stream.isTTY === true
