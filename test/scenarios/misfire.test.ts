import { describe, expect } from 'vitest'
import type { RunView } from '../../src/features/runs/schema.ts'
import { areOver, fiveMinutes, misfireScenarios } from './both/misfire.ts'
import { makeAndLeave, MINUTE, missSeconds, setBack } from './downtime.ts'
import { createStage } from './stage.ts'
import { SAMPLE_POLICIES } from '../support/seed-003-sample.ts'
import { eventually, inMs, inShort, nothingFor, runsWhen, timeOf, until } from './support.ts'
import { scenario } from './world.ts'

misfireScenarios(scenario)

describe.concurrent('18: an every-second cron while the engine stalls for 5 s', () => {
  scenario('what is made up for starts in order, spaced, the current one last', async (world) => {
    const { ids, moments } = await missSeconds(world, 4, [
      { payload: 'x', misfire_policy: 'FIRE_NOW', concurrency_policy: 'PARALLEL' },
    ])
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 300 } })
    const runs = await runsWhen(node, ids[0] ?? '', (found) => found.length >= 4 && areOver(found))
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
    for (const id of ids) await runsWhen(node, id, (found) => found.length === 1 && areOver(found))
    expect(stage.most()).toBe(2)
  })
})

describe.concurrent('19: a cron of every 5 minutes', () => {
  scenario('explains any occurrence of its plan', async (world) => {
    const { cron, newest } = fiveMinutes()
    const [id = ''] = await makeAndLeave(world, [{ cron, timezone: 'UTC', payload: 'x' }])
    await setBack(world, id, newest - 6 * MINUTE)
    const node = await world.start({ agents: { worker: () => 'done' } })
    const [skipped, run] = await runsWhen(node, id, (found) => found.length >= 2 && areOver(found))
    expect(await node.schedules.explain(id, { at: newest })).toMatchObject({
      ...{ run_id: run?.id, status: 'success', reason: 'caught_up', rule: 'misfire_policy=CATCH_UP_LIMITED' },
      at: new Date(newest).toISOString(),
    })
    expect(await node.schedules.explain(id, { at: newest - 5 * MINUTE })).toMatchObject({
      ...{ run_id: skipped?.id, status: 'skipped', reason: 'misfire' },
    })
  })
})

