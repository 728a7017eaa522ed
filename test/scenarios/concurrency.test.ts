import { describe, expect } from 'vitest'
import { missSeconds } from './downtime.ts'
import { createStage } from './stage.ts'
import { ended, inShort, runsWhen } from './support.ts'
import { scenario } from './world.ts'

describe.concurrent('24: the slots of a schedule', () => {
  scenario('SKIP, max 1, three catch-up occurrences, idle: 1 run, 2 skips', async (world) => {
    const { ids } = await missSeconds(world, 3, [
      { payload: 'x', misfire_policy: 'FIRE_NOW', concurrency_policy: 'SKIP', max_concurrency: 1 },
    ])
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 20 } })
    await stage.begunMany(1)
    const runs = await runsWhen(node, ids[0] ?? '', (found) => found.every((run) => run.reason !== 'held'))
    expect(runs.map(inShort)).toEqual(['running', 'skipped/concurrency', 'skipped/concurrency'])
    stage.open()
    await runsWhen(node, ids[0] ?? '', (found) => found[0]?.status === 'success')
    expect(stage.acts).toHaveLength(1)
  })

  scenario('QUEUE with depth 2, full: the third waiting one is skipped', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', every_seconds: 1, payload: 'x', misfire_policy: 'SKIP', queue_depth: 2 },
    })
    const isFull = (run: { readonly reason: string | null }): boolean => run.reason === 'queue_full'
    const found = await runsWhen(node, id, (all) => all.some(isFull))
    await node.schedules.disable(id)
    // A second that was seen late on a busy machine is none of the four.
    const runs = found.filter((run) => run.reason !== 'misfire').slice(0, 4)
    expect(runs.map(inShort)).toEqual(['running', 'queued', 'queued', 'skipped/queue_full'])
    expect(await node.runs.explain(runs[1]?.id ?? '')).toMatchObject({ reason: 'schedule_limit' })
    stage.open()
    expect((await ended(node, runs[2]?.id ?? '')).status).toBe('success')
    expect(stage.acts.map((act) => act.attempt.runId)).toEqual(runs.slice(0, 3).map((run) => run.id))
    expect(stage.most()).toBe(1)
  })

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
