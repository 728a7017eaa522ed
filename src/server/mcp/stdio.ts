import { PassThrough, type Readable, type Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createToolServer, type CallTool } from '../../mcp/server.ts'

/** What a server on pipes is made of. */
export interface Pipes {
  readonly stdin: Readable
  /** Nothing but the protocol is written there. */
  readonly stdout: Writable
  readonly version: string
  readonly call: CallTool
  /** Something that no client can be told. */
  readonly failed: (error: Error) => void
}

/** The longest message that is taken; the server takes no more either. */
const MOST_BYTES = 2 * 1_048_576

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Serves the tools on a pair of pipes. Resolves when the input has ended and what was asked before it is answered. */
export async function serveTools({ stdin, stdout, version, call, failed }: Pipes): Promise<void> {
  const pending = new Set<Promise<unknown>>()
  const noted: CallTool = (name, input) => {
    const answer = call(name, input)
    pending.add(answer)
    const done = (): void => void pending.delete(answer)
    answer.then(done, done)
    return answer
  }
  // The end of the input would end what is being answered too; it is kept back until that is done.
  const input = new PassThrough()
  const transport = new StdioServerTransport(input, stdout, { maxBufferSize: MOST_BYTES })
  const handle = serveStdio(() => createToolServer(version, noted), { transport, maxSubscriptions: 0, onerror: failed })
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, resolve)
    input.once('close', resolve)
    stdin.pipe(input, { end: false })
  })
  await soon()
  while (pending.size > 0) {
    await Promise.allSettled(pending)
    await soon()
  }
  await handle.close()
}
