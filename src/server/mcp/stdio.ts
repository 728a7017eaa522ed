import { PassThrough, type Readable, type Writable } from 'node:stream'
import { ProtocolError } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createToolServer, type ServerFeatures } from './server.ts'

/** Options of a server on stdin and stdout. */
export interface StdioOptions {
  readonly stdin: Readable
  /** Only protocol messages are written to it. */
  readonly stdout: Writable
  readonly version: string
  readonly features: ServerFeatures
  /** Called with errors that cannot be reported to a client. */
  readonly failed: (error: Error) => void
}

/** The maximum size of a message; the HTTP server has a limit as well. */
const MAX_MESSAGE_BYTES = 2 * 1_048_576

const nextImmediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Serves the tools on stdin and stdout. Resolves when the input has ended and every request was answered. */
export async function serveTools({ stdin, stdout, version, features, failed }: StdioOptions): Promise<void> {
  const pending = new Set<Promise<unknown>>()
  const track = <T>(answer: Promise<T>): Promise<T> => {
    pending.add(answer)
    const done = (): void => void pending.delete(answer)
    answer.then(done, done)
    return answer
  }
  const tracked: ServerFeatures = {
    subscribe: false,
    call: (name, input) => track(features.call(name, input)),
    callAsTask: (name, input, task) => track(features.callAsTask(name, input, task)),
    answer: (method, params, scope) => track(features.answer(method, params, scope)),
  }
  // Ending the transport's input would cancel open requests, so the end is delayed until they are answered.
  const input = new PassThrough()
  const transport = new StdioServerTransport(input, stdout, { maxBufferSize: MAX_MESSAGE_BYTES })
  const handle = serveStdio((context) => createToolServer(version, tracked, context), {
    transport,
    maxSubscriptions: 0,
    onerror: failed,
  })
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, resolve)
    input.once('close', resolve)
    stdin.pipe(input, { end: false })
  })
  await nextImmediate()
  while (pending.size > 0) {
    await Promise.allSettled(pending)
    await nextImmediate()
  }
  await handle.close()
}

/** An error that the client receives as it is. */
export const protocolError = (code: number, message: string, data: unknown): Error =>
  new ProtocolError(code, message, data)
