import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { attemptId, runId, scheduleId } from '../../../src/domain/ids.ts'
import { DAY_MS, instant, later, type Instant } from '../../../src/domain/instant.ts'
import { insertAttempts, insertCallbacks } from '../../../src/features/runs/attempts-store.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { insertIdempotencies } from '../../../src/engine/transaction/idempotency-store.ts'
import { insertNode } from '../../../src/features/nodes/store.ts'
import { insertOccurrences, loadDecisionAt } from '../../../src/features/schedules/occurrences-store.ts'
import {
  deleteEndedTasks,
  deleteOldCallbacks,
  deleteOldKeys,
  deleteOldNodes,
  deleteOldRuns,
  deleteSurplusRuns,
  foldSkippedRuns,
  loadBusySchedules,
  type WalkPosition,
} from '../../../src/features/retention/store.ts'
import { insertSchedules, saveSchedules } from '../../../src/features/schedules/store.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { aScheduleRow, makeOrgs, ORG, OTHER_ORG, seedRun } from './records.ts'

let world: TestDatabase
let db: Database

const TABLES = ['run', 'pending', 'attempt', 'occurrence', 'decision', 'schedule', 'callback', 'idempotency']

beforeAll(async () => {
  world = await createTestDatabase('migrated')
  db = await world.open()
  await makeOrgs(db)
})
beforeEach(() => db.query([...TABLES, 'node'].map((table) => `delete from ${table}`).join(';')))
afterAll(() => world.drop())

const BEGINNING: WalkPosition = { createdAt: instant(-Infinity), id: runId('') }
const ago = (days: number): Instant => later(NOW, -days * DAY_MS)
const column = async (text: string): Promise<readonly unknown[]> =>
  (await db.query(text, [])).flatMap((row) => Object.values(row))
const runs = (): Promise<readonly unknown[]> => column('select id from run order by id')

describe('tasks', () => {
  it('go when their time to live after the end is over, with what hangs on them', async () => {
    await seedRun(db, 'old', { trigger: 'task', state: 'failed', createdAt: ago(3), finishedAt: ago(2) })
    await seedRun(db, 'young', { trigger: 'task', state: 'success', createdAt: ago(3), finishedAt: NOW })
    await seedRun(db, 'pending', { trigger: 'task', createdAt: ago(3) })
    await seedRun(db, 'message', { state: 'success', createdAt: ago(3), finishedAt: ago(2) })
    await seedRun(db, 'other', { org: OTHER_ORG, trigger: 'task', state: 'success', createdAt: ago(3) })
    const attempt = { orgId: ORG, number: 1, id: attemptId('a'), nodeId: null, startedAt: NOW, finishedAt: NOW }
    await db.transaction((tx) =>
      insertAttempts(
        tx,
        ['old', 'message'].map((id) => ({
          ...attempt,
          runId: runId(id),
          status: 'failed',
          errorCode: null,
          errorMessage: null,
        })),
      ),
    )
    const old = { orgId: ORG, endedBefore: ago(1), after: BEGINNING, limit: 10 }
    expect(await deleteEndedTasks(db, old)).toEqual({ removed: 1, next: null })
    expect(await runs()).toEqual(['message', 'other', 'pending', 'young'])
    expect(await column('select run_id from attempt')).toEqual(['message'])
  })

  it('go a few at a time', async () => {
    for (const id of ['a', 'b', 'c'])
      await seedRun(db, id, { trigger: 'task', state: 'success', createdAt: ago(3), finishedAt: ago(2) })
    const old = { orgId: ORG, endedBefore: NOW, limit: 2 }
    const first = await deleteEndedTasks(db, { ...old, after: BEGINNING })
    expect(first).toMatchObject({ removed: 2, next: { id: 'b' } })
    expect(await deleteEndedTasks(db, { ...old, after: first.next ?? BEGINNING })).toEqual({ removed: 1, next: null })
  })
})

