import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, runId } from '../../../src/domain/ids.ts'
import { DAY_MS, later, type Instant } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { deleteAgentRow, insertAgents } from '../../../src/features/agents/store.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import {
  countHeartbeatLog,
  deleteOldHeartbeatLog,
  deleteSurplusHeartbeatLog,
  listHeartbeatLog,
  loadLastDelivered,
  writeHeartbeatLog,
  type HeartbeatLogRow,
} from '../../../src/features/heartbeats/log-store.ts'
import {
  loadDueHeartbeats,
  loadHeartbeats,
  upsertHeartbeat,
  type HeartbeatRow,
} from '../../../src/features/heartbeats/store.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { anAgent, makeOrgs, ORG, OTHER_ORG } from './records.ts'

let world: TestDatabase
let db: Database

const WRITER = agentId('writer')

beforeAll(async () => {
  world = await createTestDatabase()
  db = await world.open()
  await makeOrgs(db)
  await db.transaction((tx) => insertAgents(tx, [anAgent(), anAgent({ orgId: OTHER_ORG })]))
})
beforeEach(() => db.query('delete from heartbeat_log; delete from delivery; delete from heartbeat'))
afterAll(() => world.drop())

const ago = (ms: number): Instant => later(NOW, -ms)

const aBeat = (id: string, over: Partial<HeartbeatLogRow> = {}): HeartbeatLogRow => ({
  ...{
    id,
    agentId: WRITER,
    dueAt: NOW,
    at: NOW,
    outcome: 'skipped',
    why: because('no_checklist', 'heartbeat.checklist'),
  },
  ...{ target: 'ops', runId: null, content: null, deliveryId: null, finishedAt: NOW },
  ...{ sessionKey: null, ...over },
})

const aHeartbeat = (over: Partial<HeartbeatRow> = {}): HeartbeatRow => ({
  ...{ orgId: ORG, agentId: WRITER, settings: {}, enabled: true, dueAt: NOW, nextAt: NOW, lastDueAt: null },
  ...{ lastSession: null, lookedUntil: null, failingStreak: 0, alertId: null },
  ...{ okStreak: 0, runId: null, version: 1, createdAt: NOW, updatedAt: NOW, ...over },
})

const write = (...beats: readonly HeartbeatLogRow[]): Promise<void> =>
  db.transaction((tx) => {
    writeHeartbeatLog(tx, ORG, beats)
  })

const put = (row: HeartbeatRow): Promise<void> =>
  db.transaction((tx) => {
    upsertHeartbeat(tx, row)
  })

const log = (): ReturnType<typeof listHeartbeatLog> =>
  listHeartbeatLog(db, { orgId: ORG, agentId: WRITER, outcomes: null, after: null, limit: 100 })

/** A delivery that stands as it is said to. */
const deliver = (
  id: string,
  state: 'delivered' | 'pending' | 'failed',
  finishedAt: Instant,
  target = 'tgt_1',
): Promise<unknown> =>
  db.query(
    `insert into delivery (org_id, id, run_id, kind, target_id, line, state, why, next_try_at, created_at, finished_at)
     values ('acme', $1, 'run_1', 'saved', $4, $4, $2, '{}', to_timestamp($3::float8 / 1000),
       to_timestamp($3::float8 / 1000), case when $2 <> 'pending' then to_timestamp($3::float8 / 1000) end)`,
    [id, state, finishedAt, target],
  )

