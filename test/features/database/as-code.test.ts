import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { givenDocument, type AsCodeDocument, type PlanView } from '../../../src/features/as-code/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { Refusal } from '../../../src/api/refusals.ts'
import type { Permission } from '../../../src/domain/access/access.ts'
import { agentId } from '../../../src/domain/ids.ts'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import { updateAgent, createAgent, findAgentPage } from '../../../src/features/agents/service.ts'
import {
  applyDocument,
  exportDocument,
  planDocument,
  type ApplyRequest,
} from '../../../src/features/as-code/service.ts'
import type { Caller } from '../../../src/features/access/caller.ts'
import { createIdGenerator } from '../../../src/engine/ids.ts'
import type { Ports } from '../../../src/engine/ports.ts'
import { DEFAULT_SETTINGS } from '../../../src/features/config/settings.ts'
import { findSchedules } from '../../../src/features/schedules/find.ts'
import { createSchedule, disableSchedule } from '../../../src/features/schedules/service.ts'
import { createTarget } from '../../../src/features/targets/service.ts'
import { insertAgents } from '../../../src/features/agents/store.ts'
import { anAgent } from '../../platform/db/records.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
let ports: Ports
let caller: Caller

beforeAll(async () => {
  world = await createServiceWorld()
  const newId = createIdGenerator((count) => new Uint8Array(count).fill(7))
  ports = { ...world.ports, newId: (kind, now) => newId(kind, now) }
  caller = { ...world.caller, isAdmin: true, writesBudgets: true }
})
afterAll(() => world.drop())
beforeEach(async () => {
  await world.db.query('delete from schedule; delete from budget; delete from target')
  await world.db.query(`delete from agent where org_id = 'acme'`)
  await world.db.transaction((tx) => insertAgents(tx, [anAgent(), anAgent({ id: agentId('reader') })]))
})

const mayAll = (): boolean => true
const read = schemaReader(givenDocument)
const plan = async (document: unknown, more: Partial<ApplyRequest> = {}): Promise<PlanView> =>
  planDocument(ports, caller, { document: read(document), may: mayAll, ...more })
const apply = async (document: unknown, more: Partial<ApplyRequest> = {}): Promise<PlanView> =>
  applyDocument(ports, caller, { document: read(document), may: mayAll, ...more })
const exported = (kinds?: string): Promise<AsCodeDocument> => exportDocument(ports, caller, { kinds, may: mayAll })

const refusal = async (work: Promise<unknown>): Promise<Refusal> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof Refusal) return error
  throw new Error(`it was not refused: ${String(error)}`)
}

const told = ({ items }: PlanView): readonly string[] =>
  items.map(({ action, kind, name }) => `${action} ${kind} ${name}`)

const NIGHTLY = {
  version: 1,
  agents: [{ name: 'Reporter', executor: { kind: 'echo' }, timeout_seconds: '5m' }],
  targets: [{ name: 'Ops', url: 'https://ops.example/hook' }],
  schedules: [
    {
      ...{ name: 'Nightly', agent: 'Reporter', cron: '0 2 * * *', timezone: 'Europe/Berlin', payload: 'Report' },
      ...{ delivery: { target: 'Ops' }, retry_policy: { base_ms: '3s' }, budget: { unit: 'tokens', amount: 100 } },
    },
  ],
  budgets: [
    { agent: 'Reporter', unit: 'tokens', amount: 1000 },
    { schedule: 'Nightly', unit: 'money', amount: 2.5, period: 'month' },
  ],
}

/** Everything that is stored, to see that nothing has changed. */
async function everything(): Promise<string> {
  const tables = await world.rows(
    `select table_name as name from information_schema.tables where table_schema = current_schema() order by 1`,
  )
  const rows = []
  for (const { name } of tables)
    rows.push(await world.rows(`select row_to_json(t)::text as row from "${String(name)}" t order by 1`))
  return JSON.stringify(rows)
}

