import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, laneName, runId, scheduleId, sessionKey } from '../../../src/domain/ids.ts'
import { instant, later } from '../../../src/domain/instant.ts'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import {
  countSchedules,
  deleteScheduleRows,
  insertSchedules,
  listSchedules,
  loadDueSchedules,
  loadNextDueTime,
  loadSchedules,
  saveSchedules,
  type ScheduleRow,
  updateScheduleRow,
} from '../../../src/features/schedules/store.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { timingOf } from '../../support/schedules.ts'
import { aScheduleRow, makeOrgs, ORG, OTHER_ORG, plain } from './records.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase('migrated')
  db = await world.open()
  await makeOrgs(db)
})
beforeEach(() => db.query('delete from schedule', []))
afterAll(() => world.drop())

const insert = (...rows: readonly ScheduleRow[]): Promise<void> =>
  db.transaction((tx) => {
    insertSchedules(tx, rows)
  })
const load = async (id: string): Promise<ScheduleRow> => {
  const [row] = await loadSchedules(db, { orgId: ORG, ids: [scheduleId(id)] })
  if (row === undefined) throw new Error(`no schedule ${id}`)
  return row
}

describe('a schedule', () => {
  it('is read as it was made, whatever its kind', async () => {
    const timings = [
      { at: '2027-01-01T00:00:00Z' },
      { everyMs: 1_500, anchor: '2026-01-01T00:00:00Z' },
      { cron: '0 7 * * 1-5', timezone: 'Asia/Shanghai', exclude: ['2026-02-17'] },
      { rrule: 'FREQ=DAILY;COUNT=3', starts_at: '2026-02-01T00:00:00Z', ends_at: '2026-03-01T00:00:00Z' },
    ].map((input) => timingOf(input, NOW))
    const rows = timings.map((timing, index) => aScheduleRow(`sch_${index}`, { timing, payload: { prompt: 'hi' } }))
    await insert(...rows)
    const found = await loadSchedules(db, { orgId: ORG, ids: rows.map((row) => row.id) })
    expect(found.map(plain)).toHaveLength(4)
    for (const row of rows) expect(plain(await load(row.id))).toEqual(plain(row))
  })

  it('keeps everything that is optional', async () => {
    const full = aScheduleRow('sch_full', {
      createdBy: 'key_1',
      description: 'all of it',
      input: { cron: '* * * * *', lane: 'team' },
      retryPolicy: { ...DEFAULT_RETRY_POLICY, maxRetries: 7 },
      timeoutSeconds: 9,
      lane: laneName('team'),
      sessionKey: sessionKey('agent:writer:main'),
      deleteAfterRun: true,
      state: 'paused',
      nextRunAt: null,
    })
    await insert(full)
    expect(plain(await load('sch_full'))).toEqual(plain(full))
  })

  it('belongs to one org', async () => {
    await insert(aScheduleRow('sch_1'))
    expect(await loadSchedules(db, { orgId: OTHER_ORG, ids: [scheduleId('sch_1')] })).toEqual([])
    await db.transaction((tx) => deleteScheduleRows(tx, { orgId: OTHER_ORG, ids: [scheduleId('sch_1')] }))
    expect((await load('sch_1')).id).toBe('sch_1')
  })

  it('is gone when it was deleted', async () => {
    await insert(aScheduleRow('sch_1'), aScheduleRow('sch_2'))
    const ids = [scheduleId('sch_1'), scheduleId('sch_9')]
    await db.transaction((tx) => deleteScheduleRows(tx, { orgId: ORG, ids }))
    expect(await countSchedules(db, { orgId: ORG })).toBe(1)
    expect((await load('sch_2')).id).toBe('sch_2')
  })
})

describe('saving schedules', () => {
  it('writes what firing and endings change, for many at once, and leaves the rest', async () => {
    await insert(aScheduleRow('sch_1'), aScheduleRow('sch_2'), aScheduleRow('sch_1', { orgId: OTHER_ORG }))
    const changed = ['sch_1', 'sch_2'].map((id) =>
      aScheduleRow(id, {
        name: 'not saved',
        state: 'failed',
        watermark: later(NOW, 1),
        nextRunAt: id === 'sch_1' ? null : later(NOW, 5),
        failureStreak: 2,
        failureCount: 3,
        skippedFor: runId('run_0'),
        fires: 4,
        previousRunId: runId('run_1'),
        lastEnding: { id: runId('run_1'), status: 'failed', attempt: 4, endedAt: later(NOW, 7) },
        lastRunAt: later(NOW, 2),
        lastStatus: 'failed',
        lastError: `it's "bad", {really}`,
      }),
    )
    await db.transaction((tx) => saveSchedules(tx, changed))
    for (const row of changed) expect(plain(await load(row.id))).toEqual(plain({ ...row, name: `schedule ${row.id}` }))
    const [other] = await loadSchedules(db, { orgId: OTHER_ORG, ids: [scheduleId('sch_1')] })
    expect(other?.state).toBe('active')
  })

  it('makes null what has become null', async () => {
    await insert(aScheduleRow('sch_1'))
    await db.transaction((tx) => saveSchedules(tx, [aScheduleRow('sch_1', { lastError: 'x', lastStatus: 'failed' })]))
    await db.transaction((tx) => saveSchedules(tx, [aScheduleRow('sch_1', { nextRunAt: null })]))
    expect(await load('sch_1')).toMatchObject({ lastError: null, lastStatus: null, lastEnding: null, nextRunAt: null })
  })
})

