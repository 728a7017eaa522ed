import type { AddressInfo } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { HttpContext } from '../../../src/http/context.ts'
import { createRateLimit } from '../../../src/http/rate-limit.ts'
import { addRpcSockets } from '../../../src/http/rpc/sockets.ts'
import type { SocketLimits } from '../../../src/http/sockets.ts'
import { aPrincipal } from '../support.ts'

// Pings by the minute, here by the tenth of a second.

let app: FastifyInstance
afterEach(() => app.close())

const context = {
  authenticate: () => aPrincipal('owner'),
  settings: () => ({ publicUrl: null, allowedHosts: [], ratePerSecond: 0 }),
  counter: () => 0,
  isDraining: () => false,
  hearAccess: () => () => undefined,
  metrics: { refused: () => undefined },
  ports: { clock: { now: () => 0 } },
} as unknown as HttpContext

async function listen(limits: Partial<SocketLimits>): Promise<number> {
  app = Fastify()
  await app.register(cookie, { hook: false })
  addRpcSockets({ app, ctx: context, limit: createRateLimit() }, { check: () => undefined }, limits)
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

  it('is refused beyond as many as there may be, and let in when one has gone', async () => {
    const port = await listen({ mostSockets: 1 })
    const first = await open(port)
    await expect(open(port)).rejects.toThrow('429')
    const gone = closed(first)
    first.close()
    await gone
    const second = await open(port)
    expect(second.readyState).toBe(WebSocket.OPEN)
    second.terminate()
  })
})
