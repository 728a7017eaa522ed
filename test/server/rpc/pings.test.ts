import type { AddressInfo } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createAnswerMemory } from '../../../src/server/http/answer-memory.ts'
import type { HttpContext } from '../../../src/server/http/context.ts'
import { createRateLimit } from '../../../src/server/http/rate-limit.ts'
import { addRpcSockets } from '../../../src/server/rpc/routes.ts'
import type { SocketLimits } from '../../../src/server/sockets/upgrade.ts'
import { frameOf, PING } from '../../fuzz/connections/frames.ts'
import { dial, handshake } from '../../fuzz/connections/wire.ts'
import { aPrincipal } from '../support.ts'

// Pings by the minute, here by the tenth of a second.

let app: FastifyInstance
afterEach(() => {
  most = USUAL
  return app.close()
})

const USUAL = { all: 1_000, perOrg: 1_000 }
let most = USUAL

const context = {
  authenticate: () => aPrincipal('owner'),
  settings: () => ({
    publicUrl: null,
    allowedHosts: [],
    ratePerSecond: 0,
    limits: { sockets: most.all, socketsPerOrg: most.perOrg },
  }),
  counter: () => 0,
  isDraining: () => false,
  onAccessChange: () => () => undefined,
  metrics: { countRefusal: () => undefined },
  ports: { clock: { now: () => 0 } },
} as unknown as HttpContext

async function listen(limits: Partial<SocketLimits> = {}): Promise<number> {
  app = Fastify()
  await app.register(cookie, { hook: false })
  const connections = { check: () => undefined, size: () => 0 }
  addRpcSockets(
    {
      app,
      ctx: context,
      limit: createRateLimit(),
      connections,
      answers: createAnswerMemory(),
      contextOf: () => context,
    },
    { check: () => undefined },
    limits,
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

const open = (port: number, options: WebSocket.ClientOptions = {}): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, { headers: { authorization: 'Bearer x' }, ...options })
    socket.on('open', () => {
      resolve(socket)
    })
    socket.on('error', reject)
  })

const closed = (socket: WebSocket): Promise<number> => new Promise((resolve) => socket.once('close', resolve))

describe('a socket', () => {
  it('whose other end does not answer pings is cut off, and one that does stays', async () => {
    const port = await listen({ pingMs: 100 })
    const alive = await open(port)
    let pings = 0
    alive.on('ping', () => (pings += 1))
    const dead = await open(port, { autoPong: false })
    expect(await closed(dead)).toBe(1006)
    expect(pings).toBeGreaterThan(0)
    expect(alive.readyState).toBe(WebSocket.OPEN)
    alive.terminate()
  })

  it.each([
    ['a node', { all: 1, perOrg: 9 }, 'This node has reached its limit of 1 open sockets'],
    ['an org', { all: 9, perOrg: 1 }, 'The org has reached its limit of 1 open sockets'],
  ])('is refused beyond as many as %s may have, and let in when one has gone', async (_, allowed, detail) => {
    most = allowed
    const port = await listen()
    // All at once, so that none is in when the next is looked at.
    const tried = await Promise.allSettled([open(port), open(port), open(port)])
    const opened = tried.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(opened).toHaveLength(1)
    expect(await refused(port)).toMatchObject({
      status: 429,
      retryAfter: '10',
      body: expect.stringContaining(detail) as string,
    })
    for (const one of opened) {
      const gone = closed(one)
      one.close()
      await gone
    }
    const second = await open(port)
    expect(second.readyState).toBe(WebSocket.OPEN)
    second.terminate()
  })

  it('is cut off when it sends pings and does not read the answers', async () => {
    const port = await listen({ maxBytes: 10_000 })
    const socket = dial(port)
    socket.write(handshake({ port, key: 'x' }))
    await new Promise((resolve) => socket.once('data', resolve))
    socket.pause()
    const pings = Buffer.concat(Array<Buffer>(10_000).fill(frameOf({ opcode: PING, payload: 'x'.repeat(125) })))
    const gone = expect.poll(() => connectionsOf(app), { timeout: 10_000 }).toBe(0)
    for (let count = 0; count < 20; count += 1) socket.write(pings)
    await gone
    socket.destroy()
  })
})

/** How many are connected. */
async function connectionsOf({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
  })
}

/** How somebody is refused. */
const refused = (
  port: number,
): Promise<{ readonly status: number; readonly retryAfter: unknown; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, { headers: { authorization: 'Bearer x' } })
    socket.on('unexpected-response', (_request, response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], body })
      })
    })
    socket.on('open', () => {
      reject(new Error('it was let in'))
    })
    socket.on('error', () => undefined)
  })
