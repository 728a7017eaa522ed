import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ScheduleInput } from '../../../src/features/schedules/schema.ts'
import { agentId, attemptId, runId, sessionKey, type ScheduleId } from '../../../src/domain/ids.ts'
import { DAY_MS, formatInstant, HOUR_MS, later, MINUTE_MS } from '../../../src/domain/instant.ts'
import {
  type Restrictions,
  type Lineage,
  DEFAULT_RESTRICTIONS,
  type RestrictedKey,
} from '../../../src/domain/access/restrictions.ts'
import type { Caller } from '../../../src/features/access/caller.ts'
import { approveSchedule, rejectSchedule } from '../../../src/features/schedules/approve.ts'
import { readLineage } from '../../../src/features/access/lineage.ts'
import { requireOwn } from '../../../src/features/access/restrictions.ts'
import { createRetention } from '../../../src/features/retention/service.ts'
import { retryRun } from '../../../src/features/runs/retry.ts'
import { findRuns, runScheduleNow } from '../../../src/features/runs/service.ts'
import {
  updateSchedule,
  bulkUpdateSchedules,
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
} from '../../../src/features/schedules/service.ts'
import { findSchedules } from '../../../src/features/schedules/find.ts'
import { sendMessages } from '../../../src/features/sessions/send.ts'
import { submitBatch, submitTask } from '../../../src/features/tasks/service.ts'
import { insertAgents } from '../../../src/features/agents/store.ts'
import { anAgent, ORG } from '../../platform/db/records.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
  await world.db.transaction((tx) =>
    insertAgents(tx, [anAgent({ id: agentId('shell'), executor: { kind: 'command', program: '/bin/true' } })]),
  )
})
beforeEach(() => world.startOver('schedule', 'run', 'pending', 'occurrence', 'turn', 'rail_act'))
afterAll(() => world.drop())

const railed = (over: Partial<Restrictions> = {}, more: Partial<RestrictedKey> = {}): Caller => ({
  ...{ orgId: ORG, principal: 'key_bot' },
  restricted: { restrictions: { ...DEFAULT_RESTRICTIONS, ...over }, owner: 'key_bot', attempt: null, ...more },
})
const bot = railed()
const HOURLY: ScheduleInput = { every_seconds: 3600, payload: 'look' }
const make = (input: ScheduleInput, by: Caller = bot) => createSchedule(world.ports, by, input)
const change = (id: string, input: ScheduleInput, by: Caller = bot) =>
  updateSchedule(world.ports, by, { id, change: input })
const wake = (id: string, by: Caller = bot) => runScheduleNow(world.ports, by, { id, mode: 'force' })
const at = (ms: number): string => formatInstant(later(world.now, ms))
const rail = (name: string) => ({ code: 'GUARD_RAIL', details: { rail: name } })
const counts = async (): Promise<string> =>
  JSON.stringify(await world.rows('select (select count(*) from schedule) s, (select count(*) from run) r'))

/** Refused with exactly this, and nothing is there that was not before. */
async function refused(wish: () => Promise<unknown>, how: object): Promise<void> {
  const before = await counts()
  await expect(wish()).rejects.toMatchObject(how)
  expect(await counts()).toBe(before)
}

/** A run that executes, and the key of its attempt. */
async function attempt(
  scheduleOf: string | null,
  lineage: Lineage | null,
  over: Partial<Restrictions> = {},
): Promise<Caller> {
  await world.db.query(
    `insert into run (org_id, id, agent_id, executor_key, trigger, lane, created_at, schedule_id)
     values ('acme', 'run_a', 'writer', 'echo', 'message', 'main', now(), $1) on conflict do nothing`,
    [scheduleOf],
  )
  await world.db.query(
    `insert into pending (org_id, id, state, attempt, attempt_id) values ('acme', 'run_a', 'awaiting_callback', 1, 'att_a')
     on conflict do nothing`,
    [],
  )
  return railed(over, {
    owner: 'agent:writer',
    attempt: {
      ...{ id: attemptId('att_a'), runId: runId('run_a'), agentId: agentId('writer'), lineage },
      ...{ sessionKey: sessionKey('agent:writer:chat:ann'), scheduleId: scheduleOf as ScheduleId | null },
    },
  })
}

