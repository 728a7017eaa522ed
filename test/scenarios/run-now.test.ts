import { describe, expect } from 'vitest'
import { runNowScenarios } from './both/schedules.ts'
import { createStage } from './stage.ts'
import { ended, inState, refused } from './support.ts'
import { scenario } from './world.ts'

runNowScenarios(scenario)

describe.concurrent('29: run-now', () => {
  scenario('runs a disabled schedule and leaves its plan alone', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 7 * * *', enabled: false, payload: 'x' })
    const before = await node.schedules.get(id)
    expect(before).toMatchObject({ state: 'paused', enabled: false })
    const answer = await node.schedules.runNow(id)
    expect(answer.ran).toBe(true)
    expect(await ended(node, answer.run_id ?? '')).toMatchObject({
      ...{ status: 'success', trigger: 'manual', schedule_id: id },
      decision: { reason: 'run_now' },
    })
    const after = await node.schedules.get(id)
    for (const field of ['state', 'enabled', 'next_run_at', 'cron', 'version'] as const)
      expect(after[field], field).toEqual(before[field])
  })

  scenario('does not move the next occurrence of an enabled one', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const made = await node.schedules.create({ agent_id: 'worker', every_seconds: 3_600, payload: 'x' })
    const { run_id: id = '' } = await node.schedules.runNow(made.id)
    await ended(node, id)
    expect((await node.schedules.get(made.id)).next_run_at).toBe(made.next_run_at)
  })

  scenario('policy SKIP and full: refused with CONCURRENCY_LIMIT, and nothing is made', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', cron: '0 7 * * *', concurrency_policy: 'SKIP', payload: 'x' },
    })
    await node.schedules.runNow(id)
    await stage.begunMany(1)
    await refused(node.schedules.runNow(id), 'CONCURRENCY_LIMIT')
    const { items } = await node.schedules.runs(id)
    expect(items).toHaveLength(1)
    stage.open()
    await ended(node, items[0]?.id ?? '')
    expect((await node.schedules.runNow(id)).ran).toBe(true)
  })

  scenario('policy QUEUE and full: it waits for the slot', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 7 * * *', payload: 'x' })
    await node.schedules.runNow(id)
    const { run_id: second = '' } = await node.schedules.runNow(id)
    await stage.begunMany(1)
    await inState(node, second, 'queued')
    expect(await node.runs.explain(second)).toMatchObject({ reason: 'schedule_limit' })
    stage.open()
    expect((await ended(node, second)).status).toBe('success')
    expect(stage.most()).toBe(1)
  })

  scenario('overlap SKIP does not apply to it', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', cron: '0 7 * * *', overlap_action: 'SKIP', max_concurrency: 2, payload: 'x' },
    })
    await node.schedules.runNow(id)
    await node.schedules.runNow(id)
    await stage.begunMany(2)
  })

  scenario('mode `due`: not due → {ran: false}', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'x' })
    expect(await node.schedules.runNow(id, { mode: 'due' })).toEqual({ ran: false, reason: 'not-due' })
    expect((await node.schedules.runs(id)).items).toEqual([])
    await refused(node.schedules.runNow('sch_unknown'), 'NOT_FOUND')
  })
})
