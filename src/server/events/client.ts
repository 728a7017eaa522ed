import { Writable } from 'node:stream'
import type { Outlet } from '../http/when-over.ts'
import type { Subscription } from './filter.ts'
import { afterTransaction, type Position } from './frames.ts'

/** `slow`: the send buffer of the client is full. `stuck`: the client has read nothing for a while. */
export type CutOffReason = 'slow' | 'stuck'

/** Where an event stream is written: a response, or a receiver in this process. */
export interface EventOutlet extends Outlet {
  useChunkedEncodingByDefault: boolean
  readonly writeHead: (status: number, headers: Readonly<Record<string, string>>) => unknown
  readonly flushHeaders: () => void
}

/** An event as clients receive it; a `reset` says that some were missed. */
export interface ReceivedEvent {
  readonly kind: string
  readonly subject: string
}

/** Receives the events of a stream in this process, on behalf of a response that is open meanwhile. */
export class EventReceiver extends Writable implements EventOutlet {
  useChunkedEncodingByDefault = false
  readonly socket: Outlet['socket']
  readonly req: Outlet['req']
  readonly #receive: (event: ReceivedEvent) => void

  constructor({ socket, req }: Pick<Outlet, 'socket' | 'req'>, receive: (event: ReceivedEvent) => void) {
    super()
    this.socket = socket ?? req.socket
    this.req = req
    this.#receive = receive
  }

  writeHead(): void {
    // The response has its own headers.
  }

  flushHeaders(): void {
    // The response has its own headers.
  }

  /** A chunk consists of whole frames. */
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    for (const frame of chunk.toString('utf8').split('\n\n')) {
      const data = frame.split('\n').find((line) => line.startsWith('data: '))
      if (data === undefined) continue
      const { kind = 'reset', subject = '' } = JSON.parse(data.slice('data: '.length)) as Partial<ReceivedEvent>
      this.#receive({ kind, subject })
    }
    done()
  }
}

/** A client of the event stream. */
export interface EventClient {
  readonly subscription: Subscription
  /** The last event sent; for a live client, the position at which it became live. */
  position: Position
  /** Whether the client receives events as they happen; until then it catches up. */
  live: boolean
  closed: boolean
  /** The bytes written to the connection at the last check, and the number of checks without progress. */
  writtenBytes: number
  stuckChecks: number
  /** Why the server cut the client off; null if it did not. */
  cutOff: CutOffReason | null
  /** Whether the client is still authorized. */
  readonly isAllowed: () => Promise<boolean>
  readonly response: EventOutlet
}

/** The response headers of every stream. It ends with its connection, so it needs no length. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  connection: 'close',
  // Asks proxies not to buffer the stream.
  'x-accel-buffering': 'no',
}

/** Starts the response. Without chunked encoding, the same bytes can be sent to many clients. */
export function startResponse(response: EventOutlet): void {
  response.useChunkedEncodingByDefault = false
  response.writeHead(200, STREAM_HEADERS)
  response.flushHeaders()
}

/** Sends a chunk. A client with more than `most` unsent bytes is cut off, so that the buffer does not grow. */
export function sendChunk(client: EventClient, chunk: string | Buffer, maxBytes: number): void {
  if (client.closed) return
  if (client.response.writableLength > maxBytes) disconnect(client, 'slow')
  else client.response.write(chunk)
}

/** Ends a stream at once. The client reconnects with its last event id. */
export function disconnect(client: EventClient, why: CutOffReason | null = null): void {
  client.cutOff ??= why
  client.response.destroy()
}

/** Resolves when everything was sent, or the client has disconnected. */
export async function waitForDrain(client: EventClient): Promise<void> {
  const { response } = client
  if (!response.writableNeedDrain || client.closed) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}

/** Whether the connection has made no progress for so many checks in a row although data is waiting. */
export function isStuck(client: EventClient, checks: number): boolean {
  const { response } = client
  const writtenBytes = response.socket?.bytesWritten ?? 0
  client.stuckChecks = response.writableNeedDrain && writtenBytes === client.writtenBytes ? client.stuckChecks + 1 : 0
  client.writtenBytes = writtenBytes
  return client.stuckChecks >= checks
}

/** Advances the position of a client to the end of a transaction. */
export function advance(client: EventClient, no: number): void {
  if (no > client.position.no || client.position.index !== Infinity) client.position = afterTransaction(no)
}
