import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFields } from './body-fields.ts'
import { askAll, createRailWorld, type Asked, type Key, type RailWorld, type Things } from './guard-rails-world.ts'
import {
  changing,
  deleting,
  handing,
  handingMany,
  making,
  OTHERS_SESSION,
  speaking,
  speakingMany,
  waking,
} from './guard-rails-asks.ts'

// Every field of a body, query or path that a restricted key can fill in, derived from the contract, has a decision here: it
// names nothing, or it names something of others and is tried with it through every door that takes it. A field without a
// decision fails.

/** What a field means that names nothing of others. */
const PLAIN: readonly string[] = [
  // Words that are shown, kept or searched for among what is its own.
  ...['name', 'description', 'message', 'text', 'prompt', 'output', 'q', 'patch.name', 'patch.message', 'sender'],
  ...['action', 'selector', 'ref', 'tabId', 'tab_id', 'tasks[].action', 'tasks[].selector', 'tasks[].ref'],
  ...['tasks[].tabId', 'when', 'requirements[]', 'attachments[]', 'message_id'],
  ...['messages[].text', 'messages[].sender', 'messages[].attachments[]', 'messages[].message_id'],
  // What the agent is given; nothing in it is looked up.
  ...['payload', 'payload.*', 'params.*', 'tasks[].params.*'],
  // When.
  ...['at', 'cron', 'cron_expr', 'expr', 'rrule', 'timezone', 'tz', 'exclude[]', 'schedule.expr', 'schedule.tz'],
  ...['exclude[].from', 'exclude[].to', 'exclude[].*', 'patch.schedule.expr', 'patch.schedule.tz'],
  // Conditions on what a probe has seen.
  ...['probe.when', 'probe.changed'],
  // Filters and places in lists of its own.
  ...['cursor', 'state', 'status', 'kinds', 'last_event_id', 'agent_error_code'],
  // Lanes belong to the deployment, and every key may use them.
  ...['lane', 'messages[].lane'],
  // We write what is sent there, to public addresses alone, and a key without rights reads the same result.
  ...['callbackUrl', 'tasks[].callbackUrl'],
  // The schema takes no text but the empty one.
  ...['deliverChannel', 'deliverTo', 'promptFile', 'patch.deliverChannel', 'patch.deliverTo', 'patch.promptFile'],
]

interface Attempt {
  readonly asked: (things: Things, own: string) => Asked
  /** With which codes and rails each door may refuse it. */
  readonly told: readonly string[]
}

const hourly = { cron: '0 * * * *' }
const rpcHourly = { kind: 'cron', expr: '0 * * * *' }

/** The same in a new schedule and in a change of an own one. */
const inSchedule = (fields: (things: Things) => object, ...told: readonly string[]): readonly Attempt[] => [
  { asked: (things) => making(hourly, undefined, fields(things)), told },
  { asked: (things, own) => changing(own, fields(things)), told },
]
const alone = (asked: Attempt['asked'], ...told: readonly string[]): Attempt => ({ asked, told })

const probe = (more: object) => ({
  probe: { when: { path: '/last_run/output', op: 'exists' }, ...more },
})
const http = { kind: 'http', url: 'https://example.com/x' }
const executor = (more: object) => ({ executor: { ...http, ...more } })
const program = { kind: 'command', program: '/bin/true' }
const others = 'agent:writer:main'