describe('an export from a deployment and an org with other defaults than those built in', () => {
  afterEach(async () => {
    world.settings = DEFAULT_SETTINGS
    await world.db.query(`update org set default_timezone = 'UTC' where id = 'acme'`)
  })

  it('changes nothing where it is applied, and brings the same values in force where nothing was', async () => {
    const { maxRetries, baseMs, maxMs, jitter } = DEFAULT_RETRY_POLICY
    const builtIn = { max_retries: maxRetries, base_ms: baseMs, max_ms: maxMs, jitter }
    world.settings = { ...world.settings, retry: { ...DEFAULT_RETRY_POLICY, maxRetries: 7, baseMs: 500, jitter: 0.1 } }
    await world.db.query(`update org set default_timezone = 'Asia/Tokyo' where id = 'acme'`)
    for (const [name, retry_policy] of [
      ['whole', builtIn],
      ['partly', { max_retries: maxRetries }],
      ['ladder', { strategy: 'ladder' }],
      ['none', null],
    ] as const) {
      await createAgent(ports, caller, { name, executor: { kind: 'http', url: 'https://example.com' }, retry_policy })
      const zone = name === 'partly' ? { timezone: 'UTC' } : {}
      await createSchedule(ports, caller, { name, every_seconds: 3_600, retry_policy, ...zone })
    }
    const inForce = async (): Promise<readonly unknown[]> => [
      ...(await findAgentPage(ports, caller, {})).items.map(({ name, retry_policy: policy }) => [name, policy]),
      ...(await findSchedules(ports, caller)).items
        .map(({ name, retry_policy: policy, timezone }) => [name, policy, timezone])
        .toSorted(),
    ]
    const before = await inForce()
    const document = await exported()
    expect(told(await plan(document)).every((line) => line.startsWith('unchanged'))).toBe(true)
    await apply(document)
    expect(await inForce()).toEqual(before)
    await world.db.query(`delete from schedule; delete from agent where org_id = 'acme'`)
    await apply(document)
    expect((await inForce()).toSorted()).toEqual(before.toSorted())
  })

  it('tells a value that is given from the same value that is left to the deployment', async () => {
    await apply({ version: 1, schedules: [{ name: 'Hourly', every_seconds: 3_600, retry_policy: { jitter: 0.5 } }] })
    const base_ms = DEFAULT_RETRY_POLICY.baseMs
    const given = { name: 'Hourly', every_seconds: 3_600, retry_policy: { jitter: 0.5, base_ms } }
    expect((await plan({ version: 1, schedules: [given] })).items[0]).toMatchObject({
      action: 'update',
      changes: [{ field: 'retry_policy.base_ms' }],
    })
  })
})

