import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { aPrincipal, createHttpWorld, KEYS, problemIn, type HttpWorld, type More } from '../support.ts'
import { principalId } from '../../../src/domain/ids.ts'
import { connect, HANDSHAKE, MODERN } from './support.ts'

// What the door of /mcp lets through, and how it says no: the gate of every request, and the words of JSON-RPC behind it.

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterEach(() => {
  world.set({ ratePerSecond: 0, tasksEnabled: true })
  world.change({ isDraining: () => false })
})
afterAll(() => world.close())

const ACCEPT = { accept: 'application/json, text/event-stream' }
const post = (body: unknown, { headers = {}, ...more }: More = {}) =>
  world.ask('POST', '/mcp', {
    ...(typeof body === 'string' || Buffer.isBuffer(body) ? { raw: body } : { body }),
    headers: { 'content-type': 'application/json', ...ACCEPT, ...headers },
    ...more,
  })
const call = (name: unknown, input?: unknown, id: unknown = 1) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name, ...(input === undefined ? {} : { arguments: input }) },
})
const countSchedules = async (): Promise<number> =>
  (await world.ask('GET', '/api/v1/schedules?limit=200')).json<{ readonly items: readonly unknown[] }>().items.length

describe('the door', () => {
  it.each([
    ['no key', { as: null }, 'UNAUTHENTICATED'],
    ['a key that is nobody’s', { as: 'nobody' }, 'UNAUTHENTICATED'],
    ['another host', { headers: { host: 'evil.example' } }, 'MISDIRECTED'],
    ['another origin', { headers: { origin: 'https://evil.example' } }, 'FOREIGN_ORIGIN'],
    ['a cookie without its token', { as: null, headers: { cookie: 'escapement_session=cookie-of-member' } }, 'CSRF'],
    ['another kind of body', { headers: { 'content-type': 'text/plain' } }, 'UNSUPPORTED_MEDIA_TYPE'],
  ] as const)('is shut for %s', async (_, more, code) => {
    problemIn(await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, more), code)
  })

  it('is shut for what is too large', async () => {
    problemIn(await post(call('schedule_create', { name: 'x', prompt: 'x'.repeat(1_100_000) })), 'BODY_TOO_LARGE')
  })

  it.each(['GET', 'DELETE', 'PUT', 'OPTIONS'] as const)(
    'answers %s with 405: no stream, no session',
    async (method) => {
      const response = await world.ask(method, '/mcp', { headers: ACCEPT })
      problemIn(response, 'METHOD_NOT_ALLOWED')
      expect(response.headers['allow']).toBe('POST')
    },
  )

  it('charges for every call of a batch', async () => {
    world.set({ ratePerSecond: 3 })
    const answers = (await post([1, 2, 3, 4, 5].map((id) => call('schedule_list', {}, id)))).json<readonly unknown[]>()
    expect(JSON.stringify(answers).match(/RATE_LIMITED: /g)).toHaveLength(2)
  })

  it('knows a key that is revoked in the middle of a conversation', async () => {
    for (const revision of [HANDSHAKE, MODERN] as const) {
      KEYS.set('leaving', aPrincipal('owner', { id: principalId('key_leaving') }))
      const guest = await connect(world, 'leaving', revision)
      await guest.call('schedule_list')
      KEYS.set('leaving', aPrincipal('owner', { id: principalId('key_leaving'), revokedAt: world.services.now }))
      await expect(guest.call('schedule_list')).rejects.toThrow(/401|Unauthorized|revoked/i)
      KEYS.set('leaving', aPrincipal('owner', { id: principalId('key_leaving'), expiresAt: world.services.now }))
      await expect(guest.call('schedule_list')).rejects.toThrow(/401|Unauthorized|expired/i)
    }
  })

  it('negotiates the revision with a client that begins with a handshake', async () => {
    const initialize = (protocolVersion: string) => ({
      ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
      params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    })
    for (const [asked, told] of [
      ['2025-11-25', '2025-11-25'],
      ['2025-06-18', '2025-06-18'],
      ['2025-03-26', '2025-03-26'],
      ['1999-01-01', '2025-11-25'],
    ]) {
      const response = await post(initialize(asked ?? ''))
      expect(response.json()).toMatchObject({ result: { protocolVersion: told, serverInfo: { name: 'escapement' } } })
      expect(response.headers['mcp-session-id']).toBeUndefined()
    }
    const wrong = await post(
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { headers: { 'mcp-protocol-version': 'x' } },
    )
    expect(wrong.statusCode).toBe(400)
  })

  it('holds no stream open for a subscription without a filter', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const response = await post(
      { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { _meta: meta, filter: {} } },
      { headers: { 'mcp-protocol-version': MODERN, 'mcp-method': 'subscriptions/listen' } },
    )
    expect(response.body).toContain('error')
  })
})

