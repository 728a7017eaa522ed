import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, laneName, runId, sessionKey, type OrgId } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import { ACCEPTED } from '../../../src/domain/run/run.ts'
import { createRun } from '../../../src/engine/commands/runs.ts'
import {
  type BacklogLine,
  type BacklogRun,
  insertBacklog,
  loadBacklogLines,
  markFirst,
  nextWake,
  saveBacklogLines,
  takeByIds,
  takeDue,
  takeFromLines,
  takeFromSessions,
} from '../../../src/engine/org-state/backlog-store.ts'
import { insertNode, loadBacklogSupport } from '../../../src/features/nodes/store.ts'
import { insertRuns, type RunRow } from '../../../src/features/runs/store.ts'
import { insertSessions, loadSessions, saveSessions } from '../../../src/features/sessions/store.ts'
import type { Connection, Database, Transaction } from '../../../src/platform/db/database.ts'
import { openCabinet } from '../../engine/commands/cabinet.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { aSessionRow, makeOrgs, ORG, OTHER_ORG } from './records.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase('migrated')
  db = await world.open({ pinPlans: true })
  await makeOrgs(db)
})
beforeEach(() => db.query('delete from run; delete from backlog; delete from backlog_line; delete from session'))
afterAll(() => world.drop())

const LINE = { agentId: agentId('writer'), lane: laneName('main'), executorKey: 'echo', kind: 'ordinary' } as const

/** A queued run as it is created, with its position. */
function queued(id: string, over: Partial<RunRow> = {}): RunRow {
  const run = createRun(openCabinet().desk, {
    ...{ id: runId(id), orgId: ORG, jobRunId: id, agentId: LINE.agentId, executorKey: 'echo', lane: LINE.lane },
    ...{ trigger: 'message', state: 'queued', decision: ACCEPTED, payload: { text: id } },
    ...over,
  })
  return Object.assign(run, over)
}

async function store(runs: readonly RunRow[], { behind = false, org = ORG } = {}): Promise<readonly BacklogRun[]> {
  const rows = runs.map((run) => ({ run, behind }))
  await writing((tx) => {
    for (const run of runs) insertRuns(tx, org, [run])
    insertBacklog(tx, org, rows)
  })
  return rows
}

/** Statements that are sent without waiting. */
const writing = (write: (tx: Transaction) => void): Promise<void> =>
  db.transaction((tx) => {
    write(tx)
    return Promise.resolve()
  })
const taking = async (take: (tx: Transaction) => Promise<readonly BacklogRun[]>): Promise<readonly string[]> =>
  (await db.transaction(take)).map(({ run }) => run.id)
const inBacklog = async (): Promise<readonly unknown[]> =>
  (await db.query('select id from backlog order by id', [])).map(({ id }) => id)
const fromLine = (max: number, over: Partial<BacklogLine> = {}): Promise<readonly string[]> =>
  taking((tx) => takeFromLines(tx, { orgId: ORG, lines: [{ ...LINE, bound: null, ...over, max }] }))

describe('a run that was put into the backlog', () => {
  it('comes back as it was created, and is no longer there', async () => {
    const [stored] = await store([
      queued('run_1', {
        ...{ priority: -3, sender: 'mia', deadline: later(NOW, 60_000), retryPolicy: DEFAULT_RETRY_POLICY },
        ...{ sessionKey: sessionKey('s'), seq: 42, generation: 2, trace: '00-1-2-01', firstAttempt: 2, attempt: 2 },
        reserves: [{ budgetId: 'bud_1' as never, amount: 7 }],
      }),
    ])
    const [taken] = await db.transaction((tx) => takeByIds(tx, { orgId: ORG, ids: [runId('run_1')] }))
    expect(taken).toEqual({ behind: false, run: { ...stored?.run, jobRunId: 'run_1', inGeneration: true } })
    expect(await inBacklog()).toEqual([])
  })

  it('leaves a large payload where it is', async () => {
    await store([queued('run_1', { payload: { text: Array.from({ length: 500 }, (_, n) => `word ${n}`).join() } })])
    const [taken] = await db.transaction((tx) => takeByIds(tx, { orgId: ORG, ids: [runId('run_1')] }))
    expect(taken?.run.payload).toBeUndefined()
  })

  it('stays when the transaction that takes it fails', async () => {
    await store([queued('run_1')])
    const failing = db.transaction(async (tx) => {
      await takeFromLines(tx, { orgId: ORG, lines: [{ ...LINE, bound: null, max: 5 }] })
      throw new Error('stop')
    })
    await expect(failing).rejects.toThrow('stop')
    expect(await inBacklog()).toEqual(['run_1'])
  })
})

