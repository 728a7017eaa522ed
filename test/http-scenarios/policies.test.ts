import { describe, expect } from 'vitest'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import { everySecond, overlapScenarios, slotScenarios } from '../scenarios/both/schedules.ts'
import { createStage } from '../scenarios/stage.ts'
import { decidedWhen, ended, inShort } from '../scenarios/support.ts'
import { scenario } from './world.ts'

const areOver =
  (count: number) =>
  (runs: readonly RunView[]): boolean =>
    runs.length >= count && runs.slice(0, count).every((run) => run.finished_at !== null)

const failing: Handler = () => {
  throw new Error('out of order')
}

describe.concurrent('over HTTP', () => {
  overlapScenarios(scenario)
  slotScenarios(scenario)
})

describe.concurrent('an occurrence while the previous run is pending, over HTTP', () => {
  scenario('21: CANCEL_PREV, concurrency SKIP, max 1: superseded; what succeeded stays a success', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ ...everySecond, overlap_action: 'CANCEL_PREV', concurrency_policy: 'SKIP', max_concurrency: 1 },
      max_fires: 4,
    })
    const [, , third] = await stage.begunMany(3)
    third?.release()
    await stage.begunMany(4)
    stage.open()
    const runs = await decidedWhen(node, id, areOver(4))
    expect(runs.map((run) => [run.status, run.superseded, run.first_attempt])).toEqual([
      ['cancelled', true, 1],
      ['cancelled', true, 1],
      ['success', false, 1],
      ['success', false, 1],
    ])
    expect(runs[0]?.reason).toBe('superseded')
  })
})

describe.concurrent('23: after a run that failed, over HTTP', () => {
  scenario('RUN_NEW begins with attempt 1, RETRY goes on with 2 and 3, SKIP skips one', async (world) => {
    const node = await world.start({ agents: { worker: failing } })
    const retry_policy = { max_retries: 1, strategy: 'fixed', base_ms: 50 } as const
    const made = await Promise.all([
      node.schedules.create({ ...everySecond, failure_action: 'RUN_NEW', retry_policy }),
      node.schedules.create({ ...everySecond, failure_action: 'RETRY' }),
      node.schedules.create({ ...everySecond, failure_action: 'SKIP', retry_policy: { max_retries: 0 } }),
    ])
    const seen = await Promise.all(
      made.map(async ({ id }) => {
        const runs = await decidedWhen(node, id, areOver(3))
        return runs.slice(0, 3).map((run) => `${inShort(run)} ${run.first_attempt}-${run.attempt}`)
      }),
    )
    expect(seen[0]).toEqual(['failed 1-2', 'failed 1-2', 'failed 1-2'])
    expect(seen[1]).toEqual(['failed 1-1', 'failed 2-2', 'failed 3-3'])
    expect(seen[2]?.map((text) => text.split(' ')[0])).toEqual(['failed', 'skipped/failure', 'failed'])
  })

  scenario('`timeout` and `cancelled` count, skipped and superseded do not', async (world) => {
    const slow = createStage()
    const cancelled = createStage()
    const superseded = createStage()
    const node = await world.start({
      agents: { slow: slow.handler, cancelled: cancelled.handler, superseded: superseded.handler },
    })
    const plan = { every_seconds: 1, payload: 'x', failure_action: 'RETRY' } as const
    const late = await node.schedules.create({ ...plan, agent_id: 'slow', every_seconds: 2, timeout_seconds: 1 })
    const given = await node.schedules.create({ ...plan, agent_id: 'cancelled', max_fires: 1 })
    const replaced = await node.schedules.create({ ...plan, agent_id: 'superseded', overlap_action: 'CANCEL_PREV' })
    const [first] = await cancelled.begunMany(1)
    await node.runs.cancel(first?.attempt.runId ?? '')
    await ended(node, first?.attempt.runId ?? '')
    await node.schedules.update(given.id, { max_fires: null })
    cancelled.open()
    await superseded.begunMany(2)
    superseded.open()
    const attemptsOf = async (id: string): Promise<readonly string[]> =>
      (await decidedWhen(node, id, areOver(2))).slice(0, 2).map((run) => `${run.status} ${run.first_attempt}`)
    expect(await attemptsOf(late.id)).toEqual(['timeout 1', 'timeout 2'])
    expect(await attemptsOf(given.id)).toEqual(['cancelled 1', 'success 2'])
    const others = await decidedWhen(node, replaced.id, (found) => found.some((run) => run.status === 'success'))
    expect(others[0]).toMatchObject({ status: 'cancelled', superseded: true })
    expect(others.map((run) => run.first_attempt)).toEqual(others.map(() => 1))
    expect(await node.schedules.get(replaced.id)).toMatchObject({ failure_count: 0, failure_streak: 0 })
  })
})
