import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { later } from '../../src/domain/instant.ts'
import { principalId } from '../../src/domain/ids.ts'
import { aPrincipal, createHttpWorld, KEYS, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const URL = '/api/v1/schedules'

describe('who asks', () => {
  it.each([
    ['nobody', null, {}],
    ['a key that is nobody’s', 'nobody', {}],
    ['another scheme', null, { authorization: 'Basic b3duZXI6' }],
    ['no key at all', null, { authorization: 'Bearer ' }],
    ['two keys', null, { authorization: 'Bearer owner owner' }],
    ['a cookie that is nobody’s', null, { cookie: 'escapement_session=nobody' }],
    ['another cookie', null, { cookie: 'session=cookie-of-member' }],
  ])('is refused: %s', async (_, as, headers) => {
    const response = await world.ask('GET', URL, { as, headers })
    problemIn(response, 'UNAUTHENTICATED')
    expect(response.headers['www-authenticate']).toBe('Bearer realm="escapement"')
  })

  it('is refused with a key that was revoked or has expired, and told which', async () => {
    const { now } = world.services
    KEYS.set('revoked', aPrincipal('owner', { revokedAt: now }))
    KEYS.set('expired', aPrincipal('owner', { expiresAt: now }))
    KEYS.set('expiring', aPrincipal('owner', { expiresAt: later(now, 1) }))
    const reasonOf = async (as: string) => problemIn(await world.ask('GET', URL, { as }), 'UNAUTHENTICATED').details
    expect(await reasonOf('revoked')).toMatchObject({ reason: 'key_revoked' })
    expect(await reasonOf('expired')).toMatchObject({ reason: 'key_expired' })
    expect((await world.ask('GET', URL, { as: 'expiring' })).statusCode).toBe(200)
  })

  it('is heard by a port that takes its time', async () => {
    world.change({ authenticate: (text) => Promise.resolve(KEYS.get(text) ?? null) })
    expect((await world.ask('GET', URL)).statusCode).toBe(200)
    problemIn(await world.ask('GET', URL, { as: 'nobody' }), 'UNAUTHENTICATED')
    problemIn(await world.ask('POST', URL, { as: 'viewer', body: {} }), 'FORBIDDEN')
    world.change({ authenticate: (text) => KEYS.get(text) ?? null })
  })

  it('is told which permission is missing, before the body is looked at', async () => {
    const response = await world.ask('POST', URL, { as: 'viewer', raw: '{' })
    expect(problemIn(response, 'FORBIDDEN').details).toMatchObject({ permission: 'schedules:write', role: 'viewer' })
    KEYS.set('narrow', aPrincipal('owner', { scopes: ['schedules:read'] }))
    expect((await world.ask('GET', URL, { as: 'narrow' })).statusCode).toBe(200)
    problemIn(await world.ask('POST', URL, { as: 'narrow', body: { every_seconds: 60 } }), 'FORBIDDEN')
    problemIn(await world.ask('DELETE', `${URL}/x`, { as: 'member' }), 'FORBIDDEN')
  })
})

describe('somebody signed in at the console', () => {
  const cookie = 'other=1; escapement_session=cookie-of-member'

  it('reads with the cookie alone', async () => {
    expect((await world.ask('GET', URL, { as: null, headers: { cookie } })).statusCode).toBe(200)
  })

  it('changes only with the token of the session', async () => {
    const change = (headers: Record<string, string>) =>
      world.ask('POST', URL, { as: null, body: { every_seconds: 60 }, headers: { cookie, ...headers } })
    problemIn(await change({}), 'CSRF')
    problemIn(await change({ 'x-csrf-token': 'csrf-2' }), 'CSRF')
    problemIn(await change({ 'x-csrf-token': '' }), 'CSRF')
    const made = await change({ 'x-csrf-token': 'csrf-1' })
    expect(made.json()).toMatchObject({ created_by: 'mem_1' })
  })

  it('is judged by the key when there is one', async () => {
    problemIn(await world.ask('GET', URL, { as: 'nobody', headers: { cookie } }), 'UNAUTHENTICATED')
  })
})

describe('where a request was meant to go', () => {
  afterEach(() => {
    world.set({ publicUrl: null, allowedHosts: [] })
  })
  const ask = (headers: Record<string, string>, url = URL) => world.ask('GET', url, { headers })

  // In process there is no port, and none is the port of http.
  it.each(['localhost', 'localhost:80', '127.0.0.1', '127.0.0.1:80', '[::1]:80', 'LOCALHOST'])(
    'is %s',
    async (host) => {
      expect((await ask({ host })).statusCode).toBe(200)
    },
  )

  it.each([
    'evil.example',
    'localhost:7421',
    '127.0.0.1.evil.example',
    'localhost.',
    '127.0.0.2',
    'localhost:80:80',
    '[::1',
  ])('is not %j', async (host) => {
    for (const url of [URL, '/health', '/nowhere', '/openapi.json']) problemIn(await ask({ host }, url), 'MISDIRECTED')
  })

  it('is what the operator says besides', async () => {
    world.set({ publicUrl: 'https://agents.example:8443/x', allowedHosts: ['Inner.example', 'other.example:99'] })
    for (const host of ['agents.example:8443', 'inner.example', 'inner.example:1234', 'other.example:99', 'localhost'])
      expect((await ask({ host })).statusCode).toBe(200)
    for (const host of ['agents.example', 'other.example', 'other.example:98'])
      problemIn(await ask({ host }), 'MISDIRECTED')
  })

  it('is the same as where it comes from', async () => {
    world.set({ publicUrl: 'https://agents.example', allowedHosts: ['inner.example'] })
    const pairs = [
      ['localhost', 'http://localhost', 200],
      ['localhost', 'https://localhost', 403],
      ['localhost', 'http://localhost:81', 403],
      ['localhost', 'http://evil.example', 403],
      ['localhost', 'null', 403],
      ['localhost', 'http://127.0.0.1', 403],
      ['agents.example', 'https://agents.example', 200],
      ['inner.example', 'https://inner.example', 200],
      ['inner.example', 'https://agents.example', 403],
    ] as const
    for (const [host, origin, status] of pairs) {
      const response = await ask({ host, origin })
      expect([host, origin, response.statusCode]).toEqual([host, origin, status])
      expect(response.headers['access-control-allow-origin']).toBeUndefined()
      if (status === 403) problemIn(response, 'FOREIGN_ORIGIN')
    }
  })

  it('is never opened for other origins by a preflight', async () => {
    const headers = { origin: 'http://localhost', 'access-control-request-method': 'POST' }
    const response = await world.ask('OPTIONS', URL, { as: null, headers })
    problemIn(response, 'METHOD_NOT_ALLOWED')
    expect(response.headers['access-control-allow-methods']).toBeUndefined()
  })
})

describe('how often somebody asks', () => {
  it('is limited per key, before the body is read, and comes back with time', async () => {
    let now = 0
    world.change({ counter: () => now })
    world.set({ ratePerSecond: 2 })
    KEYS.set('other', aPrincipal('owner', { id: principalId('key_other') }))
    const status = async (as = 'owner') => (await world.ask('GET', URL, { as })).statusCode
    expect([await status(), await status(), await status()]).toEqual([200, 200, 429])
    const refused = await world.ask('POST', URL, { raw: '{ not read' })
    expect(problemIn(refused, 'RATE_LIMITED').detail).toContain('2 requests per second')
    expect(refused.headers['retry-after']).toBe('1')
    expect(await status('other')).toBe(200)
    now = 500
    expect([await status(), await status()]).toEqual([200, 429])
    now = 100_000
    expect([await status(), await status(), await status()]).toEqual([200, 200, 429])
    world.set({ ratePerSecond: 0 })
    expect(await status()).toBe(200)
  })

  it('is limited by default where there is more than one org, and not for workers, callbacks and the operator', async () => {
    world.change({ counter: () => 0, hasManyOrgs: () => true })
    world.set({ ratePerSecond: null, rateBurst: 3 })
    const several = async (ask: () => ReturnType<typeof world.ask>) => {
      const statuses = new Set<number>()
      for (let n = 0; n < 5; n += 1) statuses.add((await ask()).statusCode)
      return [...statuses]
    }
    KEYS.set('busy', aPrincipal('owner', { id: principalId('key_busy') }))
    KEYS.set('quiet', aPrincipal('owner', { id: principalId('key_quiet') }))
    const complete = '/api/v1/worker/attempts/att_none/complete'
    try {
      expect(await several(() => world.ask('GET', URL, { as: 'busy' }))).toEqual([200, 429])
      expect(await several(() => world.ask('POST', complete, { as: 'busy', body: { status: 'success' } }))).toEqual([
        404,
      ])
      expect(await several(() => world.ask('GET', URL, { as: 'operator' }))).toEqual([200])
      const callback = (): ReturnType<typeof world.ask> =>
        world.ask('POST', '/api/v1/callbacks/none', { as: 'busy', body: { status: 'success' } })
      expect(await several(callback)).not.toContain(429)
      world.change({ hasManyOrgs: () => false })
      expect(await several(() => world.ask('GET', URL, { as: 'quiet' }))).toEqual([200])
    } finally {
      world.change({ hasManyOrgs: () => false })
      world.set({ ratePerSecond: 0, rateBurst: null })
    }
  })
})