describe('what a key with guard rails makes', () => {
  it('is its own, and everything else is not there for it', async () => {
    const own = await make(HOURLY)
    const other = await make(HOURLY, world.caller)
    expect([own.owner, other.owner]).toEqual(['key_bot', null])
    expect((await findSchedules(world.ports, bot)).items.map(({ id }) => id)).toEqual([own.id])
    expect((await findSchedules(world.ports, railed({ ownSchedulesOnly: false }))).items).toHaveLength(2)
    await refused(() => change(other.id, { name: 'mine' }), { code: 'NOT_FOUND' })
    await refused(() => deleteSchedule(world.ports, bot, { id: other.id }), { code: 'NOT_FOUND' })
    await refused(() => enableSchedule(world.ports, bot, { id: other.id }), { code: 'NOT_FOUND' })
    await refused(() => wake(other.id), { code: 'NOT_FOUND' })
    const bulk = await bulkUpdateSchedules(world.ports, bot, { action: 'disable', ids: [own.id, other.id] })
    expect(bulk).toMatchObject({ done: 1, refused: 1 })
    await wake(other.id, world.caller)
    const { run_id: ran = '' } = await wake(own.id)
    expect((await findRuns(world.ports, bot)).items.map(({ id, owner }) => [id, owner])).toEqual([[ran, 'key_bot']])
  })

  it('runs as its own when it fires by itself', async () => {
    const own = await make({ every_seconds: 60 })
    world.pass(MINUTE_MS)
    await world.fire(own.id)
    expect((await findRuns(world.ports, bot)).items.map(({ owner, trigger }) => [owner, trigger])).toEqual([
      ['key_bot', 'schedule'],
    ])
    for (const kind of ['schedule', 'run'] as const)
      await expect(
        requireOwn(world.ports, { orgId: ORG, restricted: railedOf(bot) }, { kind, id: 'x' }),
      ).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
  })

  it('are so many at once, also when several come together', async () => {
    const two = railed({ maxSchedules: 2 })
    const all = await Promise.allSettled([make(HOURLY, two), make(HOURLY, two), make(HOURLY, two)])
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    await refused(() => make(HOURLY, two), rail('max_schedules'))
  })

  it('is made and moved so often in an hour', async () => {
    const few = railed({ maxRunsPerHour: 3 })
    const first = await make(HOURLY, few)
    await deleteSchedule(world.ports, few, { id: first.id })
    const second = await make(HOURLY, few)
    await change(second.id, { every_seconds: 7200 }, few)
    const how = { code: 'GUARD_RAIL_RATE', details: { rail: 'max_runs_per_hour' } }
    await refused(() => make(HOURLY, few), how)
    await refused(() => change(second.id, { every_seconds: 7300 }, few), how)
    await refused(() => wake(second.id, few), how)
    await refused(() => submitTask(world.ports, { caller: few, live: NOBODY }, { agentId: 'reader', action: 'x' }), how)
    await change(second.id, { name: 'only a name' }, few)
    world.pass(HOUR_MS + 1)
    await make(HOURLY, few)
  })
})

