import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { budgetInput, budgetPatch, type BudgetInput, type BudgetPatch } from '../../../src/features/budgets/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import {
  updateBudget,
  createBudget,
  findBudgets,
  getBudget,
  deleteBudget,
} from '../../../src/features/budgets/service.ts'
import { createSchedule } from '../../../src/features/schedules/service.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('budget', 'usage', 'run', 'pending'))
afterAll(() => world.drop())

const create = async (input: BudgetInput) => createBudget(world.ports, world.caller, schemaReader(budgetInput)(input))
const change = async (id: string, patch: BudgetPatch) =>
  updateBudget(world.ports, world.caller, { id, change: schemaReader(budgetPatch)(patch) })

describe('a budget', () => {
  it('is made for the org, an agent or a schedule', async () => {
    const org = await create({ unit: 'tokens', amount: 1_000 })
    expect(org).toEqual({
      ...{ id: org.id, org_id: 'acme', scope: 'org', agent_id: null, schedule_id: null, owner: null },
      ...{ unit: 'tokens', amount: 1_000, period: 'day', timezone: 'UTC', on_exceed: 'skip', default_reserve: 0 },
      ...{ spent: 0, reserved: 0, remaining: 1_000, paused_at: null, alerts: [] },
      ...{ period_start: '2026-01-15T00:00:00.000Z', period_end: '2026-01-16T00:00:00.000Z' },
      created_at: '2026-01-15T12:00:00.000Z',
    })
    const { id: schedule } = await createSchedule(world.ports, world.caller, { every_seconds: 60 })
    const more = { timezone: 'europe/berlin', period: 'month', on_exceed: 'queue', default_reserve: 0.25 } as const
    expect(await create({ agent_id: 'reader', unit: 'money', amount: 12.5, ...more })).toMatchObject({
      ...{ scope: 'agent', agent_id: 'reader', amount: 12.5, default_reserve: 0.25, remaining: 12.5 },
      ...{ timezone: 'Europe/Berlin', period_start: '2025-12-31T23:00:00.000Z' },
    })
    expect(await create({ schedule_id: schedule, unit: 'tokens', amount: 5 })).toMatchObject({ scope: 'schedule' })
    expect(await world.rows('select amount from budget order by amount')).toMatchObject([
      { amount: 5 },
      { amount: 1_000 },
      { amount: 12_500_000 },
    ])
    expect(await findBudgets(world.ports, world.caller)).toHaveLength(3)
    expect(await findBudgets(world.ports, world.stranger)).toEqual([])
    await expect(getBudget(world.ports, world.stranger, org.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is refused with every flaw', async () => {
    const bad = { ...{ agent_id: 'a', schedule_id: 's', amount: 0.5, perod: 'day' }, on_exceed: 'stop' }
    await expect(create(bad as unknown as BudgetInput)).rejects.toMatchObject({
      code: 'VALIDATION',
      flaws: [
        { field: 'perod' },
        { field: 'unit' },
        { field: 'schedule_id' },
        { field: 'amount' },
        { field: 'on_exceed' },
      ],
    })
    const flaws = (input: Partial<BudgetInput>) =>
      create({ unit: 'money', amount: 1, ...input }).then(
        () => [],
        (error: unknown) => (error as { flaws: { field: string; message: string }[] }).flaws.map((f) => f.message),
      )
    expect(await flaws({ amount: 0.000_000_1 })).toEqual(['is out of range'])
    expect(await flaws({ amount: 1.234_567_8 })).toEqual(['has more than six decimals'])
    expect(await flaws({ default_reserve: 2 })).toEqual(['is more than amount'])
    expect(await flaws({ timezone: 'Mars/Olympus' })).toEqual(['is not a known time zone'])
    expect(await flaws({ agent_id: 'nobody' })).toEqual(['is not an agent of the org'])
    expect(await flaws({ schedule_id: 'none' })).toEqual(['is not a schedule of the org'])
    await expect(create('x' as unknown as BudgetInput)).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('changes in its amount, its action and its reserve, and in nothing else', async () => {
    const { id } = await create({ unit: 'tokens', amount: 10, default_reserve: 5 })
    expect(await change(id, { amount: 20, on_exceed: 'pause' })).toMatchObject({
      ...{ amount: 20, on_exceed: 'pause', default_reserve: 5 },
    })
    await expect(change(id, { unit: 'money', amont: 1 } as unknown as BudgetPatch)).rejects.toMatchObject({
      flaws: [{ field: 'unit', message: 'never changes' }, { field: 'amont' }],
    })
    await expect(change(id, { amount: 3 })).rejects.toMatchObject({ flaws: [{ field: 'amount' }] })
    await expect(change('none', { amount: 3 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const events = await world.rows(`select e.value from turn, json_array_elements(events) e order by no`)
    expect(events.at(-1)).toEqual({ value: ['budget.changed', id, { change: 'updated' }] })
  })

  it('goes, and with it what it counted', async () => {
    const { id } = await create({ unit: 'tokens', amount: 10 })
    await deleteBudget(world.ports, world.caller, { id })
    await expect(getBudget(world.ports, world.caller, id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(deleteBudget(world.ports, world.caller, { id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