describe.concurrent('made-up occurrences are held until their time', () => {
  scenario('the sample of the seed makes up three of three after a stall', async (world) => {
    const { ids, moments } = await missSeconds(world, 12, [{ ...SAMPLE_POLICIES, payload: 'demo-task' }])
    const stage = createStage({ open: true })
    // With one place each is released when the one before has ended, however long that takes on a busy machine.
    const schedules = { catchup_spacing_ms: 500, catchup_max_active: 1 }
    const node = await world.start({ agents: { worker: stage.handler }, schedules })
    const runs = await runsWhen(node, ids[0] ?? '', (found) => found.length >= 12 && areOver(found))
    expect(runs.map(inShort)).toEqual([...Array<string>(9).fill('skipped/misfire'), 'success', 'success', 'success'])
    expect(stage.acts.map((act) => act.attempt.nominalTime)).toEqual(moments.slice(-3))
    expect(runs.slice(-2).map((run) => [run.held_decision?.reason, run.decision.reason])).toEqual([
      ['held', 'caught_up'],
      ['held', 'due'],
    ])
  })

  scenario('FIRE_NOW after 15 minutes makes up 15 of 15 minutes, whatever queue_depth says', async (world) => {
    const last = Math.floor(Date.now() / MINUTE) * MINUTE
    const plan = {
      cron: '* * * * *',
      timezone: 'UTC',
      misfire_policy: 'FIRE_NOW',
      catchup_window_seconds: 1800,
    } as const
    const [id = ''] = await makeAndLeave(world, [{ ...plan, queue_depth: 1, payload: 'x' }])
    await setBack(world, id, last - 15 * MINUTE)
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 20 } })
    const isMissed = (run: { readonly nominal_time: string | null }): boolean => timeOf(run.nominal_time) <= last
    // The first is at work all the time, so that all others come to wait for its slot.
    await eventually(async () => {
      const { items } = await node.runs.list({ schedule_id: id, status: 'queued' })
      expect(items.filter(isMissed)).toHaveLength(14)
    })
    stage.open()
    const runs = await runsWhen(node, id, (found) => areOver(found.filter(isMissed)))
    expect(runs.filter(isMissed).map(inShort)).toEqual(Array<string>(15).fill('success'))
  })

  scenario('overlap is decided at the release: SKIP skips while the one before goes on', async (world) => {
    const { ids } = await missSeconds(world, 3, [{ misfire_policy: 'FIRE_NOW', overlap_action: 'SKIP', payload: 'x' }])
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 20 } })
    const isDecided = (run: { readonly reason: string | null }): boolean => run.reason !== 'held'
    const runs = await runsWhen(node, ids[0] ?? '', (found) => found.length >= 3 && found.every(isDecided))
    expect(runs.map(inShort).slice(1)).toEqual(['skipped/overlap', 'skipped/overlap'])
    const [first, second] = runs
    const told = await node.runs.explain(second?.id ?? '')
    expect(told).toMatchObject({
      ...{ reason: 'overlap', held_decision: { reason: 'held' }, evidence: { previous_run: first?.id } },
    })
    expect(told.steps.filter(({ stage: of }) => of === 'policies').map(({ state }) => state)).toEqual([
      ...['passed', 'passed', 'passed', 'closed', 'not_reached', 'not_reached'],
    ])
    stage.open()
    await runsWhen(node, ids[0] ?? '', areOver)
  })

  scenario('disable and delete end what is held, and it counts as no failure', async (world) => {
    const plan = { misfire_policy: 'FIRE_NOW', concurrency_policy: 'PARALLEL', payload: 'x' } as const
    const { ids } = await missSeconds(world, 3, [plan, plan])
    const node = await world.start({ agents: { worker: () => 'done' }, schedules: { catchup_spacing_ms: 600_000 } })
    for (const [index, id] of ids.entries()) {
      const isBegun = (found: readonly RunView[]): boolean => found.length >= 3 && found[0]?.status === 'success'
      const [first, second] = await runsWhen(node, id, isBegun)
      expect([first?.status, second?.status, second?.reason]).toEqual(['success', 'waiting', 'held'])
      expect(await node.runs.explain(second?.id ?? '')).toMatchObject({ reason: 'held', status: 'waiting' })
      if (index === 0) expect(await node.schedules.disable(id)).toMatchObject({ state: 'paused', failure_streak: 0 })
      else await node.schedules.delete(id)
      const runs = await runsWhen(node, id, areOver)
      expect(runs.slice(1).map(({ status, reason }) => `${status}/${reason ?? ''}`)).toEqual([
        ...['cancelled/schedule_disabled', 'cancelled/schedule_disabled'],
      ])
    }
    expect(await node.schedules.get(ids[0] ?? '')).toMatchObject({ failure_streak: 0, last_status: 'success' })
  })

  scenario('after a restart all are overdue, and still keep their distance', async (world) => {
    const { ids, moments } = await missSeconds(world, 3, [{ ...SAMPLE_POLICIES, payload: 'x' }])
    const before = await world.start({ agents: { worker: () => 'done' }, schedules: { catchup_spacing_ms: 600_000 } })
    await runsWhen(before, ids[0] ?? '', (found) => found.length >= 3 && found[0]?.status === 'success')
    await before.stop()
    await world.database.outside(`update escapement.pending set not_before = now() - interval '1 minute'`, [])
    const stage = createStage({ open: true })
    const schedules = { catchup_spacing_ms: 700, catchup_max_active: 1 }
    const node = await world.start({ agents: { worker: stage.handler }, schedules })
    const runs = await runsWhen(node, ids[0] ?? '', areOver)
    expect(runs.map(inShort)).toEqual(['success', 'success', 'success'])
    expect(stage.acts.map((act) => act.attempt.nominalTime)).toEqual(moments.slice(1))
    const [, second, third] = runs.map((run) => timeOf(run.started_at))
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(700)
  })

  scenario('two nodes release each of them once', async (world) => {
    const plan = { misfire_policy: 'FIRE_NOW', concurrency_policy: 'PARALLEL', payload: 'x' } as const
    const { ids, moments } = await missSeconds(world, 8, [plan])
    const stage = createStage({ open: true })
    const options = { agents: { worker: stage.handler }, schedules: { catchup_spacing_ms: 100 } }
    const [node] = await Promise.all([world.start(options), world.start(options)])
    const runs = await runsWhen(node, ids[0] ?? '', (found) => found.length >= 8 && areOver(found))
    expect(runs.map(inShort)).toEqual(Array<string>(8).fill('success'))
    expect(stage.acts.map((act) => Number(act.attempt.nominalTime)).toSorted()).toEqual(moments)
  })

  scenario('what finds no free place stays held until one is free', async (world) => {
    const plan = { misfire_policy: 'FIRE_NOW', concurrency_policy: 'PARALLEL', payload: 'x' } as const
    const { ids } = await missSeconds(world, 5, [plan])
    const stage = createStage()
    const node = await world.start({
      agents: { worker: stage.handler },
      schedules: { catchup_max_active: 2, catchup_spacing_ms: 1 },
    })
    await stage.begunMany(2)
    const { items } = await node.runs.list({ schedule_id: ids[0] ?? '', status: 'waiting' })
    expect(items.map((run) => run.reason)).toEqual(['held', 'held', 'held'])
    expect(await node.runs.explain(items[0]?.id ?? '')).toMatchObject({ reason: 'catchup_limit' })
    stage.open()
    await runsWhen(node, ids[0] ?? '', (found) => found.every((run) => run.status === 'success'))
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