describe('a document about an org that has none of it', () => {
  it('is planned, applied, and then nothing is left to do', async () => {
    const before = await everything()
    expect(told(await plan(NIGHTLY))).toEqual([
      ...['create agent Reporter', 'create target Ops', 'create schedule Nightly'],
      ...['create budget tokens per day of agent Reporter', 'create budget money per month of schedule Nightly'],
      ...['unmanaged agent Writer', 'unmanaged agent Writer'],
    ])
    expect(await everything()).toBe(before)
    const done = await apply(NIGHTLY)
    expect(done).toMatchObject({ applied: true, counts: { create: 5, flawed: 0 } })
    expect(done.permissions).toEqual(['agents:write', 'targets:write', 'schedules:write', 'budgets:write'])
    expect(await plan(NIGHTLY)).toMatchObject({ counts: { create: 0, update: 0, delete: 0, unchanged: 5, flawed: 0 } })
    expect(await exported('schedules,budgets')).toEqual({
      version: 1,
      schedules: [
        {
          ...{ name: 'Nightly', agent: 'Reporter', cron: '0 2 * * *', timezone: 'Europe/Berlin', payload: 'Report' },
          ...{ retry_policy: { base_ms: 3_000 }, delivery: { target: 'Ops' } },
          budget: { unit: 'tokens', amount: 100, timezone: 'UTC' },
        },
      ],
      budgets: [
        { schedule: 'Nightly', unit: 'money', amount: 2.5, period: 'month', timezone: 'UTC' },
        { agent: 'Reporter', unit: 'tokens', amount: 1000, timezone: 'UTC' },
      ],
    })
  })

  it('is on record as if each thing had been made by itself', async () => {
    await apply(NIGHTLY)
    const records = await world.rows('select actor, action from audit order by no desc limit 6')
    expect(new Set(records.map(({ action }) => action))).toEqual(
      new Set(['agent.create', 'target.create', 'schedule.create', 'budget.create']),
    )
    expect(new Set(records.map(({ actor }) => actor))).toEqual(new Set(['key_1']))
  })

  it('changes nothing at all when its last item cannot be done', async () => {
    await apply({ ...NIGHTLY, budgets: undefined })
    const wrong = {
      ...NIGHTLY,
      agents: [
        { ...NIGHTLY.agents[0], description: 'changed' },
        { name: 'New', executor: { kind: 'echo' } },
      ],
      schedules: [
        { ...NIGHTLY.schedules[0], cron: '0 3 * * *' },
        { name: 'Other', every_seconds: 60 },
      ],
      budgets: [...NIGHTLY.budgets, { agent_id: 'nobody', unit: 'tokens', amount: 1 }],
    }
    const before = await everything()
    const refused = await refusal(apply(wrong))
    expect(refused.code).toBe('VALIDATION')
    expect(refused.flaws).toMatchObject([{ field: 'budgets.2.agent_id', message: 'is not an agent of the org' }])
    expect(await everything()).toBe(before)
    const { items, counts } = await plan(wrong)
    expect(counts).toMatchObject({ create: 5, update: 2, flawed: 1 })
    expect(items.flatMap(({ flaws }) => flaws)).toEqual([
      { pointer: '/budgets/2/agent_id', message: 'is not an agent of the org' },
    ])
  })
})

describe('what differs', () => {
  it('is told field by field, before as it is stored and after as the document has it', async () => {
    await apply(NIGHTLY)
    const [nightly] = NIGHTLY.schedules
    const changed = { version: 1, schedules: [{ ...nightly, cron: '0 3 * * *', retry_policy: { base_ms: 4_000 } }] }
    const { items, permissions } = await plan(changed)
    expect(items).toMatchObject([{ action: 'update', kind: 'schedule', name: 'Nightly', pointer: '/schedules/0' }])
    expect(items[0]?.changes).toEqual([
      { field: 'cron', before: '0 2 * * *', after: '0 3 * * *' },
      { field: 'retry_policy.base_ms', before: 3_000, after: 4_000 },
    ])
    expect(permissions).toEqual(['schedules:write'])
    await apply(changed)
    expect((await plan(changed)).counts).toMatchObject({ update: 0, unchanged: 1 })
  })

  it('is what a person has switched off, and not what the engine has', async () => {
    await apply(NIGHTLY)
    const [row] = await world.rows('select id from schedule')
    await disableSchedule(ports, caller, { id: String(row?.['id']) })
    await world.db.query(`update target set disabled_at = now(), disabled_why = '{"reason":"target_failing"}'`, [])
    expect((await plan(NIGHTLY)).items.filter(({ action }) => action === 'update')).toMatchObject([
      { name: 'Nightly', changes: [{ field: 'enabled', before: false, after: true }] },
    ])
    expect((await exported('schedules')).schedules?.[0]).toMatchObject({ enabled: false })
    expect((await exported('targets')).targets).toEqual([{ name: 'Ops', url: 'https://ops.example/hook' }])
  })

  it('is no reminder that has had its moment', async () => {
    const once = { version: 1, schedules: [{ name: 'Once', at: '2026-01-15T13:00:00Z', delete_after_run: false }] }
    await apply(once)
    await world.db.query(`update schedule set state = 'failed', next_run_at = null`, [])
    world.pass(7_200_000)
    expect((await plan(once)).counts).toMatchObject({ unchanged: 1, update: 0, flawed: 0 })
    expect((await plan(await exported('schedules'))).counts).toMatchObject({ unchanged: 1, flawed: 0 })
  })

  it('is a new name when the id says which one is meant', async () => {
    await apply(NIGHTLY)
    const [row] = await world.rows('select id from schedule')
    const renamed = { version: 1, schedules: [{ ...NIGHTLY.schedules[0], id: String(row?.['id']), name: 'Daily' }] }
    expect((await apply(renamed)).items).toMatchObject([
      { action: 'update', id: row?.['id'], changes: [{ field: 'name', before: 'Nightly', after: 'Daily' }] },
    ])
    expect(await world.rows('select name from schedule')).toEqual([{ name: 'Daily' }])
  })
})

