import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkNode, checkDiskSpace } from '../../src/cli/doctor/doctor.ts'
import { checkApi } from '../../src/cli/doctor/server.ts'
import { DOCTOR_PROBLEMS, type Finding } from '../../src/cli/doctor/problems.ts'
import { areServersHidden } from '../../src/cli/remote/server.ts'
import { createClient } from '../../src/client/client.ts'
import { recordServer } from '../../src/serve/paths.ts'
import { makeScratch } from '../support/scratch.ts'
import { ROOT } from '../tooling/root.ts'
import { run, type Ran } from './run.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
const at = (ms: number): string => new Date(NOW + ms).toISOString()

/** A scratch directory, and what the doctor finds in it. */
let home: string

beforeAll(() => {
  home = makeScratch('escapement-doctor-')
})

afterAll(() => {
  rmSync(home, { recursive: true, force: true })
})

const doctor = (args: readonly string[] = [], variables: Readonly<Record<string, string>> = {}): Promise<Ran> =>
  run(['doctor', '--port', '0', ...args], '', { cwd: home, variables })

describe('on a machine where nothing runs', () => {
  it('says what is well, that no server runs, and how to start one', async () => {
    const { code, stdout } = await doctor()
    expect(code).toBe(3)
    expect(stdout).toMatch(/^ok {4}node +Node /m)
    expect(stdout).toMatch(/^warn {2}data .*\(data_missing\)$/m)
    expect(stdout).toMatch(/^ok {4}config +defaults/m)
    expect(stdout).toMatch(/^ok {4}port +any free port$/m)
    expect(stdout).toMatch(/^fail {2}server +No server runs on .*\(server_none\)\n {6}Start one: escapement serve/m)
    expect(stdout).toMatch(/^1 problem, 1 warning\. See docs\/guides\/troubleshoot\.md\n$/m)
  })

  it('tells programs the same', async () => {
    const { findings } = JSON.parse((await doctor(['--json'])).stdout) as { readonly findings: readonly Finding[] }
    expect(findings.map(({ code }) => code)).toEqual([null, 'data_missing', null, null, 'server_none'])
    expect(findings.at(-1)).toMatchObject({ what: 'server', state: 'bad', advice: DOCTOR_PROBLEMS.server_none.advice })
  })

  it('knows a Node that is too old', () => {
    expect(checkNode('20.18.3')).toMatchObject({ code: 'node_old', state: 'bad' })
    expect(checkNode('20.19.0')).toMatchObject({ code: null, state: 'ok' })
    expect(checkNode('24.0.0').state).toBe('ok')
  })

  it('names the program in the way of the port', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { stdout } = await doctor(['--port', String(port)])
    expect(stdout).toContain(`Another program listens on port ${port} of 127.0.0.1  (port_taken)`)
    other.close()
  })

  it('names an address that is none of this machine', async () => {
    expect((await doctor(['--host', '192.0.2.7'])).stdout).toMatch(/^fail {2}port .*\(port_refused\)$/m)
  })

  it('names the line of a configuration that is refused, and a variable without effect', async () => {
    const file = path.join(home, 'wrong.yaml')
    writeFileSync(file, 'server:\n  prot: 1\n')
    const { stdout } = await doctor(['--config', file])
    expect(stdout).toMatch(/^fail {2}config .*wrong\.yaml:2: .*\(config_refused\)$/m)
    const doubtful = await doctor([], { DATABASE_URL: 'postgres://u@h/d' })
    expect(doubtful.stdout).toMatch(/^warn {2}config +DATABASE_URL is set but ignored.*\(config_doubtful\)$/m)
  })

  it('says of a database that nobody is there, without its password', async () => {
    const { stdout } = await doctor(['--database-url', 'postgres://u:hidden@127.0.0.1:1/d'])
    expect(stdout).toMatch(/^fail {2}database .*\(database_unreachable\)\n {6}Start PostgreSQL/m)
    expect(stdout).not.toContain('hidden')
  })

  it('notices keys that others can read, and a directory that is none', async () => {
    const data = path.join(home, 'open')
    mkdirSync(data)
    writeFileSync(path.join(data, 'owner.key'), 'esc_x\n', { mode: 0o600 })
    expect((await doctor(['--data', data])).stdout).toMatch(/^ok {4}data /m)
    writeFileSync(path.join(data, 'secret.key'), 'x\n', { mode: 0o644 })
    chmodSync(path.join(data, 'secret.key'), 0o644)
    const { stdout } = await doctor(['--data', data])
    expect(stdout).toContain(`chmod 600 ${path.join(data, 'secret.key')}`)
    const file = path.join(home, 'wrong.yaml')
    expect((await doctor(['--data', path.join(file, 'below')])).stdout).toMatch(/\(data_unwritable\)$/m)
  })

  it('notices a disk that is full, and passes over one that does not say', async () => {
    const with_ = (bavail: number) => () => Promise.resolve({ bavail, bsize: 4096 })
    expect(await checkDiskSpace('/data', with_(1000))).toMatchObject({
      ...{ what: 'data', code: 'disk_full', state: 'bad', detail: '4 MB are free on the disk of /data' },
    })
    expect(await checkDiskSpace('/data', with_(1_000_000))).toBeNull()
    expect(await checkDiskSpace('/data', () => Promise.reject(new Error('ENOSYS')))).toBeNull()
  })

  it('says whose the key is that a second node on the same PostgreSQL does not have', async () => {
    const data = path.join(home, 'second')
    await recordServer(data, { url: 'http://127.0.0.1:1', pid: process.pid, started_at: at(0) })
    const { code, stdout } = await doctor(['--data', data])
    expect(code).toBe(3)
    expect(stdout).toContain(`There is no owner.key in ${data}.  (key_missing)\n      The first node of this database`)
    expect(stdout).toContain('or set ESCAPEMENT_KEY to the ESCAPEMENT_OWNER_KEY of the nodes')
    mkdirSync(path.join(data, 'owner.key'))
    expect((await doctor(['--data', data])).stdout).toMatch(
      /Cannot read .*owner\.key: .*\(key_missing\)\n {6}Run the command as the/m,
    )
  })

  it('does not take a directory it may not look into for one without a server', async () => {
    const refuse = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))
    expect([await areServersHidden(home, refuse('EACCES')), await areServersHidden(home, refuse('ENOENT'))]).toEqual([
      true,
      false,
    ])
  })

  it('looks at nothing of this machine when a server elsewhere was named', async () => {
    const { code, stdout } = await doctor(['--url', 'http://127.0.0.1:1'], { ESCAPEMENT_KEY: 'esc_x' })
    expect(code).toBe(3)
    expect(stdout).toMatch(/\(server_silent\)$/m)
    expect(stdout).not.toMatch(/^\w+ +(?:data|port|config) /m)
    expect((await doctor(['--url', 'http://127.0.0.1:1'])).stdout).toMatch(/\(key_missing\)$/m)
  })
})