/** What a field names of others, tried through every door that takes it. */
const REFERENCES: Readonly<Record<string, readonly Attempt[]>> = {
  agent_id: inSchedule(() => ({ agent_id: 'runner' }), 'GUARD_RAIL executor'),
  agentId: [
    alone(() => handing('runner'), 'GUARD_RAIL executor', 'GUARD_RAIL approval'),
    alone(
      () => ({ rpc: ['cron.create', { name: 'x', message: 'x', schedule: rpcHourly, agentId: 'runner' }] }),
      'GUARD_RAIL executor',
    ),
  ],
  'tasks[].agentId': [alone(() => handingMany('runner'), 'GUARD_RAIL executor', 'GUARD_RAIL approval')],
  'patch.agentId': [
    alone((_, own) => ({ rpc: ['cron.update', { jobId: own, patch: { agentId: 'runner' } }] }), 'GUARD_RAIL executor'),
  ],
  'executor.*': inSchedule(() => ({ executor: { kind: 'echo', x: 'x' } }), 'GUARD_RAIL executor'),
  'executor.url': inSchedule(() => executor({}), 'GUARD_RAIL executor'),
  'executor.headers.*': inSchedule(() => executor({ headers: { authorization: 'x' } }), 'GUARD_RAIL executor'),
  'executor.body': inSchedule(() => executor({ body: 'x' }), 'GUARD_RAIL executor'),
  'executor.success_when.path': inSchedule(
    () => executor({ success_when: { path: '/x', exists: true } }),
    'GUARD_RAIL executor',
  ),
  'executor.success_when.equals': inSchedule(() => executor({ success_when: { equals: 'x' } }), 'GUARD_RAIL executor'),
  'executor.success_when.contains': inSchedule(
    () => executor({ success_when: { contains: 'x' } }),
    'GUARD_RAIL executor',
  ),
  session: [
    ...inSchedule(() => ({ session: others }), 'GUARD_RAIL session'),
    alone(() => ({ mcp: ['stop', { session: others }] }), 'GUARD_RAIL session'),
  ],
  'delivery.target_id': [
    ...inSchedule(({ target }) => ({ delivery: { target_id: target } }), 'GUARD_RAIL operation'),
    ...inSchedule(() => ({ delivery: { target_id: 'no-such-target' } }), 'GUARD_RAIL operation'),
  ],
  'budget.timezone': inSchedule(
    () => ({ budget: { unit: 'tokens', amount: 1, period: 'day', timezone: 'UTC' } }),
    'GUARD_RAIL operation',
    'FORBIDDEN undefined',
  ),
  'probe.of.schedule_id': [
    ...inSchedule((things) => probe({ kind: 'state', of: { schedule_id: things.others } }), 'NOT_FOUND undefined'),
    ...inSchedule(() => probe({ kind: 'state', of: { schedule_id: 'no-such-schedule' } }), 'NOT_FOUND undefined'),
  ],
  'probe.of.session': inSchedule(() => probe({ kind: 'state', of: { session: others } }), 'GUARD_RAIL session'),
  'probe.url': inSchedule(() => probe(http), 'GUARD_RAIL executor'),
  'probe.headers.*': inSchedule(() => probe({ ...http, headers: { authorization: 'x' } }), 'GUARD_RAIL executor'),
  'probe.body': inSchedule(() => probe({ ...http, method: 'POST', body: 'x' }), 'GUARD_RAIL executor'),
  'probe.program': inSchedule(() => probe(program), 'GUARD_RAIL executor'),
  'probe.args[]': inSchedule(() => probe({ ...program, args: ['x'] }), 'GUARD_RAIL executor'),
  'probe.directory': inSchedule(() => probe({ ...program, directory: '/tmp' }), 'GUARD_RAIL executor'),
  from_run: [
    alone(
      (things) => ({ rest: ['POST', `/api/v1/schedules?from_run=${things.othersRun}`, { ...hourly, payload: 'x' }] }),
      'GUARD_RAIL operation',
    ),
  ],
  parent_run_id: [
    alone(
      (things) => speaking('agent:writer:self', { parent_run_id: things.othersRun }),
      'GUARD_RAIL lineage',
      'GUARD_RAIL session',
    ),
  ],
  'messages[].session': [alone(() => speakingMany(others), 'GUARD_RAIL session')],
  'messages[].parent_run_id': [
    alone(
      (things) => ({
        rest: [
          'POST',
          '/api/v1/messages',
          { messages: [{ session: 'agent:writer:self', text: 'x', parent_run_id: things.othersRun }] },
        ],
      }),
      'GUARD_RAIL lineage',
      'GUARD_RAIL session',
    ),
  ],
  id: [
    alone((things) => waking(things.others), 'NOT_FOUND undefined'),
    alone((things) => deleting(things.others), 'NOT_FOUND undefined'),
    alone((things) => ({ rest: ['GET', `/api/v1/runs/${things.othersRun}`] }), 'NOT_FOUND undefined'),
    alone((things) => ({ rest: ['GET', `/api/v1/explain?id=${things.othersRun}`] }), 'NOT_FOUND undefined'),
  ],
  jobId: [alone((things) => ({ rpc: ['cron.runs', { jobId: things.others }] }), 'NOT_FOUND undefined')],
  runId: [
    alone(
      (things) => ({ rest: ['POST', `/api/v1/schedules/${things.others}/runs/${things.othersRun}/retry`] }),
      'NOT_FOUND undefined',
    ),
  ],
  schedule_id: [
    alone(
      (things) => ({ mcp: ['run_explain', { schedule_id: things.others, at: '2026-01-15T13:00:00Z' }] }),
      'NOT_FOUND undefined',
    ),
  ],
  run_id: [alone((things) => ({ mcp: ['run_explain', { run_id: things.othersRun }] }), 'NOT_FOUND undefined')],
  key: [
    alone(() => speaking(others), 'GUARD_RAIL session'),
    alone(() => ({ rpc: ['sessions.stop', { key: others }] }), 'GUARD_RAIL session'),
  ],
  sessionKey: [alone(() => ({ rpc: ['sessions.stop', { sessionKey: others }] }), 'GUARD_RAIL session')],
}

