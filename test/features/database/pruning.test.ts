import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sessionKey } from '../../../src/domain/ids.ts'
import { DAY_MS, HOUR_MS, later, MINUTE_MS } from '../../../src/domain/instant.ts'
import { createPrune, createRetention } from '../../../src/features/retention/service.ts'
import { DEFAULT_SETTINGS } from '../../../src/features/config/settings.ts'
import { ensureSession } from '../../../src/engine/transaction/transaction.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import type { Connection } from '../../../src/platform/db/database.ts'
import { insertSessions } from '../../../src/features/sessions/store.ts'
import { aSessionRow, ORG, seedRun } from '../../platform/db/records.ts'
import { NOW } from '../../support/builders.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(async () => {
  world.settings = DEFAULT_SETTINGS
  await world.startOver('run', 'pending', 'turn', 'session', 'task_count', 'idempotency', 'pruner', 'node')
})
afterAll(() => world.drop())

/** Tasks that ended longer ago than they are kept. */
const seedTasks = (count: number): Promise<unknown> =>
  world.db.query(
    `insert into run (org_id, id, job_run_id, agent_id, executor_key, trigger, lane, created_at, payload, decision, state,
       attempt, attempt_id, node_id, started_at, finished_at, why, output)
     select 'acme', 'tsk_' || n, 'tsk_' || n, 'writer', 'echo', 'task', 'main', $1::timestamptz + n * interval '1 us', '{}',
       '{}', 'success', 1, 'att_' || n, 'nod_1', $1::timestamptz, $1::timestamptz + n * interval '1 us', '{}', '{}' from generate_series(1, $2::int) n`,
    [new Date(later(NOW, -HOUR_MS)).toISOString(), count],
  )
const countOf = async (table: string): Promise<unknown> =>
  (await world.rows(`select count(*) as count from ${table}`))[0]?.['count']

/** The same connection, with every statement written down. */
function listening(): { readonly connection: Connection; readonly statements: string[] } {
  const statements: string[] = []
  const query: Connection['query'] = (text, params) => {
    statements.push(text)
    return world.db.query(text, params)
  }
  return { connection: { ...world.db, query }, statements }
}

describe('thousands of idle orgs', () => {
  it('cost a pass no statement of their own', async () => {
    const { connection, statements } = listening()
    const few = createRetention({ ...world.ports, database: connection })
    await few.pass()
    const before = statements.length
    await world.db.query(
      `insert into org (id, name, created_at) select 'idle_' || n, 'x', $1 from generate_series(1, 3000) n`,
      [new Date(NOW).toISOString()],
    )
    statements.length = 0
    await few.pass()
    // One statement more for each page of orgs.
    expect(statements.length - before).toBeLessThan(10)
    await world.db.query(`delete from org where id like 'idle_%'`, [])
  })
})

/** So short that what is removed here takes longer on any machine. */
const SHORT_MS = 1

describe('a node that prunes', () => {
  it('goes on at once while there is more, in slices', async () => {
    await seedTasks(20_000)
    const prune = createPrune(world.ports, SHORT_MS)
    let slices = 1
    while (await prune()) slices += 1
    expect(await countOf('run')).toBe(0)
    expect(slices).toBeGreaterThan(1)
  })

  it('is the only one, until it is gone', async () => {
    await seedTasks(20_000)
    const [first, second] = [createPrune(world.ports, SHORT_MS), createPrune(world.ports, SHORT_MS)]
    expect(await first()).toBe(true)
    const left = await countOf('run')
    expect(await second()).toBe(false)
    expect(await countOf('run')).toBe(left)
    world.pass(MINUTE_MS)
    while (await second());
    expect(await countOf('run')).toBe(0)
  })

  it('begins again after a pass that failed', async () => {
    await seedTasks(1)
    let fails = true
    const database: Connection = {
      query: (text, params) =>
        fails && text.includes('from callback') ? Promise.reject(new Error('gone')) : world.db.query(text, params),
    }
    const prune = createPrune({ ...world.ports, database })
    await expect(prune()).rejects.toThrow('gone')
    fails = false
    while (await prune());
    expect(await countOf('run')).toBe(0)
  })

  it('removes tasks at least twice as fast as they can be submitted', { timeout: 60_000 }, async () => {
    const count = 30_000
    await seedTasks(count)
    await world.db.query('analyze run')
    const began = performance.now()
    await createRetention(world.ports).pass()
    const perSecond = count / ((performance.now() - began) / 1_000)
    expect(await countOf('run')).toBe(0)
    // A machine under load is slower; before, a node removed 1,667 a second at most.
    expect(perSecond).toBeGreaterThan(3_000)
  })
})

