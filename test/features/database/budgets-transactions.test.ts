import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BudgetInput } from '../../../src/features/budgets/schema.ts'
import { agentId, budgetId, laneName, runId } from '../../../src/domain/ids.ts'
import { HOUR_MS, later } from '../../../src/domain/instant.ts'
import { createBudget, getBudget, deleteBudget } from '../../../src/features/budgets/service.ts'
import { budgetLoads } from '../../../src/engine/commands/budgets.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import { ORG } from '../../platform/db/records.ts'
import { NOW } from '../../support/builders.ts'
import { aTask } from '../../engine/commands/cabinet.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('budget', 'usage', 'run', 'pending', 'node'))
afterAll(() => world.drop())

const create = (input: BudgetInput) => createBudget(world.ports, world.caller, input)

const taskWork = (name: string): Command<unknown> => ({
  orgId: ORG,
  needs: { agents: [agentId('writer')] },
  apply: (desk) => submit(desk, aTask({ agentId: agentId('writer'), content: { action: name } })),
})

describe('work that a budget makes wait', () => {
  it('goes on by itself when the next period begins', async () => {
    const { id } = await create({ unit: 'tokens', amount: 10, on_exceed: 'queue' })
    const node = await openNode(world)
    await node.turn(taskWork('one'), taskWork('two'))
    expect(node.started).toEqual(['one', 'two'])
    await node.turn(...node.reports(6))
    expect(await getBudget(world.ports, world.caller, id)).toMatchObject({ spent: 12, remaining: 0 })
    await node.turn(taskWork('three'))
    expect(node.started).toEqual(['one', 'two'])
    expect(node.memory.timers.next()).toBe(later(NOW, 12 * HOUR_MS))
    const [waiting] = node.memory.state.runs.values()
    const lane = { name: laneName('task'), size: 5, held: 0 }
    const why = node.memory.readyQueue.explain(waiting?.id ?? runId(''), {
      ...{ now: world.now, lane, catchup: { inFlight: 0, limit: 1 }, executable: true },
    })
    expect(why).toMatchObject({ reason: 'budget', evidence: { budget: id, remaining: 0 } })
    world.pass(12 * HOUR_MS)
    await node.turn()
    expect(node.started).toEqual(['one', 'two', 'three'])
    expect(await getBudget(world.ports, world.caller, id)).toMatchObject({ spent: 0, reserved: 6, remaining: 4 })
  })

  it('is told of what others started, used and gave back', async () => {
    const { id } = await create({ unit: 'tokens', amount: 100, on_exceed: 'queue', default_reserve: 40 })
    const [one, two] = [await openNode(world), await openNode(world)]
    await one.turn(taskWork('a'), taskWork('b'), taskWork('c'))
    await two.turn()
    expect([one.started, two.started]).toEqual([['a', 'b'], []])
    expect(budgetLoads(two.memory.state).get(budgetId(id))?.remaining).toBe(20)
    await one.turn(...one.reports(10).slice(0, 1))
    expect(one.started).toEqual(['a', 'b', 'c'])
    await two.turn(taskWork('d'))
    // The first of its kind used ten: so much is expected of the next.
    expect([two.started, budgetLoads(two.memory.state).get(budgetId(id))?.remaining]).toEqual([['d'], 30])
    const again = await openNode(world)
    await again.turn()
    expect(budgetLoads(again.memory.state)).toEqual(budgetLoads(two.memory.state))
    await deleteBudget(world.ports, world.caller, { id })
    await two.turn()
    expect([two.memory.state.budgets, [...two.memory.state.runs.values()].map((run) => run.state)]).toEqual([
      null,
      ['running', 'running', 'running'],
    ])
  })
})