describe('somebody who is faster', () => {
  it('makes a plan that was seen void', async () => {
    await apply(NIGHTLY)
    const changed = { ...NIGHTLY, agents: [{ ...NIGHTLY.agents[0], description: 'new' }] }
    const { plan_id: expect1 } = await plan(changed)
    const [row] = await world.rows(`select id from agent where name = 'Reporter'`)
    await updateAgent(ports, caller, { id: String(row?.['id']), change: { description: 'of somebody else' } })
    const refused = await refusal(apply(changed, { expect: expect1 }))
    expect([refused.code, refused.message]).toEqual(['STALE_VERSION', expect.stringContaining('plan it again')])
    const { plan_id: again } = await plan(changed)
    expect((await apply(changed, { expect: again })).applied).toBe(true)
    expect((await refusal(apply(changed, { expect: again }))).code).toBe('STALE_VERSION')
    expect((await refusal(apply(changed, { expect: again, prune: true }))).code).toBe('STALE_VERSION')
  })

  it('comes between looking and doing, and everything is looked at anew', async () => {
    const [nightly] = NIGHTLY.schedules
    let times = 0
    const take: Ports['commands']['execute'] = async (work) => {
      times += 1
      if (times === 1) await createAgent(ports, caller, { name: 'Reporter', executor: { kind: 'echo' } })
      return ports.commands.execute(work)
    }
    const done = await applyDocument({ ...ports, commands: { execute: take } }, caller, {
      document: read({ ...NIGHTLY, schedules: [nightly] }),
      may: mayAll,
    })
    expect(times).toBe(2)
    expect(done.items[0]).toMatchObject({ action: 'update', changes: [{ field: 'timeout_seconds' }] })
    expect(await world.rows(`select 1 from agent where name = 'Reporter'`)).toHaveLength(1)
  })
})

