import { gzipSync } from 'node:zlib'
import net from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { principalId } from '../../src/domain/ids.ts'
import { ALL_OPERATIONS, fillPath, isStream, paramsIn } from '../server/contract/objects.ts'
import { listen } from '../server/event-reader.ts'
import { aPrincipal, createHttpWorld, KEYS, problemIn, SESSIONS, type HttpWorld } from '../server/support.ts'
import { ORG } from '../platform/db/records.ts'
import { rowsOf } from './plant.ts'

// What other pages, other names and other people's words can do to a node through the requests it answers. Who may do
// what is asked in doors.test.ts; test/server/gate.test.ts has the cases of Host, Origin and token one by one.

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  SESSIONS.set('cookie-of-another', {
    ...{ principal: aPrincipal('owner', { id: principalId('mem_2') }), csrfToken: 'csrf-2' },
  })
})
afterAll(async () => {
  SESSIONS.delete('cookie-of-another')
  await world.close()
})
afterEach(() => {
  world.set({ publicUrl: null, allowedHosts: [] })
})

const COOKIE = { cookie: 'escapement_session=cookie-of-member' }
const CHANGING = ALL_OPERATIONS.filter(([, { method, permission }]) => method !== 'GET' && permission !== 'none')
const READING = ALL_OPERATIONS.filter(([, spec]) => spec.method === 'GET' && !isStream(spec))

/** What a page of somebody else could send as the token: nothing, an empty one, or that of another session. */
const TOKENS: readonly Readonly<Record<string, string>>[] = [{}, { 'x-csrf-token': '' }, { 'x-csrf-token': 'csrf-2' }]

const urlOf = (path: string): string =>
  fillPath(path, Object.fromEntries(paramsIn(path).map((name) => [name, 'nobody_made_this'])))

describe('a caller without rights', () => {
  it.each(['nobody', 'a key without permissions'])('changes nothing by reading: %s', async (who) => {
    KEYS.set('a key without permissions', aPrincipal('owner', { id: principalId('key_bare'), scopes: [] }))
    const before = await rowsOf(world, ORG)
    for (const [, spec] of READING) await world.ask('GET', urlOf(spec.path), { as: who === 'nobody' ? null : who })
    expect(await rowsOf(world, ORG)).toEqual(before)
    KEYS.delete('a key without permissions')
  })
})

