import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, runId, sessionKey } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { RUN_STATES, type RunState } from '../../../src/domain/run/run-machine.ts'
import { loadDeletedOrgs, markOrgDeleted } from '../../../src/features/access/orgs-store.ts'
import {
  countAllPending,
  countBacklogBefore,
  countPendingBefore,
  countPendingOfOrg,
  loadFromBacklog,
  loadQueuedKeys,
} from '../../../src/features/stats/store.ts'
import { listRuns, loadRun, type RunQuery } from '../../../src/features/runs/read-store.ts'
import { countSessionWork, insertSessions } from '../../../src/features/sessions/store.ts'
import { loadTask, loadTaskCounts } from '../../../src/features/tasks/store.ts'
import type { Connection, Database } from '../../../src/platform/db/database.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { intoBacklog } from './into-backlog.ts'
import { aSessionRow, makeOrgs, ORG, OTHER_ORG, seedRun } from './records.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase('migrated')
  db = await world.open()
  await makeOrgs(db)
})
beforeEach(() =>
  db.query('delete from run; delete from pending; delete from backlog; delete from backlog_line; delete from session'),
)
afterAll(() => world.drop())

/** Runs of two agents in all states, some in sessions; the queued ones are in `pending`. */
async function seedWorld(count = 60): Promise<void> {
  for (const key of ['s', 't'])
    await db.transaction((tx) => {
      insertSessions(tx, [aSessionRow(key)])
      return Promise.resolve()
    })
  const states: readonly RunState[] = [
    'queued',
    'queued',
    'queued',
    'running',
    'failed',
    'success',
    'waiting',
    'expired',
  ]
  for (let n = 0; n < count; n += 1) {
    const task = n % 3 === 0
    await seedRun(db, `${task ? 'tsk' : 'run'}_${String(n).padStart(3, '0')}`, {
      ...{ agent: n % 4 === 0 ? 'reader' : 'writer', trigger: task ? 'task' : n % 7 === 0 ? 'webhook' : 'message' },
      ...{ state: states[n % states.length] ?? 'queued', priority: (n % 5) - 2, createdAt: later(NOW, (n * 37) % 50) },
      ...{ session: task ? null : n % 2 === 0 ? 's' : 't', payload: { action: 'click' } },
      ...(n % states.length === 6 ? { notBefore: later(NOW, 1) } : {}),
    })
  }
}

describe('whatever is read', () => {
  const STATES: readonly (readonly RunState[] | null)[] = [
    ...[null, ['queued'], ['queued', 'running'], ['queued', 'failed'], ['queued', 'success'], ['running'], ['failed']],
    RUN_STATES,
  ] as const
  const ABOUT: readonly Partial<RunQuery>[] = [
    ...[{}, { agentId: agentId('writer') }, { agentId: agentId('reader') }, { sessionKey: sessionKey('s') }],
    ...([{ trigger: 'task' }, { trigger: 'message' }, { trigger: 'webhook' }, { onlyOfSchedules: true }] as const),
    ...([
      { agentId: agentId('writer'), trigger: 'task' },
      { agentId: agentId('writer'), trigger: 'message' },
    ] as const),
    ...[{ from: later(NOW, 10), to: later(NOW, 40) }, { endedSince: later(NOW, 20) }],
    { owned: { owner: 'agent:writer', alsoRun: runId('tsk_000') } },
  ]

  it('says the same about runs in the backlog as if they were in `pending`', async () => {
    await seedWorld()
    const read = async (): Promise<Readonly<Record<string, unknown>>> => {
      const lists: Record<string, unknown> = {}
      for (const states of STATES)
        for (const about of ABOUT)
          for (const limit of [3, 100])
            for (const after of [null, { createdAt: later(NOW, 25), id: runId('run_5') }]) {
              const page = { orgId: ORG, after, limit, states, ...about }
              lists[JSON.stringify(page)] = (await listRuns(db, page)).map(({ id, state }) => `${id} ${state}`)
            }
      return {
        ...lists,
        sessions: await countSessionWork(db, { orgId: ORG, keys: ['s', 't', 'u'].map(sessionKey) }),
        counts: sumsOf(await countPendingOfOrg(db, ORG)),
        all: await countAllPending(db),
        tasks: sumsOf(await loadTaskCounts(db, { orgId: ORG, agents: 10 })),
        run: await loadRun(db, { orgId: ORG, id: runId('run_001') }),
        task: await loadTask(db, { orgId: ORG, id: runId('tsk_009') }),
      }
    }
    const before = await read()
    expect(before[JSON.stringify({ orgId: ORG, after: null, limit: 100, states: ['queued'] })]).toHaveLength(24)
    expect(await intoBacklog(db, `id <> 'run_002'`)).toBe(23)
    expect(await read()).toEqual(before)
  })

  it('counts the runs before each, in and outside of the backlog', async () => {
    await seedWorld()
    const runs = await loadQueuedKeys(db, { orgId: ORG, ids: await idsOf('queued') })
    const before = await countPendingBefore(db, { orgId: ORG, runs })
    await intoBacklog(db, `id not in ('run_002', 'tsk_009')`)
    expect(await loadQueuedKeys(db, { orgId: ORG, ids: await idsOf('queued') })).toEqual(runs)
    const outside = await countPendingBefore(db, { orgId: ORG, runs })
    const page = await countBacklogBefore(db, { orgId: ORG, runs })
    for (const run of runs) {
      const one = await countBacklogBefore(db, { orgId: ORG, runs: [run] })
      expect(one.get(run.id)).toBe(page.get(run.id))
      expect((page.get(run.id) ?? NaN) + (outside.get(run.id) ?? NaN)).toBe(before.get(run.id))
    }
  })

  it('finds a run in the backlog with the first of its session', async () => {
    await seedWorld()
    await intoBacklog(db, `true`)
    const [first, second] = (await db.query(`select id from backlog where session_key = 's' order by seq, id`, [])).map(
      ({ id }) => runId(String(id)),
    )
    if (first === undefined || second === undefined) throw new Error('the session has too few runs')
    const found = async (id: typeof first): Promise<unknown> => {
      const run = await loadRun(db, { orgId: ORG, id })
      return run === undefined ? undefined : (await loadFromBacklog(db, run))?.ahead
    }
    expect([await found(first), await found(second)]).toEqual([null, first])
    expect(await found(runId('run_005'))).toBeUndefined()
  })

  const idsOf = async (state: RunState): Promise<readonly ReturnType<typeof runId>[]> =>
    (await listRuns(db, { orgId: ORG, after: null, limit: 100, states: [state] })).map(({ id }) => id)
})