describe('old runs', () => {
  it('go unless they are pending, tasks, or among the newest of their schedule', async () => {
    await seedRun(db, 'message', { state: 'success', createdAt: ago(40) })
    await seedRun(db, 'late', { state: 'success', createdAt: ago(40), finishedAt: ago(1) })
    await seedRun(db, 'pending', { createdAt: ago(40) })
    await seedRun(db, 'task', { trigger: 'task', state: 'success', createdAt: ago(40) })
    for (const [id, days] of Object.entries({ s1: 50, s2: 40, s3: 35, s4: 1 }))
      await seedRun(db, id, { schedule: 'sch', state: 'success', createdAt: ago(days) })
    await seedRun(db, 'rare', { schedule: 'rare', state: 'success', createdAt: ago(400) })
    const step = { orgId: ORG, madeBefore: ago(30), keep: 2, after: BEGINNING, limit: 100 }
    expect(await deleteOldRuns(db, step)).toEqual({ removed: 3, next: null })
    expect(await runs()).toEqual(['late', 'pending', 'rare', 's3', 's4', 'task'])
  })

  it('are walked through step by step', async () => {
    await seedRun(db, 'kept', { schedule: 'rare', state: 'success', createdAt: ago(50) })
    await seedRun(db, 'a', { state: 'success', createdAt: ago(45) })
    await seedRun(db, 'b', { state: 'success', createdAt: ago(40) })
    const step = { orgId: ORG, madeBefore: ago(30), keep: 200, limit: 2 }
    const first = await deleteOldRuns(db, { ...step, after: BEGINNING })
    expect(first).toEqual({ removed: 1, next: { createdAt: ago(45), id: 'a' } })
    expect(await deleteOldRuns(db, { ...step, after: first.next ?? BEGINNING })).toEqual({ removed: 1, next: null })
    expect(await runs()).toEqual(['kept'])
  })

  it('leave their entry in the ledger unless it is behind the watermark', async () => {
    await db.transaction((tx) => insertSchedules(tx, [aScheduleRow('sch', { watermark: ago(35) })]))
    for (const [id, schedule, days] of [
      ['behind', 'sch', 40],
      ['before', 'sch', 33],
      ['gone', 'deleted', 33],
    ] as const) {
      const nominal = ago(days)
      await seedRun(db, id, { schedule, nominal, state: 'success', createdAt: ago(days) })
      const key = {
        orgId: ORG,
        scheduleId: scheduleId(schedule),
        nominal,
        kind: 'occurrence',
        discriminator: '',
      } as const
      await db.transaction((tx) => insertOccurrences(tx, [{ ...key, runId: runId(id) }]))
    }
    // Two newer ones, so that the schedule keeps only those.
    for (const [id, schedule] of Object.entries({ new1: 'sch', new2: 'deleted' }))
      await seedRun(db, id, { schedule, state: 'success', createdAt: NOW })
    await deleteOldRuns(db, { orgId: ORG, madeBefore: ago(30), keep: 1, after: BEGINNING, limit: 100 })
    expect(await runs()).toEqual(['new1', 'new2'])
    expect(await column('select run_id from occurrence')).toEqual(['before'])
  })
})

describe('the runs of a busy schedule', () => {
  it('are never more than the most, however young', async () => {
    for (let index = 0; index < 5; index += 1)
      await seedRun(db, `r${index}`, { schedule: 'sch', state: 'success', createdAt: later(NOW, index) })
    await seedRun(db, 'r00', { schedule: 'sch', createdAt: later(NOW, -1) })
    const surplus = { orgId: ORG, scheduleId: scheduleId('sch'), keep: 2, limit: 2 }
    expect(await deleteSurplusRuns(db, surplus)).toBe(2)
    expect(await deleteSurplusRuns(db, surplus)).toBe(1)
    expect(await deleteSurplusRuns(db, surplus)).toBe(0)
    expect(await runs()).toEqual(['r00', 'r3', 'r4'])
  })

  it('belong to those that have fired that often', async () => {
    const rows = [aScheduleRow('a', { fires: 9 }), aScheduleRow('b', { fires: 10 }), aScheduleRow('c', { fires: 11 })]
    await db.transaction((tx) => {
      insertSchedules(tx, rows)
      saveSchedules(tx, rows)
    })
    const busy = { orgId: ORG, firedMoreThan: 9, limit: 1 }
    expect(await loadBusySchedules(db, { ...busy, after: '' })).toEqual(['b'])
    expect(await loadBusySchedules(db, { ...busy, after: 'b' })).toEqual(['c'])
  })
})

