import { describe, expect } from 'vitest'
import type { RunView } from '../../src/contract/run.ts'
import { makeAndLeave, MINUTE, missSeconds, SECOND, setBack } from '../scenarios/downtime.ts'
import { createStage } from '../scenarios/stage.ts'
import { inShort, runsWhen, timeOf } from '../scenarios/support.ts'
import { scenario } from './world.ts'

const areOver = (runs: readonly RunView[]): boolean => runs.every((run) => run.finished_at !== null)

describe.concurrent('18: an every-second cron while the server is away for 5 s, over HTTP', () => {
  scenario('FIRE_NOW → 5 runs, SKIP → 1 and 4 skips, CATCH_UP_LIMITED 2 → the newest 2 and 3 skips', async (world) => {
    const { ids, moments } = await missSeconds(world, 5, [
      { misfire_policy: 'FIRE_NOW' },
      { misfire_policy: 'SKIP' },
      { misfire_policy: 'CATCH_UP_LIMITED', catchup_limit: 2 },
    ])
    const schedules = { catchup_spacing_ms: 50 }
    const node = await world.start({ agents: { worker: () => 'done' }, schedules })
    const expected = [
      Array<string>(5).fill('success'),
      [...Array<string>(4).fill('skipped/misfire'), 'success'],
      [...Array<string>(3).fill('skipped/misfire'), 'success', 'success'],
    ]
    for (const [index, id] of ids.entries()) {
      const runs = await runsWhen(node, id, (found) => found.length >= 5 && areOver(found))
      expect(runs.map(inShort), `schedule ${index}`).toEqual(expected[index])
      expect(runs.map((run) => timeOf(run.nominal_time))).toEqual(moments)
    }
  })

  scenario('a minute cron whose moment is seen 3 s later still fires under SKIP', async (world) => {
    const moment = Math.floor(Date.now() / SECOND) * SECOND - 3 * SECOND
    const cron = `${new Date(moment).getUTCSeconds()} * * * * *`
    const [id = ''] = await makeAndLeave(world, [{ cron, misfire_policy: 'SKIP' }])
    await setBack(world, id, moment - SECOND)
    const node = await world.start({ agents: { worker: () => 'done' } })
    const [run] = await runsWhen(node, id, (found) => found.length > 0 && areOver(found))
    expect([run?.status, run?.trigger, timeOf(run?.nominal_time ?? null)]).toEqual(['success', 'schedule', moment])
  })
})

describe.concurrent('19: a cron of every 5 minutes, over HTTP', () => {
  /** Every 5 minutes, the newest moment between 2 and 3 minutes ago. */
  const fiveMinutes = (): { readonly cron: string; readonly newest: number } => {
    const newest = Math.floor((Date.now() - 2 * MINUTE) / MINUTE) * MINUTE
    return { cron: `${new Date(newest).getUTCMinutes() % 5}-59/5 * * * *`, newest }
  }

  scenario('after 10 minutes is caught up by its policy and marked `catchup`', async (world) => {
    const { cron, newest } = fiveMinutes()
    const plan = { cron, timezone: 'UTC' }
    const ids = await makeAndLeave(world, [plan, { ...plan, misfire_policy: 'FIRE_NOW' }])
    for (const id of ids) await setBack(world, id, newest - 6 * MINUTE)
    const node = await world.start({ agents: { worker: () => 'done' }, schedules: { catchup_spacing_ms: 20 } })
    const seen = await Promise.all(
      ids.map(async (id) => {
        const runs = await runsWhen(node, id, (found) => found.length >= 2 && areOver(found))
        expect(runs.map((run) => timeOf(run.nominal_time))).toEqual([newest - 5 * MINUTE, newest])
        return runs.map((run) => (run.status === 'success' ? run.trigger : inShort(run)))
      }),
    )
    expect(seen).toEqual([
      ['skipped/misfire', 'catchup'],
      ['catchup', 'catchup'],
    ])
    const { items } = await node.runs.list({ trigger: 'catchup' })
    expect(items).toHaveLength(3)
  })

  scenario('after 3 days never runs the backlog: the gap is one recorded range', async (world) => {
    const { cron, newest } = fiveMinutes()
    const [id = ''] = await makeAndLeave(world, [{ cron, timezone: 'UTC', misfire_policy: 'FIRE_NOW' }])
    await setBack(world, id, newest - 3 * 24 * 60 * MINUTE)
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 20 } })
    const runs = await runsWhen(node, id, (found) => found.length >= 3 && areOver(found))
    expect(runs.map((run) => [inShort(run), run.trigger])).toEqual(Array(3).fill(['success', 'catchup']))
    expect(stage.acts).toHaveLength(3)
    const gap = await node.schedules.explain(id, newest - 24 * 60 * MINUTE)
    expect(gap).toMatchObject({ reason: 'misfire', run_id: null })
    expect(JSON.stringify(gap.evidence)).toContain('861')
  })
})
