import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Problem } from '../../src/api/problem.ts'
import { DatabaseError } from '../../src/platform/db/database-error.ts'
import { createHttpWorld, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const URL = '/api/v1/schedules'
const MIB = 1_048_576

describe('every request', () => {
  it('has an id of its own, or the one a proxy gave it', async () => {
    const ids = await Promise.all([1, 2].map(async () => (await world.ask('GET', '/health')).headers['x-request-id']))
    expect(new Set(ids).size).toBe(2)
    expect(ids[0]).toMatch(/^req_[0-9a-f]{12}_[0-9a-z]+$/)
    const given = await world.ask('GET', '/nowhere', { headers: { 'x-request-id': 'trace-1.a_b' } })
    expect(problemIn(given, 'NOT_FOUND').request_id).toBe('trace-1.a_b')
    for (const bad of ['a b', 'x'.repeat(65), 'é', '<script>']) {
      const response = await world.ask('GET', '/health', { headers: { 'x-request-id': bad } })
      expect(response.headers['x-request-id']).toMatch(/^req_/)
    }
  })

  it('learns which methods there are', async () => {
    const response = await world.ask('PUT', URL, { raw: '{ not read' })
    problemIn(response, 'METHOD_NOT_ALLOWED')
    expect(response.headers.allow).toBe('GET, HEAD, POST')
    expect((await world.ask('DELETE', `${URL}/preview`)).headers.allow).toBe('POST')
    const head = await world.ask('HEAD', URL)
    expect([head.statusCode, head.body]).toEqual([200, ''])
  })
})

describe('what nobody expected', () => {
  it('is logged and not told', async () => {
    const { ports } = world.services
    const query = () => Promise.reject(new Error('password authentication failed for secret_user'))
    world.change({ ports: { ...ports, database: { query } } })
    const response = await world.ask('GET', URL)
    world.change({ ports })
    const problem = problemIn(response, 'INTERNAL')
    expect(response.body).not.toContain('secret_user')
    expect(world.logged.splice(0)).toMatchObject([
      {
        level: 'error',
        facts: {
          request_id: problem.request_id,
          method: 'GET',
          path: URL,
          error: expect.stringContaining('secret_user') as string,
        },
      },
    ])
  })

  it.each(['database_unreachable', 'connection_lost', 'commit_unknown', 'no_free_connection', 'timed_out'] as const)(
    'says that the database is away: %s',
    async (code) => {
      const { ports } = world.services
      world.change({ ports: { ...ports, database: { query: () => Promise.reject(new DatabaseError(code)) } } })
      const response = await world.ask('GET', URL)
      world.change({ ports })
      problemIn(response, 'DATABASE_AWAY')
      expect(response.headers['retry-after']).toBe('2')
      expect(world.logged).toEqual([])
    },
  )
})

describe('a node that goes down', () => {
  it('takes no new work, and answers everything else', async () => {
    const { id } = (await world.ask('POST', URL, { body: { every_seconds: 60 } })).json<{ id: string }>()
    world.change({ isDraining: () => true })
    const refused = await world.ask('POST', URL, { body: { every_seconds: 60 } })
    problemIn(refused, 'DRAINING')
    expect(refused.headers['retry-after']).toBe('5')
    problemIn(await world.ask('POST', `${URL}/${id}/run-now`), 'DRAINING')
    expect((await world.ask('POST', `${URL}/${id}/disable`)).statusCode).toBe(200)
    expect((await world.ask('GET', URL)).json()).toMatchObject({ items: [{ id }] })
    world.change({ isDraining: () => false })
  })
})

describe('probes', () => {
  it('need no key', async () => {
    const ask = async (url: string) => world.ask('GET', url, { as: null })
    expect((await ask('/health')).json()).toEqual({ status: 'ok' })
    expect((await ask('/api/v1/version')).json()).toEqual({ name: 'escapement', version: '0.0.0-test' })
    const ready = await ask('/ready')
    expect([ready.statusCode, ready.json()]).toMatchObject([200, { ready: true, database: 'up' }])
  })

  it('say when there is no database', async () => {
    const away = {
      ready: false,
      database: 'away',
      away_since: null,
      engine: 'up',
      draining: false,
      node_id: 'nod_1',
    } as const
    world.change({ health: () => away })
    const ready = await world.ask('GET', '/ready', { as: null })
    expect([ready.statusCode, ready.json()]).toEqual([503, away])
    expect((await world.ask('GET', '/health', { as: null })).statusCode).toBe(200)
  })
})

describe('on a real socket', () => {
  let port: number
  beforeAll(async () => {
    await world.app.listen({ host: '127.0.0.1', port: 0 })
    port = (world.app.server.address() as AddressInfo).port
  })

  /** Sends bytes and answers with everything that comes back until the other side closes. */
  const exchange = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
      let text = ''
      socket.setEncoding('utf8')
      socket.on('data', (part: string) => (text += part))
      socket.on('close', () => resolve(text))
      socket.on('error', reject)
    })
  const problemOf = (text: string): Problem => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4)) as Problem
  const request = (lines: readonly string[], body = ''): string =>
    `${[...lines, `host: 127.0.0.1:${port}`, 'connection: close'].join('\r\n')}\r\n\r\n${body}`

  it('answers by its own port only', async () => {
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
    expect((await fetch(`http://localhost:${port}/health`)).status).toBe(200)
    const text = await exchange('GET /health HTTP/1.1\r\nhost: localhost:80\r\nconnection: close\r\n\r\n')
    expect(text).toContain('421')
  })

  it.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'MALFORMED'],
    ['an empty Host', 'GET /health HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n', 421, 'MISDIRECTED'],
    ['no Host', 'GET /health HTTP/1.1\r\nconnection: close\r\n\r\n', 400, null],
    ['headers without end', `GET /health HTTP/1.1\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`, 431, 'HEADERS_TOO_LARGE'],
  ])('refuses %s', async (_, bytes, status, code) => {
    const text = await exchange(bytes)
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    if (code !== null) expect(problemOf(text)).toMatchObject({ status, code })
  })

  // Much more than fits between two sockets: whoever still sends when the connection is closed never reads the answer.
  const chunk = `40000\r\n${'x'.repeat(0x40000)}\r\n`
  it.each([
    ['says so', `content-length: ${8 * MIB}`, 'x'.repeat(8 * MIB)],
    ['does not say so', 'transfer-encoding: chunked', `${chunk.repeat(32)}0\r\n\r\n`],
  ])('refuses a body beyond the limit that %s, and is heard', async (_, length, body) => {
    const head = request([
      'POST /api/v1/schedules HTTP/1.1',
      'authorization: Bearer owner',
      'content-type: application/json',
      length,
    ])
    expect(problemOf(await exchange(`${head}${body}`))).toMatchObject({ code: 'BODY_TOO_LARGE', status: 413 })
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  })
})
