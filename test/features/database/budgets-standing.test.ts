import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BudgetInput } from '../../../src/features/budgets/schema.ts'
import { agentId } from '../../../src/domain/ids.ts'
import { HOUR_MS } from '../../../src/domain/instant.ts'
import { findAlerts } from '../../../src/features/alerts/incidents.ts'
import {
  updateBudget,
  createBudget,
  getBudget,
  deleteBudget,
  resumeBudget,
} from '../../../src/features/budgets/service.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import { ORG } from '../../platform/db/records.ts'
import { aTask } from '../../engine/commands/cabinet.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
  await world.db.query(
    `insert into target (org_id, id, name, kind, url, alerts, created_at, updated_at)
     values ($1, 'tgt_ops', 'ops', 'webhook', 'https://ops.example/', true, now(), now())`,
    [ORG],
  )
})
beforeEach(() => world.startOver('budget', 'usage', 'run', 'pending', 'node', 'alert', 'delivery'))
afterAll(() => world.drop())

const create = (input: BudgetInput) => createBudget(world.ports, world.caller, input)
const get = (id: string) => getBudget(world.ports, world.caller, id)
const alerts = async (): Promise<readonly string[]> =>
  (await findAlerts(world.ports, world.caller)).items.map(({ kind, status }) => `${kind} ${status}`).toSorted()

const taskWork = (name: string): Command<unknown> => ({
  orgId: ORG,
  needs: { agents: [agentId('writer')] },
  apply: (desk) => submit(desk, aTask({ agentId: agentId('writer'), content: { action: name } })),
})

describe('the alerts of a budget', () => {
  it('are on record, on their way to the targets of alerts, and cleared by the next period', async () => {
    const { id } = await create({ unit: 'tokens', amount: 10, on_exceed: 'queue' })
    const [node, other] = [await openNode(world), await openNode(world)]
    await node.turn(taskWork('one'))
    await other.turn(taskWork('two'))
    await node.turn(...node.reports(8))
    // A run that used 8 leaves no room for another.
    expect(await alerts()).toEqual(['budget_low open', 'budget_no_room open'])
    expect(await get(id)).toMatchObject({ spent: 8, alerts: ['budget_low', 'budget_no_room'], paused_at: null })
    await other.turn(...other.reports(4))
    expect(await alerts()).toEqual(['budget_low open', 'budget_no_room open', 'budget_used_up open'])
    // Another node that looks has nothing to add.
    await node.turn()
    const sent = await world.rows(
      `select body::jsonb -> 'data' ->> 'kind' as kind, target_id from delivery order by id`,
    )
    expect(sent).toEqual([
      { kind: 'budget_low', target_id: 'tgt_ops' },
      { kind: 'budget_no_room', target_id: 'tgt_ops' },
      { kind: 'budget_used_up', target_id: 'tgt_ops' },
    ])
    world.pass(12 * HOUR_MS)
    await other.turn()
    expect(await alerts()).toEqual(['budget_low cleared', 'budget_no_room cleared', 'budget_used_up cleared'])
    expect(await get(id)).toMatchObject({ spent: 0, alerts: [] })
  })

  it('are cleared by a larger amount, and go with the budget', async () => {
    const { id } = await create({ unit: 'tokens', amount: 10, on_exceed: 'queue' })
    const node = await openNode(world)
    await node.turn(taskWork('one'))
    await node.turn(...node.reports(9))
    await updateBudget(world.ports, world.caller, { id, change: { amount: 100 } })
    expect(await alerts()).toEqual(['budget_low cleared', 'budget_no_room cleared'])
    await updateBudget(world.ports, world.caller, { id, change: { amount: 9 } })
    expect(await alerts()).toEqual([
      ...['budget_low cleared', 'budget_low open', 'budget_no_room cleared', 'budget_used_up open'],
    ])
    await deleteBudget(world.ports, world.caller, { id })
    expect(await alerts()).toEqual([
      ...['budget_low cleared', 'budget_low cleared', 'budget_no_room cleared', 'budget_used_up cleared'],
    ])
  })
})

describe('a budget that pauses', () => {
  const start = async (): Promise<{ readonly id: string; readonly node: Awaited<ReturnType<typeof openNode>> }> => {
    const { id } = await create({ unit: 'tokens', amount: 10, on_exceed: 'pause' })
    const node = await openNode(world)
    await node.turn(taskWork('one'), taskWork('two'))
    await node.turn(...node.reports(6))
    return { id, node }
  }

  it('stands still on every node, also in the next period, until a person resumes it', async () => {
    const { id, node } = await start()
    expect(await get(id)).toMatchObject({ spent: 12, remaining: 0, paused_at: '2026-01-15T12:00:00.000Z' })
    const refused = resumeBudget(world.ports, world.caller, { id })
    await expect(refused).rejects.toMatchObject({ code: 'CONFLICT', details: { spent: 12 } })
    world.pass(13 * HOUR_MS)
    const other = await openNode(world)
    expect(await other.turn(taskWork('three'))).toMatchObject([{ kind: 'rejected', retryAfterMs: null }])
    expect(await get(id)).toMatchObject({ spent: 0, remaining: 10, alerts: ['budget_low', 'budget_used_up'] })
    expect(await resumeBudget(world.ports, world.caller, { id })).toMatchObject({ paused_at: null, remaining: 10 })
    await node.turn(taskWork('four'))
    expect(node.started).toEqual(['one', 'two', 'four'])
    expect(await alerts()).toEqual(['budget_low cleared', 'budget_used_up cleared'])
    const [audit] = await world.rows(`select action, object_id from audit order by no desc limit 1`)
    expect(audit).toEqual({ action: 'budget.resume', object_id: id })
  })

  it('goes on when somebody makes room or wants something else', async () => {
    const { id, node } = await start()
    await updateBudget(world.ports, world.caller, { id, change: { amount: 11 } })
    expect(await get(id)).toMatchObject({ amount: 11, paused_at: '2026-01-15T12:00:00.000Z' })
    await updateBudget(world.ports, world.caller, { id, change: { amount: 20 } })
    await node.turn(taskWork('three'))
    expect(node.started).toEqual(['one', 'two', 'three'])
    await node.turn(...node.reports(9))
    expect((await get(id)).paused_at).not.toBeNull()
    await updateBudget(world.ports, world.caller, { id, change: { on_exceed: 'queue' } })
    expect((await get(id)).paused_at).toBeNull()
  })
})