/** Counts that are rows, in an order of their own. */
const sumsOf = (rows: readonly Readonly<Record<string, unknown>>[]): unknown => {
  const sums = new Map<string, number>()
  for (const { count, ...of } of rows) sums.set(JSON.stringify(of), (sums.get(JSON.stringify(of)) ?? 0) + Number(count))
  return [...sums].filter(([, sum]) => sum > 0).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

describe('an org that is being deleted', () => {
  it('keeps its rows until the backlog is empty', async () => {
    await seedRun(db, 'run_1', { org: OTHER_ORG })
    await db.transaction((tx) => markOrgDeleted(tx, OTHER_ORG, NOW))
    await intoBacklog(db, 'true', OTHER_ORG)
    expect(await loadDeletedOrgs(db)).toEqual([])
    await db.query('delete from backlog; delete from backlog_line')
    expect(await loadDeletedOrgs(db)).toEqual([OTHER_ORG])
    await db.query('update org set deleted_at = null')
  })
})

describe('a long backlog', () => {
  const COUNT = 12_000
  /** The blocks that statements touched. */
  async function blocksOf(read: (connection: Connection) => Promise<unknown>): Promise<number> {
    let blocks = 0
    const counting: Connection = {
      query: async (text, params) => {
        const [row] = await db.query(`explain (analyze, buffers, format json) ${text}`, params)
        const [{ Plan: top }] = row?.['QUERY PLAN'] as [{ readonly Plan: Readonly<Record<string, number>> }]
        blocks += (top['Shared Hit Blocks'] ?? 0) + (top['Shared Read Blocks'] ?? 0)
        return []
      },
    }
    await read(counting)
    return blocks
  }

  it('makes no list, count or position read more than a few hundred pages', async () => {
    await seedRun(db, 'tsk_000000', { trigger: 'task', session: null })
    for (const table of ['run', 'pending'])
      await db.query(`insert into ${table} select (jsonb_populate_record(t, jsonb_build_object(
          'id', 'tsk_' || lpad(i::text, 6, '0') ${table === 'run' ? `, 'created_at', t.created_at + i * interval '1 ms', 'priority', i % 3` : ''}))).*
        from ${table} t, generate_series(1, ${COUNT}) i`)
    // Ended tasks that are newer than all queued ones.
    await db.query(`insert into run select (jsonb_populate_record(t, jsonb_build_object('id', 'tsk_9' || i, 'state', 'success',
          'attempt', 1, 'attempt_id', 'a', 'started_at', now(), 'finished_at', now(), 'created_at', t.created_at + interval '1 day' + i * interval '1 ms'))).*
        from run t, generate_series(1, 5000) i where t.id = 'tsk_000000'`)
    await intoBacklog(db, 'true')
    await db.query('vacuum (analyze, truncate) run, pending, backlog, backlog_line', [])
    const middle = {
      ...{ id: runId('tsk_006000'), agentId: agentId('writer') },
      priority: 1,
      createdAt: later(NOW, 6_000),
    }
    const page = { orgId: ORG, after: null, limit: 50 }
    const reads: Readonly<Record<string, readonly [most: number, read: (on: Connection) => Promise<unknown>]>> = {
      queued: [700, (on) => listRuns(on, { ...page, states: ['queued'] })],
      tasks: [700, (on) => listRuns(on, { ...page, states: ['queued'], trigger: 'task' })],
      'of an agent': [1_700, (on) => listRuns(on, { ...page, states: ['queued'], agentId: agentId('writer') })],
      'with failed': [700, (on) => listRuns(on, { ...page, states: ['queued', 'failed'], trigger: 'task' })],
      position: [700, (on) => countBacklogBefore(on, { orgId: ORG, runs: [middle] })],
      positions: [
        300,
        (on) => countBacklogBefore(on, { orgId: ORG, runs: [middle, { ...middle, id: runId('tsk_1') }] }),
      ],
      explain: [50, (on) => loadFromBacklog(on, { ...middle, orgId: ORG, trigger: 'task' })],
      stats: [50, (on) => countPendingOfOrg(on, ORG)],
      'task stats': [50, (on) => loadTaskCounts(on, { orgId: ORG, agents: 10 })],
      all: [50, (on) => countAllPending(on)],
      // PostgreSQL 15 reads 125.
      sessions: [250, (on) => countSessionWork(on, { orgId: ORG, keys: [sessionKey('s')] })],
    }
    const blocks: Record<string, number> = {}
    for (const [name, [, read]] of Object.entries(reads)) blocks[name] = await blocksOf(read)
    const tooMany = Object.entries(reads).filter(([name, [most]]) => (blocks[name] ?? Infinity) > most)
    expect(tooMany.map(([name]) => `${name}: ${blocks[name]}`)).toEqual([])
  })
})
