import { describe, expect } from 'vitest'
import { makeAndLeave, MINUTE, missSeconds, SECOND, setBack } from '../downtime.ts'
import { createStage } from '../stage.ts'
import { inShort, runsWhen, timeOf } from '../support.ts'
import type { Declare } from './world.ts'

export const areOver = (runs: readonly { readonly finished_at: string | null }[]): boolean =>
  runs.every((run) => run.finished_at !== null)

/** Every 5 minutes, the newest moment between 2 and 3 minutes ago. */
export const fiveMinutes = (): { readonly cron: string; readonly newest: number } => {
  const newest = Math.floor((Date.now() - 2 * MINUTE) / MINUTE) * MINUTE
  return { cron: `${new Date(newest).getUTCMinutes() % 5}-59/5 * * * *`, newest }
}

export function misfireScenarios(scenario: Declare): void {
  describe.concurrent('18: an every-second cron while nobody looks for 5 s', () => {
    scenario(
      'FIRE_NOW → 5 runs, SKIP → 1 and 4 skips, CATCH_UP_LIMITED 2 → the newest 2 and 3 skips',
      async (world) => {
        const { ids, moments } = await missSeconds(world, 5, [
          { payload: 'all', misfire_policy: 'FIRE_NOW' },
          { payload: 'current', misfire_policy: 'SKIP' },
          { payload: 'newest', misfire_policy: 'CATCH_UP_LIMITED', catchup_limit: 2 },
          { payload: 'default' },
        ])
        const stage = createStage({ open: true })
        const node = await world.start({ agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 50 } })
        const skips = (count: number): readonly string[] => Array<string>(count).fill('skipped/misfire')
        const runs = (count: number): readonly string[] => Array<string>(count).fill('success')
        const expected = [runs(5), [...skips(4), ...runs(1)], [...skips(3), ...runs(2)], [...skips(4), ...runs(1)]]
        for (const [index, id] of ids.entries()) {
          const all = await runsWhen(node, id, (found) => found.length >= 5 && areOver(found))
          expect(all.map(inShort), `schedule ${index}`).toEqual(expected[index])
          expect(all.map((run) => timeOf(run.nominal_time))).toEqual(moments)
          const executed = all.filter((run) => run.status === 'success').map((run) => run.trigger)
          expect(executed).toEqual([...Array<string>(executed.length - 1).fill('catchup'), 'schedule'])
        }
        expect(stage.started().filter((label) => label === 'all')).toHaveLength(5)
      },
    )

    scenario('a minute cron whose moment is seen 3 s later still fires under SKIP', async (world) => {
      const moment = Math.floor(Date.now() / SECOND) * SECOND - 3 * SECOND
      const cron = `${new Date(moment).getUTCSeconds()} * * * * *`
      const [id = ''] = await makeAndLeave(world, [{ cron, misfire_policy: 'SKIP', payload: 'x' }])
      await setBack(world, id, moment - SECOND)
      const node = await world.start({ agents: { worker: () => 'done' } })
      const runs = await runsWhen(node, id, (found) => found.length > 0 && areOver(found))
      expect(runs.map((run) => [inShort(run), run.trigger, timeOf(run.nominal_time)])).toEqual([
        ['success', 'schedule', moment],
      ])
    })
  })

  describe.concurrent('19: a cron of every 5 minutes', () => {
    scenario('after 10 minutes is caught up by its policy and marked `catchup`', async (world) => {
      const { cron, newest } = fiveMinutes()
      const plan = { cron, timezone: 'UTC', payload: 'x' }
      const ids = await makeAndLeave(world, [
        plan,
        { ...plan, misfire_policy: 'FIRE_NOW' },
        { ...plan, misfire_policy: 'SKIP' },
      ])
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
        ['skipped/misfire', 'skipped/misfire'],
      ])
      const { items } = await node.runs.list({ trigger: 'catchup', status: 'success' })
      expect(items).toHaveLength(3)
    })

    scenario('after 3 days never runs the backlog: the gap is one recorded range', async (world) => {
      const { cron, newest } = fiveMinutes()
      const plan = { cron, timezone: 'UTC', payload: 'x' }
      const ids = await makeAndLeave(world, [plan, { ...plan, misfire_policy: 'FIRE_NOW' }])
      for (const id of ids) await setBack(world, id, newest - 3 * 24 * 60 * MINUTE)
      const stage = createStage({ open: true })
      const node = await world.start({ agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 20 } })
      const inWindow = 3
      for (const [index, id] of ids.entries()) {
        const taken = index === 0 ? 1 : inWindow
        const runs = await runsWhen(node, id, (found) => found.length >= taken && areOver(found))
        expect(runs.map((run) => [inShort(run), run.trigger])).toEqual(Array(taken).fill(['success', 'catchup']))
        const gap = await node.schedules.explain(id, { at: new Date(newest - 24 * 60 * MINUTE).toISOString() })
        expect(gap).toMatchObject({ reason: 'misfire', run_id: null })
        expect(JSON.stringify(gap.evidence)).toContain(String(864 - taken))
      }
      expect(stage.acts).toHaveLength(1 + inWindow)
    })
  })
}
