import { connect, type AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { OrgId } from '../../../src/domain/ids.ts'
import { DatabaseError } from '../../../src/platform/db/database-error.ts'
import { eventually } from '../../scenarios/support.ts'
import { ORG } from '../../platform/db/records.ts'
import { aPrincipal, createHttpWorld, KEYS, type HttpWorld } from '../support.ts'
import type { Answer } from './support.ts'

let world: HttpWorld
let port: number
const hearers = new Set<(orgId: OrgId) => void>()
const opened: WebSocket[] = []

beforeAll(async () => {
  world = await createHttpWorld()
  world.change({
    onAccessChange: (hear) => {
      hearers.add(hear)
      return () => void hearers.delete(hear)
    },
  })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  port = (world.app.server.address() as AddressInfo).port
})
afterEach(() => {
  for (const socket of opened.splice(0)) socket.terminate()
})
afterAll(() => world.close())

type Headers = Readonly<Record<string, string>>
const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` })

function dial(headers: Headers, path = '/rpc'): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
  opened.push(socket)
  return socket
}

/** A socket that is open. */
const open = (headers: Headers = bearer('owner')): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const socket = dial(headers)
    socket.on('open', () => {
      resolve(socket)
    })
    socket.on('error', reject)
  })

/** How an upgrade was refused. */
const refusal = (headers: Headers, path?: string): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const socket = dial(headers, path)
    socket.on('unexpected-response', (_request, response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body })
      })
    })
    socket.on('open', () => {
      reject(new Error('it was let in'))
    })
    socket.on('error', () => undefined)
  })

const next = (socket: WebSocket): Promise<Answer> =>
  new Promise((resolve) => {
    socket.once('message', (data: Buffer) => {
      resolve(JSON.parse(data.toString()) as Answer)
    })
  })

const closing = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => {
    socket.once('close', (code) => {
      resolve(code)
    })
  })

async function ask(socket: WebSocket, body: unknown): Promise<Answer> {
  const answer = next(socket)
  socket.send(typeof body === 'string' ? body : JSON.stringify(body))
  return answer
}

const status = { jsonrpc: '2.0', id: 1, method: 'cron.status' }

describe('a WebSocket', () => {
  it('carries calls, batches, notifications and what is wrong', async () => {
    const socket = await open()
    expect(await ask(socket, status)).toMatchObject({ id: 1, result: { enabled: true } })
    expect(await ask(socket, [status, { ...status, id: 2 }])).toMatchObject([{ id: 1 }, { id: 2 }])
    expect(await ask(socket, '{')).toMatchObject({ id: null, error: { code: -32700 } })
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'cron.status' }))
    expect(await ask(socket, { ...status, id: 3 })).toMatchObject({ id: 3 })
  })

  it('answers in the order in which was asked', async () => {
    const socket = await open()
    const seen: unknown[] = []
    const done = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        seen.push((JSON.parse(data.toString()) as Answer).id)
        if (seen.length === 200) resolve()
      })
    })
    // Many more than are taken in at once.
    for (let id = 0; id < 200; id += 1) socket.send(JSON.stringify({ ...status, id }))
    await done
    expect(seen).toEqual(Array.from({ length: 200 }, (_, id) => id))
  })

  it('asks for permissions with each call', async () => {
    const socket = await open(bearer('viewer'))
    expect(await ask(socket, status)).toMatchObject({ result: {} })
    const made = { schedule: { kind: 'every', everyMs: 60_000 }, message: 'x' }
    expect(await ask(socket, { jsonrpc: '2.0', id: 2, method: 'cron.create', params: made })).toMatchObject({
      error: { code: -32003, data: { code: 'FORBIDDEN' } },
    })
  })

  it('is reined in like everybody', async () => {
    const socket = await open(bearer('admin'))
    world.change({ counter: () => 1_000_000 })
    world.set({ ratePerSecond: 2 })
    try {
      const codes: (number | undefined)[] = []
      for (let id = 0; id < 4; id += 1) codes.push((await ask(socket, { ...status, id })).error?.code)
      expect(codes).toEqual([undefined, undefined, -32029, -32029])
    } finally {
      world.set({ ratePerSecond: 0 })
    }
  })
})

describe('is not opened', () => {
  it.each([
    ['without a key', {}, 401, 'UNAUTHENTICATED'],
    ['with a key that nobody knows', bearer('nobody'), 401, 'UNAUTHENTICATED'],
    ['for a Host that is not ours', { ...bearer('owner'), host: 'attacker.example' }, 421, 'MISDIRECTED'],
    ['for a page of another origin', { ...bearer('owner'), origin: 'http://attacker.example' }, 403, 'FOREIGN_ORIGIN'],
    ['with a cookie and no Origin', { cookie: 'escapement_session=cookie-of-member' }, 403, 'CSRF'],
    ['with a cookie that has ended', { cookie: 'escapement_session=old', origin: 'here' }, 401, 'UNAUTHENTICATED'],
  ] as const)('%s', async (_, headers, expected, code) => {
    const own = 'origin' in headers && headers.origin === 'here' ? { origin: `http://127.0.0.1:${port}` } : {}
    const { status: seen, body } = await refusal({ ...headers, ...own })
    expect([seen, (JSON.parse(body) as { code: string }).code]).toEqual([expected, code])
  })

  it('while the node goes down', async () => {
    world.change({ isDraining: () => true })
    try {
      expect((await refusal(bearer('owner'))).status).toBe(503)
    } finally {
      world.change({ isDraining: () => false })
    }
  })

  it('elsewhere: the request is answered as if it had asked for nothing else', async () => {
    expect((await refusal(bearer('owner'), '/health')).status).toBe(200)
    expect((await refusal(bearer('owner'), '/nowhere')).status).toBe(404)
  })
})

