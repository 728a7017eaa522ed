import { describe, expect } from 'vitest'
import type { AsCodeDocument } from '../../src/features/as-code/schema.ts'
import { createStage } from './stage.ts'
import { ended, refused, statusOf } from './support.ts'
import { scenario } from './world.ts'

const hourly = { name: 'Hourly', agent: 'worker', every_seconds: 3_600, payload: 'x' }
const document: AsCodeDocument = {
  version: 1,
  schedules: [{ ...hourly, budget: { unit: 'tokens', amount: 100 } }],
  budgets: [{ agent: 'worker', unit: 'tokens', amount: 1_000, on_exceed: 'queue' }],
}

describe.concurrent('a document', () => {
  scenario('is applied on one node while another works, and what goes lets what runs go on', async (world) => {
    const stage = createStage()
    const agents = { worker: stage.handler }
    const [one, two] = [await world.start({ agents }), await world.start({ agents })]
    await one.asCode.apply(document)
    const [schedule] = (await two.schedules.list()).items
    const id = schedule?.id ?? ''
    const first = await two.schedules.runNow(id)
    const parked = await one.schedules.runNow(id)
    await stage.begunMany(1)
    // What is refused, or only tried, leaves no trace on a node that works.
    const wrong = { ...document, budgets: [{ agent_id: 'nobody', unit: 'tokens' as const, amount: 1 }] }
    await refused(two.asCode.apply(wrong), 'VALIDATION')
    expect((await two.asCode.plan(document)).counts).toMatchObject({ unchanged: 2, create: 0, update: 0 })
    expect(await statusOf(two, parked.run_id ?? '')).toBe('queued')
    const gone = { version: 1 as const, schedules: [], budgets: [] }
    expect((await one.asCode.apply(gone, { query: { prune: true } })).counts).toMatchObject({ delete: 2 })
    expect(await ended(two, parked.run_id ?? '')).toMatchObject({ status: 'cancelled' })
    expect(await statusOf(one, first.run_id ?? '')).toBe('running')
    stage.open()
    expect(await ended(one, first.run_id ?? '')).toMatchObject({ status: 'success' })
    expect([(await two.budgets.list()).items, (await two.schedules.list()).items]).toEqual([[], []])
    expect((await two.asCode.export({ kinds: 'schedules,budgets' })).schedules).toEqual([])
    await two.asCode.apply(document)
    expect((await one.schedules.list()).items).toMatchObject([{ name: 'Hourly', budget: { amount: 100 } }])
  })
})
