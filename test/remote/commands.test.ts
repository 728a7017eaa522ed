import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { findServers } from '../../src/serve/paths.ts'
import { run, type Ran } from '../cli/run.ts'
import { textOf } from '../docs/tracked-files.ts'
import { linesOf, wordsOf } from '../docs/written/shell.ts'
import { eventually } from '../scenarios/support.ts'
import { SAMPLE_TEXT } from '../support/seed-003-sample.ts'
import { createServeWorld, type Served, type ServeWorld } from '../serve/support.ts'

// Every command against a server that works: what people see, what programs get, how it ends.

let world: ServeWorld
let server: Served

beforeAll(async () => {
  world = await createServeWorld()
  const slow = async (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
    await sleep(60_000, undefined, { signal })
    return 'never'
  }
  const failing = (): string => {
    throw Object.assign(new Error('it is broken'), { retryable: false })
  }
  server = world.serve({ agents: { slow, failing } })
  await server.url
}, 60_000)

afterAll(() => world.end())

const variables = { USER: 'ann' }
const now = () => instant(Date.now())

/** Types a command where the server was started. */
const type = (...args: readonly string[]): Promise<Ran> =>
  run(args, '', { cwd: '/', now, variables: { ...variables, ESCAPEMENT_DATA: world.data } })

/** The same, with a text on standard input. */
const typeInto = (input: string, ...args: readonly string[]): Promise<Ran> =>
  run(args, input, { cwd: '/', now, variables: { ...variables, ESCAPEMENT_DATA: world.data } })

/** The same, which has to go well, for a program. */
async function ask(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { code, stdout, stderr } = await type(...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>
}

const idOf = async (...args: readonly string[]): Promise<string> => String((await ask(...args))['id'])
const itemsOf = (page: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] =>
  page['items'] as readonly Readonly<Record<string, unknown>>[]

describe('a file of JSON', () => {
  it('may have comments, as the sample of the cron strategy document does', async () => {
    const sample = SAMPLE_TEXT.replace(/\n}$/, ',\n  "status": "DISABLED"\n}')
    const where = { cwd: '/', now, variables: { ...variables, ESCAPEMENT_DATA: world.data } }
    const made = await run(['schedules', 'create', '--file', '-', '--json'], sample, where)
    expect([made.code, made.stderr]).toEqual([0, ''])
    expect(JSON.parse(made.stdout)).toMatchObject({ name: 'demo-task', cron_expr: '*/5 * * * * *', enabled: false })
    const document = `{ "version": 1, "schedules": [{ "name": "noted", "cron": "0 9 * * *" /* mornings */ }] } // kept by hand`
    const applied = await run(['apply', '--file', '-', '--plan'], document, where)
    expect([applied.code, applied.stderr]).toEqual([0, ''])
    expect(applied.stdout).toContain('noted')
  })
})

describe('a backfill', () => {
  const schedule = (agent: string): Promise<string> =>
    idOf('schedules', 'create', '--name', 'Hourly', '--agent', agent, '--cron', '0 * * * *', '--payload', 'x')

  it('is planned, followed to its end with a bar for whoever sits there, and listed', async () => {
    const id = await schedule('echo')
    const planned = await type('schedules', 'backfill', id, '--from', '5h', '--dry-run')
    expect([planned.code, planned.stdout]).toEqual([
      0,
      expect.stringMatching(/occurrences +5 missing[^]*nothing was changed/),
    ])
    const around = { cwd: '/', now, columns: 100, variables: { ...variables, ESCAPEMENT_DATA: world.data } }
    const followed = await run(['schedules', 'backfill', id, '--from', '5h', '--max-active', '2', '--wait'], '', around)
    expect([followed.code, followed.stderr]).toEqual([0, expect.stringContaining('Backfilling [')])
    expect(followed.stdout).toMatch(/done[^]*5 of 5[^]*outcomes[^]*5 success/)
    const [listed] = itemsOf(await ask('backfills', 'list', '--schedule', id))
    expect(listed).toMatchObject({ state: 'done', total: 5, policy: 'wait' })
    const again = await ask('schedules', 'backfill', id, '--from', '5h', '--wait')
    expect(again).toMatchObject({ state: 'done', total: 0 })
  })

  it('that fails is told by its exit code, quietly in a pipe', async () => {
    const id = await schedule('failing')
    const failed = await type('schedules', 'backfill', id, '--from', '5h', '--stop-after', '2', '--wait')
    expect([failed.code, failed.stderr]).toEqual([1, ''])
    expect(failed.stdout).toMatch(/state +failed[^]*stopped after 2 consecutive failures/)
  })
})