it('a page of ours that somebody is signed in at may open one', async () => {
  const headers = { cookie: 'escapement_session=cookie-of-member', origin: `http://127.0.0.1:${port}` }
  expect(await ask(await open(headers), status)).toMatchObject({ result: { enabled: true } })
})

it('stays open while nobody can say who speaks, and nothing is done meanwhile', async () => {
  const socket = await open()
  world.change({ authenticate: () => Promise.reject(new DatabaseError('connection_lost')) })
  try {
    for (const hear of hearers) hear(ORG)
    expect(await ask(socket, status)).toMatchObject({
      ...{ id: null, error: { code: -32053, data: { code: 'DATABASE_AWAY' } } },
    })
  } finally {
    world.change({ authenticate: (text) => KEYS.get(text) ?? null })
  }
  expect(await ask(socket, status)).toMatchObject({ id: 1, result: { enabled: true } })
})

describe('is closed', () => {
  it('when the key is revoked, without a word from the other side', async () => {
    KEYS.set('short-lived', aPrincipal('owner'))
    const socket = await open(bearer('short-lived'))
    await ask(socket, status)
    const closed = closing(socket)
    KEYS.set('short-lived', aPrincipal('owner', { revokedAt: world.services.now }))
    for (const hear of hearers) hear(ORG)
    expect(await closed).toBe(4401)
  })

  it('with the next call when nobody has said that the key was revoked', async () => {
    KEYS.set('forgotten', aPrincipal('owner'))
    const socket = await open(bearer('forgotten'))
    KEYS.delete('forgotten')
    const closed = closing(socket)
    socket.send(JSON.stringify(status))
    expect(await closed).toBe(4401)
  })

  it('when a message is larger than 1 MiB, or no text', async () => {
    const large = await open()
    const closedLarge = closing(large)
    large.send(JSON.stringify({ ...status, params: { x: 'x'.repeat(1_100_000) } }))
    expect(await closedLarge).toBe(1009)
    const binary = await open()
    const closedBinary = closing(binary)
    binary.send(Buffer.from([1, 2, 3]))
    expect(await closedBinary).toBe(1003)
  })

  it('and nobody listens for keys when nobody is there', async () => {
    await open()
    expect(hearers.size).toBe(1)
    for (const socket of opened.splice(0)) socket.close()
    await eventually(() => {
      expect(hearers.size).toBe(0)
    })
  })
})

