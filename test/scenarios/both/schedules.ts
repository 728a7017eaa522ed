import { describe, expect } from 'vitest'
import { missSeconds } from '../downtime.ts'
import { createStage } from '../stage.ts'
import { decidedWhen, ended, eventually, inMs, inShort, refused, runsWhen, timeOf } from '../support.ts'
import type { Declare } from './world.ts'

export const everySecond = { agent_id: 'worker', every_seconds: 1, payload: 'x' } as const

export function zoneScenarios(scenario: Declare): void {
  describe.concurrent('15: a cron in a zone', () => {
    scenario('fires by the clock there, and moves at once when the zone is changed', async (world) => {
      const node = await world.start({ agents: { worker: () => 'done' } })
      // The clock of a server cannot be set, so that the schedule itself begins on such a day.
      const made = await node.schedules.create({
        agent_id: 'worker',
        cron: '0 7 * * *',
        timezone: 'Asia/Shanghai',
        payload: 'morning',
        starts_at: '2030-01-15T00:00:00Z',
      })
      expect(made).toMatchObject({ kind: 'cron', state: 'active', next_run_at: '2030-01-15T23:00:00.000Z' })
      const moved = await node.schedules.update(made.id, { timezone: 'UTC' })
      expect(moved.next_run_at).toBe('2030-01-15T07:00:00.000Z')
      expect((await node.schedules.get(made.id)).next_run_at).toBe('2030-01-15T07:00:00.000Z')
    })
  })
}

export function overlapScenarios(scenario: Declare): void {
  describe.concurrent('an occurrence while the previous run is pending', () => {
    scenario('20: overlap SKIP: skipped, and again for the second and third while it runs', async (world) => {
      const stage = createStage()
      const node = await world.start({ agents: { worker: stage.handler } })
      const { id } = await node.schedules.create({ ...everySecond, overlap_action: 'skip' as 'SKIP' })
      const runs = await decidedWhen(node, id, (found) => found.length >= 4)
      expect(runs.slice(0, 4).map(inShort)).toEqual(['running', ...Array<string>(3).fill('skipped/overlap')])
      expect(runs[1]?.decision).toMatchObject({
        reason: 'overlap',
        rule: 'overlap_action=SKIP',
        evidence: { previous_run: runs[0]?.id, previous_state: 'running' },
      })
      expect(runs[1]?.finished_at).not.toBeNull()
      stage.open()
      const later = await runsWhen(node, id, (found) => found.filter((run) => run.status === 'success').length >= 2)
      expect(later[0]?.status).toBe('success')
      expect(stage.most()).toBe(1)
    })

    scenario(
      '22: PARALLEL, concurrency SKIP, full: runs; but only while the previous run itself is pending',
      async (world) => {
        const stage = createStage()
        const node = await world.start({ agents: { worker: stage.handler } })
        const { id } = await node.schedules.create({
          ...everySecond,
          overlap_action: 'PARALLEL',
          concurrency_policy: 'SKIP',
          max_concurrency: 1,
          max_fires: 2,
        })
        const [first, second] = await stage.begunMany(2)
        second?.release()
        await ended(node, second?.attempt.runId ?? '')
        await node.schedules.update(id, { max_fires: null })
        const runs = await decidedWhen(node, id, (found) => found.length >= 3)
        expect(runs.slice(0, 3).map(inShort)).toEqual(['running', 'success', 'skipped/concurrency'])
        first?.release()
        expect((await ended(node, runs[0]?.id ?? '')).status).toBe('success')
      },
    )
  })
}

export function slotScenarios(scenario: Declare): void {
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
      const { id } = await node.schedules.create({ ...everySecond, misfire_policy: 'SKIP', queue_depth: 2 })
      const found = await decidedWhen(node, id, (all) => all.some((run) => run.reason === 'queue_full'))
      await node.schedules.disable(id)
      const runs = found.slice(0, 4)
      expect(runs.map(inShort)).toEqual(['running', 'queued', 'queued', 'skipped/queue_full'])
      expect(await node.runs.explain(runs[1]?.id ?? '')).toMatchObject({ reason: 'schedule_limit' })
      stage.open()
      expect((await ended(node, runs[2]?.id ?? '')).status).toBe('success')
      expect(stage.acts.map((act) => act.attempt.runId)).toEqual(runs.slice(0, 3).map((run) => run.id))
      expect(stage.most()).toBe(1)
    })
  })
}

export function atScenarios(scenario: Declare): void {
  describe.concurrent('27: an `at` job', () => {
    scenario('that succeeds is gone, and its run is in the history', async (world) => {
      const stage = createStage()
      const node = await world.start({ agents: { worker: stage.handler } })
      const at = inMs(3_000)
      const made = await node.schedules.create({ agent_id: 'worker', at, payload: 'remember' })
      expect(made).toMatchObject({ kind: 'at', state: 'active', next_run_at: at })
      const act = await stage.begun('remember')
      expect((await node.schedules.get(made.id)).id).toBe(made.id)
      stage.open()
      const run = await ended(node, act.attempt.runId)
      expect(run).toMatchObject({ status: 'success', trigger: 'schedule', schedule_id: made.id, nominal_time: at })
      expect(timeOf(run.started_at)).toBeGreaterThanOrEqual(timeOf(at))
      await refused(node.schedules.get(made.id), 'NOT_FOUND')
      const { items } = await node.runs.list({ schedule_id: made.id })
      expect(items.map((item) => item.id)).toEqual([run.id])
    })

    scenario('that fails for good stays, switched off, with its error', async (world) => {
      const worker = (): never => {
        throw new Error('no such calendar')
      }
      const node = await world.start({ agents: { worker } })
      const { id } = await node.schedules.create({
        agent_id: 'worker',
        at: inMs(3_000),
        payload: 'x',
        retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 100 },
      })
      await eventually(async () =>
        expect(await node.schedules.get(id)).toMatchObject({
          state: 'failed',
          enabled: false,
          next_run_at: null,
          last_status: 'failed',
          last_error: expect.stringContaining('no such calendar') as string,
          failure_count: 1,
        }),
      )
      const { items } = await node.runs.list({ schedule_id: id })
      expect(items.map((run) => [run.status, run.attempt])).toEqual([['failed', 2]])
    })
  })
}

export function runNowScenarios(scenario: Declare): void {
  describe.concurrent('29: run-now', () => {
    scenario('in the same second as an occurrence: both exist', async (world) => {
      const node = await world.start({ agents: { worker: () => 'done' } })
      const { id } = await node.schedules.create({ ...everySecond, max_fires: 2 })
      await runsWhen(node, id, (found) => found.length >= 1)
      const answers = await Promise.all([node.schedules.runNow(id), node.schedules.runNow(id)])
      const runs = await decidedWhen(
        node,
        id,
        (found) => found.length === 4 && found.every((run) => run.status === 'success'),
      )
      expect(runs.map((run) => run.trigger).toSorted()).toEqual(['manual', 'manual', 'schedule', 'schedule'])
      expect(new Set(runs.map((run) => run.job_run_id)).size).toBe(4)
      for (const answer of answers) expect(runs.map((run) => run.id)).toContain(answer.run_id)
    })
  })
}