describe('the first runs of a line', () => {
  it('are those of the lowest priority number, then the oldest, then by id', async () => {
    await store([
      queued('run_5', { createdAt: later(NOW, 1) }),
      queued('run_4', { priority: 1 }),
      queued('run_3'),
      queued('run_2'),
      queued('run_1', { priority: -1, createdAt: later(NOW, 9) }),
    ])
    expect(await fromLine(3)).toEqual(['run_1', 'run_2', 'run_3'])
    expect(await fromLine(3)).toEqual(['run_5', 'run_4'])
  })

  it('include a run whose key is the bound, and none before it', async () => {
    await store([queued('run_1'), queued('run_2'), queued('run_3')])
    const bound = { priority: 0, createdAt: NOW, id: runId('run_2') }
    expect(await fromLine(5, { bound })).toEqual(['run_2', 'run_3'])
  })

  it('are of that agent, lane, executor, kind and org alone, and not behind another run', async () => {
    await store([
      queued('run_1', { agentId: agentId('other') }),
      queued('run_2', { lane: laneName('team') }),
      queued('run_3', { executorKey: 'http' }),
      queued('tsk_4', { trigger: 'task' }),
      queued('run_5'),
    ])
    await store([queued('run_0', { sessionKey: sessionKey('s') })], { behind: true })
    await store([queued('run_0', { orgId: OTHER_ORG })], { org: OTHER_ORG })
    expect(await fromLine(9)).toEqual(['run_5'])
    expect(await fromLine(9, { kind: 'task' })).toEqual(['tsk_4'])
  })

  it('are taken from several lines at once, each with its own number', async () => {
    await store([
      queued('run_1'),
      queued('run_2'),
      queued('tsk_1', { trigger: 'task' }),
      queued('tsk_2', { trigger: 'task' }),
    ])
    const lines = [
      { ...LINE, kind: 'task', bound: null, max: 2 },
      { ...LINE, bound: null, max: 1 },
      { ...LINE, agentId: agentId('idle'), bound: null, max: 9 },
    ] as const
    expect(await taking((tx) => takeFromLines(tx, { orgId: ORG, lines }))).toEqual(['tsk_1', 'tsk_2', 'run_1'])
    expect(await inBacklog()).toEqual(['run_2'])
  })
})

describe('the first runs of a session', () => {
  const inSession = (id: string, seq: number, key = 's'): RunRow => queued(id, { sessionKey: sessionKey(key), seq })
  const fromSession = (from: number, max: number): Promise<readonly string[]> =>
    taking((tx) => takeFromSessions(tx, { orgId: ORG, sessions: [{ key: sessionKey('s'), from, max }] }))

  it('are those of the lowest position, from a position on', async () => {
    await store([inSession('run_9', 1), inSession('run_3', 3), inSession('run_2', 5), inSession('run_1', 4)], {
      behind: true,
    })
    expect(await fromSession(3, 2)).toEqual(['run_3', 'run_1'])
    expect(await fromSession(0, 9)).toEqual(['run_9', 'run_2'])
  })

  it('are of that session and org alone, and the one that competes is among them', async () => {
    await store([inSession('run_1', 1, 't'), inSession('run_2', 2)], { behind: true })
    await store([queued('run_2', { orgId: OTHER_ORG, sessionKey: sessionKey('s'), seq: 1 })], {
      behind: true,
      org: OTHER_ORG,
    })
    await store([inSession('run_0', 7)])
    expect(await fromSession(0, 9)).toEqual(['run_2', 'run_0'])
  })

  it('compete in their line once one is marked as the first', async () => {
    const [first] = await store([inSession('run_1', 1), inSession('run_2', 2)], { behind: true })
    expect(await fromLine(9)).toEqual([])
    await writing((tx) => {
      markFirst(tx, ORG, first === undefined ? [] : [first.run])
    })
    expect(await fromLine(9)).toEqual(['run_1'])
  })
})

describe('deadlines in the backlog', () => {
  it('are found by time, and only those that have passed are taken', async () => {
    const at = (ms: number): Partial<RunRow> => ({ deadline: later(NOW, ms) })
    await store([queued('run_1', at(30)), queued('run_2', at(10)), queued('run_3'), queued('run_4', at(20))])
    const due = (now: number, max: number): Promise<readonly string[]> =>
      taking((tx) => takeDue(tx, { orgId: ORG, now: later(NOW, now), max, from: null }))
    expect(await nextWake(db, { orgId: ORG, from: null })).toBe(later(NOW, 10))
    expect(await nextWake(db, { orgId: ORG, from: later(NOW, 11) })).toBe(later(NOW, 20))
    expect(await due(9, 9)).toEqual([])
    expect(await due(25, 1)).toEqual(['run_2'])
    expect(await due(25, 9)).toEqual(['run_4'])
    expect(await due(99, 9)).toEqual(['run_1'])
    expect(await nextWake(db, { orgId: ORG, from: null })).toBeNull()
  })
})

