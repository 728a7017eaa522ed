import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ensureOwnerKey } from '../../src/features/access/first-key.ts'
import { openVault } from '../../src/features/secrets/vault.ts'
import { run } from '../cli/run.ts'
import { ask, createServeWorld, type Served, type ServeWorld } from '../serve/support.ts'
import { createServiceWorld, type ServiceWorld } from '../features/database/world.ts'
import { createEmbeddedWorld } from '../platform/db/embedded-world.ts'
import { ORG } from '../platform/db/records.ts'
import { makeScratch } from '../support/scratch.ts'

const CALLERS = 20

type Request = Parameters<typeof ask>[2]
type Answer = Awaited<ReturnType<typeof ask>>

const all = <T>(work: (index: number) => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: CALLERS }, (_, index) => work(index)))

const secret = (name: string): Request => ({
  path: '/api/v1/secrets',
  body: { name, value: 'hunter2-hunter2', hosts: ['api.example.com'] },
})

describe('two servers of one fresh data directory, and 20 callers at once', () => {
  let world: ServeWorld
  let servers: readonly Served[]
  const askAll = (request: (index: number) => Request): Promise<readonly Answer[]> =>
    all((index) => ask(world, servers[index % servers.length] as Served, request(index)))
  const statusesOf = (answers: readonly Answer[]): readonly number[] => answers.map(({ status }) => status).sort()

  beforeAll(async () => {
    world = await createServeWorld()
    servers = [world.serve(), world.serve()]
    await Promise.all(servers.map(({ url }) => url))
  })
  afterAll(() => world.end())

  /** The first use of each kind of thing: what 20 callers ask for, and what they are answered. */
  const FIRST_USES: readonly {
    readonly what: string
    readonly request: (index: number) => Request
    readonly statuses: readonly number[]
    readonly same?: (body: Answer['body']) => unknown
  }[] = [
    { what: 'secrets', request: (index) => secret(`KEY_${index}`), statuses: Array<number>(CALLERS).fill(201) },
    {
      what: 'a signing secret',
      request: () => ({ path: '/api/v1/targets/signing-secret' }),
      statuses: Array<number>(CALLERS).fill(200),
      same: (body) => body['secret'],
    },
    {
      what: 'a lane',
      request: () => ({ method: 'PUT', path: '/api/v1/lanes/fresh', body: { concurrency: 2 } }),
      statuses: Array<number>(CALLERS).fill(200),
      same: (body) => body['name'],
    },
    {
      what: 'a session',
      request: (index) => ({ path: '/api/v1/sessions/fresh/messages', body: { text: `hello ${index}` } }),
      statuses: Array<number>(CALLERS).fill(202),
    },
    {
      what: 'an agent',
      request: () => ({ path: '/api/v1/agents', body: { id: 'fresh', name: 'Fresh', executor: { kind: 'echo' } } }),
      statuses: [201, ...Array<number>(CALLERS - 1).fill(409)],
    },
    {
      what: 'a setting',
      request: () => ({
        ...{ method: 'PATCH', path: '/api/v1/config' },
        body: { log: { level: 'warn' } },
      }),
      statuses: Array<number>(CALLERS).fill(200),
    },
  ]

  it.each(FIRST_USES)('first use of $what succeeds for all of them', async ({ request, statuses, same }) => {
    const answers = await askAll(request)
    expect(statusesOf(answers), JSON.stringify(answers.find(({ status }) => status !== statuses[0])?.body)).toEqual(
      statuses,
    )
    if (same !== undefined) expect(new Set(answers.map(({ body }) => same(body))).size).toBe(1)
  })

  it('a sign-in link admits one of them', async () => {
    const token = readFileSync(path.join(world.data, 'signin'), 'utf8').trim().split('#signin=')[1] ?? ''
    const answers = await all(async (index) => {
      const url = await (servers[index % servers.length] as Served).url
      return fetch(`${url}/api/v1/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify({ token }),
      })
    })
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1)
  })

  it('leaves an audit chain without gaps', async () => {
    const { status, body } = await ask(world, servers[0] as Served, { path: '/api/v1/audit/verify' })
    expect([status, body['intact'] ?? body['ok']], JSON.stringify(body)).toEqual([200, true])
  })

  it('starts again with the same keys, and opens what was sealed', async () => {
    expect(readdirSync(world.data).filter((name) => name.startsWith('secret.key'))).toEqual(['secret.key'])
    for (const server of servers) {
      server.signal('SIGTERM')
      await server.ended
    }
    const again = world.serve()
    expect(await again.url, again.stderr()).toMatch(/^http/)
    const rotated = await ask(world, again, { path: '/api/v1/secrets/rotate', body: {} })
    expect(rotated.body['failed']).toEqual([])
    expect((await ask(world, again, secret('LATER'))).status).toBe(201)
  })
})

describe('first use inside one process, 20 callers at once', () => {
  let world: ServiceWorld
  let data: string
  beforeEach(async () => {
    world = await createServiceWorld()
    await world.db.query('delete from sealing_key')
    data = makeScratch('escapement-first-use-')
  })
  afterEach(async () => {
    await world.drop()
    rmSync(data, { recursive: true, force: true })
  })

  it('of 20 nodes makes one sealing key, which all of them have', async () => {
    const source = { environment: null, file: path.join(data, 'secret.key') }
    const vaults = await all(() =>
      openVault({ database: world.db, now: () => world.now, isEmbedded: true, nodeId: () => '', source }),
    )
    const place = { orgId: ORG, kind: 'secret', name: 'KEY' } as const
    const sealed = await Promise.all(vaults.map((vault) => vault.seal('hunter2-hunter2', place)))
    for (const text of sealed) for (const vault of vaults) expect(await vault.open(text, place)).toBe('hunter2-hunter2')
    expect(await world.rows('select id from sealing_key')).toHaveLength(1)
    expect(readFileSync(source.file, 'utf8').trim().split('\n')).toHaveLength(1)
  })

  it("of the owner's key makes one", async () => {
    const place = { file: path.join(data, 'owner.key'), schema: 'public', environment: null, alone: true }
    const found = await all(() => ensureOwnerKey(world.ports, place))
    expect(found.filter(({ kind }) => kind === 'made')).toHaveLength(1)
    expect(await world.rows(`select id from api_key where origin = 'start' and revoked_at is null`)).toHaveLength(1)
  })

  it('of an embedded server starts one', { timeout: 120_000 }, async () => {
    const embedded = createEmbeddedWorld()
    try {
      const started = await all(() => embedded.start())
      expect(new Set(started.map(({ target }) => JSON.stringify(target))).size).toBe(1)
      const left = await Promise.all(started.map(({ leave }) => leave()))
      expect(left.filter((how) => how === 'stopped')).toHaveLength(1)
    } finally {
      await embedded.end()
    }
  })
})

describe('an install whose file and database hold different keys', () => {
  let world: ServeWorld
  beforeAll(async () => {
    world = await createServeWorld()
  })
  afterAll(() => world.end())

  const here = (...args: readonly string[]): ReturnType<typeof run> =>
    run([...args, '--data', world.data], '', {
      cwd: world.data,
      variables: { ESCAPEMENT_DATABASE_URL: world.databaseUrl },
    })

  it('says in doctor how to start again, and what has to be entered again after that', async () => {
    const file = path.join(world.data, 'secret.key')
    const first = world.serve()
    await first.url
    expect((await ask(world, first, secret('LOST'))).status).toBe(201)
    first.signal('SIGTERM')
    await first.ended
    const lost = readFileSync(file, 'utf8')
    writeFileSync(file, `${'cd'.repeat(32)}\n`, { mode: 0o600 })
    const refused = world.serve()
    expect(await refused.ended).not.toBe(0)
    const command = /escapement secrets recover --lost-key ([0-9a-f]{16})/
    const id = command.exec(refused.stderr())?.[1] ?? refused.stderr()
    expect((await here('doctor', '--port', '0')).stdout).toContain(`escapement secrets recover --lost-key ${id}`)

    const wrong = await here('secrets', 'recover', '--lost-key', 'f'.repeat(16))
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      `Key ${'f'.repeat(16)} is not the current key; the current key is ${id}\n`,
    ])
    const done = await here('secrets', 'recover', '--lost-key', id)
    expect([done.code, done.stderr]).toEqual([0, ''])
    expect(done.stdout).toContain('org default: secret LOST (escapement secrets set LOST)')

    const again = world.serve()
    await again.url
    expect((await ask(world, again, secret('FRESH'))).status).toBe(201)
    const set = { method: 'PATCH', path: '/api/v1/secrets/LOST', body: { value: 'hunter3-hunter3' } }
    expect((await ask(world, again, set)).status).toBe(200)
    expect((await ask(world, again, { path: '/api/v1/secrets/rotate', body: {} })).body['failed']).toEqual([])
    expect(lost).not.toBe(readFileSync(file, 'utf8'))
  })
})