describe('at an address where something answers', () => {
  it.each([
    [503, '', 'proxy_alone'],
    [502, '<html>Bad Gateway</html>', 'proxy_alone'],
    [200, '<html>Welcome</html>', 'server_strange'],
  ])('takes %i and %j for %s', async (status, body, expected) => {
    const proxy = createHttpServer((_, answer) => answer.writeHead(status).end(body)).listen(0, '127.0.0.1')
    await new Promise((resolve) => proxy.once('listening', resolve))
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const { code, stdout } = await doctor(['--url', url], { ESCAPEMENT_KEY: 'esc_x' })
    proxy.close()
    expect([code, /\((\w+)\)$/m.exec(stdout)?.[1]]).toEqual([3, expected])
  })
})

interface Told {
  readonly [path: string]: unknown
}

const NODE = { id: 'node_a', alive: true, draining: false, executors: ['echo', 'http'], scanned_at: at(-500) }
const WELL: Told = {
  '/api/v1/version': { name: 'escapement', version: '1.0.0' },
  '/ready': { ready: true, database: 'up', away_since: null, engine: 'up', draining: false, node_id: 'node_a' },
  '/api/v1/me': { role: 'owner', org: { id: 'default' }, permissions: ['admin:*'] },
  '/api/v1/nodes': { items: [NODE] },
  '/api/v1/lanes': { items: [{ name: 'main', active: 0, concurrency: 30, pending: 0 }] },
  '/api/v1/runs': { items: [] },
  '/api/v1/agents': { items: [{ id: 'echo', executor: { kind: 'echo' } }] },
  '/api/v1/alerts': { items: [] },
}

const problem = (status: number, code: string): Response =>
  new Response(JSON.stringify({ code, detail: `told ${code}`, title: code, status, request_id: 'req' }), {
    status,
    headers: { 'content-type': 'application/problem+json' },
  })

/** What is found at a server that says this, beside what a healthy one says. */
async function findings(told: Told): Promise<readonly string[]> {
  const answer = (url: string): Response => {
    const { pathname, searchParams } = new URL(url)
    const said = { ...WELL, ...told }[`${pathname}?${searchParams.get('kind') ?? ''}`] ?? { ...WELL, ...told }[pathname]
    return said instanceof Response ? said.clone() : Response.json(said)
  }
  const client = createClient({
    ...{ url: 'http://127.0.0.1:7420', key: 'esc_x', retries: 0 },
    fetch: (url) => Promise.resolve(answer(url as string)),
  })
  const found = await checkApi({ client, version: '1.0.0', now: NOW })
  return found.flatMap(({ code, detail }) => (code === null ? [] : [`${code}: ${detail}`]))
}

