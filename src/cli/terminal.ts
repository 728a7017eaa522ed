import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { Instant } from '../domain/instant.ts'

/** The environment of a command. Tests pass their own. */
export interface Terminal {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly now: () => Instant
  /** Left out: there are no signals. */
  readonly signals?: Signals
  /** Left out: those of this process. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
}

/** A signal that a long-running command handles. */
export type Signal = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGUSR1'

export interface Signals {
  /** Receives all signals, including those that arrived before. */
  readonly listen: (listener: (signal: Signal) => void) => void
}

/** Exit codes; `differs` only with `--exit-code`. */
export const EXIT = { ok: 0, refused: 1, usage: 2, unreachable: 3, differs: 4 } as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Writes, and waits while the stream is full. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}

/** Whether the stream is a terminal. */
export const isTerminal = (stream: Writable): boolean => 'isTTY' in stream && stream.isTTY === true