describe('whoever does not read', () => {
  it('is not read from, so nothing grows', async () => {
    // A thousand jobs make each answer large.
    const made = { name: 'x'.repeat(150), schedule: { kind: 'every', everyMs: 3_600_000 }, message: 'm'.repeat(4_000) }
    const create = Array.from({ length: 50 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'cron.create', params: made }))
    for (let times = 0; times < 2; times += 1) await world.ask('POST', '/rpc', { body: create })
    const socket = await open()
    socket.pause()
    const before = process.memoryUsage().rss
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'cron.list', params: { limit: 200 } })
    for (let count = 0; count < 500; count += 1) socket.send(text)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    // All answers together would be more than 200 MB.
    expect(process.memoryUsage().rss - before).toBeLessThan(120_000_000)
    let answers = 0
    socket.on('message', () => (answers += 1))
    socket.resume()
    await eventually(() => {
      expect(answers).toBe(500)
    }, 30_000)
  })
})

describe('offers of other protocols', () => {
  const speak = (text: string, enough: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text))
      let said = ''
      socket.on('data', (chunk) => {
        said += chunk.toString()
        if (!enough.test(said)) return
        socket.destroy()
        resolve(said)
      })
      socket.on('error', reject)
    })
  const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'
  const head = `Host: 127.0.0.1:%\r\nAuthorization: Bearer owner\r\nContent-Type: application/json\r\n`

  it('are declined, and the request is answered, body and all', async () => {
    const body = JSON.stringify(status)
    const request = `POST /rpc HTTP/1.1\r\n${head}${offer}Content-Length: ${body.length}\r\n\r\n`.replace(
      '%',
      String(port),
    )
    const said = await speak(request + body, /"jobs":\d+\}\}/)
    expect(said).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(said).toContain('"enabled":true')
  })

  it('are declined on a connection that was used before and is used again', async () => {
    const plain = `GET /health HTTP/1.1\r\n${head}\r\n`.replace('%', String(port))
    const offering = `GET /health HTTP/1.1\r\n${head}${offer}\r\n`.replace('%', String(port))
    const socket = connect(port, '127.0.0.1')
    for (const request of [plain, offering, offering, plain]) {
      const said = new Promise<string>((resolve) => {
        socket.once('data', (chunk) => {
          resolve(chunk.toString())
        })
      })
      socket.write(request)
      expect(await said).toMatch(/^HTTP\/1\.1 200 OK[^]*"status":"ok"/)
    }
    socket.destroy()
  })
})

it('all are closed when the server closes, and nobody is waited for', async () => {
  const other = await createHttpWorld()
  await other.app.listen({ host: '127.0.0.1', port: 0 })
  const { port: at } = other.app.server.address() as AddressInfo
  const socket = new WebSocket(`ws://127.0.0.1:${at}/rpc`, { headers: bearer('owner') })
  await new Promise((resolve) => socket.on('open', resolve))
  // One that never answers the wish to close.
  const deaf = connect(at, '127.0.0.1', () =>
    deaf.write(
      `GET /rpc HTTP/1.1\r\nHost: 127.0.0.1:${at}\r\nAuthorization: Bearer owner\r\nConnection: Upgrade\r\n` +
        'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    ),
  )
  await new Promise((resolve) => deaf.once('data', resolve))
  const closed = closing(socket)
  const began = performance.now()
  await other.close()
  expect(await closed).toBe(1001)
  expect(performance.now() - began).toBeLessThan(5_000)
})
