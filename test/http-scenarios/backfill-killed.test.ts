import { describe, expect } from 'vitest'
import { createStage } from '../scenarios/stage.ts'
import { eventually } from '../scenarios/support.ts'
import { scenario } from './world.ts'

// Real processes: one is killed while it backfills, and another goes on where it stood.

const MOMENTS = 120
const LEASE_MS = 2_000
const VARIABLES = {
  ...{ ESCAPEMENT_NODE_LEASE_MS: String(LEASE_MS), ESCAPEMENT_NODE_RENEW_MS: '500', ESCAPEMENT_DATABASE_POOL: '4' },
}
const HOUR = 3_600_000

describe('a backfill whose server is killed half-way', () => {
  scenario('is taken to its end by another: every moment has its run, and none has two', async (world) => {
    const served = world.spawn([], VARIABLES, { entry: 'test/http-scenarios/program.ts' })
    const before = await world.join(served)
    await before.agents.update('worker', { retry_policy: { max_retries: 2, strategy: 'fixed', base_ms: 100 } })
    const { id: schedule } = await before.schedules.create({ agent_id: 'worker', cron: '0 * * * *', payload: 'tick' })
    const to = Math.floor(Date.now() / HOUR) * HOUR
    const range = { from: to - MOMENTS * HOUR, to }
    const pace = { max_active: 3, policy: 'beside', spacing_ms: 5 } as const
    const { id, total } = await before.client.schedules.backfill(schedule, { ...range, ...pace })
    expect(total).toBe(MOMENTS)
    if (id === null) throw new Error('it was not begun')
    await eventually(async () => expect((await before.client.backfills.get(id)).ended).toBeGreaterThan(15))
    served.child.kill('SIGKILL')
    await served.ended

    const stage = createStage({ open: true })
    const node = { lease_ms: LEASE_MS, renew_ms: 500 }
    const after = await world.start({ agents: { worker: stage.handler }, node })
    expect((await after.client.backfills.get(id)).ended).toBeLessThan(MOMENTS)
    await eventually(async () => expect((await after.client.backfills.get(id)).state).toBe('done'), 30_000)
    expect(await after.client.backfills.get(id)).toMatchObject({ ended: MOMENTS, counts: { success: MOMENTS } })
    const rows = await world.database.outside(
      `select count(*)::int as runs, count(distinct r.nominal_at)::int as moments, count(distinct r.job_run_id)::int as jobs,
              min(extract(epoch from r.nominal_at) * 1000)::float8 as first, bool_and(r.state = 'success') as succeeded
         from escapement.run r where r.schedule_id = $1 and r.trigger = 'manual'`,
      [schedule],
    )
    expect(rows).toEqual([{ runs: MOMENTS, moments: MOMENTS, jobs: MOMENTS, first: range.from, succeeded: true }])
    // What the first had done is not done again; what it held when it was killed is.
    expect(stage.started().length).toBeLessThan(MOMENTS - 10)
    expect((await after.schedules.get(schedule)).failure_streak).toBe(0)
  })
})