describe('the life of a schedule', () => {
  it('from its making to its end', async () => {
    const made = await type(
      'schedules',
      'create',
      '--name',
      'Look',
      '--agent',
      'echo',
      '--cron',
      '0 7 * * *',
      '--payload',
      'Anything new?',
    )
    expect([made.code, made.stderr]).toEqual([0, ''])
    const id = /sch_\w+/.exec(made.stdout)?.[0] ?? ''
    expect(made.stdout).toContain('At 07:00, every day (UTC)')
    expect((await type('schedules', 'list', '-q', 'loo')).stdout).toContain(id)
    expect((await type('schedules', 'get', id)).stdout).toContain('"prompt":"Anything new?"')

    const ran = await type('schedules', 'run', id, '--wait')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toMatch(
      /queued {2}run_now\n.*running\n.*success {2}completed\nrun_\w+: success after .*\nAnything new\?\n$/,
    )
    expect((await type('schedules', 'runs', id)).stdout).toMatch(/success +completed +manual/)

    expect((await type('schedules', 'disable', id)).stdout).toBe(`${id} is paused.\n`)
    const why = await type('schedules', 'explain', id, '2030-01-01T07:00:00Z')
    expect(why.stdout).toContain('The schedule is paused; it does not run in that state.')
    const stale = await type('schedules', 'update', id, '--name', 'Mine', '--if-version', '1')
    expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining('retry with its new --if-version')])
    expect((await ask('schedules', 'update', id, '--every', '2h'))['sentence']).toBe('Every 2 hours')
    expect((await type('schedules', 'enable', id)).stdout).toContain(`${id} is active. Next run: `)
    expect((await type('schedules', 'delete', id)).stdout).toBe(`Deleted ${id}.\n`)
    expect(await type('schedules', 'get', id)).toMatchObject({ code: 1, stderr: expect.stringContaining(id) as string })
  })

  it('is foretold without making it', async () => {
    const { stdout } = await type(
      'schedules',
      'preview',
      '--cron',
      '30 2 * * *',
      '--tz',
      'Europe/Berlin',
      '--from',
      '2027-03-27T00:00:00Z',
      '--count',
      '2',
    )
    expect(stdout).toContain('At 02:30, every day (Europe/Berlin)')
    expect(stdout).toContain('2027-03-27T01:30:00.000Z')
    expect(stdout).toContain('Clock changes:')
  })
})

