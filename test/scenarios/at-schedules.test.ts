import { describe, expect } from 'vitest'
import { createStage } from './stage.ts'
import { ended, eventually, inMs, refused, timeOf } from './support.ts'
import { scenario } from './world.ts'

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
    const node = await world.start({
      agents: {
        worker: () => {
          throw new Error('no such calendar')
        },
      },
    })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', at: inMs(1_000), payload: 'x' },
      retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 100 },
    })
    await eventually(async () =>
      expect(await node.schedules.get(id)).toMatchObject({
        ...{ state: 'failed', enabled: false, next_run_at: null, last_status: 'failed' },
        ...{ last_error: expect.stringContaining('no such calendar') as string, failure_count: 1 },
      }),
    )
    const { items } = await node.runs.list({ schedule_id: id })
    expect(items.map((run) => [run.status, run.attempt])).toEqual([['failed', 2]])
  })

  scenario('with delete_after_run false stays as finished', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', at: inMs(1_000), payload: 'x', delete_after_run: false },
    })
    await eventually(async () =>
      expect(await node.schedules.get(id)).toMatchObject({ state: 'finished', last_status: 'success' }),
    )
  })

  scenario('whose run is cancelled stays as finished', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', at: inMs(1_000), payload: 'x' })
    const act = await stage.begun('x')
    await node.runs.cancel(act.attempt.runId)
    await eventually(async () => expect((await node.schedules.get(id)).state).toBe('finished'))
  })

  scenario('can be moved before it fires, and fires once', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', at: inMs(3_600_000), payload: 'x' })
    const at = inMs(1_000)
    expect((await node.schedules.update(id, { at })).next_run_at).toBe(at)
    const act = await stage.begun('x')
    expect(act.attempt.nominalTime).toBe(timeOf(at))
    await ended(node, act.attempt.runId)
    expect(stage.acts).toHaveLength(1)
  })

  scenario('that is run by hand beforehand still comes', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', at: inMs(1_500), payload: 'x' })
    const { run_id: manual = '' } = await node.schedules.runNow(id)
    expect(await ended(node, manual)).toMatchObject({ status: 'success', trigger: 'manual' })
    expect(await node.schedules.get(id)).toMatchObject({ state: 'active' })
    const [, act] = await stage.begunMany(2)
    expect(act?.attempt.trigger).toBe('schedule')
  })
})