describe('the minimum interval', () => {
  const minute = railed({ minIntervalSeconds: 60 })

  it.each<[string, ScheduleInput]>([
    ['every', { every_seconds: 59 }],
    ['cron', { cron: '*/30 * * * * *' }],
    ['two lists of a cron', { cron: '0,30 59 23 * * *' }],
    ['a rule', { rrule: 'FREQ=SECONDLY;INTERVAL=30' }],
    ['jitter', { every_seconds: 60, jitter_ms: 1_000 }],
    ['a cron of a later year', { cron: '* * * * * * 2031' }],
    [
      'what is excluded first',
      { cron: '* * * * * *', exclude: [{ from: '2026-01-01T00:00:00Z', to: '2030-01-01T00:00:00Z' }] },
    ],
  ])('refuses %s that is faster, new and changed', async (_name, input) => {
    await refused(() => make(input, minute), rail('min_interval_seconds'))
    const slow = await make({ every_seconds: 3600 }, minute)
    await refused(() => change(slow.id, { every_seconds: null, ...input }, minute), rail('min_interval_seconds'))
    expect((await getSchedule(world.ports, minute, slow.id)).version).toBe(1)
  })

  it('refuses a row of single moments, unless the first is given up', async () => {
    const first = await make({ at: at(HOUR_MS) }, minute)
    await refused(() => make({ at: at(HOUR_MS + 30_000) }, minute), rail('min_interval_seconds'))
    await refused(() => make({ at: at(HOUR_MS - 30_000) }, minute), rail('min_interval_seconds'))
    await make({ at: at(HOUR_MS + 60_000) }, minute)
    await change(first.id, { at: at(2 * HOUR_MS) }, minute)
    await make({ at: at(HOUR_MS) }, minute)
    await deleteSchedule(world.ports, minute, { id: first.id })
    await make({ at: at(2 * HOUR_MS + 1_000) }, minute)
  })

  it('holds between two runs that are asked for, retries among them', async () => {
    const own = await make(HOURLY, minute)
    const { run_id: run = '' } = await wake(own.id, minute)
    const how = { code: 'GUARD_RAIL_RATE', details: { rail: 'min_interval_seconds' } }
    world.pass(59_000)
    await refused(() => wake(own.id, minute), how)
    await world.db.query(`delete from pending; update run set state = 'cancelled', finished_at = created_at`)
    await refused(() => retryRun(world.ports, minute, { id: run, force: false }), how)
    world.pass(1_000)
    await retryRun(world.ports, minute, { id: run, force: false })
    await refused(() => wake(own.id, minute), how)
  })

  it('does not let a schedule fire again because it was moved', async () => {
    const own = await make({ every_seconds: 60 }, minute)
    world.pass(60_000)
    await world.fire(own.id)
    await refused(() => change(own.id, { every_seconds: null, at: at(10_000) }, minute), rail('min_interval_seconds'))
  })
})

const railedOf = ({ restricted: who }: Caller): RestrictedKey => {
  if (who === undefined) throw new Error('no rails')
  return who
}
const NOBODY = {
  stateOf: () => null,
  positionOf: () => null,
  queuedBefore: () => null,
  explainOutside: () => null,
  explain: () => null,
  wakes: () => undefined,
} as never

describe('the end of what is made', () => {
  const day = railed({ maxLifetimeSeconds: 86_400 })

  it('is filled in, and said, and cannot be put off', async () => {
    const own = await make(HOURLY, day)
    expect(own.ends_at).toBe(at(DAY_MS))
    expect(own.notes?.join()).toMatch(/ends_at was set to/)
    expect((await make({ ...HOURLY, ends_at: at(HOUR_MS) }, day)).notes).toBeUndefined()
    await refused(() => make({ ...HOURLY, ends_at: at(DAY_MS + 1_000) }, day), rail('max_lifetime_seconds'))
    await refused(() => make({ at: at(DAY_MS + 1_000) }, day), rail('max_lifetime_seconds'))
    world.pass(HOUR_MS)
    await refused(() => change(own.id, { ends_at: at(DAY_MS) }, day), rail('max_lifetime_seconds'))
    await refused(() => change(own.id, { ends_at: null }, day), rail('max_lifetime_seconds'))
    world.pass(DAY_MS)
    await refused(() => wake(own.id, day), rail('max_lifetime_seconds'))
  })
})

