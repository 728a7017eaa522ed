import { describe, expect } from 'vitest'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import { createStage } from './stage.ts'
import { inShort, runsWhen, timeOf } from './support.ts'
import { scenario } from './world.ts'

const everySecond = { agent_id: 'worker', every_seconds: 1, payload: 'x' } as const

const failing: Handler = () => {
  throw Object.assign(new Error('the target answers 500'), { status: 500 })
}

const areOver =
  (count: number) =>
  (runs: readonly RunView[]): boolean =>
    runs.length >= count && runs.slice(0, count).every((run) => run.finished_at !== null)

const attemptsOf = (runs: readonly RunView[], count: number): readonly (readonly [string, number, number])[] =>
  runs.slice(0, count).map((run) => [inShort(run), run.first_attempt, run.attempt])

describe.concurrent('23: after a run that failed', () => {
  scenario('RUN_NEW: the next is attempt 1, however many the last one had', async (world) => {
    const node = await world.start({ agents: { worker: failing } })
    const { id } = await node.schedules.create({
      ...{ ...everySecond, retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 50 } },
    })
    expect(attemptsOf(await runsWhen(node, id, areOver(2)), 2)).toEqual([
      ['failed', 1, 2],
      ['failed', 1, 2],
    ])
  })

  scenario('RETRY: attempts 1, 2, 3, …, one in each run', async (world) => {
    const node = await world.start({ agents: { worker: failing } })
    const { id } = await node.schedules.create({ ...everySecond, failure_action: 'RETRY' })
    const runs = await runsWhen(node, id, areOver(3))
    expect(attemptsOf(runs, 3)).toEqual([
      ['failed', 1, 1],
      ['failed', 2, 2],
      ['failed', 3, 3],
    ])
    expect(runs[0]).toMatchObject({ error_code: 'executor_http_5xx', error_message: 'the target answers 500' })
    expect(await node.schedules.get(id)).toMatchObject({ last_status: 'failed' })
  })

  scenario('RETRY: with its own max_retries the count begins again after one more', async (world) => {
    const node = await world.start({ agents: { worker: failing } })
    const { id } = await node.schedules.create({
      ...{ ...everySecond, failure_action: 'RETRY', retry_policy: { max_retries: 1 } },
    })
    const runs = await runsWhen(node, id, areOver(3))
    expect(runs.slice(0, 3).map((run) => run.first_attempt)).toEqual([1, 2, 1])
  })

  scenario('SKIP: one occurrence is skipped, and the next runs', async (world) => {
    const node = await world.start({ agents: { worker: failing } })
    const { id } = await node.schedules.create({
      ...{ ...everySecond, failure_action: 'SKIP', retry_policy: { max_retries: 0 } },
    })
    const runs = await runsWhen(node, id, areOver(4))
    expect(runs.slice(0, 4).map(inShort)).toEqual(['failed', 'skipped/failure', 'failed', 'skipped/failure'])
    expect(runs[1]?.decision).toMatchObject({ reason: 'failure', evidence: { failed_run: runs[0]?.id } })
  })

  scenario('a run that timed out counts as failed', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ ...everySecond, every_seconds: 2, timeout_seconds: 1, failure_action: 'RETRY' },
    })
    const runs = await runsWhen(node, id, areOver(2))
    expect(attemptsOf(runs, 2)).toEqual([
      ['timeout', 1, 1],
      ['timeout', 2, 2],
    ])
    expect(runs[0]?.error_code).toBe('timeout')
    expect(String(stage.acts[0]?.signal.reason)).toMatch(/timeout/)
  })

  scenario('a run that was cancelled counts as failed', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ ...everySecond, failure_action: 'SKIP' })
    const [first] = await stage.begunMany(1)
    await node.runs.cancel(first?.attempt.runId ?? '')
    stage.open()
    const runs = await runsWhen(node, id, areOver(3))
    expect(runs.slice(0, 3).map(inShort)).toEqual(['cancelled', 'skipped/failure', 'success'])
  })

  scenario('skipped and superseded runs do not count as failures', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ ...everySecond, failure_action: 'RETRY', overlap_action: 'CANCEL_PREV' },
    })
    await stage.begunMany(2)
    stage.open()
    const runs = await runsWhen(node, id, areOver(3))
    expect(runs.slice(0, 3).map((run) => [inShort(run), run.first_attempt, run.superseded])).toEqual([
      ['cancelled', 1, true],
      ['success', 1, false],
      ['success', 1, false],
    ])
    expect(await node.schedules.get(id)).toMatchObject({ failure_count: 0, failure_streak: 0 })
  })

  scenario('BACKOFF: nothing until the step of the ladder has passed', async (world) => {
    const node = await world.start({ agents: { worker: failing } })
    const { id } = await node.schedules.create({
      ...{ ...everySecond, failure_action: 'BACKOFF', failure_options: { ladder_seconds: [2] } },
      retry_policy: { max_retries: 0 },
    })
    const runs = await runsWhen(node, id, (found) => found.filter((run) => run.status === 'failed').length === 2)
    const [first, ...rest] = runs
    const second = rest.find((run) => run.status === 'failed')
    expect(timeOf(second?.nominal_time ?? null)).toBeGreaterThanOrEqual(timeOf(first?.finished_at ?? null) + 1_000)
    expect(rest[0]).toMatchObject({ status: 'skipped', reason: 'failure' })
    expect(rest[0]?.decision.rule).toBe('failure_action=BACKOFF')
  })

  scenario(
    'HALF_OPEN: after the threshold nothing for the cooldown, then a probe; success closes it',
    async (world) => {
      let isBroken = true
      const node = await world.start({
        agents: { worker: (...given) => (isBroken ? failing(...given) : 'works again') },
      })
      const { id } = await node.schedules.create({
        ...{ ...everySecond, failure_action: 'HALF_OPEN', failure_options: { threshold: 2, cooldown_seconds: 2 } },
        retry_policy: { max_retries: 0 },
      })
      const open = await runsWhen(node, id, areOver(3))
      expect(open.slice(0, 3).map(inShort)).toEqual(['failed', 'failed', 'skipped/failure'])
      isBroken = false
      const closed = await runsWhen(node, id, (found) => found.filter((run) => run.status === 'success').length >= 2)
      const at = closed.findIndex((run) => run.status === 'success')
      expect(closed.slice(at, at + 2).map(inShort)).toEqual(['success', 'success'])
      expect(await node.schedules.get(id)).toMatchObject({ failure_streak: 0 })
    },
  )
})

