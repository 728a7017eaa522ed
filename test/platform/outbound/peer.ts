import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** What came in. */
export interface Heard {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server on this machine that a test talks to, and what it has seen. */
export interface Peer {
  readonly url: string
  readonly port: number
  readonly heard: readonly Heard[]
  /** Connections it has accepted so far. */
  readonly connections: () => number
  /** How many requests have lost their connection before they were answered. */
  readonly dropped: () => number
  readonly close: () => Promise<void>
}

export type Answering = (request: Heard, response: ServerResponse, n: number) => unknown

/** Starts a server that answers as it is told, on a free port. */
export async function startPeer(answer: Answering, host = '127.0.0.1'): Promise<Peer> {
  const heard: Heard[] = []
  const sockets = new Set<Socket>()
  const counts = { connections: 0, dropped: 0 }
  const server: Server = createServer((request, response) => {
    response.on('close', () => {
      if (!response.writableFinished) counts.dropped += 1
    })
    void bodyOf(request).then((body) => {
      const { method = '', url = '', headers } = request
      heard.push({ method, url, headers, body })
      return answer({ method, url, headers, body }, response, heard.length)
    })
  })
  server.on('connection', (socket) => {
    counts.connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    ...{ url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port, heard },
    connections: () => counts.connections,
    dropped: () => counts.dropped,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    // Whoever hangs up while sending has said all there is.
  }
  return Buffer.concat(chunks).toString()
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}