describe('a page of somebody else, in the browser of somebody signed in', () => {
  it.each(CHANGING)('%s does nothing without the token of this very session', async (_id, spec) => {
    const url = urlOf(spec.path)
    for (const token of TOKENS) {
      const headers = { ...COOKIE, ...token, 'sec-fetch-site': 'cross-site' }
      const { statusCode, body } = await world.ask(spec.method, url, { as: null, body: {}, headers })
      expect([statusCode, body.includes('"CSRF"')]).toEqual([403, spec.facade !== true])
    }
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'posts no form of type %j',
    async (type) => {
      for (const [, spec] of ALL_OPERATIONS.filter(([, one]) => one.method === 'POST')) {
        const headers = { ...COOKIE, 'content-type': type, origin: 'http://evil.example' }
        const response = await world.ask('POST', urlOf(spec.path), { as: null, raw: 'name=x', headers })
        expect([spec.path, response.statusCode]).toEqual([spec.path, 403])
        expect(response.headers['set-cookie']).toBeUndefined()
      }
    },
  )

  it('signs nobody in behind their back: the exchange takes JSON alone, which no form can send', async () => {
    const raw = JSON.stringify({ token: 'x'.repeat(43) })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      problemIn(
        await world.ask('POST', '/api/v1/sign-in', { as: null, raw, headers: { 'content-type': type } }),
        'UNSUPPORTED_MEDIA_TYPE',
      )
  })

  it('changes nothing by what a link or a picture can ask for', async () => {
    // Counting what has happened since is put off until somebody looks; so is making the secret that signs deliveries.
    const { task_count: _tasks, ...rows } = await rowsOf(world, ORG)
    const { task_count_place: _place, run_count_place: _runs, timeline_count_place: _timeline, ...before } = rows
    const headers = { cookie: 'escapement_session=cookie-of-another' }
    for (const [id, spec] of READING)
      if (id !== 'targets.signingSecret') await world.ask('GET', urlOf(spec.path), { as: null, headers })
    expect(await rowsOf(world, ORG)).toMatchObject(before)
  })

  it('is let in nowhere by CORS, and nothing is opened for credentials', async () => {
    for (const [, spec] of ALL_OPERATIONS.filter(([, one]) => !isStream(one)))
      for (const method of [spec.method, 'OPTIONS'] as const) {
        const headers = { origin: 'http://evil.example', 'access-control-request-method': spec.method }
        const response = await world.ask(method, urlOf(spec.path), { headers })
        expect(response.statusCode).toBe(403)
        expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      }
  })
})

describe('a name that leads here', () => {
  it.each([
    ...[
      'evil.example',
      'localhost.',
      '127.1',
      '2130706433',
      '0x7f.0.0.1',
      '0177.0.0.1',
      '0.0.0.0',
      '[::ffff:127.0.0.1]',
    ],
    ...['localhost:80.evil.example', 'localhost@evil.example', 'user@localhost', 'localhost:080x', 'localhost:', ' '],
    ...['localhost,evil.example', 'localhost/evil', 'localhost#x', 'localhost:65616', 'xn--localhost-', '[::1%25lo]'],
  ])('is refused when it is none of ours: %j', async (host) => {
    for (const url of ['/health', '/', '/docs', '/rpc', '/metrics', '/api/v1/version', '/tasks'])
      expect([url, (await world.ask('GET', url, { headers: { host } })).statusCode]).toEqual([url, 421])
  })

  it('is not taken from what a proxy says', async () => {
    const forwarded = {
      ...{ 'x-forwarded-host': 'localhost', 'x-forwarded-proto': 'https', forwarded: 'host=localhost' },
      'x-original-host': 'localhost',
    }
    problemIn(
      await world.ask('GET', '/api/v1/version', { headers: { host: 'evil.example', ...forwarded } }),
      'MISDIRECTED',
    )
    world.set({ allowedHosts: ['inner.example'] })
    const spoofed = { host: 'localhost', 'x-forwarded-host': 'inner.example', origin: 'http://inner.example' }
    problemIn(await world.ask('GET', '/api/v1/version', { headers: spoofed }), 'FOREIGN_ORIGIN')
  })
})

describe('what somebody has written', () => {
  const HOSTILE = [
    'a\r\nset-cookie: x=1',
    'a\nx-injected: 1',
    'a\rb',
    'a\u0000b',
    '\u001b[31m',
    '<script>alert(1)</script>',
  ]

  it('comes back in no header of an answer', async () => {
    for (const word of HOSTILE) {
      const inPath = await world.ask('GET', `/api/v1/schedules/${encodeURIComponent(word)}`)
      const inQuery = await world.ask(
        'GET',
        `/api/v1/schedules?q=${encodeURIComponent(word)}&state=${encodeURIComponent(word)}`,
      )
      const body = { name: word, every_seconds: 60 }
      const inBody = await world.ask('POST', '/api/v1/schedules', { body })
      for (const { headers } of [inPath, inQuery, inBody]) {
        expect(Object.keys(headers)).not.toContain('x-injected')
        expect(headers['set-cookie']).toBeUndefined()
        expect(JSON.stringify(headers)).not.toContain('script')
      }
    }
  })

  it('is never taken for a page: every answer says what it is and that nobody may guess', async () => {
    const word = encodeURIComponent('<script>alert(1)</script>')
    for (const url of [
      `/api/v1/schedules/${word}`,
      `/nowhere/${word}`,
      `/tasks/${word}`,
      '/api/v1/version',
      '/health',
    ]) {
      const { headers } = await world.ask('GET', url)
      expect([url, headers['x-content-type-options'], headers['cache-control']]).toEqual([url, 'nosniff', 'no-store'])
      expect(headers['content-type']).toMatch(/^application\/(problem\+)?json/)
    }
    const { headers: keys } = await world.ask('POST', '/api/v1/keys', { body: { name: 'Not kept' } })
    expect(keys['cache-control']).toBe('no-store')
  })

  it('sends nobody anywhere: there is no redirect', async () => {
    for (const [, spec] of READING) {
      const { statusCode, headers } = await world.ask(
        'GET',
        `${urlOf(spec.path)}?next=//evil.example&redirect=//evil.example`,
      )
      expect(statusCode >= 300 && statusCode < 400).toBe(false)
      expect(headers.location).toBeUndefined()
    }
    for (const url of [
      '//evil.example',
      '//evil.example/%2e%2e',
      '/\\evil.example',
      '/sign-in//evil.example',
      '/%2f/evil.example',
    ])
      expect((await world.ask('GET', url)).headers.location).toBeUndefined()
  })

  it('changes nobody’s prototype, whatever takes it', async () => {
    const raw =
      '{"constructor":{"prototype":{"polluted":1}},"__proto__":{"polluted":1},"x":{"__proto__":{"polluted":1}}}'
    const mild = '{"constructor":{"prototype":{"polluted":1}},"prototype":{"polluted":1}}'
    for (const [, spec] of ALL_OPERATIONS.filter(([, { method }]) => method !== 'GET'))
      for (const text of [raw, mild]) await world.ask(spec.method, urlOf(spec.path), { raw: text })
    for (const [, spec] of READING)
      await world.ask('GET', `${urlOf(spec.path)}?__proto__[polluted]=1&constructor.prototype.polluted=1`)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('is not unpacked: a small packed body does not become a large one', async () => {
    const raw = gzipSync(Buffer.alloc(50_000_000, ' '))
    expect(raw.length).toBeLessThan(100_000)
    for (const encoding of ['gzip', 'deflate', 'br']) {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
      problemIn(await world.ask('POST', '/api/v1/schedules', { raw, headers }), 'MALFORMED')
    }
  })

  it('brings nothing of the inside to light when something breaks', async () => {
    const { ports } = world.services
    const broken = () => Promise.reject(new Error('relation "secret_table" does not exist at /srv/app/src/store.ts:17'))
    world.change({ ports: { ...ports, database: { ...ports.database, query: broken } } })
    const seen = await world.ask('GET', '/api/v1/schedules')
    world.change({ ports })
    problemIn(seen, 'INTERNAL')
    expect(seen.body).not.toMatch(/secret_table|store\.ts|\/srv|stack|Error:/)
    expect(JSON.stringify(world.logged.splice(0))).toContain('secret_table')
  })
})

// Last: a port is listened on for it.
describe('a request in a form of its own', () => {
  const talk = async (lines: readonly string[]): Promise<string> => {
    const port = await listen(world.app)
    const text = lines.join('\r\n').replaceAll('PORT', String(port))
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1', () => socket.end(`${text}\r\n\r\n`))
      let heard = ''
      socket.setEncoding('latin1').on('data', (piece: string) => (heard += piece))
      socket.on('error', reject).on('close', () => resolve(heard))
    })
  }
  const statusOf = async (...lines: readonly string[]): Promise<number> => Number((await talk(lines)).split(' ')[1])

  it('is judged by the one host it names', async () => {
    expect(await statusOf('GET /api/v1/version HTTP/1.1', 'Host: 127.0.0.1:PORT')).toBe(200)
    expect(await statusOf('GET http://evil.example/api/v1/version HTTP/1.1', 'Host: evil.example')).toBe(421)
    expect(await statusOf('GET /api/v1/version HTTP/1.1', 'Host: evil.example', 'Host: 127.0.0.1:PORT')).not.toBe(200)
    expect(await statusOf('GET /api/v1/version HTTP/1.0')).not.toBe(200)
  })

  it('cannot hide a second one in itself', async () => {
    const both = [
      'POST /api/v1/schedules HTTP/1.1',
      'Host: 127.0.0.1:PORT',
      'Content-Length: 4',
      'Transfer-Encoding: chunked',
    ]
    expect(
      (await talk([...both, '', '0', '', 'GET /api/v1/version HTTP/1.1', 'Host: 127.0.0.1:PORT'])).match(
        /HTTP\/1\.1 200/,
      ),
    ).toBeNull()
    expect(await statusOf('GET /health HTTP/1.1', 'Host: 127.0.0.1:PORT', 'X-A: a\rb')).toBe(400)
    expect(await statusOf('GET /health HTTP/1.1', 'Host: 127.0.0.1:PORT', ' folded: x')).toBe(400)
  })

  it('for a socket is judged by its Host and Origin too', async () => {
    const upgrade = [
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ]
    for (const path of ['/rpc', '/ws', '/api/v1/worker/socket']) {
      const ask = (...more: readonly string[]) =>
        statusOf(`GET ${path} HTTP/1.1`, ...upgrade, 'Authorization: Bearer owner', ...more)
      expect(await ask('Host: evil.example')).toBe(421)
      expect(await ask('Host: 127.0.0.1:PORT', 'Origin: http://evil.example')).toBe(403)
      expect(await ask('Host: 127.0.0.1:PORT')).toBe(101)
    }
    const cookie = ['Host: 127.0.0.1:PORT', 'Cookie: escapement_session=cookie-of-member']
    expect(await statusOf('GET /rpc HTTP/1.1', ...upgrade, ...cookie)).toBe(403)
    expect(await statusOf('GET /rpc HTTP/1.1', ...upgrade, ...cookie, 'Origin: http://127.0.0.1:PORT')).toBe(101)
  })
})