describe('runs', () => {
  it('are watched while they go on, cancelled, explained and repeated', async () => {
    const receipt = await ask('sessions', 'send', 'agent:slow:cli:direct:ann', 'a', 'novel', '--mode', 'queue')
    const id = String(receipt['run_id'])
    const watching = type('runs', 'watch', id)
    await expect.poll(async () => (await ask('runs', 'get', id))['status'], { timeout: 10_000 }).toBe('running')
    expect((await type('runs', 'cancel', id)).stdout).toMatch(new RegExp(`^${id} is (stopping|cancelled)\\.\n$`))
    const watched = await watching
    expect(watched.code).toBe(1)
    expect(watched.stdout).toMatch(/running\n[^]*cancelled/)
    expect((await type('runs', 'explain', id)).stdout).toMatch(/status +cancelled\nwhy /)
    expect((await type('runs', 'get', id)).stdout).toMatch(/timeline +.*\n/)
    const again = await type('runs', 'retry', id)
    expect(again.stdout).toMatch(new RegExp(`^Created run_\\w+, a retry of ${id}\\. It is \\w+\\.\n$`))
    await type('runs', 'cancel', /run_\w+/.exec(again.stdout)?.[0] ?? '')
  })

  it('that fail are told with their error, and end the command with 1', async () => {
    const sent = await type('sessions', 'send', 'agent:failing:cli:direct:ann', 'x', '--wait', '10s')
    expect(sent.code).toBe(1)
    expect(sent.stdout).toContain('it is broken')
    const [run = {}] = itemsOf(await ask('runs', 'list', '--agent', 'failing', '--status', 'failed', '--from', '1h'))
    const forced = await type('runs', 'retry', String(run['id']), '--wait')
    expect([forced.code, forced.stdout]).toEqual([1, expect.stringContaining(': failed after ')])
  })

  it('are followed by whoever watches all of them', async () => {
    const watching = type('runs', 'watch', '--agent', 'echo', '--count', '3', '--json')
    const events = type('events', '--kinds', 'run.changed', '--agent', 'echo', '--count', '3')
    // Only what happens once the streams are open is theirs.
    const state = { over: false }
    void Promise.all([watching, events]).then(() => (state.over = true))
    while (!state.over) await ask('sessions', 'send', 'agent:echo:cli:direct:bob', 'hello', '--wait')
    const lines = (await watching).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly kind: string; readonly data: { readonly status: string } })
    expect(lines.map(({ kind }) => kind)).toEqual(Array(3).fill('run.changed'))
    expect((await events).stdout.trim().split('\n')).toHaveLength(3)
  })
})

describe('a conversation', () => {
  it('goes line by line from a pipe', async () => {
    const around = { cwd: '/', now, variables: { ...variables, ESCAPEMENT_DATA: world.data } }
    const { code, stdout } = await run(
      ['chat', 'echo'],
      Readable.from(['Hello\n', '\nand good', ' bye\n/stop\n']),
      around,
    )
    expect([code, stdout]).toEqual([0, 'Hello\nand good bye\n0 cancelled, 0 removed from the queue\n'])
    expect((await type('sessions', 'messages', 'agent:echo:cli:direct:ann')).stdout).toMatch(
      /ann +and good bye +success +and good bye/,
    )
    expect(await type('chat', 'nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody') as string })
  })

  it('takes many messages from a file, and shows the outcome of each', async () => {
    const messages = [
      { session: 'agent:echo:cli:direct:cay', text: 'one' },
      { session: 'agent:nobody:cli:direct:cay', text: 'two' },
      { session: 'agent:echo:cli:direct:cay', text: '/stop' },
    ]
    const sent = await typeInto(JSON.stringify({ messages }), 'sessions', 'send-many', '--file', '-')
    expect(sent.code).toBe(1)
    expect(sent.stdout).toMatch(/run_\w+ +\w+\s[^]*rejected +NOT_FOUND: .*nobody[^]*stopped +\d cancelled/)
    const good = await typeInto(JSON.stringify({ messages: messages.slice(0, 1) }), 'sessions', 'send-many', '-f', '-')
    expect(good.code).toBe(0)
    expect(await type('sessions', 'send-many')).toMatchObject({ code: 2 })
  })

  it('lets a person go on after a refusal, and answers on a line of its own', async () => {
    const typed = Object.assign(new PassThrough(), { isTTY: true })
    typed.end('Hello\n')
    const around = { cwd: '/', now, columns: 80, variables: { ...variables, ESCAPEMENT_DATA: world.data } }
    const { code, stdout } = await run(['chat', 'echo'], typed, around)
    expect(code).toBe(0)
    expect(stdout).toContain('agent:echo:cli:direct:ann: type a message and press Enter')
    expect(stdout).toContain('\r\u001b[KHello\n')
    const refused = Object.assign(new PassThrough(), { isTTY: true })
    refused.end('x\n/stop\n')
    const strange = await run(['chat', 'echo', '--session', 'agent:nobody:cli'], refused, around)
    expect([strange.code, strange.stdout]).toEqual([0, expect.stringContaining('nobody')])
    expect(strange.stdout).toContain('0 cancelled, 0 removed from the queue')
  })

  it('is seen, ruled, stopped and reset', async () => {
    const key = 'agent:slow:cli:direct:rules/and ü'
    expect((await ask('sessions', 'update', key, '--debounce', '0', '--cap', '5'))['cap']).toBe(5)
    await ask('sessions', 'send', key, 'one')
    await ask('sessions', 'send', key, 'two')
    expect((await type('sessions', 'list')).stdout).toContain(key)
    await expect.poll(async () => (await ask('sessions', 'get', key))['active']).toBe(1)
    expect((await type('sessions', 'stop', key)).stdout).toBe('1 cancelled, 0 removed from the queue.\n')
    await ask('sessions', 'send', key, 'three')
    expect((await type('sessions', 'stopall', key)).stdout).toMatch(/^\d cancelled, \d removed from the queue\.\n$/)
    expect((await type('sessions', 'reset', key)).code).toBe(0)
    expect((await ask('sessions', 'get', key))['generation']).toBe(1)
  })
})

