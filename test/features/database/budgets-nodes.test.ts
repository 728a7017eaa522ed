import { describe, expect } from 'vitest'
import type { Escapement } from '../../../src/library/escapement.ts'
import { createStage, type Stage } from '../../scenarios/stage.ts'
import {
  chat,
  ended,
  eventually,
  inShort,
  inState,
  nothingFor,
  refused,
  runsWhen,
  send,
} from '../../scenarios/support.ts'
import { scenario } from '../../scenarios/world.ts'

/** A function whose attempts report that they used so much, half of it for what they said. */
const spending = (tokens: number): Stage =>
  createStage({
    open: true,
    then: (_, context) => {
      context.usage({ inputTokens: tokens / 2, outputTokens: tokens / 2, costMicros: tokens * 1_000 })
      return 'done'
    },
  })

const queued = async (node: Escapement): Promise<number> => (await node.runs.list({ status: 'queued' })).items.length

describe('two nodes on one database', () => {
  scenario('respect one budget exactly, and go on when it is raised or deleted', async (world) => {
    const stage = spending(100)
    const options = { agents: { worker: stage.handler } }
    const [one, two] = await Promise.all([world.start(options), world.start(options)])
    const { id } = await one.budgets.create({
      ...{ agent_id: 'worker', unit: 'tokens', amount: 1_000, on_exceed: 'queue', default_reserve: 100 },
    })
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        (n % 2 === 0 ? one : two).tasks.submit({ agentId: 'worker', action: `t${n}` }),
      ),
    )
    await eventually(async () => expect(await two.budgets.get(id)).toMatchObject({ spent: 1_000, reserved: 0 }))
    await nothingFor(300)
    expect(stage.acts).toHaveLength(10)
    expect(await queued(one)).toBe(20)
    const [waiting] = (await two.runs.list({ status: 'queued' })).items
    expect(await two.runs.explain(waiting?.id ?? '')).toMatchObject({ reason: 'budget', evidence: { budget: id } })
    await two.budgets.update(id, { amount: 1_550 })
    await eventually(async () => expect(await one.budgets.get(id)).toMatchObject({ spent: 1_500, remaining: 50 }))
    await nothingFor(300)
    expect(stage.acts).toHaveLength(15)
    await one.budgets.delete(id)
    await eventually(async () => expect(await queued(two)).toBe(0))
    await eventually(() => expect(stage.acts).toHaveLength(30))
    expect((await one.budgets.list()).items).toEqual([])
  })

  scenario('set aside for work on the other what it may still use', async (world) => {
    const stage = createStage()
    const options = { agents: { worker: stage.handler } }
    const [one, two] = await Promise.all([world.start(options), world.start(options)])
    const { id } = await one.budgets.create({ unit: 'tokens', amount: 100, on_exceed: 'skip', default_reserve: 50 })
    const first = await send(one, chat('a'), { text: 'a', debounce_ms: 0 })
    const second = await send(two, chat('b'), { text: 'b', debounce_ms: 0 })
    await stage.begunMany(2)
    expect(await two.budgets.get(id)).toMatchObject({ spent: 0, reserved: 100, remaining: 0 })
    const refusal = await refused(send(one, chat('c'), 'c'), 'BUDGET')
    expect(refusal.retryAfterMs).toBeGreaterThan(0)
    expect(await one.runs.get(refusal.runId ?? '')).toMatchObject({ status: 'rejected', reason: 'budget' })
    await refused(two.tasks.submit({ agentId: 'worker', action: 'x' }), 'BUDGET')
    await one.runs.cancel(first.run_id)
    await ended(two, first.run_id)
    const third = await send(two, chat('c'), { text: 'c', debounce_ms: 0 })
    await inState(one, third.run_id, 'running')
    stage.open()
    await Promise.all([second, third].map(({ run_id: run }) => ended(one, run)))
    await eventually(async () => expect(await one.budgets.get(id)).toMatchObject({ reserved: 0, remaining: 100 }))
  })

  scenario('skip occurrences of a schedule whose money is spent', async (world) => {
    const stage = spending(3_000)
    const one = await world.start({ agents: { worker: stage.handler } })
    await world.start({ agents: { worker: stage.handler } })
    const { id } = await one.schedules.create({
      agent_id: 'worker',
      every_seconds: 1,
      payload: { max_cost: 3 },
      enabled: false,
    })
    const budget = await one.budgets.create({ schedule_id: id, unit: 'money', amount: 4.5, on_exceed: 'pause' })
    await one.schedules.enable(id)
    const runs = await runsWhen(one, id, (found) => found.filter((run) => run.status === 'skipped').length >= 2)
    expect(runs.map(inShort).slice(0, 3)).toEqual(['success', 'skipped/budget', 'skipped/budget'])
    expect(await one.budgets.get(budget.id)).toMatchObject({ spent: 3, reserved: 0, remaining: 1.5 })
    await one.budgets.update(budget.id, { amount: 7 })
    await runsWhen(one, id, (found) => found.filter((run) => run.status === 'success').length >= 2)
  })
})
