import { describe, expect } from 'vitest'
import { makeAndLeave, MINUTE, missSeconds, SECOND, setBack } from './downtime.ts'
import { createStage } from './stage.ts'
import { eventually, inMs, inShort, nothingFor, runsWhen, timeOf, until } from './support.ts'
import { scenario } from './world.ts'

const isOver = (runs: readonly { readonly finished_at: string | null }[]): boolean =>
  runs.every((run) => run.finished_at !== null)

describe.concurrent('18: an every-second cron while the engine stalls for 5 s', () => {
  scenario('FIRE_NOW → 5 runs, SKIP → 1 and 4 skips, CATCH_UP_LIMITED 2 → the newest 2 and 3 skips', async (world) => {
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
      const all = await runsWhen(node, id, (found) => found.length >= 5 && isOver(found))
      expect(all.map(inShort), `schedule ${index}`).toEqual(expected[index])
      expect(all.map((run) => timeOf(run.nominal_time))).toEqual(moments)
      const executed = all.filter((run) => run.status === 'success').map((run) => run.trigger)
      expect(executed).toEqual([...Array<string>(executed.length - 1).fill('catchup'), 'schedule'])
    }
    expect(stage.started().filter((label) => label === 'all')).toHaveLength(5)
  })

  scenario('a minute cron whose moment is seen 3 s later still fires under SKIP', async (world) => {
    const moment = Math.floor(Date.now() / SECOND) * SECOND - 3 * SECOND
    const cron = `${new Date(moment).getUTCSeconds()} * * * * *`
    const [id = ''] = await makeAndLeave(world, [{ cron, misfire_policy: 'SKIP', payload: 'x' }])
    await setBack(world, id, moment - SECOND)
    const node = await world.start({ agents: { worker: () => 'done' } })
    const runs = await runsWhen(node, id, (found) => found.length > 0 && isOver(found))
    expect(runs.map((run) => [inShort(run), run.trigger, timeOf(run.nominal_time)])).toEqual([
      ['success', 'schedule', moment],
    ])
  })

  scenario('what is made up for starts in order, spaced, the current one last', async (world) => {
    const { ids, moments } = await missSeconds(world, 4, [
      { payload: 'x', misfire_policy: 'FIRE_NOW', concurrency_policy: 'PARALLEL' },
    ])
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 300 } })
    const runs = await runsWhen(node, ids[0] ?? '', (found) => found.length >= 4 && isOver(found))
    expect(stage.acts.map((act) => act.attempt.nominalTime)).toEqual(moments)
    for (const [index, run] of runs.entries())
      expect(timeOf(run.started_at) - timeOf(run.created_at)).toBeGreaterThanOrEqual(index * 300)
  })

  scenario('a restart is no stampede: so many catch-ups at once and no more', async (world) => {
    const past = Date.now() - 3 * MINUTE
    const cron = `${new Date(past).getUTCMinutes()} * * * *`
    const ids = await makeAndLeave(
      world,
      Array.from({ length: 5 }, (_, n) => ({ cron, timezone: 'UTC', payload: String(n) })),
    )
    for (const id of ids) await setBack(world, id, past - MINUTE)
    const stage = createStage()
    const node = await world.start({
      agents: { worker: stage.handler },
      schedules: { catchup_max_active: 2, catchup_spacing_ms: 0 },
    })
    await stage.begunMany(2)
    await nothingFor(200)
    expect(stage.busy()).toBe(2)
    const { items } = await node.runs.list({ trigger: 'catchup', status: 'queued' })
    expect(items).toHaveLength(3)
    expect(await node.runs.explain(items[0]?.id ?? '')).toMatchObject({ reason: 'catchup_limit' })
    stage.open()
    for (const id of ids) await runsWhen(node, id, (found) => found.length === 1 && isOver(found))
    expect(stage.most()).toBe(2)
  })
})

describe.concurrent('19: a cron of every 5 minutes', () => {
  /** Every 5 minutes, the newest moment between 2 and 3 minutes ago. */
  const fiveMinutes = (): { readonly cron: string; readonly newest: number } => {
    const newest = Math.floor((Date.now() - 2 * MINUTE) / MINUTE) * MINUTE
    return { cron: `${new Date(newest).getUTCMinutes() % 5}-59/5 * * * *`, newest }
  }

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
        const runs = await runsWhen(node, id, (found) => found.length >= 2 && isOver(found))
        expect(runs.map((run) => timeOf(run.nominal_time))).toEqual([newest - 5 * MINUTE, newest])
        return runs.map((run) => (run.status === 'success' ? run.trigger : inShort(run)))
      }),
    )
    expect(seen).toEqual([
      ['skipped/misfire', 'catchup'],
      ['catchup', 'catchup'],
      ['skipped/misfire', 'skipped/misfire'],
    ])
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
      const runs = await runsWhen(node, id, (found) => found.length >= taken && isOver(found))
      expect(runs.map((run) => [inShort(run), run.trigger])).toEqual(Array(taken).fill(['success', 'catchup']))
      const gap = await node.schedules.explain(id, new Date(newest - 24 * 60 * MINUTE).toISOString())
      expect(gap).toMatchObject({ reason: 'misfire', run_id: null })
      expect(JSON.stringify(gap.evidence)).toContain(String(864 - taken))
    }
    expect(stage.acts).toHaveLength(1 + inWindow)
  })

  scenario('explains any occurrence of its plan', async (world) => {
    const { cron, newest } = fiveMinutes()
    const [id = ''] = await makeAndLeave(world, [{ cron, timezone: 'UTC', payload: 'x' }])
    await setBack(world, id, newest - 6 * MINUTE)
    const node = await world.start({ agents: { worker: () => 'done' } })
    const [skipped, run] = await runsWhen(node, id, (found) => found.length >= 2 && isOver(found))
    expect(await node.schedules.explain(id, newest)).toMatchObject({
      ...{ run_id: run?.id, status: 'success', reason: 'caught_up', rule: 'misfire_policy=CATCH_UP_LIMITED' },
      at: new Date(newest).toISOString(),
    })
    expect(await node.schedules.explain(id, newest - 5 * MINUTE)).toMatchObject({
      ...{ run_id: skipped?.id, status: 'skipped', reason: 'misfire' },
    })
  })
})

describe.concurrent('a reminder that was missed', () => {
  scenario('fires late, as `catchup`', async (world) => {
    const before = await world.start({ agents: { worker: () => 'too early' } })
    const at = inMs(3_000)
    const { id } = await before.schedules.create({ agent_id: 'worker', at, payload: 'remember' })
    await before.stop()
    await until(timeOf(at) + 2_200)
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, schedules: { misfire_grace_seconds: 1 } })
    await stage.begun('remember')
    await eventually(async () => {
      const { items } = await node.runs.list({ schedule_id: id })
      expect(items.map((run) => [run.status, run.trigger, run.nominal_time])).toEqual([['success', 'catchup', at]])
    })
  })
})