describe('refusals', () => {
  it('say their code, what is wrong and what to do, and change nothing', async () => {
    const guest = await connect(world, 'owner')
    const before = await countSchedules()
    const wrong = await guest.call('schedule_create', {
      name: 'x',
      cron: '61 * * * *',
      timezone: 'Mars/Base',
      prompt: 'x',
    })
    expect(wrong.problem).toMatchObject({ code: 'VALIDATION' })
    expect(wrong.text).toMatch(/\/cron/)
    expect(wrong.text).toContain('Correct the named arguments')
    expect((await guest.call('schedule_create', { nmae: 'x', prompt: 'x' })).text).toContain('did you mean name?')
    expect(
      (await guest.call('schedule_create', { name: 'x', cron: '* * * * *', prompt: 'a', payload: {} })).text,
    ).toContain('give only one')
    expect(await guest.refused('schedule_delete', { schedule_id: 'sch_none' })).toMatchObject({ code: 'NOT_FOUND' })
    expect((await guest.call('stop', { session: 'a', run_id: 'b' })).text).toContain('give session or run_id')
    expect((await guest.call('run_explain', { schedule_id: 'x' })).text).toContain('give run_id, or schedule_id and at')
    expect(await countSchedules()).toBe(before)
  })

  it('hold the permissions of the key', async () => {
    const viewer = await connect(world, 'viewer')
    await viewer.call('schedule_list')
    for (const [tool, input] of [
      ['schedule_create', { name: 'x', cron: '* * * * *', prompt: 'x' }],
      ['schedule_update', { schedule_id: 'x', name: 'y' }],
      ['schedule_delete', { schedule_id: 'x' }],
      ['run_now', { schedule_id: 'x' }],
      ['task_submit', { agent_id: 'writer', action: 'x' }],
      ['stop', { session: 'x' }],
      ['stop', { run_id: 'x' }],
    ] as const)
      expect(await viewer.refused(tool, input), tool).toMatchObject({ code: 'FORBIDDEN' })
  })

  it('keep the orgs apart', async () => {
    const owner = await connect(world, 'owner')
    const made = await owner.call('schedule_create', { name: 'Mine', cron: '0 9 * * *', prompt: 'x' })
    const { id } = made.structured
    const stranger = await connect(world, 'stranger')
    for (const tool of ['schedule_update', 'schedule_delete', 'run_now', 'schedule_list'])
      expect(await stranger.refused(tool, { id }), tool).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('say that the node drains, or that tasks are switched off', async () => {
    const guest = await connect(world, 'owner')
    world.set({ tasksEnabled: false })
    expect(await guest.refused('task_submit', { agent_id: 'writer', action: 'x' })).toMatchObject({ code: 'NOT_FOUND' })
    world.change({ isDraining: () => true })
    const refused = await guest.refused('schedule_create', { name: 'x', cron: '0 9 * * *', prompt: 'x' })
    expect(refused).toMatchObject({ code: 'DRAINING', retry_after_ms: 5_000 })
  })

  it('tell nothing of what nobody expected, and log it', async () => {
    const guest = await connect(world, 'owner')
    world.change({
      isDraining: () => {
        throw new Error('a secret of the house')
      },
    })
    const { problem, text } = await guest.call('schedule_create', { name: 'x', cron: '0 9 * * *', prompt: 'x' })
    expect(problem).toMatchObject({ code: 'INTERNAL' })
    expect(text).not.toContain('secret')
    expect(JSON.stringify(world.logged)).toContain('a secret of the house')
  })
})

describe('hostile messages', () => {
  const deep = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
  it.each<readonly [string, unknown]>([
    ['nothing', ''],
    ['no JSON', '{"jsonrpc":'],
    ['a text', '"tools/list"'],
    ['null', 'null'],
    ['a number', '42'],
    ['an empty batch', []],
    ['a batch of nothings', [null, 1, 'x', []]],
    ['a batch that is too long', Array.from({ length: 51 }, (_, id) => call('schedule_list', {}, id))],
    ['half of a character', '{"jsonrpc":"2.0","id":1,"method":"\\ud800"}'],
    [
      'NUL',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stop","arguments":{"session":"\\u0000"}}}',
    ],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    [
      'a prototype',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stop","arguments":{"__proto__":{"session":"x"}}}}',
    ],
    ['a depth', call('schedule_create', { name: 'x', cron: '* * * * *', payload: deep(200) })],
    ['another version', { jsonrpc: '1.0', id: 1, method: 'tools/list' }],
    ['an object as id', { jsonrpc: '2.0', id: {}, method: 'tools/list' }],
    ['no method', { jsonrpc: '2.0', id: 1 }],
    [
      'a method nobody knows',
      { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'file:///etc/passwd' } },
    ],
    ['a prototype as method', { jsonrpc: '2.0', id: 1, method: 'constructor' }],
    ['no tool', { jsonrpc: '2.0', id: 1, method: 'tools/call' }],
    ['an object as tool', call({ name: 'stop' })],
    ['a tool nobody knows', call('shell_exec', { command: 'id' })],
    ['a prototype as tool', call('constructor', {})],
    ['another prototype as tool', call('__proto__', {})],
    ['a list as arguments', call('schedule_list', [])],
    ['a text as arguments', call('schedule_list', 'all')],
    ['an answer that nobody asked for', { jsonrpc: '2.0', id: 1, result: {} }],
    ['an endless name of a tool', call('x'.repeat(100_000))],
  ])('are refused: %s', async (_, body) => {
    const before = await countSchedules()
    const logged = world.logged.length
    const response = await post(body)
    expect(response.statusCode).toBeLessThan(500)
    if (response.statusCode === 200) expect(response.body).toMatch(/"error"|"isError":true/)
    expect(response.body.length).toBeLessThan(3_000)
    expect(response.body).not.toMatch(/node_modules|\.ts:|at Object|file:\/\//)
    expect(await countSchedules()).toBe(before)
    expect(world.logged.length).toBe(logged)
  })

  it.each<readonly [string, string, Record<string, unknown>]>([
    ['wrong types', 'schedule_create', { name: 1, cron: [], prompt: {}, timezone: true, enabled: 'yes' }],
    ['a huge number', 'schedule_create', { name: 'x', every_seconds: 1e300, prompt: 'x' }],
    ['a negative one', 'schedule_create', { name: 'x', every_seconds: -1, prompt: 'x' }],
    ['an executor', 'schedule_create', { name: 'x', cron: '* * * * *', executor: { kind: 'command', program: 'id' } }],
    ['a lane', 'schedule_create', { name: 'x', cron: '* * * * *', prompt: 'x', lane: 'main' }],
    ['a parent', 'schedule_create', { name: 'x', cron: '* * * * *', prompt: 'x', parent_run_id: 'run_1' }],
    ['an org', 'schedule_list', { org_id: 'other' }],
    ['a huge page', 'schedule_list', { limit: 1_000 }],
    ['a cursor of nobody', 'schedule_list', { cursor: 'eyJ4IjoxfQ' }],
    ['a path as id', 'schedule_delete', { schedule_id: '../../keys/key_owner' }],
    ['an empty id', 'run_now', { schedule_id: '' }],
    ['an endless id', 'run_now', { schedule_id: 'x'.repeat(1_000) }],
    ['a callback', 'task_submit', { agent_id: 'writer', action: 'x', callbackUrl: 'http://169.254.169.254/' }],
    ['a moment that is none', 'run_explain', { schedule_id: 'x', at: 'yesterday' }],
    ['an endless preview', 'schedule_preview', { cron: '* * * * * *', count: 100_000 }],
    ['a command as session', 'stop', { session: '/stopall' }],
  ])('as arguments are refused: %s', async (_, tool, input) => {
    const guest = await connect(world, 'owner')
    const before = await countSchedules()
    const { problem, text } = await guest.call(tool, input)
    if (tool !== 'stop') expect(problem?.code).toMatch(/^(VALIDATION|NOT_FOUND)$/)
    expect(text.length).toBeLessThan(3_000)
    expect(await countSchedules()).toBe(before)
  })
})

describe('done once', () => {
  it('a call that is repeated under its key', async () => {
    const before = await countSchedules()
    const body = call('schedule_create', { name: 'Once', cron: '0 9 * * *', prompt: 'x' })
    const headers = { 'idempotency-key': 'mcp-once' }
    const [first, second] = [await post(body, { headers }), await post(body, { headers })]
    expect(second.json()).toEqual(first.json())
    expect(await countSchedules()).toBe(before + 1)
  })
})