describe('what is stored and not in the document', () => {
  it('is kept and told, and with prune deleted, of the kinds that the document names', async () => {
    await apply(NIGHTLY)
    const less = { version: 1, schedules: [], budgets: [] }
    expect(told(await plan(less))).toEqual([
      ...['unmanaged schedule Nightly', 'unmanaged budget tokens per day of agent Reporter'],
      'unmanaged budget money per month of schedule Nightly',
    ])
    const done = await apply(less, { prune: true })
    expect(done.counts).toMatchObject({ delete: 3 })
    expect(done.permissions).toEqual(['schedules:delete', 'budgets:write'])
    expect(await exported()).toMatchObject({ schedules: [], budgets: [], targets: [{ name: 'Ops' }] })
    expect(await world.rows('select 1 from budget')).toEqual([])
  })

  it('goes together with what uses it, and otherwise says who does before anything happens', async () => {
    await apply(NIGHTLY)
    await createAgent(ports, caller, { id: 'beating', name: 'Beating', executor: { kind: 'worker' } })
    await world.db.query(
      `insert into heartbeat (org_id, agent_id, settings, enabled, due_at, next_at, created_at, updated_at)
       values ('acme', 'beating', '{}', true, now(), now(), now(), now())`,
      [],
    )
    await createAgent(ports, caller, { id: 'function', name: 'Function', executor: { kind: 'in-process' } })
    const none = { version: 1, agents: [], targets: [] }
    const { items } = await plan(none, { prune: true })
    const flaws = new Map(items.map(({ id, flaws: found }) => [id, found.map(({ message }) => message).join()]))
    const [reporter] = await world.rows(`select id from agent where name = 'Reporter'`)
    expect(flaws.get('writer')).toContain('is the default agent of the org')
    expect(flaws.get('beating')).toContain('its heartbeat is enabled')
    expect(flaws.get(String(reporter?.['id']))).toContain('while schedules use it: Nightly')
    expect(items.find(({ kind }) => kind === 'target')?.flaws).toMatchObject([
      { pointer: '/targets', message: expect.stringContaining('while schedules deliver to it: Nightly') as string },
    ])
    expect(items.find(({ id }) => id === 'function')).toMatchObject({ action: 'unmanaged', flaws: [] })
    expect((await refusal(apply(none, { prune: true }))).flaws.map(({ field }) => field)).toContain('agents')
    const keep = [
      { id: 'writer', name: 'Writer', executor: { kind: 'echo' } },
      { id: 'beating', name: 'Beating', executor: { kind: 'worker' } },
    ]
    await apply({ version: 1, agents: keep, targets: [], schedules: [], budgets: [] }, { prune: true })
    expect(await world.rows(`select id from agent where org_id = 'acme' order by id`)).toEqual([
      ...[{ id: 'beating' }, { id: 'function' }, { id: 'writer' }],
    ])
  })

  it('is left alone where agents have made it for themselves', async () => {
    await apply(NIGHTLY)
    await world.db.query(`update schedule set owner = 'agent:writer'`, [])
    expect((await exported('schedules')).schedules).toEqual([])
    expect((await plan({ version: 1, schedules: [] }, { prune: true })).items).toEqual([])
    const [row] = await world.rows('select id from schedule')
    const theirs = { version: 1, schedules: [{ id: String(row?.['id']), name: 'Mine', every_seconds: 60 }] }
    expect((await plan(theirs)).items[0]?.flaws).toMatchObject([
      { pointer: '/schedules/0/id', message: expect.stringContaining('agent:writer created for itself') as string },
    ])
  })
})

