import { describe, expect } from 'vitest'
import { atScenarios } from './both/schedules.ts'
import { createStage } from './stage.ts'
import { ended, eventually, inMs, timeOf } from './support.ts'
import { scenario } from './world.ts'

atScenarios(scenario)

describe.concurrent('27: an `at` job', () => {
  scenario('with delete_after_run false stays as finished', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', at: inMs(3_000), payload: 'x', delete_after_run: false },
    })
    await eventually(async () =>
      expect(await node.schedules.get(id)).toMatchObject({ state: 'finished', last_status: 'success' }),
    )
  })

  scenario('whose run is cancelled stays as finished', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', at: inMs(3_000), payload: 'x' })
    const act = await stage.begun('x')
    await node.runs.cancel(act.attempt.runId)
    await eventually(async () => expect((await node.schedules.get(id)).state).toBe('finished'))
  })

  scenario('can be moved before it fires, and fires once', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', at: inMs(3_600_000), payload: 'x' })
    const at = inMs(3_000)
    expect((await node.schedules.update(id, { at })).next_run_at).toBe(at)
    const act = await stage.begun('x')
    expect(act.attempt.nominalTime).toBe(timeOf(at))
    await ended(node, act.attempt.runId)
    expect(stage.acts).toHaveLength(1)
  })

  scenario('that is run by hand beforehand still comes', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', at: inMs(3_000), payload: 'x' })
    const { run_id: manual = '' } = await node.schedules.runNow(id)
    expect(await ended(node, manual)).toMatchObject({ status: 'success', trigger: 'manual' })
    expect(await node.schedules.get(id)).toMatchObject({ state: 'active' })
    const [, act] = await stage.begunMany(2)
    expect(act?.attempt.trigger).toBe('schedule')
  })
})