describe.concurrent(
  '25: every second, SKIP, CANCEL_PREV, RETRY, CATCH_UP_LIMITED 3, a timeout longer than the interval',
  () => {
    const policies = {
      ...everySecond,
      concurrency_policy: 'SKIP',
      overlap_action: 'CANCEL_PREV',
      failure_action: 'RETRY',
      misfire_policy: 'CATCH_UP_LIMITED',
      catchup_limit: 3,
      timeout_seconds: 8,
    } as const

    scenario('the target is slow: each occurrence supersedes the last and starts attempt 1', async (world) => {
      const stage = createStage()
      const node = await world.start({ agents: { worker: stage.handler } })
      const { id } = await node.schedules.create(policies)
      const runs = await runsWhen(node, id, (found) => found.length >= 4)
      expect(runs.slice(0, 3).map((run) => [run.superseded, run.first_attempt])).toEqual(Array(3).fill([true, 1]))
      expect(runs[3]?.first_attempt).toBe(1)
    })

    scenario('the target answers 500: attempts 1, 2, 3, …', async (world) => {
      const node = await world.start({ agents: { worker: failing } })
      const { id } = await node.schedules.create(policies)
      const runs = await runsWhen(node, id, areOver(4))
      expect(attemptsOf(runs, 4)).toEqual([1, 2, 3, 4].map((attempt) => ['failed', attempt, attempt]))
    })
  },
)