describe('where it leads', () => {
  it('sends many messages to its own sessions alone, and tasks to no command; each is counted', async () => {
    const own = 'agent:writer:key:key_bot'
    const from = (caller: Caller) => ({
      ...{ orgId: ORG, principal: 'key_bot', restricted: caller.restricted, live: NOBODY },
      ...{ defaultAgent: () => agentId('writer'), isDraining: false, once: undefined },
    })
    const outcomes = await sendMessages(world.ports, from(railed({ maxRunsPerHour: 3 })), [
      { session: own, text: 'a' },
      { session: 'agent:writer:telegram:direct:ann', text: 'a' },
      { session: own, text: 'b', parent_run_id: 'run_0' },
      { session: own, text: '/stop' },
      { session: 'agent:writer:telegram:direct:ann', text: '/stop' },
    ])
    expect(outcomes.map((one) => (one.ok ? 'ok' : one.code))).toEqual([
      'ok',
      'GUARD_RAIL',
      'GUARD_RAIL',
      'ok',
      'GUARD_RAIL',
    ])
    expect(await world.rows('select owner from run')).toEqual([{ owner: 'key_bot' }])
    const more = [1, 2, 3].map((n) => ({ session: own, text: `more ${n}` }))
    await refused(() => sendMessages(world.ports, from(railed({ maxRunsPerHour: 3 })), more), {
      code: 'GUARD_RAIL_RATE',
    })
    expect(await sendMessages(world.ports, from(railed({ maxRunsPerHour: 3 })), more.slice(1))).toHaveLength(2)
    const tasks = [
      { agentId: 'reader', action: 'x' },
      { agentId: 'shell', action: 'x' },
    ]
    const ctx = { caller: bot, live: NOBODY, max: 1_000, withPositions: false }
    expect(await submitBatch(world.ports, ctx, { tasks })).toMatchObject([
      { state: 'queued' },
      { taskId: '', state: 'rejected', error: expect.stringContaining('command executor') as string },
    ])
    await refused(() => submitBatch(world.ports, ctx, { tasks: tasks.slice(1) }), rail('executor'))
  })

  it('is no executor of its own, no command and no conversation of others', async () => {
    await refused(() => make({ ...HOURLY, executor: { kind: 'http', url: 'https://x.test/' } }), rail('executor'))
    await refused(() => make({ ...HOURLY, agent_id: 'shell' }), rail('executor'))
    await refused(() => make({ ...HOURLY, session: 'main' }), rail('session'))
    await refused(() => make({ ...HOURLY, session: 'agent:writer:telegram:direct:ann' }), rail('session'))
    const own = await make({ ...HOURLY, session: 'agent:writer:key:key_bot' })
    await refused(() => change(own.id, { agent_id: 'shell' }), rail('executor'))
    await refused(() => change(own.id, { budget: { unit: 'tokens', amount: 5 } }), { code: /GUARD_RAIL|FORBIDDEN/ })
    const live = NOBODY
    await refused(
      () => submitTask(world.ports, { caller: bot, live }, { agentId: 'shell', action: 'x' }),
      rail('executor'),
    )
    await world.db.query(`update schedule set agent_id = 'shell'`)
    await refused(() => wake(own.id), rail('executor'))
    const mcp = { ...world.caller, through: 'mcp' } as const
    await refused(() => make({ ...HOURLY, agent_id: 'shell' }, mcp), rail('executor'))
    await make({ ...HOURLY, agent_id: 'shell' }, world.caller)
  })
})

describe('approval', () => {
  const asks = railed({ approval: true })
  const approve = (id: string, version?: number) => approveSchedule(world.ports, world.caller, { id, version })

  it('is waited for by what is new and by every change that matters', async () => {
    const own = await make(HOURLY, asks)
    expect(own).toMatchObject({ state: 'pending_approval', next_run_at: null, enabled: false })
    expect(own.approval).toMatchObject({ requested_by: 'key_bot', changes: null, rejected: null })
    for (const by of [asks, world.caller]) {
      await refused(() => wake(own.id, by), { code: 'PENDING_APPROVAL' })
      await refused(() => enableSchedule(world.ports, by, { id: own.id }), { code: 'PENDING_APPROVAL' })
    }
    await change(own.id, { payload: 'another' }, asks)
    await expect(approve(own.id, 1)).rejects.toMatchObject({ code: 'STALE_VERSION' })
    expect(await approve(own.id, 2)).toMatchObject({ state: 'active', approval: null, next_run_at: at(HOUR_MS) })
    await expect(approve(own.id)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await change(own.id, { name: 'a better name' }, asks)).toMatchObject({ state: 'active' })
    await wake(own.id, asks)
    const moved = await change(own.id, { every_seconds: 7200 }, asks)
    expect(moved).toMatchObject({ state: 'pending_approval' })
    expect(moved.approval?.changes).toEqual({ every_seconds: { before: 3600, after: 7200 } })
    const again = await change(own.id, { every_seconds: 9000 }, asks)
    expect(again.approval?.changes).toEqual({ every_seconds: { before: 3600, after: 9000 } })
  })

  it('keeps off what was off, and what was rejected', async () => {
    const own = await make({ ...HOURLY, enabled: false }, asks)
    expect(await approve(own.id)).toMatchObject({ state: 'paused' })
    expect(await enableSchedule(world.ports, asks, { id: own.id })).toMatchObject({ state: 'active' })
    await change(own.id, { payload: 'worse' }, asks)
    const no = await rejectSchedule(world.ports, world.caller, { id: own.id, reject: { reason: 'too much' } })
    expect(no).toMatchObject({ state: 'paused', approval: { rejected: { by: 'key_1', reason: 'too much' } } })
    await refused(() => enableSchedule(world.ports, asks, { id: own.id }), rail('approval'))
    await refused(() => change(own.id, { enabled: true }, asks), rail('approval'))
    expect(await change(own.id, { payload: 'better' }, asks)).toMatchObject({ state: 'pending_approval' })
    await rejectSchedule(world.ports, world.caller, { id: own.id, reject: { reason: 'no' } })
    expect(await enableSchedule(world.ports, world.caller, { id: own.id })).toMatchObject({
      state: 'active',
      approval: null,
    })
  })

  it('cannot be asked for what begins at once', async () => {
    const task = { agentId: 'reader', action: 'x' }
    await refused(() => submitTask(world.ports, { caller: asks, live: NOBODY }, task), rail('approval'))
  })
})

