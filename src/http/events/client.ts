import type { ServerResponse } from 'node:http'
import type { Wanted } from '../../server/events/filter.ts'
import { wholeTurn, type Position } from './position.ts'

/** More waits for them than they may leave waiting, or they have taken nothing at all for a while. */
export type CutOff = 'slow' | 'stuck'

/** Somebody who listens. */
export interface Client {
  readonly wanted: Wanted
  /** What they have been told up to; of somebody who is live, when they came to be so. */
  position: Position
  /** Whether they are told of turns as they come; until then they catch up. */
  live: boolean
  closed: boolean
  /** How many bytes their connection had taken when it was last looked at, and how often it was no more. */
  taken: number
  stuck: number
  /** Why we ended it, if we did because of them. */
  cutOff: CutOff | null
  /** Whether they still may listen. */
  readonly isAllowed: () => Promise<boolean>
  readonly outlet: ServerResponse
}

/** The head of every stream. It ends with its connection, so nothing needs to be said about its length. */
const HEAD = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  connection: 'close',
  // Proxies that collect answers before they pass them on are asked not to.
  'x-accel-buffering': 'no',
}

/** Begins the answer. Without chunks: what is sent to many is then the same bytes for each of them. */
export function begin(outlet: ServerResponse): void {
  outlet.useChunkedEncodingByDefault = false
  outlet.writeHead(200, HEAD)
  outlet.flushHeaders()
}

/** Sends something. Somebody for whom more than `most` bytes wait already is cut off: what is kept for them must not grow. */
export function send(client: Client, chunk: string | Buffer, most: number): void {
  if (client.closed) return
  if (client.outlet.writableLength > most) cut(client, 'slow')
  else client.outlet.write(chunk)
}

/** Ends a stream at once. Whoever listened comes back with the last id they have. */
export function cut(client: Client, why: CutOff | null = null): void {
  client.cutOff ??= why
  client.outlet.destroy()
}

/** Resolves when everything that was sent has been taken, or nobody is there any more. */
export async function drained(client: Client): Promise<void> {
  const { outlet } = client
  if (!outlet.writableNeedDrain || client.closed) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      outlet.off('drain', done)
      outlet.off('close', done)
      resolve()
    }
    outlet.on('drain', done)
    outlet.on('close', done)
  })
}

/** Whether their connection has taken nothing of what waits for it, so many looks in a row. */
export function isStuck(client: Client, looks: number): boolean {
  const { outlet } = client
  const taken = outlet.socket?.bytesWritten ?? 0
  client.stuck = outlet.writableNeedDrain && taken === client.taken ? client.stuck + 1 : 0
  client.taken = taken
  return client.stuck >= looks
}

/** They have been told everything up to the end of a turn. */
export function advance(client: Client, no: number): void {
  if (no > client.position.no || client.position.index !== Infinity) client.position = wholeTurn(no)
}
