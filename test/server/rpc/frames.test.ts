import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { principalId, type OrgId } from '../../../src/domain/ids.ts'
import { eventually } from '../../scenarios/support.ts'
import { ORG } from '../../platform/db/records.ts'
import { aPrincipal, createHttpWorld, KEYS, type HttpWorld } from '../support.ts'

// The frames of GoClaw's clients at /ws.

interface Frame {
  readonly type: string
  readonly id: string
  readonly ok: boolean
  readonly payload?: Readonly<Record<string, unknown>>
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly retryable?: boolean
    readonly retryAfterMs?: number
  }
}

let world: HttpWorld
let port: number
const listeners = new Set<(orgId: OrgId) => void>()
const opened: WebSocket[] = []

beforeAll(async () => {
  world = await createHttpWorld()
  world.change({
    onAccessChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  port = (world.app.server.address() as AddressInfo).port
})
afterEach(async () => {
  world.set({ ratePerSecond: 0 })
  for (const socket of opened.splice(0)) socket.terminate()
  // The server has noticed before the next test counts connections.
  await new Promise((resolve) => setTimeout(resolve, 50))
})
afterAll(() => world.close())

const dial = (headers: Readonly<Record<string, string>> = {}): WebSocket => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers })
  opened.push(socket)
  return socket
}

const open = (headers?: Readonly<Record<string, string>>): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const socket = dial(headers)
    socket.on('open', () => {
      resolve(socket)
    })
    socket.on('error', reject)
  })

const refusal = (headers: Readonly<Record<string, string>>): Promise<number> =>
  new Promise((resolve) => {
    const socket = dial(headers)
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0)
    })
    socket.on('open', () => {
      resolve(101)
    })
    socket.on('error', () => undefined)
  })

const closing = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => {
    socket.once('close', resolve)
  })

const send = (socket: WebSocket, frame: unknown): Promise<Frame> => {
  const answer = new Promise<Frame>((resolve) => {
    socket.once('message', (data: Buffer) => {
      resolve(JSON.parse(data.toString()) as Frame)
    })
  })
  socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  return answer
}

let requests = 0
const call = (socket: WebSocket, method: string, params?: unknown): Promise<Frame> =>
  send(socket, { type: 'req', id: `r${(requests += 1)}`, method, params })

async function connect(token = 'owner'): Promise<WebSocket> {
  const socket = await open()
  expect(await call(socket, 'connect', { token })).toMatchObject({ ok: true })
  return socket
}

