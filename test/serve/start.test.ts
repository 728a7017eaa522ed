import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ask, createServeWorld, logged, removeProgram, type ServeWorld } from './support.ts'

// A machine that is busy with other tests takes its time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })

let world: ServeWorld

beforeEach(async () => {
  world = await createServeWorld()
})

afterEach(() => world.end())
afterAll(removeProgram)

const fileOf = (name: string): string => path.join(world.data, name)
const modeOf = (name: string): number => statSync(fileOf(name)).mode & 0o777
const textOf = (name: string): string => readFileSync(fileOf(name), 'utf8').trim()
const KEY = `esc_${randomBytes(32).toString('base64url')}`

describe('the first start', () => {
  it('leaves a key and a link that nobody else can read, an org and an agent to try', async () => {
    const server = world.serve()
    const url = await server.url
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect([modeOf('owner.key'), modeOf('signin')]).toEqual([0o600, 0o600])
    expect(textOf('signin')).toMatch(new RegExp(`^${url}/#signin=[\\w-]{43}$`))
    expect(await world.database.outside(`select id, executor from escapement.agent where org_id = 'default'`)).toEqual([
      { id: 'echo', executor: { kind: 'echo' } },
    ])
    expect((await ask(world, server, { path: '/api/v1/schedules' })).status).toBe(200)
  })

  it('prints the address and keeps the link to itself when nobody sits there', async () => {
    const server = world.serve()
    const url = await server.url
    expect(server.stdout()).toBe(`Escapement listens on ${url}\n`)
    server.signal('SIGTERM')
    expect(await server.ended).toBe(0)
    const token = textOf('signin').split('=').at(-1) ?? ''
    expect(server.stdout() + server.stderr()).not.toContain(token)
    expect(server.stderr()).not.toContain(textOf('owner.key'))
  })

  it('prints the link, on stdout only, when somebody does', async () => {
    const server = world.serve({ tty: true })
    await server.url
    await expect.poll(server.stdout).toContain(textOf('signin'))
    expect(server.stderr()).not.toContain('signin=')
  })
})

describe('a data directory that cannot be created', () => {
  it.each([
    { where: 'in a directory of the system', place: () => '/proc/nope/data', on: 'embedded' },
    { where: 'in a directory of the system', place: () => '/proc/nope', on: 'external' },
    { where: 'below a file', place: () => fileOf('file/data'), on: 'embedded' },
    { where: 'under a name that is too long', place: () => fileOf(`new/${'x'.repeat(300)}`), on: 'external' },
  ] as const)('$where ends the start at once with the reason, $on', async ({ place, on }) => {
    writeFileSync(fileOf('file'), '')
    const asked = performance.now()
    const server = world.spawn(['--data', place()], {}, { embedded: on === 'embedded' })
    expect(await server.ended).toBe(1)
    expect(performance.now() - asked).toBeLessThan(30_000)
    const sentence = server.stderr().trimEnd().split('\n')
    expect(sentence.filter((line) => !line.startsWith('{'))).toEqual([expect.stringContaining(place())])
    expect(readdirSync(world.data)).toEqual(['file'])
  })
})

describe('a later start', () => {
  it('keeps the key and makes another link', async () => {
    const first = world.serve()
    await first.url
    const [key, link] = [textOf('owner.key'), textOf('signin')]
    first.signal('SIGTERM')
    await first.ended
    const second = world.serve()
    await second.url
    expect(textOf('owner.key')).toBe(key)
    expect(textOf('signin')).not.toBe(link)
  })
})