describe('skipped runs', () => {
  const skip = (id: string, minutes: number, reason: 'overlap' | 'misfire', schedule = 'sch'): Promise<void> =>
    seedRun(db, id, {
      ...{ schedule, trigger: 'schedule', state: 'skipped' },
      nominal: later(ago(2), minutes * 60_000),
      createdAt: later(ago(2), minutes * 60_000),
      decision: { reason, rule: `rule of ${id}`, evidence: { id } },
    })
  const fold = (over: { readonly after?: WalkPosition; readonly limit?: number } = {}) =>
    foldSkippedRuns(db, { orgId: ORG, madeBefore: ago(1), after: BEGINNING, limit: 100, now: NOW, ...over })
  const rangeAt = async (minutes: number, schedule = 'sch') => {
    const at = later(ago(2), minutes * 60_000)
    const range = await loadDecisionAt(db, { orgId: ORG, scheduleId: scheduleId(schedule), at })
    return range === undefined ? null : [range.why.reason, range.count, range.why.evidence['id']]
  }

  it('become ranges of the same reason in a row, one schedule apart from the other', async () => {
    await skip('a', 1, 'overlap')
    await skip('b', 2, 'overlap')
    await skip('c', 3, 'misfire')
    await skip('d', 4, 'overlap')
    await skip('e', 1, 'overlap', 'other')
    await seedRun(db, 'executed', { schedule: 'sch', state: 'success', createdAt: ago(2) })
    await seedRun(db, 'young', { schedule: 'sch', state: 'skipped', nominal: NOW, createdAt: NOW })
    expect(await fold()).toMatchObject({ removed: 5, next: null })
    expect(await runs()).toEqual(['executed', 'young'])
    expect(await rangeAt(1)).toEqual(['overlap', 2, 'a'])
    expect(await rangeAt(2)).toEqual(['overlap', 2, 'a'])
    expect(await rangeAt(3)).toEqual(['misfire', 1, 'c'])
    expect(await rangeAt(4)).toEqual(['overlap', 1, 'd'])
    expect(await rangeAt(1, 'other')).toEqual(['overlap', 1, 'e'])
  })

  it('are folded step by step, and the walk goes on from the last one it has seen', async () => {
    await skip('a', 1, 'overlap')
    await skip('b', 2, 'overlap')
    await skip('c', 3, 'overlap')
    const first = await fold({ limit: 2 })
    expect(first).toMatchObject({ removed: 2, next: { id: 'b' }, last: { id: 'b' } })
    const second = await fold({ limit: 2, after: first.next ?? BEGINNING })
    expect(second).toMatchObject({ removed: 1, next: null, last: { id: 'c' } })
    expect(await fold({ after: second.last ?? BEGINNING })).toEqual({ removed: 0, next: null, last: null })
    expect([await rangeAt(2), await rangeAt(3)]).toEqual([
      ['overlap', 2, 'a'],
      ['overlap', 1, 'c'],
    ])
  })
})

describe('what belongs to the deployment', () => {
  it('loses tokens after a day, except those that are still awaited', async () => {
    await seedRun(db, 'awaited', { state: 'awaiting_callback' })
    await seedRun(db, 'ended', { state: 'success' })
    const row = (run: string, createdAt: Instant) => ({
      tokenHash: createHash('sha256').update(`${run}${createdAt}`).digest(),
      ...{ orgId: ORG, runId: runId(run), attemptId: attemptId(`att_${run}`), createdAt },
      ...{ work: null, pollAt: null },
    })
    const rows = [row('awaited', ago(2)), row('ended', ago(2)), row('ended', NOW)]
    await db.transaction((tx) => insertCallbacks(tx, rows))
    expect(await deleteOldCallbacks(db, { before: ago(1), limit: 9 })).toBe(1)
    expect(await column('select run_id from callback order by 1')).toEqual(['awaited', 'ended'])
  })

  it('loses idempotency keys after a day', async () => {
    const row = (key: string, createdAt: Instant) => ({
      ...{ orgId: ORG, principal: 'p', route: 'r', key, bodyHash: Buffer.from('x'), answer: null, createdAt },
    })
    for (const [key, days] of Object.entries({ a: 3, b: 2, c: 0 }))
      await db.transaction((tx) => insertIdempotencies(tx, [row(key, ago(days))]))
    expect(await deleteOldKeys(db, { before: ago(1), limit: 1 })).toBe(1)
    expect(await deleteOldKeys(db, { before: ago(1), limit: 5 })).toBe(1)
    expect(await column('select key from idempotency')).toEqual(['c'])
  })

  it('loses nodes that are long gone and hold nothing', async () => {
    const node = { startedAt: ago(9), draining: false, executors: [], lanes: {}, program: 'x', lost: false }
    for (const [id, days] of Object.entries({ nod_1: 5, nod_2: 5, nod_3: 0 }))
      await insertNode(db, { ...node, id, leaseUntil: ago(days) })
    await seedRun(db, 'held', { state: 'running' })
    expect(await deleteOldNodes(db, ago(1))).toBe(1)
    expect(await column('select id from node order by id')).toEqual(['nod_1', 'nod_3'])
  })
})
