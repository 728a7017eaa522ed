import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, runId, scheduleId, sessionKey } from '../../../src/domain/ids.ts'
import { later, type Instant } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { listRuns, loadRun, type RunQuery, type RunCursor } from '../../../src/features/runs/read-store.ts'
import { countPendingBefore, loadQueuedKeys } from '../../../src/features/stats/store.ts'
import { countSessionWork, insertSessions, listSessions } from '../../../src/features/sessions/store.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { aSessionRow, makeOrgs, ORG, OTHER_ORG, seedRun } from './records.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase('migrated')
  db = await world.open()
  await makeOrgs(db)
})
beforeEach(() => db.query('delete from run; delete from pending; delete from session'))
afterAll(() => world.drop())

const ids = async (
  choice: Partial<RunQuery> & { readonly after?: RunCursor; readonly limit?: number } = {},
): Promise<readonly string[]> =>
  (await listRuns(db, { orgId: ORG, after: null, limit: 10, ...choice })).map((run) => run.id)
const minute = (count: number): Instant => later(NOW, count * 60_000)

describe('a run', () => {
  it('is what `pending` says while it is pending', async () => {
    const why = because('not_before', 'gate', { not_before: 'x' })
    await seedRun(db, 'run_1', {
      state: 'waiting',
      notBefore: minute(1),
      attempt: 2,
      why,
      session: 's',
      schedule: 'sch',
    })
    expect(await loadRun(db, { orgId: ORG, id: runId('run_1') })).toMatchObject({
      state: 'waiting',
      attempt: 2,
      notBefore: minute(1),
      finishedAt: null,
      superseded: false,
      why,
      sessionKey: 's',
      scheduleId: 'sch',
      decision: because('accepted', 'admission'),
    })
  })

  it('is what `run` says once it has ended', async () => {
    await seedRun(db, 'run_1', {
      state: 'failed',
      attempt: 4,
      startedAt: minute(1),
      finishedAt: minute(2),
      errorCode: 'agent_error',
      errorMessage: 'no',
      output: { a: [1] },
      usage: { inputTokens: 3 },
      payload: { prompt: 'hi' },
      why: because('retries_exhausted', 'retry_policy.max_retries', {
        ...{ attempt: 4, error_code: 'network', max_retries: 3 },
      }),
    })
    expect(await loadRun(db, { orgId: ORG, id: runId('run_1') })).toMatchObject({
      state: 'failed',
      attempt: 4,
      attemptId: 'att_run_1',
      nodeId: 'nod_1',
      startedAt: minute(1),
      finishedAt: minute(2),
      notBefore: null,
      errorCode: 'agent_error',
      errorMessage: 'no',
      output: { a: [1] },
      usage: { inputTokens: 3 },
      payload: { prompt: 'hi' },
      why: { reason: 'retries_exhausted' },
    })
  })

  it('has the usual reasons when none are written', async () => {
    await seedRun(db, 'run_1', { state: 'success' })
    await db.query(`update run set why = null, decision = null`, [])
    const run = await loadRun(db, { orgId: ORG, id: runId('run_1') })
    expect([run?.decision.reason, run?.why?.reason]).toEqual(['accepted', 'completed'])
  })

  it('is nothing for another org', async () => {
    await seedRun(db, 'run_1')
    expect(await loadRun(db, { orgId: OTHER_ORG, id: runId('run_1') })).toBeUndefined()
  })
})