/** Lists that a filter narrows: they are answered, and hold nothing of others. */
const FILTERS: Readonly<Record<string, (things: Things) => string>> = {
  schedule_id: (things) => `/api/v1/runs?schedule_id=${things.others}`,
  ids: (things) => `/api/v1/schedules/outcomes?ids=${things.others}`,
  agent_id: () => '/api/v1/runs?agent_id=writer',
}

/**
 * `bulk` answers for each of its ids; guard-rails-allowed.test.ts tries it. The model of a retry is no thing of others: that
 * it is refused is in guard-rails-limits.ts. The other run of a comparison stands beside an own one and is tried below.
 */
const ELSEWHERE = ['ids[]', 'model', 'other']

const KEYS: readonly Key[] = ['plain', 'asking', 'working']

let rails: RailWorld
const own = new Map<Key, string>()
beforeAll(async () => {
  rails = await createRailWorld()
  for (const key of KEYS) {
    const made = await rails.world.ask('POST', '/api/v1/schedules', {
      as: key,
      body: { name: 'Own', ...hourly, payload: 'x' },
    })
    expect(made.statusCode, made.body).toBe(201)
    own.set(key, made.json<{ readonly id: string }>().id)
  }
})
afterAll(() => rails.close())

const FIELDS = openFields()

/** Without the tool that does not take the field: models are offered fewer of them. */
const taken = (field: string, { mcp, ...others }: Asked): Asked =>
  mcp !== undefined && FIELDS.get(field)?.includes(`mcp ${mcp[0]}`) === true ? { ...others, mcp } : others

describe('every field that a restricted key can fill in', () => {
  it('has a decision: it names nothing, or it is tried below', () => {
    const decided = new Set([...PLAIN, ...ELSEWHERE, ...Object.keys(REFERENCES), ...Object.keys(FILTERS)])
    const undecided = [...FIELDS].filter(([field]) => !decided.has(field))
    expect(undecided).toEqual([])
    const known = new Set(FIELDS.keys())
    expect([...decided].filter((field) => !known.has(field))).toEqual([])
  })

  describe.each(KEYS)('with the key %s', (key) => {
    it.each(Object.entries(REFERENCES))('%s of others is refused through every door', async (field, attempts) => {
      const before = await rails.look()
      for (const { asked, told } of attempts)
        for (const [surface, { code, rail }] of await askAll(
          rails,
          key,
          taken(field, asked(rails.things, own.get(key) ?? '')),
        ))
          expect(told, surface).toContain(`${code} ${String(rail)}`)
      expect(await rails.look()).toEqual(before)
    })

    it.each(Object.entries(FILTERS))('%s of others finds nothing in a list', async (_field, url) => {
      const answer = await rails.world.ask('GET', url(rails.things), { as: key })
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.body).not.toContain(rails.things.othersRun)
      expect(answer.body).not.toContain(rails.things.othersTask)
    })
  })
})

describe('a run of others', () => {
  it.each<[Key, keyof Things]>([
    ['plain', 'mineFailed'],
    ['asking', 'approvedRun'],
    ['working', 'agentsRun'],
  ])('is compared with an own one by nobody, as the key %s', async (key, own) => {
    const { world, things } = rails
    const compare = (a: string, b: string): Promise<{ readonly statusCode: number; readonly body: string }> =>
      world.ask('GET', `/api/v1/runs/${a}/compare/${b}`, { as: key })
    expect((await compare(things[own], things[own])).statusCode).toBe(200)
    for (const other of [things.othersRun, things.othersTask])
      for (const [a, b] of [
        [things[own], other],
        [other, things[own]],
      ] as const) {
        const answer = await compare(a, b)
        expect([answer.statusCode, JSON.parse(answer.body)]).toMatchObject([404, { code: 'NOT_FOUND' }])
        const missing = await compare(...([a, b].map((id) => (id === other ? 'run_none' : id)) as [string, string]))
        expect(faceOf(missing.body, 'run_none')).toEqual(faceOf(answer.body, other))
      }
  })

  const faceOf = (body: string, id: string): unknown => {
    const { request_id: _id, ...problem } = JSON.parse(body.replaceAll(id, '…')) as Record<string, unknown>
    return problem
  }
})