describe('what is in the backlog of the lines', () => {
  const save = (lines: readonly BacklogLine[], org: OrgId = ORG): Promise<void> =>
    writing((tx) => {
      saveBacklogLines(tx, org, lines)
    })
  const bound = { priority: 2, createdAt: NOW, id: runId('run_7') }

  it('is kept line by line; a line with nothing in it is not', async () => {
    const tasks: BacklogLine = { ...LINE, kind: 'task', count: 3, waiting: 0, bound: null }
    await save([{ ...LINE, count: 9, waiting: 4, bound }, tasks])
    await save([{ ...LINE, count: 1, waiting: 1, bound }], OTHER_ORG)
    expect(await loadBacklogLines(db, { orgId: ORG })).toEqual(
      expect.arrayContaining([{ ...LINE, count: 9, waiting: 4, bound }, tasks]),
    )
    await save([
      { ...LINE, count: 0, waiting: 0, bound: null },
      { ...tasks, count: 5 },
    ])
    expect(await loadBacklogLines(db, { orgId: ORG })).toEqual([{ ...tasks, count: 5 }])
    expect(await loadBacklogLines(db, { orgId: ORG, agents: [agentId('idle')] })).toEqual([])
    expect(await loadBacklogLines(db, { orgId: OTHER_ORG, agents: [LINE.agentId] })).toHaveLength(1)
  })

  it('is counted with its session', async () => {
    const row = aSessionRow('s')
    await writing((tx) => {
      insertSessions(tx, [row])
    })
    await writing((tx) => {
      saveSessions(tx, [{ ...row, behind: 5, behindFrom: 1_700_000_000_000_123 }])
    })
    expect(await loadSessions(db, { orgId: ORG, keys: [row.key] })).toMatchObject([
      { behind: 5, behindFrom: 1_700_000_000_000_123 },
    ])
  })
})

describe('a node of an earlier release', () => {
  const node = {
    startedAt: NOW,
    leaseUntil: NOW,
    draining: false,
    executors: [],
    lanes: {},
    program: 'test',
    lost: false,
  }

  it('keeps the backlog from being used, and cannot join again', async () => {
    expect(await loadBacklogSupport(db)).toBe(true)
    await insertNode(db, { ...node, id: 'nod_new' })
    expect(await loadBacklogSupport(db)).toBe(true)
    await world.outside(`insert into node (id, started_at, lease_until, executors, lanes, program, backlog)
      values ('nod_old', now(), now(), '{}', '{}', 'test', true)`)
    await world.outside(`update node set backlog = false, lost = true where id = 'nod_old'`)
    expect(await loadBacklogSupport(db)).toBe(false)
    const join = `insert into node (id, started_at, lease_until, executors, lanes, program)
      values ('nod_again', now(), now(), '{}', '{}', 'test')`
    await expect(world.outside(join)).rejects.toThrow('earlier release')
    await world.outside('delete from node')
  })
})

describe('statements that were planned while the tables were empty', () => {
  it('find rows by the index that orders them', async () => {
    await db.query('vacuum analyze backlog', [])
    const used: string[][] = []
    await db.transaction(async (tx) => {
      const explained: Transaction = { ...tx, query: explainer(tx, used) }
      await takeFromLines(explained, { orgId: ORG, lines: [{ ...LINE, bound: null, max: 5 }] })
      await takeFromSessions(explained, { orgId: ORG, sessions: [{ key: sessionKey('s'), from: 0, max: 5 }] })
      await takeDue(explained, { orgId: ORG, now: NOW, max: 5, from: null })
      await takeByIds(explained, { orgId: ORG, ids: [runId('run_1')] })
    })
    await nextWake({ query: explainer(db, used) }, { orgId: ORG, from: null })
    expect(used).toEqual([
      ['backlog_line_order', 'run_pkey'],
      ['backlog_session_order', 'run_pkey'],
      ['backlog_wake', 'run_pkey'],
      ['backlog_pkey', 'run_pkey', 'run_pkey'],
      ['backlog_wake'],
    ])
  })

  /** Notes the indexes of the plan instead of running the statement. */
  const explainer =
    (connection: Connection, used: string[][]): Connection['query'] =>
    async (text, params) => {
      const rows = await connection.query(`explain ${text}`, params)
      const plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n')
      expect(plan).not.toContain('Seq Scan')
      expect(plan).not.toContain('Sort Key: b.wake_at')
      used.push([...plan.matchAll(/Index (?:Only )?Scan using (\w+)/g)].map(([, name = '']) => name).sort())
      return []
    }
})