describe('docs/concepts/providers.md', () => {
  const page = textOf('docs/concepts/providers.md')
  const example = [...page.matchAll(/```sh run\n([^]*?)```|```text\n([^]*?)```/g)]
  /** What passes while one looks is not compared. */
  const steady = (text: string): string => text.replace(/in \d+ s/, 'in 30 s').replace(/\d+\/60/, '57/60')
  const obey = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await type(...wordsOf(line).slice(1))
    expect([line, code, stderr]).toEqual([line, 0, ''])
    return stdout
  }

  it('says what happens', async () => {
    let last = ''
    for (const [, commands, printed] of example) {
      // What goes on at once may still be under way when it is looked at.
      if (printed !== undefined) await eventually(async () => expect(steady(await obey(last))).toBe(printed))
      for (const line of linesOf(commands ?? '')) {
        await obey(line)
        last = line
      }
    }
    expect(example).toHaveLength(4)
    for (const agent of ['drafts', 'replies']) await type('agents', 'delete', agent)
    expect((await type('providers', 'delete', 'openai')).code).toBe(0)
  })
})

describe('agents and budgets', () => {
  it('are made, changed and deleted', async () => {
    expect(await idOf('agents', 'create', '--id', 'parrot', '--name', 'Parrot', '--executor', 'echo')).toBe('parrot')
    expect((await ask('agents', 'update', 'parrot', '--timeout', '5m'))['timeout_seconds']).toBe(300)
    expect((await ask('agents', 'update', 'parrot', '--unset', 'timeout_seconds'))['timeout_seconds']).toBeNull()
    expect((await type('agents', 'list')).stdout).toMatch(/parrot +Parrot +echo/)
    const budget = await idOf('budgets', 'create', '--agent', 'parrot', '--unit', 'tokens', '--amount', '1000')
    expect((await ask('budgets', 'update', budget, '--amount', '2000'))['remaining']).toBe(2000)
    expect((await type('budgets', 'list')).stdout).toMatch(/parrot +tokens +day +2000/)
    expect((await type('budgets', 'get', budget)).code).toBe(0)
    expect((await ask('budgets', 'resume', budget))['paused_at']).toBeNull()
    expect((await type('budgets', 'forecast', '--days', '3')).stdout).toMatch(/2000 tokens\/day +not expected/)
    const draft = await type(
      'schedules',
      'forecast',
      '--every',
      '1h',
      '--agent',
      'parrot',
      '--budget',
      '5 tokens per day',
    )
    expect(draft.stdout).toMatch(/expected +720 runs, tokens unknown/)
    expect(draft.stdout).toMatch(/bud_draft +sch_draft +5 tokens\/day/)
    const tight = [
      '--every',
      '1h',
      '--agent',
      'parrot',
      '--budget',
      '5 tokens per day',
      '--payload',
      '{"max_tokens":4}',
    ]
    expect((await type('schedules', 'forecast', ...tight)).stdout).toMatch(
      /held back by budgets +6\d\d runs, tokens 2\d{3}/,
    )
    expect((await type('budgets', 'delete', budget)).code).toBe(0)
    const provider = ['--name', 'model', '--requests', '60', '--tokens', '9000']
    expect((await ask('providers', 'create', ...provider))['requests_left']).toBe(60)
    expect((await ask('agents', 'update', 'parrot', '--provider', 'model'))['provider']).toBe('model')
    expect((await ask('providers', 'update', 'model', '--unset', 'tokens_per_minute'))['tokens_left']).toBeNull()
    expect((await type('providers', 'list')).stdout).toMatch(/model +60\/60 +- +0 +0 +now/)
    expect((await type('providers', 'get', 'model')).stdout).toMatch(/agents +parrot/)
    const used = await type('providers', 'delete', 'model')
    expect(used.stderr).toMatch(/Provider model is used by agent parrot/)
    expect((await type('agents', 'update', 'parrot', '--unset', 'provider')).code).toBe(0)
    expect((await type('providers', 'delete', 'model')).stdout).toBe('Deleted model.\n')
    expect((await type('agents', 'delete', 'parrot')).stdout).toBe('Deleted parrot.\n')
    const refused = await type('agents', 'create', '--executor', 'http')
    expect(refused.stderr).toMatch(/--name is missing[^]*--executor \(executor.url\)/)
  })

  it('may be an address, and a schedule may have one instead of an agent', async () => {
    const address = 'https://agents.example/work'
    const made = await ask('agents', 'create', '--id', 'far', '--name', 'Far', '--executor', address)
    expect(made['executor']).toMatchObject({ kind: 'http', url: address, method: 'POST' })
    expect((await type('agents', 'delete', 'far')).code).toBe(0)
    const schedule = ['schedules', 'create', '--name', 'Ping', '--every', '5m', '--executor'] as const
    const pinged = await ask(...schedule, address)
    expect(pinged).toMatchObject({ agent_id: null, executor: { kind: 'http', url: address } })
    expect((await type('schedules', 'get', String(pinged['id']))).stdout).toContain(address)
    expect((await type('schedules', 'delete', String(pinged['id']))).code).toBe(0)
    const near = await type(...schedule, 'http://localhost:9000/')
    expect([near.code, near.stderr]).toEqual([1, expect.stringContaining('outbound.allow_loopback')])
  })
})