describe('two servers in one directory', () => {
  it('share its embedded database on ports of their own', async () => {
    const [one, two] = [
      world.spawn([], { ESCAPEMENT_DATABASE_URL: '' }),
      world.spawn([], { ESCAPEMENT_DATABASE_URL: '' }),
    ]
    const urls = await Promise.all([one.url, two.url])
    expect(new Set(urls).size).toBe(2)
    const third = world.serve({ port: new URL(urls[0]).port })
    expect(await third.ended).toBe(1)
    expect(third.stderr()).toContain(
      `Escapement already runs on this data directory: ${urls[0]}, process ${one.child.pid}.`,
    )
    const made = await ask(world, one, { path: '/api/v1/schedules', body: { name: 'shared', cron: '0 0 1 1 *' } })
    expect(made.status).toBe(201)
    expect((await ask(world, two, { path: `/api/v1/schedules/${String(made.body['id'])}` })).body['name']).toBe(
      'shared',
    )
    one.signal('SIGTERM')
    expect(await one.ended).toBe(0)
    expect((await ask(world, two, { path: '/api/v1/schedules' })).status).toBe(200)
  })
})

describe('a start that cannot be', () => {
  const refusal = async (options: Parameters<ServeWorld['serve']>[0]): Promise<string> => {
    const server = world.serve(options)
    expect(await server.ended).toBe(1)
    expect(server.stdout()).toBe('')
    return server.stderr()
  }

  it('says so when the port is taken, and has made nothing', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { readonly port: number }
    const said = await refusal({ port: String(port) })
    other.close()
    expect(said).toContain(
      `Another program listens on port ${port} of 127.0.0.1. Stop it, or choose another port: --port 0`,
    )
    expect(said).not.toContain('That program is Escapement')
    expect(await world.database.outside('select id from escapement.node')).toEqual([])
    expect(readdirSync(world.data)).toEqual([])
  })

  it('says who listens there where that is Escapement, and makes nothing', async () => {
    const other = createHttpServer((_, answer) => answer.end('{"name":"escapement","version":"0.1.0"}'))
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { readonly port: number }
    const data = path.join(world.data, 'never-made')
    const said = await refusal({ port: String(port), data })
    other.close()
    expect(said).toContain(
      `That program is Escapement, at http://127.0.0.1:${port}. To use it, run commands in its directory`,
    )
    expect(existsSync(data)).toBe(false)
  })

  it.each([
    [{ port: 'abc' }, '--port "abc": must be a whole number (allowed: a whole number from 0 to 65535)'],
    [{ host: 'a b' }, '--host "a b": is not a host name or an IP address'],
    [{ databaseUrl: 'mysql://u:sesame@h/d' }, '--database-url "***": is not a postgres:// URL'],
    [{ data: import.meta.filename }, `${import.meta.filename} is not a directory. Pass an existing or new directory`],
    [{ config: './nowhere.yaml' }, 'nowhere.yaml: the file does not exist'],
    [
      { variables: { ESCAPEMENT_TASKS_MAX_QUEUE: '-1' } },
      'ESCAPEMENT_TASKS_MAX_QUEUE (tasks.max_queue) -1: is out of range',
    ],
    [{ variables: { ESCAPEMENT_OWNER_KEY: 'sesame' } }, 'ESCAPEMENT_OWNER_KEY: is not a valid key'],
    [{ variables: { ESCAPEMENT_NODE_LEASE_MS: '1s' } }, 'node.renew_ms 5000: must be below lease_ms, 1000'],
  ])('says what is wrong: %j', async (options, complaint) => {
    const said = await refusal(options)
    expect(said).toContain(complaint)
    expect(said).not.toContain('sesame')
  })

  it('says everything that is wrong with the file, with its lines', async () => {
    writeFileSync(fileOf('config.yaml'), 'lanes: { main: -1 }\ntasks:\n  max_qeue: 5\n')
    const said = await refusal({})
    expect(said).toContain(`${fileOf('config.yaml')}:1: lanes.main -1: is out of range`)
    expect(said).toContain(
      `${fileOf('config.yaml')}:3: tasks.max_qeue 5: is not a known setting; did you mean max_queue?`,
    )
  })

  it('says everything that is wrong at once, wherever it stands', async () => {
    writeFileSync(fileOf('config.yaml'), 'node: { lease_ms: 1s }\ntasks: { max_qeue: 5 }\n')
    const said = await refusal({ port: 'many', variables: { ESCAPEMENT_TASKS_MAX_QUEUE: '-1' } })
    expect(said.split('\n').filter((line) => line.startsWith('  '))).toEqual([
      expect.stringContaining('--port "many": must be a whole number'),
      expect.stringContaining(`${fileOf('config.yaml')}:2: tasks.max_qeue 5: is not a known setting`),
      expect.stringContaining('ESCAPEMENT_TASKS_MAX_QUEUE (tasks.max_queue) -1: is out of range'),
      expect.stringContaining('node.renew_ms 5000: must be below lease_ms, 1000'),
    ])
  })

  it('says so when there is no database', async () => {
    const said = await refusal({ databaseUrl: 'postgres://u:sesame@127.0.0.1:1/x' })
    expect(said).toMatch(/database/i)
    expect(said).not.toContain('sesame')
  })
})

