import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, budgetId, runId, scheduleId } from '../../../src/domain/ids.ts'
import { DAY_MS, later } from '../../../src/domain/instant.ts'
import { parseZone } from '../../../src/domain/time/zone.ts'
import {
  addUsage,
  deleteBudgets,
  insertBudget,
  isAgentKnown,
  loadBudgets,
  loadReserved,
  saveBudget,
  saveBudgetStates,
  type BudgetRow,
} from '../../../src/features/budgets/store.ts'
import {
  loadRecentUsageOfAgents,
  loadRecentUsageOfSchedules,
  loadUsages,
} from '../../../src/features/budgets/usage-store.ts'
import { insertAgents } from '../../../src/features/agents/store.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { anAgent, makeOrgs, ORG, OTHER_ORG, seedRun } from './records.ts'

let testDatabase: TestDatabase
let db: Database

beforeAll(async () => {
  testDatabase = await createTestDatabase('migrated')
  db = await testDatabase.open()
  await makeOrgs(db)
})
beforeEach(() => db.query('delete from budget; delete from usage; delete from run; delete from pending'))
afterAll(() => testDatabase.drop())

const berlin = parseZone('timezone', 'Europe/Berlin')
if (!berlin.ok) throw new Error('Berlin is unknown')

const aRow = (id: string, over: Partial<BudgetRow> = {}): BudgetRow => ({
  ...{ orgId: ORG, id: budgetId(id), scope: { kind: 'org' }, unit: 'tokens', amount: 1_000, period: 'day' },
  ...{ timezone: berlin.value, onExceed: 'skip', defaultReserve: 0, pausedAt: null, alerts: null, createdAt: NOW },
  ...over,
})

const insert = (row: BudgetRow): Promise<boolean> => db.transaction((tx) => insertBudget(tx, row))

describe('budgets on record', () => {
  it('are read back as they were written, the oldest first, with nothing of another org', async () => {
    const rows = [
      aRow('b', { scope: { kind: 'agent', agentId: agentId('writer') }, unit: 'money', period: 'month' }),
      aRow('c', { scope: { kind: 'schedule', scheduleId: scheduleId('sch') }, createdAt: later(NOW, 1) }),
      aRow('a', { createdAt: later(NOW, 2), onExceed: 'queue', defaultReserve: 7, amount: 9_000_000_000_000_000 }),
    ]
    for (const row of rows) expect(await insert(row)).toBe(true)
    await insert(aRow('a', { orgId: OTHER_ORG }))
    expect(await insert(aRow('a'))).toBe(false)
    expect(await loadBudgets(db, { orgId: ORG })).toEqual(rows.map((row) => ({ ...row, uses: [] })))
  })

  it('change in what may change, and go with what they counted', async () => {
    await insert(aRow('a'))
    await db.transaction(async (tx) => {
      await saveBudget(tx, aRow('a', { amount: 5, onExceed: 'pause', defaultReserve: 1 }))
      addUsage(tx, ORG, [{ budgetId: budgetId('a'), start: NOW, used: 3 }])
    })
    expect(await loadBudgets(db, { orgId: ORG })).toMatchObject([
      { amount: 5, onExceed: 'pause', defaultReserve: 1, uses: [{ start: NOW, used: 3 }] },
    ])
    await db.transaction(async (tx) => {
      await Promise.resolve()
      deleteBudgets(tx, { orgId: ORG, ids: [budgetId('a')] })
    })
    expect(await loadBudgets(db, { orgId: ORG })).toEqual([])
    expect(await db.query('select * from usage')).toEqual([])
  })

  it('keep since when they stand still, and their open alerts', async () => {
    await insert(aRow('a'))
    await insert(aRow('b', { createdAt: later(NOW, 1) }))
    const standings = [
      { id: budgetId('a'), pausedAt: NOW, alerts: { budget_low: 'alr_1' } },
      { id: budgetId('b'), pausedAt: null, alerts: null },
    ]
    await db.transaction(async (tx) => {
      await Promise.resolve()
      saveBudgetStates(tx, ORG, standings)
    })
    expect(await loadBudgets(db, { orgId: ORG })).toMatchObject(standings)
    await db.transaction((tx) => saveBudget(tx, aRow('a')))
    expect(await loadBudgets(db, { orgId: ORG })).toMatchObject([{ pausedAt: null }, { pausedAt: null }])
  })

  it('have the use of their newest two periods', async () => {
    await insert(aRow('a'))
    await insert(aRow('b', { createdAt: later(NOW, 1) }))
    const use = (id: string, days: number, used: number) => ({
      ...{ budgetId: budgetId(id), start: later(NOW, days * DAY_MS), used },
    })
    await db.transaction((tx) => {
      addUsage(tx, ORG, [use('a', 0, 1), use('a', 1, 2), use('a', 2, 3), use('b', 0, 4)])
      addUsage(tx, ORG, [use('a', 2, 30)])
    })
    const [a, b] = await loadBudgets(db, { orgId: ORG })
    expect(a?.uses.map(({ used }) => used)).toEqual([33, 2])
    expect(b?.uses.map(({ used }) => used)).toEqual([4])
  })
})