describe('one thing of others among own ones', () => {
  it('is refused alone, with the code of the single call, and leaves nothing behind', async () => {
    const { world } = rails
    const session = 'agent:writer:key:key_plain'
    const rows = (): Promise<readonly unknown[]> =>
      world.services.db.query(
        `select id from run where session_key = $1 or agent_id = 'runner' union all
         select key from session where key = $1`,
        [OTHERS_SESSION],
      )
    const before = await rows()
    const sent = await world.ask('POST', '/api/v1/messages', {
      as: 'plain',
      body: {
        messages: [
          { session: OTHERS_SESSION, text: 'x' },
          { session, text: 'x' },
          { session: OTHERS_SESSION, text: '/stopall' },
          { session, text: 'x', parent_run_id: rails.things.othersRun },
        ],
      },
    })
    const refused = { ok: false, code: 'GUARD_RAIL' }
    expect([sent.statusCode, sent.json()]).toMatchObject([
      202,
      { items: [refused, { ok: true }, refused, refused], accepted: 1, refused: 3 },
    ])
    const handed = await world.ask('POST', '/tasks/many', {
      as: 'plain',
      body: { tasks: ['runner', 'writer'].map((agentId) => ({ agentId, action: 'x' })) },
    })
    expect([handed.statusCode, handed.json()]).toMatchObject([
      202,
      { tasks: [{ error: expect.stringContaining('command executor') as string }, {}] },
    ])
    expect(await rows()).toEqual(before)
  })
})

describe('a target whose id a restricted key knows', () => {
  /** Doors that have no such field, or are closed: a key may still send it. */
  const smuggled = (id: string, target: string): Readonly<Record<string, Asked>> => {
    const delivery = { target_id: target }
    const schedule = { name: 'Smuggled', ...hourly, payload: 'x', delivery: { target: 'Ops' } }
    const document = { version: 1, schedules: [schedule] }
    const job = { name: 'Smuggled', message: 'x', schedule: rpcHourly }
    const channel = { deliver: true, deliverChannel: 'webhook', deliverTo: target }
    return {
      'RPC create': { rpc: ['cron.create', { ...job, delivery }] },
      'RPC create by channel': { rpc: ['cron.create', { ...job, ...channel }] },
      'RPC change': { rpc: ['cron.update', { jobId: id, patch: { delivery } }] },
      'RPC change by channel': { rpc: ['cron.update', { jobId: id, patch: channel }] },
      'MCP create': { mcp: ['schedule_create', { name: 'Smuggled', prompt: 'x', ...hourly, delivery }] },
      'MCP change': { mcp: ['schedule_update', { id, delivery }] },
      'as-code plan': { rest: ['POST', '/api/v1/apply/plan', document] },
      'as-code apply': { rest: ['POST', '/api/v1/apply', document] },
      import: { rest: ['POST', '/api/v1/import', document] },
      change: { rest: ['PATCH', `/api/v1/targets/${target}`, { url: 'https://example.com/x' }] },
      test: { rest: ['POST', `/api/v1/targets/${target}/test`] },
    }
  }

  it.each(KEYS)('is delivered to through no door by the key %s', async (key) => {
    const before = await rails.look()
    for (const [door, asked] of Object.entries(smuggled(own.get(key) ?? '', rails.things.target)))
      for (const [surface, { code }] of await askAll(rails, key, asked))
        expect(code, `${door} ${surface}`).not.toBeNull()
    expect(await rails.look()).toEqual(before)
  })
})

describe('a schedule that a person has rejected', () => {
  it('is not run by the key that proposed it, before or after a change of its name', async () => {
    const { world } = rails
    const body = { name: 'Wipe', ...hourly, payload: 'wipe the disk' }
    const made = await world.ask('POST', '/api/v1/schedules', { as: 'asking', body })
    const { id } = made.json<{ readonly id: string }>()
    const url = `/api/v1/schedules/${id}`
    expect((await world.ask('POST', `${url}/reject`, { body: { reason: 'no' } })).statusCode).toBe(200)
    for (const [surface, told] of await askAll(rails, 'asking', waking(id)))
      expect([surface, told]).toEqual([surface, { code: 'GUARD_RAIL', rail: 'approval' }])
    expect((await world.ask('PATCH', url, { as: 'asking', body: { name: 'Tidy' } })).statusCode).toBe(200)
    for (const [surface, told] of await askAll(rails, 'asking', waking(id)))
      expect([surface, told]).toEqual([surface, { code: 'GUARD_RAIL', rail: 'approval' }])
    expect((await world.ask('POST', `${url}/run-now`)).statusCode).toBe(202)
  })

  it('that was approved before its last change is not run either', async () => {
    const { world } = rails
    const body = { name: 'Daily', cron: '0 3 * * *', payload: 'tidy' }
    const { id } = (await world.ask('POST', '/api/v1/schedules', { as: 'asking', body })).json<{
      readonly id: string
    }>()
    const url = `/api/v1/schedules/${id}`
    expect((await world.ask('POST', `${url}/approve`)).statusCode).toBe(200)
    expect((await world.ask('PATCH', url, { as: 'asking', body: { payload: 'wipe' } })).statusCode).toBe(200)
    expect((await world.ask('POST', `${url}/reject`, { body: { reason: 'no' } })).statusCode).toBe(200)
    for (const [surface, told] of await askAll(rails, 'asking', waking(id)))
      expect([surface, told]).toEqual([surface, { code: 'GUARD_RAIL', rail: 'approval' }])
  })
})