describe('the deployment', () => {
  it('is looked at and changed', async () => {
    expect((await type('lanes', 'set', 'main', '31')).stdout).toBe('Lane main has 31 slots on every node.\n')
    expect((await type('lanes', 'list')).stdout).toMatch(/main +31/)
    expect(await type('lanes', 'set', 'main', '0')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('SIZE') as string,
    })
    expect((await type('nodes')).stdout).toMatch(/nod_\w+ +alive/)
    expect((await type('stats')).stdout).toMatch(/ended +\d+ runs/)
    expect((await type('config', 'set', 'tasks.result_ttl_seconds', '10m')).stdout).toMatch(
      /tasks.result_ttl_seconds +600 +stored/,
    )
    expect((await type('config', 'unset', 'tasks.result_ttl_seconds')).stdout).toMatch(/300 +default/)
    expect((await type('config')).stdout).toMatch(/server.host +127.0.0.1/)
    expect(await type('config', 'get', 'tsks')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Unknown setting') as string,
    })
  })

  it('keeps a record of it, which is whole', async () => {
    expect((await type('audit', 'list', '--action', 'lane.update')).stderr).toBe('')
    expect((await type('audit', 'list', '--limit', '200')).stdout).toContain('config.update')
    const whole = await type('audit', 'verify')
    expect([whole.code, whole.stdout]).toEqual([0, expect.stringContaining('is intact')])
    const head = /Head: \d+ (\w{64})/.exec(whole.stdout)?.[1] ?? ''
    expect((await type('audit', 'verify', '--anchor', head)).code).toBe(0)
    const cut = await type('audit', 'verify', '--anchor', 'f'.repeat(64))
    expect([cut.code, cut.stdout]).toEqual([1, expect.stringContaining('is broken')])
  })
})