describe('an edit', () => {
  it('writes what a person decides, and counts the version on', async () => {
    await insert(aScheduleRow('sch_1'))
    await db.transaction((tx) => saveSchedules(tx, [aScheduleRow('sch_1', { fires: 5 })]))
    const edited = { ...(await load('sch_1')), name: 'new', payload: { a: 1 }, agentId: agentId('reader') }
    expect(await db.transaction((tx) => updateScheduleRow(tx, edited))).toBe(true)
    expect(plain(await load('sch_1'))).toEqual(plain({ ...edited, version: 2, fires: 5 }))
  })

  it('changes nothing when somebody else was faster', async () => {
    await insert(aScheduleRow('sch_1'))
    const read = await load('sch_1')
    await db.transaction((tx) => updateScheduleRow(tx, { ...read, name: 'first' }))
    expect(await db.transaction((tx) => updateScheduleRow(tx, { ...read, name: 'second' }))).toBe(false)
    expect((await load('sch_1')).name).toBe('first')
  })
})

describe('due schedules', () => {
  it('are the active ones whose moment has come, longest overdue first, by org', async () => {
    await insert(
      aScheduleRow('late', { nextRunAt: later(NOW, -5) }),
      aScheduleRow('later', { nextRunAt: later(NOW, -10) }),
      aScheduleRow('now', { orgId: OTHER_ORG, nextRunAt: NOW }),
      aScheduleRow('soon', { nextRunAt: later(NOW, 1) }),
      aScheduleRow('paused', { state: 'paused', nextRunAt: later(NOW, -99) }),
      aScheduleRow('finished', { nextRunAt: null }),
    )
    expect([...(await loadDueSchedules(db, { since: instant(-Infinity), except: [], now: NOW, limit: 10 }))]).toEqual([
      [ORG, { ids: ['later', 'late'], first: NOW - 10 }],
      [OTHER_ORG, { ids: ['now'], first: NOW }],
    ])
    const others = { since: instant(-Infinity), except: [ORG] }
    expect([...(await loadDueSchedules(db, { ...others, now: NOW, limit: 10 })).keys()]).toEqual([OTHER_ORG])
    expect(await loadNextDueTime(db, others)).toBe(NOW)
    expect([...(await loadDueSchedules(db, { since: instant(-Infinity), except: [], now: NOW, limit: 1 }))]).toEqual([
      [ORG, { ids: ['later'], first: NOW - 10 }],
    ])
    expect(await loadNextDueTime(db, { since: instant(-Infinity), except: [] })).toBe(NOW - 10)
  })

  it('have no next moment when there are none', async () => {
    await insert(aScheduleRow('paused', { state: 'paused' }))
    expect(await loadNextDueTime(db, { since: instant(-Infinity), except: [] })).toBeNull()
  })
})

describe('a list of schedules', () => {
  const ids = async (page: Partial<Parameters<typeof listSchedules>[1]>): Promise<readonly string[]> =>
    (await listSchedules(db, { orgId: ORG, sort: '-created_at', after: null, limit: 10, ...page })).map((row) => row.id)

  beforeEach(() =>
    insert(
      aScheduleRow('a', { createdAt: later(NOW, 2), name: 'Morning digest' }),
      aScheduleRow('b', { createdAt: later(NOW, 1), agentId: agentId('reader'), description: '100% of the digest' }),
      aScheduleRow('c', {
        createdAt: later(NOW, 1),
        state: 'paused',
        nextRunAt: null,
        timing: timingOf({ cron: '* * * * *' }, NOW),
      }),
      aScheduleRow('d', { createdAt: NOW }),
      aScheduleRow('e', { orgId: OTHER_ORG }),
    ),
  )

  it('goes on where the page before ended', async () => {
    expect(await ids({ limit: 2 })).toEqual(['a', 'b'])
    const after = { value: later(NOW, 1), id: scheduleId('b') }
    expect(await ids({ after, limit: 2 })).toEqual(['c', 'd'])
  })

  it.each([
    ['-created_at', ['a', 'b', 'c', 'd']],
    ['created_at', ['d', 'b', 'c', 'a']],
    ['name', ['a', 'b', 'c', 'd']],
    ['-name', ['d', 'c', 'b', 'a']],
    ['next_run_at', ['a', 'b', 'd', 'c']],
    ['-next_run_at', ['a', 'b', 'd', 'c']],
  ] as const)('goes through all of them in the order of %s, page by page', async (sort, expected) => {
    const all = await listSchedules(db, { orgId: ORG, sort, after: null, limit: 10 })
    const paged: string[] = []
    for (let after: Parameters<typeof listSchedules>[1]['after'] = null; paged.length < 10;) {
      const [row] = await listSchedules(db, { orgId: ORG, sort, after, limit: 1 })
      if (row === undefined) break
      paged.push(row.id)
      const value = { created_at: row.createdAt, name: row.name, next_run_at: row.nextRunAt }
      after = { value: value[sort.replace('-', '') as keyof typeof value], id: row.id }
    }
    expect(paged).toEqual(all.map((row) => row.id))
    expect(paged).toEqual(expected)
  })

  it('is narrowed by state, agent, kind and text', async () => {
    expect(await ids({ state: 'paused' })).toEqual(['c'])
    expect(await ids({ agentId: agentId('reader') })).toEqual(['b'])
    expect(await ids({ kind: 'cron' })).toEqual(['c'])
    expect(await ids({ text: 'DIGEST' })).toEqual(['a', 'b'])
    expect(await ids({ text: '100%' })).toEqual(['b'])
    expect(await countSchedules(db, { orgId: ORG, text: 'digest', state: 'active' })).toBe(2)
  })
})