describe('the log of heartbeats', () => {
  it('counts looks at a busy agent in one entry for each moment, and completes what began', async () => {
    const busy = { outcome: 'busy', why: because('agent_busy', 'heartbeat.busy', { run: 'run_1' }) } as const
    await write(aBeat('hbt_1', { ...busy, at: ago(60_000) }))
    await write(aBeat('hbt_2', { ...busy, at: ago(30_000) }))
    await write(aBeat('hbt_3', { ...busy, dueAt: later(NOW, 1) }), aBeat('hbt_4', { ...busy, dueAt: null }))
    await write(aBeat('hbt_5', { outcome: 'running', runId: runId('run_5'), finishedAt: null }))
    await write(aBeat('hbt_5', { outcome: 'news', runId: runId('run_5'), content: 'Fire', deliveryId: 'dlv_5' }))
    const found = (await log()).map(({ id, looks, outcome, content }) => [id, looks, outcome, content])
    expect(found.toSorted()).toEqual([
      ['hbt_1', 2, 'busy', null],
      ['hbt_3', 1, 'busy', null],
      ['hbt_4', 1, 'busy', null],
      ['hbt_5', 1, 'news', 'Fire'],
    ])
    expect(await countHeartbeatLog(db, { orgId: ORG, agentId: WRITER })).toBe(4)
  })

  it('knows what arrived last at each receiver, and nothing that did not', async () => {
    const news = (n: number, content: string): HeartbeatLogRow =>
      aBeat(`hbt_${n}`, { outcome: 'news', content, deliveryId: `dlv_${n}` })
    await write(news(1, 'A'), news(2, 'B'), news(3, 'C'), news(4, 'D'), news(5, 'E'))
    await deliver('dlv_1', 'delivered', ago(1_000))
    await deliver('dlv_2', 'delivered', ago(2_000))
    await deliver('dlv_3', 'pending', NOW)
    await deliver('dlv_4', 'delivered', NOW, 'tgt_2')
    await deliver('dlv_5', 'failed', NOW)
    const wanted = { orgId: ORG, agentIds: [WRITER, WRITER, WRITER], lines: ['tgt_1', 'tgt_2', ''] }
    const found = (await loadLastDelivered(db, wanted)).map(({ line, content, at }) => [line, content, at])
    expect(found.toSorted()).toEqual([
      ['tgt_1', 'A', ago(1_000)],
      ['tgt_2', 'D', NOW],
    ])
  })

  it('is kept for its time, except what is under way, and in its number, except what was sent', async () => {
    await put(aHeartbeat())
    const old = { at: ago(40 * DAY_MS) }
    await write(aBeat('hbt_old', old), aBeat('hbt_running', { ...old, outcome: 'running', runId: runId('run_9') }))
    await write(aBeat('hbt_on_its_way', { ...old, outcome: 'news', content: 'A', deliveryId: 'dlv_9' }))
    await deliver('dlv_9', 'pending', NOW)
    await write(...[1, 2, 3, 4].map((n) => aBeat(`hbt_${n}`, { at: ago(n * 1_000) })))
    expect(await deleteOldHeartbeatLog(db, { orgId: ORG, before: ago(30 * DAY_MS), limit: 10 })).toBe(1)
    expect(await deleteSurplusHeartbeatLog(db, { orgId: ORG, keep: 2, limit: 10 })).toBe(2)
    expect((await log()).map(({ id }) => id).toSorted()).toEqual(['hbt_1', 'hbt_2', 'hbt_on_its_way', 'hbt_running'])
    expect(await deleteOldHeartbeatLog(db, { orgId: OTHER_ORG, before: NOW, limit: 10 })).toBe(0)
  })
})

describe('heartbeats', () => {
  it('are due in the order of their moments, unless they are off or their org is being deleted', async () => {
    await put(aHeartbeat({ nextAt: ago(5), dueAt: ago(5) }))
    await put(aHeartbeat({ orgId: OTHER_ORG, nextAt: ago(10), dueAt: ago(10) }))
    const due = async (): Promise<readonly unknown[]> =>
      (await loadDueHeartbeats(db, { now: NOW, limit: 10, except: [] })).map(({ orgId }) => orgId)
    expect(await due()).toEqual([OTHER_ORG, ORG])
    await db.query(`update org set deleted_at = now() where id = 'other'`)
    expect(await due()).toEqual([ORG])
    await db.query(`update org set deleted_at = null where id = 'other'`)
    await put(aHeartbeat({ enabled: false, nextAt: null, dueAt: null }))
    expect(await due()).toEqual([OTHER_ORG])
    expect(await loadHeartbeats(db, { orgId: ORG, agentIds: [WRITER] })).toMatchObject([{ version: 2, enabled: false }])
  })

  it('go with their agent', async () => {
    const gone = agentId('gone')
    await db.transaction((tx) => insertAgents(tx, [anAgent({ id: gone })]))
    await put(aHeartbeat({ agentId: gone }))
    await db.transaction((tx) => deleteAgentRow(tx, { orgId: ORG, id: gone }))
    expect(await loadHeartbeats(db, { orgId: ORG, agentIds: [gone] })).toEqual([])
  })
})