describe('a list of runs', () => {
  beforeEach(async () => {
    await seedRun(db, 'a', { createdAt: minute(1), state: 'success', session: 's1' })
    await seedRun(db, 'b', { createdAt: minute(2), state: 'running', session: 's1', agent: 'reader' })
    await seedRun(db, 'c', { createdAt: minute(2), state: 'skipped', schedule: 'sch', trigger: 'schedule' })
    await seedRun(db, 'd', { createdAt: minute(3), state: 'queued', schedule: 'sch', trigger: 'catchup' })
    await seedRun(db, 'e', { createdAt: minute(4), state: 'rejected', trigger: 'task' })
    await seedRun(db, 'x', { createdAt: minute(9), org: OTHER_ORG, session: 's1', schedule: 'sch' })
  })

  it('is newest first, page by page', async () => {
    expect(await ids()).toEqual(['e', 'd', 'c', 'b', 'a'])
    expect(await ids({ limit: 3 })).toEqual(['e', 'd', 'c'])
    expect(await ids({ limit: 3, after: { createdAt: minute(2), id: runId('c') } })).toEqual(['b', 'a'])
  })

  it('is narrowed by what the runs are about', async () => {
    expect(await ids({ scheduleId: scheduleId('sch') })).toEqual(['d', 'c'])
    expect(await ids({ sessionKey: sessionKey('s1') })).toEqual(['b', 'a'])
    expect(await ids({ agentId: agentId('reader') })).toEqual(['b'])
    expect(await ids({ sessionKey: sessionKey('s1'), agentId: agentId('writer') })).toEqual(['a'])
    expect(await ids({ trigger: 'task' })).toEqual(['e'])
    expect(await ids({ trigger: 'task', agentId: agentId('reader') })).toEqual([])
    expect(await ids({ trigger: 'catchup' })).toEqual(['d'])
  })

  it('is narrowed by state, wherever that is kept', async () => {
    expect(await ids({ states: ['running', 'queued'] })).toEqual(['d', 'b'])
    expect(await ids({ states: ['success', 'running'] })).toEqual(['b', 'a'])
    expect(await ids({ states: ['skipped'], scheduleId: scheduleId('sch') })).toEqual(['c'])
    expect(await ids({ states: ['queued'], scheduleId: scheduleId('sch') })).toEqual(['d'])
  })

  it('finds what did not succeed, with what is pending if that is wanted, page by page', async () => {
    expect(await ids({ states: ['skipped', 'rejected', 'failed'] })).toEqual(['e', 'c'])
    expect(await ids({ states: ['rejected', 'running', 'queued'] })).toEqual(['e', 'd', 'b'])
    expect(await ids({ states: ['rejected', 'running', 'skipped'], limit: 2 })).toEqual(['e', 'c'])
    const after = { createdAt: minute(2), id: runId('c') }
    expect(await ids({ states: ['rejected', 'running', 'skipped'], limit: 2, after })).toEqual(['b'])
    expect(await ids({ states: ['skipped', 'rejected'], trigger: 'task' })).toEqual(['e'])
    expect(await ids({ states: ['skipped', 'running'], agentId: agentId('reader') })).toEqual(['b'])
    expect(await ids({ states: ['skipped', 'rejected'], from: minute(3) })).toEqual(['e'])
    expect(await ids({ states: ['skipped', 'rejected'], to: minute(4) })).toEqual(['c'])
  })

  it('knows what did not succeed from its end until it is gone', async () => {
    const listed = async () =>
      (await db.query('select id, state from unsuccessful_run order by id', [])).map(Object.values)
    expect(await listed()).toEqual([
      ['c', 'skipped'],
      ['e', 'rejected'],
    ])
    const end = (id: string, state: string) =>
      db.query(
        `update run set state = $2, attempt = 1, attempt_id = 'att', started_at = now(), finished_at = now() where id = $1`,
        [id, state],
      )
    await end('b', 'failed')
    await end('d', 'success')
    await db.query(`update run set state = state, superseded = true where id = 'b'`, [])
    await db.query(`delete from run where id in ('a', 'c')`, [])
    expect(await listed()).toEqual([
      ['b', 'failed'],
      ['e', 'rejected'],
    ])
  })

  it('is narrowed by time, the beginning inside and the end outside', async () => {
    expect(await ids({ from: minute(2), to: minute(4) })).toEqual(['d', 'c', 'b'])
  })
})

describe('the runs before others', () => {
  it('are counted among the queued runs of the same agent, in the order of picking', async () => {
    await seedRun(db, 'late', { createdAt: minute(2), trigger: 'task' })
    await seedRun(db, 'early', { createdAt: minute(1), trigger: 'task' })
    await seedRun(db, 'urgent', { createdAt: minute(3), priority: -1, trigger: 'task' })
    await seedRun(db, 'running', { createdAt: NOW, state: 'running' })
    await seedRun(db, 'other', { agent: 'reader' })
    const before = async (...ids: readonly string[]): Promise<unknown> => {
      const runs = await loadQueuedKeys(db, { orgId: ORG, ids: ids.map(runId) })
      return Object.fromEntries(await countPendingBefore(db, { orgId: ORG, runs }))
    }
    expect(await before('urgent', 'early', 'late', 'running')).toEqual({ urgent: 0, early: 1, late: 2 })
    expect(await before('late', 'other')).toEqual({ late: 2, other: 0 })
  })
})

describe('the work of sessions', () => {
  it('is counted in their present generation, active apart from waiting', async () => {
    await db.transaction((tx) =>
      insertSessions(tx, [aSessionRow('s1', { generation: 1 }), aSessionRow('s2'), aSessionRow('idle')]),
    )
    await seedRun(db, 'old', { session: 's1', state: 'stopping' })
    await seedRun(db, 'running', { session: 's1', generation: 1, state: 'running' })
    await seedRun(db, 'retrying', { session: 's1', generation: 1, state: 'waiting', attempt: 2, notBefore: NOW })
    await seedRun(db, 'queued', { session: 's1', generation: 1 })
    await seedRun(db, 'done', { session: 's1', generation: 1, state: 'success' })
    await seedRun(db, 'other', { session: 's2' })
    const keys = ['s1', 's2', 'idle'].map(sessionKey)
    expect(Object.fromEntries(await countSessionWork(db, { orgId: ORG, keys }))).toEqual({
      s1: { active: 2, waiting: 1 },
      s2: { active: 0, waiting: 1 },
    })
  })

  it('is found through a list of sessions, newest first, page by page', async () => {
    const rows = [aSessionRow('a'), aSessionRow('b'), aSessionRow('c', { createdAt: minute(1) })]
    await db.transaction((tx) => insertSessions(tx, [...rows, aSessionRow('d', { orgId: OTHER_ORG })]))
    const keys = async (after: { createdAt: Instant; key: string } | null) =>
      (
        await listSessions(db, {
          orgId: ORG,
          after: after === null ? null : { ...after, key: sessionKey(after.key) },
          limit: 2,
        })
      ).map(({ key }) => key)
    expect(await keys(null)).toEqual(['c', 'b'])
    expect(await keys({ createdAt: NOW, key: 'b' })).toEqual(['a'])
  })
})
