import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { Instant } from '../core/instant.ts'

/** What a command may touch of the outside world. A test hands in its own. */
export interface Terminal {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly now: () => Instant
}

/** How a command ended, as other programs see it. */
export const EXIT = { ok: 0, refused: 1, usage: 2 } as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Writes, and waits while the reader is slower than we are. */
export async function write(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}