describe('an address that others can reach', () => {
  it('is refused before a person has made a key, with the ways out', async () => {
    const server = world.serve({ host: '0.0.0.0' })
    expect(await server.ended).toBe(1)
    expect(server.stderr()).toContain('no key for other users exists yet')
    expect(server.stderr()).toContain('escapement keys create')
    expect(server.stderr()).toContain('ESCAPEMENT_OWNER_KEY=')
  })

  it('is taken when the environment names the key of the owner, which works', async () => {
    const server = world.serve({ host: '0.0.0.0', variables: { ESCAPEMENT_OWNER_KEY: KEY } })
    const answer = await fetch(`${await server.url}/api/v1/schedules`, { headers: { authorization: `Bearer ${KEY}` } })
    expect(answer.status).toBe(200)
    expect(server.stderr() + server.stdout()).not.toContain(KEY)
    expect(
      server
        .log()
        .map(({ msg }) => msg)
        .join('\n'),
    ).toContain('Requests from other machines are refused until')
  })

  it('is taken when a person has made a key', async () => {
    const first = world.serve()
    await first.url
    first.signal('SIGTERM')
    await first.ended
    await world.database.outside(
      `insert into escapement.api_key (org_id, id, name, key_hash, hint, role, origin, created_at)
       values ('default', 'key_x', 'mine', sha256('x'), 'esc_x', 'owner', 'person', '2026-11-15T12:00:00Z')`,
    )
    const second = world.serve({ host: '0.0.0.0', variables: { ESCAPEMENT_SERVER_ALLOWED_HOSTS: 'clock.lan' } })
    expect(await second.url).toMatch(/^http:\/\/127\.0\.0\.1:/)
    expect(second.log().filter(({ level }) => level === 'warn')).toEqual([])
  })
})

describe('where the configuration comes from', () => {
  it('is flags over environment over file over defaults, and an unused DATABASE_URL is mentioned', async () => {
    writeFileSync(
      fileOf('escapement.yaml'),
      'server: { host: "::1", port: 1, drain_grace_seconds: 2s }\nlog: { level: warn }\n',
    )
    const server = world.serve({
      variables: { ESCAPEMENT_SERVER_HOST: '127.0.0.1', ESCAPEMENT_SERVER_PORT: '2', ESCAPEMENT_TASK_MAX_QUEUE: '5' },
    })
    expect(await server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d{3,}$/)
    expect(server.log().map(({ level }) => level)).toEqual(['warn'])
    expect(server.log()[0]?.msg).toContain('did you mean ESCAPEMENT_TASKS_MAX_QUEUE?')
  })

  it('never is DATABASE_URL', async () => {
    const server = world.spawn([], { ESCAPEMENT_DATABASE_URL: '', DATABASE_URL: world.databaseUrl })
    await server.url
    const msg = expect.stringContaining('DATABASE_URL is set but ignored') as string
    await logged(server, { level: 'warn', msg })
    expect(await world.database.outside('select id from escapement.node')).toEqual([])
  })
})
