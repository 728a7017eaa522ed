import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RPC_METHODS, type RpcMethodSpec } from '../../../src/server/rpc/methods.ts'
import { PERMISSIONS, type Permission } from '../../../src/domain/access/access.ts'
import { principalId } from '../../../src/domain/ids.ts'
import { aPrincipal, createHttpWorld, KEYS, problemIn, type HttpWorld } from '../support.ts'
import { call, pointers, post, type Answer } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const status = { jsonrpc: '2.0', id: 7, method: 'cron.status' }
const answers = async (body: unknown): Promise<readonly Answer[]> => (await post(world, body)).json()

describe('a request', () => {
  it.each([7, 'seven', 1.5, null, ''])('with the id %j is answered under it', async (id) => {
    const answer = (await post(world, { ...status, id })).json<Answer>()
    expect(answer).toEqual({ jsonrpc: '2.0', id, result: { enabled: true, jobs: 0 } })
  })

  it('without an id is a notification: done, and not answered', async () => {
    const made = { name: 'Quiet', schedule: { kind: 'every', everyMs: 60_000 }, message: 'Hello' }
    const response = await post(world, { jsonrpc: '2.0', method: 'cron.create', params: made })
    expect([response.statusCode, response.body]).toEqual([204, ''])
    const { items } = (await world.ask('GET', '/api/v1/schedules?q=Quiet')).json<{ items: { id: string }[] }>()
    expect(items).toHaveLength(1)
    await world.ask('DELETE', `/api/v1/schedules/${items[0]?.id ?? ''}`)
  })

  it('without an id that is refused is not answered either', async () => {
    expect((await post(world, { jsonrpc: '2.0', method: 'cron.nonsense' })).statusCode).toBe(204)
  })

  it.each([
    ['{"jsonrpc": "2.0", "method"', -32700],
    ['', -32700],
    ['\u0000', -32700],
    ['1', -32600],
    ['"cron.list"', -32600],
    ['null', -32600],
    ['{}', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"cron.list"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"cron.list"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":3}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"cron.list","params":3}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"cron.list","params":{"agentId":"\\u0000"}}', -32600],
    ['[]', -32600],
  ])('%s is answered with %i', async (raw, code) => {
    const response = await post(world, raw, { headers: { 'content-type': 'application/json' } })
    expect(response.statusCode).toBe(200)
    expect(response.json<Answer>()).toMatchObject({ jsonrpc: '2.0', error: { code } })
  })

  it('keeps its id when it can be read, and has null when it cannot', async () => {
    expect((await post(world, { jsonrpc: '1.0', id: 9, method: 'x' })).json<Answer>().id).toBe(9)
    expect((await post(world, { jsonrpc: '2.0', id: [9], method: 'x' })).json<Answer>().id).toBeNull()
  })

  it.each([
    ['cron.lst', 'cron.list'],
    ['cron.togle', 'cron.toggle'],
    ['sessions.stopAll', 'sessions.stopall'],
    ['cron.add', 'cron.create'],
    ['cron.remove', 'cron.delete'],
    ['cron.enable', 'cron.toggle'],
    ['add', 'cron.create'],
  ])('for %s is told that %s may have been meant', async (method, meant) => {
    const { error } = await call(world, method)
    expect(error).toMatchObject({ code: -32601, data: { did_you_mean: meant } })
    expect(error?.message).toContain(`did you mean ${meant}?`)
  })

  it.each(['cron.wake', 'chat.send', 'heartbeat.add'])('for %s is told of none', async (method) => {
    const { error } = await call(world, method)
    expect(error).toEqual({ code: -32601, message: `Unknown method ${method}`, data: { code: 'METHOD_NOT_FOUND' } })
  })

  it.each(['nonsense', '__proto__', 'constructor', 'toString'])('for %s has no method', async (method) => {
    expect((await call(world, method)).error?.code).toBe(-32601)
  })

  it.each(['list', 'status'])('for %s is the method of cron', async (method) => {
    const [bare, full] = [await call(world, method), await call(world, `cron.${method}`)]
    expect(bare.result).toBeDefined()
    expect(bare.result).toEqual(full.result)
  })

  it('for the other methods of cron without cron. does what they do', async () => {
    const params = { name: 'Bare', schedule: { kind: 'every', everyMs: 60_000 }, message: 'Look' }
    const { job } = (await call(world, 'create', params)).result as { readonly job: { readonly id: string } }
    const jobId = job.id
    const ask = async (method: string, more: object = {}): Promise<unknown> =>
      (await call(world, method, { jobId, ...more })).result
    expect(await ask('update', { patch: { name: 'Named' } })).toMatchObject({ job: { name: 'Named' } })
    expect(await ask('run')).toMatchObject({ ok: true, ran: true })
    expect(await ask('runs')).toMatchObject({ total: 1 })
    expect(await ask('toggle', { enabled: false })).toEqual({ jobId, enabled: false })
    expect(await ask('delete')).toEqual({ deleted: true })
  })

  it('with params by position is told to name them', async () => {
    expect((await call(world, 'cron.list', [true])).error).toMatchObject({ code: -32602 })
  })

  it('with unknown params is told which are known', async () => {
    const answer = await call(world, 'cron.list', { includeDisable: true })
    expect(answer.error).toMatchObject({ code: -32602, data: { code: 'VALIDATION' } })
    expect(pointers(answer)).toEqual(['/includeDisable'])
    expect(answer.error?.message).toContain('did you mean includeDisabled?')
  })
})

describe('a batch', () => {
  it('is answered in its order, without its notifications', async () => {
    const found = await answers([
      { ...status, id: 'a' },
      { jsonrpc: '2.0', method: 'cron.status' },
      { jsonrpc: '2.0', id: 'b', method: 'nonsense' },
      3,
      { ...status, id: 'c' },
    ])
    expect(found.map(({ id, error }) => [id, error?.code])).toEqual([
      ['a', undefined],
      ['b', -32601],
      [null, -32600],
      ['c', undefined],
    ])
  })

  it('of notifications alone has no answer', async () => {
    const response = await post(world, [{ jsonrpc: '2.0', method: 'cron.status' }])
    expect([response.statusCode, response.body]).toEqual([204, ''])
  })

  it('of 51 calls is refused whole, and 50 are not', async () => {
    const of = (count: number): unknown => Array.from({ length: count }, (_, id) => ({ ...status, id }))
    expect((await post(world, of(51))).json<Answer>().error?.code).toBe(-32600)
    expect(await answers(of(50))).toHaveLength(50)
  })

  it('does one call after the other', async () => {
    const made = { name: 'First', schedule: { kind: 'every', everyMs: 60_000 }, message: 'Hello' }
    const found = await answers([
      { jsonrpc: '2.0', id: 1, method: 'cron.create', params: made },
      { jsonrpc: '2.0', id: 2, method: 'cron.list' },
    ])
    const [{ job }, { jobs }] = found.map((answer) => answer.result) as never as [
      { job: { id: string } },
      { jobs: { id: string }[] },
    ]
    expect(jobs.map(({ id }) => id)).toContain(job.id)
    await world.ask('DELETE', `/api/v1/schedules/${job.id}`)
  })
})

describe('the door', () => {
  it('wants a key', async () => {
    problemIn(await post(world, status, { as: null }), 'UNAUTHENTICATED')
    problemIn(await post(world, status, { as: 'nobody' }), 'UNAUTHENTICATED')
  })

  it('wants our Host, and no foreign Origin', async () => {
    problemIn(await post(world, status, { headers: { host: 'attacker.example' } }), 'MISDIRECTED')
    problemIn(await post(world, status, { headers: { origin: 'http://attacker.example' } }), 'FOREIGN_ORIGIN')
  })

  it('wants the token of who is signed in by cookie', async () => {
    const cookie = 'escapement_session=cookie-of-member'
    problemIn(await post(world, status, { as: null, headers: { cookie } }), 'CSRF')
    const good = await post(world, status, { as: null, headers: { cookie, 'x-csrf-token': 'csrf-1' } })
    expect(good.json<Answer>().result).toMatchObject({ enabled: true })
  })

  it('wants JSON, not more than 1 MiB, and POST', async () => {
    problemIn(await post(world, 'hello', { headers: { 'content-type': 'text/plain' } }), 'UNSUPPORTED_MEDIA_TYPE')
    problemIn(await post(world, { ...status, params: { x: 'x'.repeat(1_100_000) } }), 'BODY_TOO_LARGE')
    const got = await world.ask('GET', '/rpc')
    problemIn(got, 'METHOD_NOT_ALLOWED')
    expect(got.headers['allow']).toBe('POST')
  })

  it('counts each call of a batch', async () => {
    let now = 10_000
    world.change({ counter: () => now })
    world.set({ ratePerSecond: 3 })
    try {
      const found = await answers(Array.from({ length: 5 }, (_, id) => ({ ...status, id })))
      expect(found.map(({ error }) => error?.code)).toEqual([undefined, undefined, undefined, -32029, -32029])
      expect(found[3]?.error?.data).toMatchObject({ code: 'RATE_LIMITED', retry_after_ms: 334 })
      problemIn(await post(world, status), 'RATE_LIMITED')
      now += 1_000
      expect((await post(world, status)).statusCode).toBe(200)
    } finally {
      world.set({ ratePerSecond: 0 })
    }
  })

  it('lets no new work in while the node goes down, and commands pass', async () => {
    world.change({ isDraining: () => true })
    try {
      const made = { schedule: { kind: 'every', everyMs: 60_000 }, message: 'Hello' }
      expect((await call(world, 'cron.create', made)).error).toMatchObject({
        ...{ code: -32053, data: { code: 'DRAINING', retry_after_ms: 5_000 } },
      })
      expect((await call(world, 'cron.status')).result).toEqual({ enabled: false, jobs: 0 })
      expect((await call(world, 'sessions.stop', { key: 'agent:writer:x' })).result).toEqual({ stopped: 0, drained: 0 })
    } finally {
      world.change({ isDraining: () => false })
    }
  })

  it('tells nothing of what nobody expected but where to find it', async () => {
    const broken = { ...world.services.ports, commands: { execute: () => Promise.reject(new TypeError('a secret')) } }
    world.change({ ports: broken })
    try {
      const { error } = await call(world, 'sessions.stop', { key: 'agent:writer:x' })
      expect(error).toMatchObject({ code: -32603, data: { code: 'INTERNAL' } })
      expect(JSON.stringify(error)).not.toContain('secret')
      expect(world.logged.at(-1)).toMatchObject({
        ...{ level: 'error', facts: { method: 'sessions.stop', request_id: error?.data?.request_id } },
      })
    } finally {
      world.change({ ports: world.services.ports })
    }
  })
})

describe('each method asks for its permission', () => {
  const scoped = (name: string, scopes: readonly string[]): string => {
    KEYS.set(name, aPrincipal('owner', { id: principalId(`key_${name}`), scopes }))
    return name
  }
  const all = Object.keys(PERMISSIONS) as readonly Permission[]
  const methods: readonly (readonly [string, RpcMethodSpec])[] = Object.entries(RPC_METHODS)

  it.each(methods)('%s: with everything but it, forbidden', async (method, { permission }) => {
    const as = scoped(
      `all but ${permission}`.replace(/[ :*]/g, '-'),
      all.filter((one) => one !== permission),
    )
    const { error } = await call(world, method, {}, { as })
    expect(error).toMatchObject({ code: -32003, data: { code: 'FORBIDDEN' } })
    expect(error?.message).toContain(permission)
  })

  it.each(methods)('%s: with it alone, let in', async (method, { permission }) => {
    const as = scoped(`only ${permission}`.replace(/[ :*]/g, '-'), [permission])
    const { error } = await call(world, method, {}, { as })
    expect([undefined, -32602, -32601]).toContain(error?.code)
  })
})