describe('what runs have set aside and used', () => {
  it('is summed up for those in flight', async () => {
    await seedRun(db, 'one', { state: 'running' })
    await seedRun(db, 'two', { state: 'awaiting_callback' })
    await seedRun(db, 'three', { state: 'queued' })
    await seedRun(db, 'four', { state: 'running' })
    await db.query(
      `update pending set reserves = '[{"budgetId":"a","amount":5,"stated":null},{"budgetId":"b","amount":1}]'
        where id <> 'four'`,
    )
    expect(await loadReserved(db, { orgId: ORG })).toEqual(
      new Map([
        ['a', 10],
        ['b', 2],
      ]),
    )
    expect(await loadReserved(db, { orgId: OTHER_ORG })).toEqual(new Map())
  })

  it('is read of the newest runs of agents and schedules that reported it', async () => {
    for (let n = 0; n < 6; n += 1)
      await seedRun(db, `r${n}`, {
        ...{ state: 'success', createdAt: later(NOW, n), usage: { inputTokens: n } },
        ...{ agent: n % 2 === 0 ? 'writer' : 'reader', schedule: n < 3 ? 'sch' : null },
      })
    await db.query(`update run set usage = null where id = 'r4'`)
    const agents = await loadRecentUsageOfAgents(db, { orgId: ORG, ids: ['writer', 'reader'].map(agentId), perId: 2 })
    expect(agents.map(({ id }) => id)).toEqual(['r0', 'r2', 'r3', 'r5'])
    const schedules = await loadRecentUsageOfSchedules(db, { orgId: ORG, ids: [scheduleId('sch')], perId: 2 })
    expect(schedules).toEqual([
      { id: 'r1', agentId: 'reader', scheduleId: 'sch', usage: { inputTokens: 1 } },
      { id: 'r2', agentId: 'writer', scheduleId: 'sch', usage: { inputTokens: 2 } },
    ])
    const known = await loadUsages(db, { orgId: ORG, ids: ['r5', 'r4', 'r0', 'none'].map(runId) })
    expect(known.map(({ id }) => id)).toEqual(['r0', 'r5'])
  })
})

describe('an agent', () => {
  it('is known when it is registered or work has named it', async () => {
    await db.transaction((tx) => insertAgents(tx, [anAgent()]))
    await seedRun(db, 'tsk', { agent: 'nameless', trigger: 'task' })
    const known = (id: string) => isAgentKnown(db, { orgId: ORG, id: agentId(id) })
    expect([await known('writer'), await known('nameless'), await known('nobody')]).toEqual([true, true, false])
  })
})
