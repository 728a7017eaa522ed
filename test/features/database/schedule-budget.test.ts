import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { updateBudget, createBudget, findBudgets, deleteBudget } from '../../../src/features/budgets/service.ts'
import { updateSchedule, createSchedule, deleteSchedule, getSchedule } from '../../../src/features/schedules/service.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { scheduleInput, type ScheduleInput } from '../../../src/features/schedules/schema.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('budget', 'usage', 'schedule'))
afterAll(() => world.drop())

const caller = () => ({ ...world.caller, writesBudgets: true })
const readNew = schemaReader(scheduleInput)
const create = async (input: ScheduleInput) =>
  createSchedule(world.ports, caller(), readNew({ every_seconds: 60, ...input }))
const patch = (id: string, change: ScheduleInput) => updateSchedule(world.ports, caller(), { id, change })
const budgets = () => findBudgets(world.ports, world.caller)

describe('the budget of a schedule', () => {
  it('is made, shown, changed and removed with it', async () => {
    const { id, budget } = await create({ budget: { unit: 'tokens', amount: 500, default_reserve: 10 } })
    const own = `bud_${id.replace('sch_', '')}`
    const defaults = { period: 'day', timezone: 'UTC', on_exceed: 'skip' }
    expect(budget).toEqual({ id: own, unit: 'tokens', amount: 500, ...defaults, default_reserve: 10 })
    expect((await getSchedule(world.ports, world.caller, id)).budget).toEqual(budget)
    expect(await budgets()).toMatchObject([{ id: own, scope: 'schedule', schedule_id: id, amount: 500 }])
    await world.db.query(`insert into usage values ('acme', $1, '2026-01-15T00:00:00Z', 7)`, [own])
    const changed = await patch(id, { budget: { unit: 'tokens', amount: 900, on_exceed: 'queue' } })
    expect(changed.budget).toEqual({ ...budget, amount: 900, on_exceed: 'queue', default_reserve: 0 })
    expect(await budgets()).toMatchObject([{ id: own, amount: 900, on_exceed: 'queue', spent: 7 }])
    // Anything else leaves it alone.
    expect((await patch(id, { name: 'x' })).budget).toEqual(changed.budget)
    expect((await patch(id, { budget: null })).budget).toBeNull()
    expect([await budgets(), await world.rows('select * from usage')]).toEqual([[], []])
    expect((await patch(id, { budget: { unit: 'money', amount: 0.5 } })).budget).toMatchObject({ amount: 0.5 })
    await deleteSchedule(world.ports, world.caller, { id })
    expect(await budgets()).toEqual([])
  })

  it('that counts something else, or in other days, begins with nothing', async () => {
    const { id, budget } = await create({ budget: { unit: 'tokens', amount: 5 } })
    await world.db.query(`insert into usage values ('acme', $1, '2026-01-15T00:00:00Z', 4)`, [budget?.id ?? ''])
    await patch(id, { budget: { unit: 'tokens', amount: 5, period: 'month' } })
    expect(await budgets()).toMatchObject([{ id: budget?.id, period: 'month', spent: 0 }])
  })

  it('is refused with every flaw, named where it is', async () => {
    const bad = { unit: 'hours', amount: 0, agent_id: 'x' } as unknown as ScheduleInput['budget']
    await expect(create({ budget: bad })).rejects.toMatchObject({
      flaws: [{ field: 'budget.unit' }, { field: 'budget.amount' }, { field: 'budget.agent_id' }],
    })
    const worse = { unit: 'tokens', amount: 0, period: 'week' } as unknown as ScheduleInput['budget']
    await expect(create({ budget: worse })).rejects.toMatchObject({
      flaws: [{ field: 'budget.amount' }, { field: 'budget.period' }],
    })
    expect(await world.rows('select id from schedule')).toEqual([])
  })

  it('needs the permission to write budgets, also to take it away', async () => {
    const member = { ...world.caller, principal: 'key_member' }
    const given = { every_seconds: 60, budget: { unit: 'tokens', amount: 5 } } as const
    await expect(createSchedule(world.ports, member, given)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const { id } = await create({ budget: { unit: 'tokens', amount: 5 } })
    const removal = updateSchedule(world.ports, member, { id, change: { budget: null } })
    await expect(removal).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await createSchedule(world.ports, { ...member, writesBudgets: true }, given)
    expect((await updateSchedule(world.ports, member, { id, change: { name: 'y' } })).name).toBe('y')
  })

  it('and the schedule say the same, whichever of them is changed', async () => {
    const { id, budget } = await create({ budget: { unit: 'tokens', amount: 5 } })
    const own = budget?.id ?? ''
    await updateBudget(world.ports, world.caller, { id: own, change: { amount: 8 } })
    expect(await getSchedule(world.ports, world.caller, id)).toMatchObject({ version: 2, budget: { amount: 8 } })
    await deleteBudget(world.ports, world.caller, { id: own })
    expect(await getSchedule(world.ports, world.caller, id)).toMatchObject({ version: 3, budget: null })
    const { id: another } = await createBudget(world.ports, world.caller, {
      schedule_id: id,
      unit: 'tokens',
      amount: 1,
    })
    expect((await getSchedule(world.ports, world.caller, id)).budget).toBeNull()
    expect(another).not.toBe(own)
    await deleteSchedule(world.ports, world.caller, { id })
    expect(await budgets()).toEqual([])
  })

  it('is on the audit log', async () => {
    const { id, budget } = await create({ budget: { unit: 'tokens', amount: 5 } })
    await patch(id, { budget: null })
    const found = await world.rows(`select action from audit where object_id = '${budget?.id}' order by no`)
    expect(found.map(({ action }) => action)).toEqual(['budget.create', 'budget.delete'])
  })
})
