import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createScriptedServer, json, problem, type Answering, type ScriptedServer } from '../client/scripted-server.ts'
import { run, type Around, type Ran } from './run.ts'

let server: ScriptedServer | undefined
let cwd: string

beforeEach(() => {
  cwd = mkdtempSync(path.join(os.tmpdir(), 'escapement-cli-'))
})

afterEach(async () => {
  await server?.end()
  server = undefined
  rmSync(cwd, { recursive: true, force: true })
})

const page = (...items: readonly object[]): object => ({ items, next_cursor: null })
const lane = (name: string): object => ({ name, concurrency: 30, active: 2, pending: 0 })

/** Runs a command against a server that answers so. */
async function against(
  answers: readonly Answering[],
  args: readonly string[],
  around: Around = {},
  input = '',
): Promise<Ran> {
  server = await createScriptedServer(...answers)
  const variables = { ESCAPEMENT_URL: server.url, ESCAPEMENT_KEY: 'esc_k', ...around.variables }
  return run(args, input, { cwd, ...around, variables })
}

const sent = (): unknown => JSON.parse(server?.arrived.at(-1)?.body ?? 'null')

describe('options', () => {
  it('become the fields of the API: durations, moments, JSON, words', async () => {
    const args = ['--name', 'n', '--every', '1h30m', '--payload', '{"a":1}', '--timeout', '90', '--jitter', '2s']
    const more = [
      '--starts',
      '30m',
      '--ends',
      '2027-01-01T00:00:00Z',
      '--disabled',
      '--max-fires',
      '3',
      '--retry',
      '{"max_retries":2}',
    ]
    await against([json({}, 201)], ['schedules', 'create', '--json', ...args, ...more])
    expect(server?.arrived[0]).toMatchObject({ method: 'POST', url: '/api/v1/schedules' })
    expect(sent()).toEqual({
      ...{ name: 'n', every_seconds: 5_400, payload: { a: 1 }, timeout_seconds: 90, jitter_ms: 2_000 },
      ...{ starts_at: '2026-11-15T12:30:00.000Z', ends_at: '2027-01-01T00:00:00Z', enabled: false, max_fires: 3 },
      retry_policy: { max_retries: 2 },
    })
  })

  it('are taken under the names that the API has for them', async () => {
    const args = ['--cron', '0 9 * * 1-5', '--timezone', 'Europe/Berlin', '--prompt', 'What is new?']
    await against([json({}, 201)], ['schedules', 'create', '--json', ...args])
    expect(sent()).toEqual({ cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', payload: 'What is new?' })
    expect((await run(['schedules', 'create', '--help'])).stdout).not.toContain('--timezone')
  })

  it('win over a file, and a field can go back to its default', async () => {
    writeFileSync(path.join(cwd, 'change.json'), '{"name":"from the file","lane":"main","every_seconds":60}')
    const args = ['-f', 'change.json', '--name', 'from the option', '--unset', 'lane', '--if-version', '4']
    await against([json({})], ['schedules', 'update', 'sch_1', '--json', ...args])
    expect(sent()).toEqual({ name: 'from the option', lane: null, every_seconds: 60 })
    expect(server?.arrived[0]?.headers['if-match']).toBe('"4"')
  })

  it('can come from stdin', async () => {
    await against(
      [json({}, 201)],
      ['agents', 'create', '--json', '-f', '-'],
      {},
      '{"name":"A","executor":{"kind":"echo"}}',
    )
    expect(sent()).toEqual({ name: 'A', executor: { kind: 'echo' } })
  })

  it('of a model belong to the executor of an agent, also of a new one with an id', async () => {
    const args = ['--id', 'm', '--name', 'M', '--base-url', 'https://api.example.com/v1', '--temperature', '0.5']
    await against([json({}, 201)], ['agents', 'create', '--json', ...args])
    expect(server?.arrived.map(({ method }) => method)).toEqual(['POST'])
    expect(sent()).toEqual({
      ...{ id: 'm', name: 'M' },
      executor: { kind: 'chat', base_url: 'https://api.example.com/v1', temperature: 0.5 },
    })
  })

  it('of a list become its filter', async () => {
    const args = ['--status', 'failed,timeout', '--from', '24h', '--limit', '5', '--session', 'a/b', '--json']
    await against([json(page())], ['runs', 'list', ...args])
    expect(server?.arrived[0]?.url).toBe(
      '/api/v1/runs?session=a%2Fb&status=failed%2Ctimeout&from=2026-11-14T12%3A00%3A00.000Z&limit=5',
    )
  })

  const bad: readonly (readonly [args: readonly string[], complaint: string])[] = [
    [
      ['schedules', 'create', '--name', 'Look'],
      'The schedule has no time. Pass --when "every weekday at 9 in Berlin", --cron',
    ],
    [['schedules', 'create', '--every', 'soon'], 'Invalid --every "soon". Allowed: a number followed by ms'],
    [['schedules', 'create', '--max-fires', 'x'], 'Invalid --max-fires "x". Allowed: a number'],
    [['schedules', 'create', '--retry', '{'], 'Invalid --retry "{". Allowed: JSON'],
    [['schedules', 'create', '-f', 'nowhere.json'], 'Cannot read --file nowhere.json'],
    [['schedules', 'list', '--limit', '500'], 'Invalid --limit "500". Allowed: a whole number from 1 to 200'],
    [['schedules', 'update', 'x', '--if-version', 'new'], 'Invalid --if-version "new". Allowed: a whole number'],
    [['events', '--kinds', 'run.chnged'], 'Invalid --kinds "run.chnged". Allowed: schedule.changed'],
    [['sessions', 'send', 'k', 'hi', '--wait', '1h'], 'Invalid --wait "1h". Allowed: 0s to 300s'],
    [['completion', 'tcsh'], 'Unknown shell "tcsh". Allowed: bash, zsh, fish'],
  ]

  it.each(bad)('that cannot be meant are a usage error, and nothing is sent: %j', async (args, complaint) => {
    const { code, stdout, stderr } = await against([json({})], args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(complaint)
    expect(server?.arrived).toEqual([])
  })
})

describe('a setting', () => {
  it.each([
    ['tasks.result_ttl_seconds', '5m', { tasks: { result_ttl_seconds: 300 } }],
    ['sessions.debounce_ms', '1s', { sessions: { debounce_ms: 1_000 } }],
    ['lanes.main', '40', { lanes: { main: 40 } }],
    ['log.level', 'debug', { log: { level: 'debug' } }],
  ])('is changed where it stands: %s %s', async (setting, value, body) => {
    const values = { [setting]: { value: 1, source: 'stored', default: 1, hot: true } }
    const { code, stdout } = await against([json({ file: null, values })], ['config', 'set', setting, value])
    expect(sent()).toEqual(body)
    expect([code, stdout]).toEqual([0, expect.stringContaining(setting)])
  })
})

describe('a table', () => {
  const schedule = { id: 'sch_1', name: 'A very long name of a schedule \u001b[31m\nin red', state: 'active' }
  const more = {
    sentence: 'Every 30 minutes',
    agent_id: 'echo',
    next_run_at: '2026-11-15T12:20:00Z',
    last_status: null,
  }
  const answer = json(page({ ...schedule, ...more }))

  it('is plain in a pipe, and whole', async () => {
    const { stdout, stderr, code } = await against([answer], ['schedules', 'list'])
    expect(stdout).toBe(
      [
        'ID     NAME                                         STATE   WHEN              AGENT  NEXT       LAST',
        'sch_1  A very long name of a schedule  [31m in red  active  Every 30 minutes  echo   in 20 min  -',
        '',
      ].join('\n'),
    )
    expect([code, stderr]).toEqual([0, ''])
  })

  it('is as wide as the terminal, with colours of its own only', async () => {
    const { stdout } = await against([answer], ['schedules', 'list'], { columns: 70 })
    expect(stdout).toContain('\u001b[32mactive\u001b[39m')
    // eslint-disable-next-line no-control-regex -- that is what is looked for
    const plain = stdout.replaceAll(/\u001b\[\d+m/g, '')
    expect(plain).not.toContain('\u001b')
    expect(Math.max(...plain.split('\n').map((line) => line.length))).toBeLessThanOrEqual(70)
    expect(plain).toContain('A very long n…')
  })

  it.each([[{ NO_COLOR: '1' }], [{ TERM: 'dumb' }]])('has no colours with %j', async (variables) => {
    const { stdout } = await against([answer], ['schedules', 'list'], { columns: 200, variables })
    expect(stdout).not.toContain('\u001b')
  })

  it('is JSON for programs, exactly as it was answered', async () => {
    const { stdout } = await against([json({ items: [lane('main')], next_cursor: null })], ['lanes', 'list', '--json'])
    expect(JSON.parse(stdout)).toEqual(page(lane('main')))
  })

  it('goes on behind its page, and says so to people only', async () => {
    const args = ['keys', 'list']
    const key = {
      id: 'key_1',
      name: 'n',
      hint: 'esc_',
      role: 'viewer',
      scopes: null,
      state: 'active',
      expires_at: null,
      last_used_at: null,
    }
    const paged = [json({ items: [key], next_cursor: 'c1' })]
    expect((await against(paged, args, { columns: 100 })).stderr).toContain('--cursor c1')
    await server?.end()
    expect((await against(paged, args)).stderr).toBe('')
    await server?.end()
    const all = await against(
      [json({ items: [key], next_cursor: 'c1' }), json(page(key))],
      [...args, '--all', '--json'],
    )
    expect(JSON.parse(all.stdout)).toEqual(page(key, key))
    expect(server?.arrived.map(({ url }) => url)).toEqual([
      '/api/v1/keys?limit=200',
      '/api/v1/keys?limit=200&cursor=c1',
    ])
  })
})

describe('a refusal', () => {
  it('is told by the names of the options, with what is allowed', async () => {
    const errors = [
      { pointer: '/cron', message: 'minute 61 is above 59', allowed: '0-59' },
      { pointer: '/retry_policy/base_ms', message: 'is missing' },
      { pointer: '/nothing/of~1mine', message: 'is not a known field' },
    ]
    const refused = problem({ status: 400, code: 'VALIDATION', title: 'The request is invalid', errors })
    const { code, stdout, stderr } = await against([refused], ['schedules', 'create', '--cron', '61 * * * *'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      [
        'The request is invalid:',
        '  --cron minute 61 is above 59',
        '    allowed: 0-59',
        '  --retry (retry_policy.base_ms) is missing',
        '  nothing.of/mine is not a known field',
        '',
      ].join('\n'),
    )
  })

  it.each([
    [{ status: 401, code: 'UNAUTHENTICATED' }, {}, 1, 'Set ESCAPEMENT_KEY to a valid key'],
    [{ status: 403, code: 'FORBIDDEN' }, {}, 1, 'escapement whoami lists the permissions of the current key'],
    [{ status: 412, code: 'STALE_VERSION' }, {}, 1, 'retry with its new --if-version'],
    [{ status: 429, code: 'RATE_LIMITED' }, { 'retry-after': '7' }, 1, 'Try again in 7 s.'],
    [{ status: 409, code: 'CONFLICT', run_id: 'run_1' }, {}, 1, 'escapement runs get run_1'],
    [{ status: 500, code: 'INTERNAL' }, {}, 1, 'request req_9'],
  ])('says what to do: %j', async (refusal, headers, exit, advice) => {
    const { code, stderr } = await against([problem(refusal, headers)], ['schedules', 'delete', 'sch_1'])
    expect(code).toBe(exit)
    expect(stderr).toContain('It is refused')
    expect(stderr).toContain(advice)
  })
})

it.each([
  ['targets', 'Create one: escapement targets create --name … --to'],
  ['channels', 'Create one: escapement channels create'],
  ['runs', 'Start one: escapement schedules run ID'],
  ['deliveries', 'A schedule with --deliver-to creates them'],
])('tells whoever sits there what fills an empty list: %s', async (group, advice) => {
  const { code, stdout, stderr } = await against([json(page())], [group, 'list'], { columns: 120 })
  expect([code, stdout]).toEqual([0, ''])
  expect(stderr).toContain(advice)
})

it('names what is not there once, and where its like are listed', async () => {
  const refusal = { status: 404, code: 'NOT_FOUND', title: 'Not found' }
  const missing = problem({ ...refusal, detail: 'There is no schedule Morning' })
  const { code, stderr } = await against([missing], ['schedules', 'get', 'Morning'])
  expect(code).toBe(1)
  expect(stderr).toBe('There is no schedule Morning\n  List the ids with: escapement schedules list\n')
})

describe('a server', () => {
  const data = (): string => path.join(cwd, '.escapement')

  function leave(url: string, key: string | null = 'esc_owner'): void {
    mkdirSync(path.join(data(), 'servers'), { recursive: true })
    if (key !== null) writeFileSync(path.join(data(), 'owner.key'), `${key}\n`)
    const entry = { url, pid: process.pid, started_at: '2026-11-15T12:00:00Z' }
    writeFileSync(path.join(data(), 'servers', `${process.pid}.${new URL(url).port}.json`), JSON.stringify(entry))
  }

  const lanes = json(page(lane('main')))

  it('is found by its data directory, and the key with it', async () => {
    server = await createScriptedServer(lanes)
    leave(server.url)
    expect((await run(['lanes', 'list'], '', { cwd })).code).toBe(0)
    expect((await run(['lanes', 'list', '--data', data()], '', { cwd: '/' })).code).toBe(0)
    expect((await run(['lanes', 'list'], '', { cwd: '/', variables: { ESCAPEMENT_DATA: data() } })).code).toBe(0)
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer esc_owner'))
  })

  it('that is another one does not get the key of this one', async () => {
    server = await createScriptedServer(lanes)
    leave('http://127.0.0.1:65000')
    const { code, stderr } = await run(['lanes', 'list', '--url', server.url], '', { cwd })
    expect(code).toBe(3)
    expect(stderr).toContain(`There is no key for ${server.url}.`)
    expect(stderr).toContain('Set ESCAPEMENT_KEY')
    expect(server.arrived).toEqual([])
  })

  it('that lives is chosen before one whose process is gone', async () => {
    server = await createScriptedServer(lanes)
    leave(server.url)
    const gone = { url: 'http://127.0.0.1:65000', pid: 2 ** 22 + 1, started_at: '2026-11-15T13:00:00Z' }
    writeFileSync(path.join(data(), 'servers', `${gone.pid}.65000.json`), JSON.stringify(gone))
    writeFileSync(path.join(data(), 'servers', '7.1.json'), 'not JSON')
    expect((await run(['lanes', 'list'], '', { cwd })).code).toBe(0)
  })

  it('that is not there is told apart from one that says no', async () => {
    const nobody = await run(['lanes', 'list'], '', { cwd })
    expect([nobody.code, nobody.stdout]).toEqual([3, ''])
    expect(nobody.stderr).toContain(`No server runs on ${data()}.`)
    expect(nobody.stderr).toContain('escapement serve')
    server = await createScriptedServer(lanes)
    await server.end()
    const variables = { ESCAPEMENT_URL: server.url, ESCAPEMENT_KEY: 'k' }
    const away = await run(['lanes', 'set', 'main', '3'], '', { cwd, variables })
    expect(away.code).toBe(3)
    expect(away.stderr).toContain(`${server.url} cannot be reached: connection refused, no server is listening there`)
    const strange = await run(['lanes', 'list', '--url', 'ftp://x'], '', { cwd, variables: { ESCAPEMENT_KEY: 'k' } })
    expect([strange.code, strange.stderr]).toEqual([3, expect.stringContaining('Invalid server URL "ftp://x"')])
  })

  it('of a directory that is typed goes before the one that the environment names', async () => {
    server = await createScriptedServer(lanes)
    leave(server.url)
    const variables = { ESCAPEMENT_URL: 'http://127.0.0.1:9', ESCAPEMENT_KEY: 'esc_other' }
    expect((await run(['lanes', 'list', '--data', data()], '', { cwd, variables })).code).toBe(0)
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(['Bearer esc_owner'])
  })
})