describe('names', () => {
  const hourly = { name: 'Hourly', every_seconds: 3_600 }

  it('that mean two things are refused where they stand, and exported with ids', async () => {
    const twice = await plan({ version: 1, schedules: [hourly, hourly] })
    expect(twice.items[1]?.flaws).toEqual([
      {
        pointer: '/schedules/1/name',
        message: 'matches the same schedule as /schedules/0; give each its own name, or its id',
      },
    ])
    const one = await createSchedule(ports, caller, hourly)
    const other = await createSchedule(ports, caller, { ...hourly, description: 'too' })
    const { items } = await plan({ version: 1, schedules: [hourly] })
    expect(items[0]?.flaws).toMatchObject([
      { pointer: '/schedules/0/name', message: `matches 2 stored schedules: ${one.id}, ${other.id}` },
    ])
    const document = await exported('schedules')
    expect(document.schedules?.map(({ id }) => id)).toEqual([one.id, other.id])
    expect((await plan(document)).counts).toMatchObject({ unchanged: 2, flawed: 0 })
  })

  it('of agents and targets lead to them, also to those that are only in the document', async () => {
    const wrong = {
      version: 1,
      schedules: [
        { ...hourly, agent: 'Writre' },
        { name: 'B', every_seconds: 60, agent: 'Writer' },
        { name: 'C', every_seconds: 60, delivery: { target: 'x' }, agent: 'reader' },
        { name: 'D', every_seconds: 60, agent: 'writer', agent_id: 'writer' },
      ],
      budgets: [{ schedule: 'E', unit: 'tokens', amount: 1 }],
    }
    expect((await plan(wrong)).items.flatMap(({ flaws }) => flaws)).toMatchObject([
      { pointer: '/schedules/0/agent', message: expect.stringContaining('did you mean Writer?') as string },
      { pointer: '/schedules/1/agent', message: 'is the name of 2 agents: reader, writer', allowed: 'agent_id' },
      { pointer: '/schedules/2/delivery/target', message: expect.stringContaining('matches no target') as string },
      { pointer: '/schedules/3/agent', message: 'cannot be combined with agent_id' },
      { pointer: '/budgets/0/schedule', message: expect.stringContaining('matches no schedule') as string },
    ])
  })

  it('may be left out where the plan says enough, and the default agent is woken', async () => {
    const nameless = { version: 1, schedules: [{ cron: '0 9 * * *' }] }
    expect((await apply(nameless)).items).toMatchObject([{ name: 'At 09:00, every day (UTC)', action: 'create' }])
    expect((await plan(nameless)).counts).toMatchObject({ unchanged: 1, create: 0 })
    expect((await exported('schedules')).schedules).toEqual([
      { name: 'At 09:00, every day (UTC)', agent_id: 'writer', cron: '0 9 * * *', timezone: 'UTC' },
    ])
  })
})

