import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'
import type { FastifyInstance } from 'fastify'

/** An event as it came over the wire. */
export interface Read {
  readonly id: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Somebody who listens, as a browser would. */
export interface Reader {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly events: Read[]
  /** The last id, also of what had no data. */
  readonly lastId: () => string
  /** Everything as it came. */
  readonly text: () => string
  /** Waits until there are so many events. */
  readonly many: (count: number) => Promise<readonly Read[]>
  /** Waits until one fits. */
  readonly one: (fits: (read: Read) => boolean) => Promise<Read>
  readonly ended: Promise<void>
  /** Stops reading, without saying so. */
  readonly stall: () => void
  readonly close: () => void
}

export interface ReaderOptions {
  readonly as?: string
  readonly after?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Listens on a port, so that there are streams with a beginning and an end. */
export async function listen(app: FastifyInstance): Promise<number> {
  if (app.server.address() === null) await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

export async function readEvents(app: FastifyInstance, query = '', options: ReaderOptions = {}): Promise<Reader> {
  const { as = 'owner', after, headers = {} } = options
  const port = await listen(app)
  const request = http.get({
    ...{ host: '127.0.0.1', port, path: `/api/v1/events${query}`, agent: false },
    headers: {
      authorization: `Bearer ${as}`,
      ...(after === undefined ? {} : { 'last-event-id': after }),
      ...headers,
    },
  })
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('error', reject)
  })
  request.on('error', () => undefined)
  return readerOf(request, response)
}

function readerOf(request: http.ClientRequest, response: http.IncomingMessage): Reader {
  const events: Read[] = []
  let all = ''
  let rest = ''
  let lastId = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    all += chunk
    rest += chunk
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string): string | undefined =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2)
      lastId = field('id') ?? lastId
      const data = field('data')
      if (data !== undefined)
        events.push({ id: lastId, event: field('event') ?? 'message', data: JSON.parse(data) as Read['data'] })
    }
  })
  const ended = new Promise<void>((resolve) => {
    response.once('close', resolve)
  })
  // A connection that is cut off says so.
  response.on('error', () => undefined)
  const waiting = { timeout: 20_000, interval: 5 }
  return {
    ...{ status: response.statusCode ?? 0, headers: response.headers, events, ended },
    lastId: () => lastId,
    text: () => all,
    many: (count) =>
      vi.waitFor(() => {
        if (events.length < count) throw new Error(`${events.length} of ${count} events`)
        return events
      }, waiting),
    one: (fits) =>
      vi.waitFor(() => {
        const found = events.find(fits)
        if (found === undefined) throw new Error(`not among ${events.length} events`)
        return found
      }, waiting),
    stall: () => {
      response.pause()
    },
    close: () => {
      request.destroy()
    },
  }
}