const aRun = (about: object): object => ({
  ...{ id: 'run_1', agent_id: 'clerk', status: 'failed', error_code: null, error_message: null, ...about },
})

describe('at a server', () => {
  it('finds nothing where all is well', async () => {
    expect(await findings({})).toEqual([])
  })

  it.each<[string, Told]>([
    ['key_refused: told UNAUTHENTICATED', { '/api/v1/me': problem(401, 'UNAUTHENTICATED') }],
    [
      'version_differs: the server is 2.0.0, this command is 1.0.0',
      { '/api/v1/version': { name: 'escapement', version: '2.0.0' } },
    ],
    [
      'database_away: node node_a has no database since 2026-11-15T11:59:00.000Z',
      { '/ready': { ...(WELL['/ready'] as object), ready: false, database: 'away', away_since: at(-60_000) } },
    ],
    ['node_draining: node node_a is draining', { '/ready': { ...(WELL['/ready'] as object), draining: true } }],
    [
      'node_stalled: node node_a does not look for due work',
      { '/ready': { ...(WELL['/ready'] as object), engine: 'stalled' } },
    ],
    [
      'node_stalled: node node_b: It stands still',
      { '/api/v1/alerts?engine_stalled': { items: [{ subject_id: 'node_b', sentence: 'It stands still' }] } },
    ],
    [
      'node_gone: 1 alive, 1 gone: node_b',
      { '/api/v1/nodes': { items: [NODE, { ...NODE, id: 'node_b', alive: false }] } },
    ],
    ['node_none: no node is alive', { '/api/v1/nodes': { items: [{ ...NODE, alive: false }] } }],
    [
      'clock_differs: the clock of this machine is 2 min ahead of the database clock',
      { '/api/v1/nodes': { items: [{ ...NODE, scanned_at: at(-120_000) }] } },
    ],
    [
      'clock_differs: the clock of this machine is 2 min behind the database clock',
      { '/api/v1/nodes': { items: [{ ...NODE, scanned_at: at(120_000) }] } },
    ],
    [
      'lane_full: main: 30 active, 4 waiting',
      { '/api/v1/lanes': { items: [{ name: 'main', active: 30, concurrency: 30, pending: 4 }] } },
    ],
    [
      'agent_loopback: clerk: 127.0.0.1 is refused (run_1)',
      { '/api/v1/runs': { items: [aRun({ error_code: 'outbound_refused', error_message: '127.0.0.1 is refused' })] } },
    ],
    [
      'agent_unreachable: clerk: nobody there (run_1)',
      { '/api/v1/runs': { items: [aRun({ error_code: 'network', error_message: 'nobody there' })] } },
    ],
    ['agent_failing: clerk: timeout (run_1)', { '/api/v1/runs': { items: [aRun({ status: 'timeout' })] } }],
    [
      'agent_homeless: clerk: no node executes this in-process agent',
      { '/api/v1/agents': { items: [{ id: 'clerk', executor: { kind: 'in-process' } }] } },
    ],
    [
      'worker_missing: clerk: no worker is connected for it',
      {
        '/api/v1/agents': { items: ['clerk', 'smith'].map((id) => ({ id, executor: { kind: 'worker' } })) },
        '/api/v1/workers': { items: ['clerk', 'smith'].map((id) => ({ agents: [id], alive: id === 'smith' })) },
      },
    ],
    [
      'alert_open: late of sch_1: It was late',
      { '/api/v1/alerts': { items: [{ kind: 'late', subject_id: 'sch_1', sentence: 'It was late' }] } },
    ],
  ])('finds %s', async (expected, told) => {
    const found = await findings(told)
    expect(found.filter((one) => !one.startsWith('agent_homeless: ') || expected === one)).toContain(expected)
  })

  it('asks no more after a key that is refused, and passes over what a key may not see', async () => {
    expect(await findings({ '/api/v1/me': problem(401, 'UNAUTHENTICATED') })).toHaveLength(1)
    expect(await findings({ '/api/v1/nodes': problem(403, 'FORBIDDEN') })).toEqual([])
  })

  it('does not complain of an agent whose newest run went well', async () => {
    const items = [aRun({ status: 'running' }), aRun({ status: 'success' }), aRun({ error_code: 'network' })]
    expect(await findings({ '/api/v1/runs': { items } })).toEqual([])
  })
})

describe('the table of troubles', () => {
  it('has nothing that is never found', () => {
    const folder = path.join(ROOT, 'src/cli/doctor')
    const sources = readdirSync(folder)
      .filter((file) => file !== 'problems.ts')
      .map((file) => readFileSync(path.join(folder, file), 'utf8'))
      .join('\n')
    const database = /^database_(?:unreachable|refused|too_old|read_only|newer)$/
    const unused = Object.keys(DOCTOR_PROBLEMS).filter((code) => !sources.includes(`'${code}'`) && !database.test(code))
    expect(unused).toEqual([])
  })
})