describe('people and programs', () => {
  it('get keys that do what they may', async () => {
    const made = await ask('keys', 'create', '--name', 'CI', '--role', 'viewer', '--expires', '90d')
    const around = { cwd: '/', now, variables: { ESCAPEMENT_DATA: world.data, ESCAPEMENT_KEY: String(made['key']) } }
    expect((await run(['whoami'], '', around)).stdout).toMatch(/role +viewer\n/)
    const refused = await run(['schedules', 'create', '--every', '1h'], '', around)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('schedules:write')])
    expect((await type('keys', 'list', '--state', 'active')).stdout).toMatch(/CI +esc_\S+ +viewer/)
    expect((await type('keys', 'revoke', String(made['id']))).stdout).toBe(`${String(made['id'])} is revoked.\n`)
    expect((await run(['whoami'], '', around)).code).toBe(1)
  })

  it('have orgs, and ways in', async () => {
    expect(await idOf('orgs', 'create', '--id', 'acme', '--name', 'Acme', '--max-schedules', '5')).toBe('acme')
    expect((await ask('orgs', 'update', 'acme', '--unset', 'max_schedules'))['max_schedules']).toBeNull()
    expect((await type('orgs', 'list')).stdout).toMatch(/acme +Acme/)
    const member = await idOf('members', 'add', 'acme', '--name', 'Ben', '--role', 'owner')
    expect((await ask('members', 'update', 'acme', member, '--email', 'ben@example.com'))['email']).toBe(
      'ben@example.com',
    )
    expect((await type('members', 'list', 'acme')).stdout).toMatch(/Ben +ben@example.com +owner/)
    const url = await server.url
    for (const link of [await type('members', 'invite', 'acme', member), await type('login')])
      expect(link.stdout).toMatch(new RegExp(`^${url}/#signin=[\\w-]{43}\n$`))
    expect(await type('members', 'remove', 'acme', member)).toMatchObject({ code: 1 })
    expect((await type('orgs', 'get', 'acme')).stdout).toContain('Acme')
  })
})

describe('the server', () => {
  it('has written down where it is, for its owner only', async () => {
    const [found] = await findServers(world.data)
    expect(found).toMatchObject({ url: await server.url, pid: process.pid })
    const file = path.join(world.data, 'servers', `${process.pid}.${new URL(found?.url ?? '').port}.json`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(found)
  })

  it('is well, says the doctor, and its schema is up to date', async () => {
    const { code, stdout } = await type('doctor')
    expect(stdout).not.toMatch(/^bad/m)
    expect(stdout).toMatch(/^ok {4}ready +database up$/m)
    expect(code).toBe(0)
    expect((await ask('doctor'))['findings']).toContainEqual(expect.objectContaining({ what: 'key', state: 'ok' }))
    const migrated = await type('migrate', '--data', world.data, '--database-url', world.databaseUrl)
    expect(migrated).toEqual({ code: 0, stdout: 'The database is up to date.\n', stderr: '' })
  })
})

describe('a server that has stopped', () => {
  it('is not found any more, and that is another exit code', async () => {
    const other = await createServeWorld()
    const stopped = other.serve()
    await stopped.url
    stopped.signal('SIGTERM')
    expect(await stopped.ended).toBe(0)
    const around = { cwd: '/', variables: { ESCAPEMENT_DATA: other.data } }
    expect(await run(['runs', 'list'], '', around)).toMatchObject({ code: 3, stdout: '' })
    const doctor = await run(['doctor'], '', around)
    expect([doctor.code, doctor.stdout]).toEqual([3, expect.stringMatching(/^fail {2}server +No server runs on/m)])
    await other.end()
  })
})