describe('what is hidden', () => {
  const called = {
    name: 'Called',
    executor: { kind: 'http', url: 'https://a.example/', headers: { authorization: 's3' } },
  } as const

  it('is in no document and in no plan, and stays what it is', async () => {
    await createAgent(ports, caller, called)
    await createTarget(ports, caller, { name: 'Chat', kind: 'slack', url: 'https://hooks.slack.example/s3cr3t' })
    const document = await exported()
    expect(JSON.stringify(document)).not.toMatch(/s3/)
    expect((await plan(document)).counts).toMatchObject({ update: 0, flawed: 0 })
    const agents = document.agents?.map((one) => (one.name === 'Called' ? { ...one, description: 'new' } : one))
    await apply({ ...document, agents })
    const [row] = await world.rows(`select executor from agent where name = 'Called'`)
    expect(row).toMatchObject({ executor: { headers: { authorization: 's3' } } })
    const other = await plan({
      version: 1,
      agents: [{ ...called, executor: { ...called.executor, headers: { authorization: 's4' } } }],
    })
    expect(other.items[0]?.changes).toContainEqual({ field: 'executor', before: '***', after: '***' })
    expect(JSON.stringify(other)).not.toMatch(/s[34]"/)
    const same = { name: 'Chat', kind: 'slack', url: 'https://hooks.slack.example/s3cr3t' }
    expect((await plan({ version: 1, targets: [same] })).counts).toMatchObject({ unchanged: 1 })
    const moved = await plan({ version: 1, targets: [{ ...same, url: 'https://hooks.slack.example/0ther' }] })
    expect(moved.counts).toMatchObject({ update: 1 })
    expect(JSON.stringify(moved)).not.toMatch(/s3cr3t|0ther/)
  })

  it('cannot be made out of nothing', async () => {
    const masked = { ...called, executor: { ...called.executor, headers: { authorization: '***' } } }
    const { items } = await plan({ version: 1, agents: [masked], targets: [{ name: 'Chat', kind: 'slack' }] })
    expect(items.flatMap(({ flaws }) => flaws.map(({ pointer }) => pointer))).toEqual([
      ...['/agents/0/executor/headers/authorization', '/targets/0/url'],
    ])
  })
})

describe('a document that cannot be read', () => {
  it('says everything that is wrong with it and where', async () => {
    const refused = await refusal(plan({ agents: {}, schedule: [], schedules: [7, { id: 7 }] }))
    expect(refused.flaws.map(({ field }) => field).toSorted()).toEqual([
      ...['agents', 'schedule', 'schedules.0', 'schedules.1.id', 'version'],
    ])
    expect(refused.flaws.find(({ field }) => field === 'schedule')?.message).toContain('did you mean schedules?')
    expect((await refusal(plan('nothing'))).code).toBe('VALIDATION')
    expect((await refusal(exported('agents,schedule'))).message).toContain('did you mean schedules?')
  })

  it('has one name for each field, and durations where something lasts', async () => {
    const items = [
      { name: 'A', cron_expr: '0 9 * * *', timezon: 'UTC' },
      { name: 'B', every_seconds: '30m', payload: { wait_seconds: '30m' }, timeout_seconds: 'soon' },
      { id: 'sch_1', name: 'C', every_seconds: 60 },
    ]
    const plans = await plan({ version: 1, schedules: items })
    expect(plans.items.flatMap(({ flaws }) => flaws.map(({ pointer }) => pointer))).toEqual([
      ...[
        '/schedules/0/cron_expr',
        '/schedules/0/timezon',
        '/schedules/0/cron',
        '/schedules/1/timeout_seconds',
        '/schedules/2/id',
      ],
    ])
    await apply({ version: 1, schedules: [{ ...items[1], timeout_seconds: '1h30m' }] })
    expect((await exported('schedules')).schedules).toMatchObject([
      { every_seconds: 1_800, timeout_seconds: 5_400, payload: { wait_seconds: '30m' } },
    ])
  })
})

describe('permissions and limits', () => {
  const only =
    (...held: readonly Permission[]) =>
    (permission: Permission): boolean =>
      held.includes(permission)

  it('are those of the kinds that are read and of everything that changes', async () => {
    const reading = only('schedules:read', 'agents:read', 'targets:read')
    const blind = await refusal(plan(NIGHTLY, { may: reading }))
    expect([blind.code, blind.details]).toEqual(['FORBIDDEN', { permissions: ['budgets:read'] }])
    const less = { version: 1, schedules: [{ name: 'A', every_seconds: 60 }], agents: NIGHTLY.agents }
    expect((await plan(less, { may: reading })).permissions).toEqual(['agents:write', 'schedules:write'])
    const writing = only('schedules:read', 'agents:read', 'schedules:write')
    expect((await refusal(apply(less, { may: writing }))).details).toEqual({ permissions: ['agents:write'] })
    await apply(less)
    expect((await apply({ ...less, agents: undefined }, { may: writing })).counts).toMatchObject({ unchanged: 1 })
    const gone = { version: 1, schedules: [] }
    expect((await refusal(apply(gone, { may: writing, prune: true }))).details).toEqual({
      permissions: ['schedules:delete'],
    })
    expect((await refusal(exportDocument(ports, caller, { may: writing }))).details).toEqual({
      permissions: ['targets:read', 'budgets:read'],
    })
  })

  it('let an org have as many schedules as it may, those that go making room', async () => {
    const [a, b, c] = ['A', 'B', 'C'].map((name) => ({
      name,
      every_seconds: 60,
      budget: { unit: 'tokens', amount: 5 },
    }))
    await world.db.query(`update org set max_schedules = 2`, [])
    await apply({ version: 1, schedules: [a, b] })
    const { items } = await plan({ version: 1, schedules: [a, b, c] })
    expect(items[2]?.flaws[0]?.message).toContain('it may have 2 schedules and would have 3')
    await apply({ version: 1, schedules: [b, c] }, { prune: true })
    expect(await world.rows('select name from schedule order by 1')).toEqual([{ name: 'B' }, { name: 'C' }])
    expect(await world.rows('select 1 from budget')).toHaveLength(2)
    await world.db.query(`update org set max_schedules = null`, [])
  })
})