describe('the key of an attempt', () => {
  it('leaves its mark on what it makes, and works only while it goes on', async () => {
    const own = await attempt(null, null)
    const made = await make(HOURLY, own)
    expect(made).toMatchObject({ owner: 'agent:writer', created_by_run: 'run_a' })
    world.pass(HOUR_MS)
    await world.fire(made.id)
    const tree = await readLineage(world.ports, { orgId: ORG, id: 'run_a' })
    expect(tree).toMatchObject({ depth: 0, root_run_id: 'run_a', ancestors: [] })
    expect(tree.children.map(({ kind, parent_run_id: parent }) => [kind, parent])).toEqual([
      ['schedule', 'run_a'],
      ['run', 'run_a'],
    ])
    const below = await readLineage(world.ports, { orgId: ORG, id: tree.children[1]?.id ?? '' })
    expect(below).toMatchObject({ depth: 1, root_run_id: 'run_a', ancestors: [{ id: 'run_a' }] })
    await make({ ...HOURLY, session: 'agent:writer:chat:ann' }, own)
    await world.db.query(`update pending set attempt_id = 'att_b'`)
    await refused(() => make(HOURLY, own), { code: 'UNAUTHENTICATED' })
    await refused(() => change(made.id, { name: 'x' }, own), { code: 'UNAUTHENTICATED' })
    await refused(() => wake(made.id, own), { code: 'UNAUTHENTICATED' })
  })

  it('is refused at the end of a chain, and where it would wake what it comes from', async () => {
    const above = (await make(HOURLY, await attempt(null, null))).id
    const deep: Lineage = { root: runId('run_0'), depth: 3, schedules: [] }
    const last = await attempt(null, deep)
    await refused(() => make(HOURLY, last), { code: 'LINEAGE_DEPTH' })
    await refused(() => wake(above, last), { code: 'LINEAGE_DEPTH' })
    const task = { agentId: 'reader', action: 'x' }
    await refused(() => submitTask(world.ports, { caller: last, live: NOBODY }, task), { code: 'LINEAGE_DEPTH' })
    await make(HOURLY, await attempt(null, { ...deep, depth: 2 }))
    for (const from of [
      await attempt(above, null),
      await attempt(null, { ...deep, depth: 1, schedules: [above as ScheduleId] }),
    ]) {
      await refused(() => wake(above, from), { code: 'LINEAGE_LOOP' })
      await refused(() => change(above, { every_seconds: 7200 }, from), { code: 'LINEAGE_LOOP' })
      await change(above, { payload: 'words may change' }, from)
    }
    await disableSchedule(world.ports, world.caller, { id: above })
    await refused(async () => enableSchedule(world.ports, await attempt(above, null), { id: above }), {
      code: 'LINEAGE_LOOP',
    })
  })
})

describe('what is counted', () => {
  it('goes when no rail looks back so far', async () => {
    const own = await make(HOURLY)
    await wake(own.id)
    world.pass(2 * DAY_MS)
    await createRetention(world.ports).pass()
    expect(await world.rows('select kind from rail_act')).toEqual([{ kind: 'woken' }])
    world.pass(400 * DAY_MS)
    await createRetention(world.ports).pass()
    expect(await world.rows('select kind from rail_act')).toEqual([])
  })
})