describe('frames', () => {
  it('connect, and carry the methods of cron, heartbeat and sessions', async () => {
    const socket = await open()
    expect(await call(socket, 'connect', { token: 'owner', user_id: 'user-1', locale: 'en' })).toMatchObject({
      ...{ type: 'res', id: `r${requests}`, ok: true },
      payload: { protocol: 3, role: 'admin', user_id: 'user-1', server: { version: expect.any(String) as string } },
    })
    expect(await call(socket, 'health')).toMatchObject({ ok: true, payload: { status: 'ok', database: 'ok' } })
    expect((await call(socket, 'status')).payload).toHaveProperty('agentTotal')
    const job = { name: 'Report', schedule: { kind: 'every', everyMs: 60_000 }, message: 'x', agentId: 'writer' }
    const made = await call(socket, 'cron.create', job)
    expect(made).toMatchObject({ ok: true, payload: { job: { name: 'Report', enabled: true } } })
    const { id: jobId } = made.payload?.['job'] as { readonly id: string }
    expect(await call(socket, 'cron.toggle', { jobId, enabled: false })).toMatchObject({
      payload: { jobId, enabled: false },
    })
    expect(await call(socket, 'cron.list', { includeDisabled: true })).toMatchObject({
      payload: { jobs: [{ id: jobId }] },
    })
    expect(await call(socket, 'heartbeat.get', { agentId: 'writer' })).toMatchObject({ ok: true })
    expect(await call(socket, 'sessions.stop', { key: 'agent:writer:main' })).toMatchObject({ ok: true })
    expect(await call(socket, 'cron.delete', { jobId })).toMatchObject({ payload: { deleted: true } })
    expect(await call(socket, 'connect', {})).toMatchObject({ payload: { protocol: 3 } })
  })

  it('report errors with the codes of GoClaw', async () => {
    const socket = await connect()
    const codeOf = async (method: string, params?: unknown): Promise<string> =>
      (await call(socket, method, params)).error?.code ?? ''
    expect(await codeOf('cron.delete', { jobId: 'sch_none' })).toBe('NOT_FOUND')
    expect(await codeOf('cron.create', { message: 'x' })).toBe('INVALID_REQUEST')
    expect(await codeOf('chat.send', { message: 'x' })).toBe('INVALID_REQUEST')
    expect(await codeOf('constructor')).toBe('INVALID_REQUEST')
    const viewer = await connect('viewer')
    expect((await call(viewer, 'cron.delete', { jobId: 'x' })).error?.code).toBe('FORBIDDEN')
    const other = await connect('stranger')
    expect(await call(other, 'cron.list', {})).toMatchObject({ payload: { jobs: [] } })
    world.set({ ratePerSecond: 1 })
    await call(socket, 'health')
    expect((await call(socket, 'health')).error).toMatchObject({ code: 'RESOURCE_EXHAUSTED', retryable: true })
  })

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['no id', { type: 'req', method: 'health' }],
    ['a number as id', { type: 'req', id: 1, method: 'health' }],
    ['an event', { type: 'event', id: 'x', event: 'tick' }],
    ['no method', { type: 'req', id: 'x' }],
    ['a list of params', { type: 'req', id: 'x', method: 'health', params: [] }],
    ['a prototype', '{"type":"req","id":"x","method":"cron.list","params":{"__proto__":{"limit":1}}}'],
  ])('that are %s are refused, and the connection goes on', async (_, frame) => {
    const socket = await connect()
    expect(await send(socket, frame)).toMatchObject({ type: 'res', ok: false, error: { code: 'INVALID_REQUEST' } })
    expect(await call(socket, 'health')).toMatchObject({ ok: true })
  })

  it('end with a key that is revoked', async () => {
    KEYS.set('leaving', aPrincipal('owner', { id: principalId('key_leaving_ws') }))
    const socket = await connect('leaving')
    const closed = closing(socket)
    KEYS.set('leaving', aPrincipal('owner', { id: principalId('key_leaving_ws'), revokedAt: world.services.now }))
    for (const listener of listeners) listener(ORG)
    expect(await closed).toBe(4401)
  })

  it('need no connect on a connection with a key', async () => {
    const socket = await open({ authorization: 'Bearer viewer' })
    expect(await call(socket, 'cron.status')).toMatchObject({ ok: true })
    expect(await call(socket, 'connect', { token: 'ignored' })).toMatchObject({ payload: { role: 'viewer' } })
    expect(await refusal({ authorization: 'Bearer unknown' })).toBe(401)
  })
})

describe('a connection that has not authenticated', () => {
  it('is judged by its Host and Origin', async () => {
    expect(await refusal({ host: 'evil.example' })).toBe(421)
    expect(await refusal({ origin: 'https://evil.example' })).toBe(403)
  })

  it('may only connect, once a second', async () => {
    const socket = await open()
    expect(await call(socket, 'cron.list')).toMatchObject({ ok: false, error: { code: 'UNAUTHORIZED' } })
    const before = performance.now()
    expect(await call(socket, 'connect', { token: 'unknown' })).toMatchObject({ error: { code: 'UNAUTHORIZED' } })
    expect(performance.now() - before).toBeGreaterThan(900)
    expect(await call(socket, 'connect', { token: 'owner' })).toMatchObject({ ok: true })
    expect(performance.now() - before).toBeGreaterThan(1_900)
  })

  it('answers what was sent right behind connect, in order', async () => {
    const socket = await open()
    const seen: string[] = []
    socket.on('message', (data: Buffer) => seen.push((JSON.parse(data.toString()) as Frame).id))
    socket.send(JSON.stringify({ type: 'req', id: 'a', method: 'connect', params: { token: 'owner' } }))
    for (const id of ['b', 'c']) socket.send(JSON.stringify({ type: 'req', id, method: 'health' }))
    await eventually(() => {
      expect(seen).toEqual(['a', 'b', 'c'])
    })
  })

  it('ends with garbage that is no text, and with a frame that is too large', async () => {
    const binary = await open()
    binary.send(Buffer.from([0, 1]))
    expect(await closing(binary)).toBe(1003)
    const large = await open()
    large.send('x'.repeat(200_000))
    expect(await closing(large)).toBe(1009)
  })

  it('ends after ten seconds', { timeout: 20_000 }, async () => {
    const before = performance.now()
    expect(await closing(await open())).toBe(4401)
    expect(performance.now() - before).toBeGreaterThan(9_000)
  })

  it('is one of at most 64 on a node, and makes room when it goes', async () => {
    const sockets = await Promise.all(Array.from({ length: 64 }, () => open()))
    expect(await refusal({})).toBe(429)
    const [first] = sockets
    expect(await call(first as WebSocket, 'connect', { token: 'owner' })).toMatchObject({ ok: true })
    await open()
    expect(await refusal({})).toBe(429)
    expect(await refusal({ authorization: 'Bearer owner' })).toBe(101)
  })
})
