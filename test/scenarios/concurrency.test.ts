import { describe, expect } from 'vitest'
import { slotScenarios } from './both/schedules.ts'
import { createStage } from './stage.ts'
import { runsWhen } from './support.ts'
import { scenario } from './world.ts'

slotScenarios(scenario)

describe.concurrent('24: the slots of a schedule', () => {
  scenario('QUEUE is the default: occurrences of a slow run wait for it, in order', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', every_seconds: 1, max_fires: 3, payload: 'x' })
    await runsWhen(node, id, (found) => found.length === 3)
    expect(stage.acts).toHaveLength(1)
    stage.open()
    const runs = await runsWhen(node, id, (found) => found.every((run) => run.status === 'success'))
    expect(stage.acts.map((act) => act.attempt.runId)).toEqual(runs.map((run) => run.id))
    expect(stage.most()).toBe(1)
  })

  scenario('max_concurrency 2: two at once, the third waits; cancelling a waiting one frees nothing', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', cron: '0 0 1 1 *', max_concurrency: 2, payload: 'x' },
    })
    const ids: string[] = []
    for (let n = 0; n < 4; n += 1) ids.push((await node.schedules.runNow(id)).run_id ?? '')
    await stage.begunMany(2)
    expect((await node.runs.cancel(ids[2] ?? '')).status).toBe('cancelled')
    expect(await node.runs.get(ids[3] ?? '')).toMatchObject({ status: 'queued' })
    expect(stage.busy()).toBe(2)
    stage.acts[0]?.release()
    await stage.begunMany(3)
    expect(stage.acts[2]?.attempt.runId).toBe(ids[3])
    stage.open()
  })
})
