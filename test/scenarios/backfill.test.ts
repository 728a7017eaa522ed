import { describe, expect } from 'vitest'
import { createStage } from './stage.ts'
import { ended, eventually } from './support.ts'
import { scenario } from './world.ts'

const HOUR = 3_600_000

/** So many hours that are over, the last of them just now. */
function hours(count: number): { readonly from: number; readonly to: number } {
  const to = Math.floor(Date.now() / HOUR) * HOUR
  return { from: to - count * HOUR, to }
}

describe.concurrent('a backfill', () => {
  scenario('goes on as its runs end, on two nodes, and leaves the schedule alone', async (world) => {
    const stage = createStage({ open: true })
    const agents = { worker: stage.handler }
    const [one, two] = [await world.start({ agents }), await world.start({ agents })]
    const timing = { agent_id: 'worker', cron: '0 * * * *', enabled: false, max_lateness_seconds: 1, alert_after: 1 }
    const { id } = await one.schedules.create({ ...timing, payload: 'x' })
    const before = await one.schedules.get(id)
    const begun = await two.schedules.backfill(id, hours(24))
    // One after the other: without being told of each ending it would take minutes.
    await eventually(async () => expect((await one.backfills.get(begun.id ?? '')).state).toBe('done'))
    expect(await two.backfills.get(begun.id ?? '')).toMatchObject({ ended: 24, counts: { success: 24 } })
    expect(stage.most()).toBe(1)
    expect(new Set(stage.acts.map(({ attempt }) => attempt.nominalTime)).size).toBe(24)
    expect(stage.acts).toHaveLength(24)
    expect(await one.schedules.get(id)).toEqual(before)
    expect(await world.database.outside('select id from escapement.alert')).toEqual([])
  })

  scenario('is ended with what works, if that is wanted', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      agent_id: 'worker',
      cron: '0 * * * *',
      payload: 'x',
      max_concurrency: 3,
    })
    const begun = await node.schedules.backfill(id, { ...hours(9), max_active: 3 })
    await stage.begunMany(3)
    const cancelled = await node.backfills.cancel(begun.id ?? '', { running: 'cancel' })
    expect(cancelled).toMatchObject({ state: 'cancelled', remaining: 6 })
    for (const run of cancelled.run_ids)
      expect(await ended(node, run)).toMatchObject({ status: 'cancelled', reason: 'backfill_cancelled' })
    await eventually(async () => expect((await node.backfills.get(begun.id ?? '')).counts).toEqual({ cancelled: 3 }))
    expect((await node.schedules.get(id)).failure_streak).toBe(0)
    expect((await node.backfills.list({ schedule_id: id })).items).toHaveLength(1)
  })
})