describe('sessions', () => {
  it('go when nothing of theirs is kept any more, unless they were configured', async () => {
    const old = later(NOW, -31 * DAY_MS)
    const sessions = ['idle', 'ruled', 'busy', 'chatting'].map((key) =>
      aSessionRow(key, { createdAt: old, own: key === 'ruled' ? { cap: 3 } : {} }),
    )
    await world.db.transaction((tx) => insertSessions(tx, [...sessions, aSessionRow('young')]))
    await seedRun(world.db, 'kept', { session: 'busy', state: 'success' })
    await world.db.query(
      `insert into chat (org_id, channel_id, peer, kind, agent_id, session_key, heard_at)
       values ('acme', 'c', 'p', 'dm', 'writer', 'chatting', $1)`,
      [new Date(old).toISOString()],
    )
    expect(await createRetention(world.ports).pass()).toMatchObject({ sessions: 1 })
    const keys = (await world.rows('select key from session order by key')).map(({ key }) => key)
    expect(keys).toEqual(['busy', 'chatting', 'ruled', 'young'])
    const events = await world.rows('select events from turn where no = 1')
    expect(events).toEqual([{ events: [['session.changed', sessionKey('idle'), {}]] }])
    await world.db.query('delete from chat', [])
  })

  it('are forgotten by every node, and begin again with the next message', async () => {
    const begun = aSessionRow('idle', { createdAt: later(NOW, -31 * DAY_MS) })
    await world.db.transaction((tx) => insertSessions(tx, [begun]))
    const node = await openNode(world)
    const key = sessionKey('idle')
    const use: Command<unknown> = {
      orgId: ORG,
      needs: { sessions: [key] },
      apply: (desk) => {
        ensureSession({ state: desk }, key)
        const session = desk.sessions.get(key)
        if (session !== undefined) desk.changes.sessions.add(session)
      },
    }
    await node.turn(use)
    expect(node.memory.state.sessions.has(key)).toBe(true)
    expect(await createRetention(world.ports).pass()).toMatchObject({ sessions: 1 })
    await node.turn(use)
    expect(await world.rows('select key, created_at from session')).toEqual([{ key: 'idle', created_at: NOW }])
  })

  it('stay for ever when runs do', async () => {
    const { retention } = DEFAULT_SETTINGS
    world.settings = { ...DEFAULT_SETTINGS, retention: { ...retention, runDays: null } }
    await world.db.transaction((tx) =>
      insertSessions(tx, [aSessionRow('idle', { createdAt: later(NOW, -900 * DAY_MS) })]),
    )
    expect(await createRetention(world.ports).pass()).toMatchObject({ sessions: 0 })
  })
})

describe('counts of tasks', () => {
  it('go with the agent that had none for as long as runs are kept; those of all agents stay', async () => {
    for (const [agent, days] of [
      ['', 90],
      ['gone', 31],
      ['writer', 29],
    ] as const)
      await world.db.query(`insert into task_count (org_id, agent_id, counted_at) values ($1, $2, $3)`, [
        ...[ORG, agent, new Date(later(NOW, -days * DAY_MS)).toISOString()],
      ])
    expect(await createRetention(world.ports).pass()).toMatchObject({ taskCounts: 1 })
    expect(await world.rows('select agent_id from task_count order by 1')).toEqual([
      { agent_id: '' },
      { agent_id: 'writer' },
    ])
  })
})
