import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The agents of both orgs, behind HTTP: one that answers at once, and those that a tenant should not have. */
export interface AgentHost {
  readonly url: string
  /** When each piece of work of the quiet org began, by its mark; more than once: it was started so often. */
  readonly begun: ReadonlyMap<string, readonly number[]>
  /** How late each occurrence of its schedules began, in milliseconds. */
  readonly late: readonly number[]
  readonly close: () => Promise<void>
}

/** Deeper than any reader should follow. */
const DEEP = '['.repeat(100_000) + ']'.repeat(100_000)

export async function startAgents(): Promise<AgentHost> {
  const begun = new Map<string, number[]>()
  const late: number[] = []
  const quick = (body: string, response: ServerResponse): void => {
    const now = Date.now()
    const mark = /mark-\d+/.exec(body)?.[0]
    const nominal = (JSON.parse(body) as { readonly nominal_time?: string | null }).nominal_time
    if (mark !== undefined) begun.set(mark, [...(begun.get(mark) ?? []), now])
    else if (typeof nominal === 'string') late.push(now - Date.parse(nominal))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"output":"done"}')
  }
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      if (request.url === '/quick') quick(body, response)
      else if (request.url === '/deep')
        response.writeHead(200, { 'content-type': 'application/json' }).end(`{"output":${DEEP}}`)
      // Everything else hangs.
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    begun,
    late,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
