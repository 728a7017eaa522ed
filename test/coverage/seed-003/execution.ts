import { expect } from 'vitest'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { inShort } from '../../scenarios/support.ts'
import { createSchedule, inState, NEVER, once, runNow, scheduleOf, scheduleRunOf, scrape } from '../experiment.ts'
import type { Row } from '../row.ts'
import { allowed, cancelPrev, misfires, newRuns, overlapSkip, retried, skippedOnce } from './experiments.ts'

const overHttp = (title: string) => ['test/http-scenarios/policies.test.ts', title] as const

/** A schedule with an HTTP request of its own, which succeeds, fails, takes too long and is cancelled. */
const requests = once(async (world) => {
  const agent = await world.agent()
  const created = await createSchedule(world, {
    ...{ ...NEVER, concurrency_policy: 'SKIP', max_concurrency: 1, timeout_seconds: 60 },
    executor: { kind: 'http', method: 'POST', url: agent.url },
  })
  const ended: RunView[] = []
  ended.push(await world.ended(await runNow(world, created.id)))
  agent.respond((_, response) => response.writeHead(500).end())
  ended.push(await world.ended(await runNow(world, created.id)))
  agent.hold()
  await world.patch(`/api/v1/schedules/${created.id}`, { timeout_seconds: 1 })
  ended.push(await world.ended(await runNow(world, created.id)))
  await world.patch(`/api/v1/schedules/${created.id}`, { timeout_seconds: 60 })
  const runId = await runNow(world, created.id)
  const running = await inState(world, runId, 'running')
  await world.until(() => agent.busy() > 0)
  await world.post(`/api/v1/runs/${runId}/cancel`)
  ended.push(await world.ended(runId))
  await world.until(() => agent.busy() === 0)
  agent.release()
  agent.reply({ status: 'success' })
  const [success, failed, timeout, cancelled] = ended
  const last = await world.ended(await runNow(world, created.id))
  return { created, running, success, failed, timeout, cancelled, last, heard: agent.dispatches.length }
})

const metric =
  (
    name: string,
    prepare: (world: Parameters<NonNullable<Row['check']>>[0]) => Promise<unknown>,
  ): NonNullable<Row['check']> =>
  async (world) => {
    await prepare(world)
    expect((await scrape(world.server)).value(name)).toBeGreaterThan(0)
  }

/** Execution, attempts, records, examples, edges and metrics: lines 141 to 188. */
export const EXECUTION: readonly Row[] = [
  {
    line: '141',
    says: 'A run that starts is RUNNING and has its start time.',
    check: async (world) => {
      const { running } = await requests(world)
      expect([running.status, Date.parse(running.started_at ?? '')]).toEqual(['running', expect.any(Number)])
    },
  },
  {
    line: '142',
    says: 'Each schedule has a time limit of its own.',
    check: async (world) => {
      const { created, timeout } = await requests(world)
      expect(created.timeout_seconds).toBe(60)
      expect(timeout?.duration_ms).toBeGreaterThanOrEqual(1_000)
    },
  },
  {
    line: '143',
    says: 'The executor sends an HTTP request.',
    check: async (world) => {
      const { created, heard } = await requests(world)
      expect(created.executor).toMatchObject({ kind: 'http', method: 'POST' })
      expect(heard).toBe(5)
    },
  },
  {
    line: '143',
    says: 'The fields of the request stand at the top level of a schedule.',
    differs: 'They stand in `executor`, because there are other ways to perform a run than HTTP.',
    check: async (world) => {
      const { status, body } = await world.post('/api/v1/schedules', {
        ...NEVER,
        url: 'https://example.com',
        method: 'GET',
      })
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('/url')])
    },
  },
  {
    line: '145',
    says: 'A request that succeeds ends its run as success.',
    check: async (world) => expect((await requests(world)).success).toMatchObject({ status: 'success' }),
  },
  {
    line: '146',
    says: 'A request beyond its time limit ends its run as timeout.',
    check: async (world) => expect((await requests(world)).timeout).toMatchObject({ status: 'timeout' }),
  },
  {
    line: '147',
    says: 'A run that is cancelled ends as cancelled.',
    check: async (world) => expect((await requests(world)).cancelled).toMatchObject({ status: 'cancelled' }),
  },
  {
    line: '148',
    says: 'Any other error ends the run as failed.',
    check: async (world) =>
      expect((await requests(world)).failed).toMatchObject({ status: 'failed', error_code: 'executor_http_5xx' }),
  },
  {
    line: '149',
    says: 'Counters are cleaned up when a run ends, however it ends.',
    check: async (world) => expect((await requests(world)).last).toMatchObject({ status: 'success' }),
  },
  {
    line: '152',
    says: 'Attempt 1 is a first run, or a new one under RUN_NEW.',
    check: async (world) =>
      expect((await newRuns(world)).runs.slice(0, 3).map(({ attempt }) => attempt)).toEqual([1, 1, 1]),
  },
  {
    line: '153',
    says: 'An attempt above 1 is a retry.',
    check: async (world) => {
      const { runs, dispatches } = await retried(world)
      expect(runs[1]).toMatchObject({ attempt: 2, trigger: 'schedule' })
      expect(dispatches.slice(0, 3).map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    },
  },
  {
    line: '156',
    says: '`PARALLEL` loosens the limit only while the previous run runs.',
    shownBy: [
      'test/scenarios/both/schedules.ts',
      'an occurrence while the previous run is pending › 22: PARALLEL, concurrency SKIP, full: runs; but only while the previous run itself is pending',
    ],
  },
  {
    line: '160',
    says: 'Whatever policy skips, the record is the same.',
    check: async (world) => {
      const skipped = [
        (await overlapSkip(world)).runs[1],
        (await skippedOnce(world)).runs[1],
        (await allowed(world)).runs[2],
      ]
      expect(skipped.map((run) => (run === undefined ? '' : inShort(run)))).toEqual([
        ...['skipped/overlap', 'skipped/failure', 'skipped/concurrency'],
      ])
      for (const run of skipped) expect(run?.decision.rule).toEqual(expect.any(String))
    },
  },
  {
    line: '163',
    says: 'A skipped run has an end time.',
    check: async (world) => {
      const [, skipped] = (await overlapSkip(world)).runs
      expect([skipped?.started_at, skipped?.finished_at]).toEqual([null, expect.any(String)])
    },
  },
  {
    line: '167',
    says: 'Cancelling the previous run cancels its request.',
    check: async (world) => expect((await cancelPrev(world)).dropped).toBeGreaterThanOrEqual(1),
  },
  {
    line: '173',
    says: 'Five missed seconds under FIRE_NOW are five runs.',
    check: async (world) =>
      expect((await misfires(world)).of('fireNow').map(inShort)).toEqual(Array(5).fill('success')),
  },
  {
    line: '174',
    says: 'Five missed seconds under CATCH_UP_LIMITED 2 are the last two.',
    check: async (world) => {
      const { of, moments } = await misfires(world)
      const ran = of('newestTwo').filter(({ status }) => status === 'success')
      expect(ran.map(({ nominal_time }) => Date.parse(nominal_time ?? ''))).toEqual(moments.slice(3))
    },
  },
  {
    line: '175',
    says: 'Five missed seconds under SKIP are the fifth.',
    check: async (world) => {
      const { of, moments } = await misfires(world)
      const ran = of('skip').filter(({ status }) => status === 'success')
      expect(ran.map(({ nominal_time }) => Date.parse(nominal_time ?? ''))).toEqual(moments.slice(4))
    },
  },
  {
    line: '178',
    says: 'A schedule with `status=DISABLED` fires no more.',
    check: async (world) => {
      const { id } = await createSchedule(world, { every_seconds: 1, status: 'ENABLED' })
      await world.runsOf(id, ({ length }) => length >= 1)
      const { status, body } = await world.patch(`/api/v1/schedules/${id}`, { status: 'DISABLED' })
      expect(status, JSON.stringify(body)).toBe(200)
      expect(await scheduleOf(world, id)).toMatchObject({ enabled: false, state: 'paused', next_run_at: null })
    },
  },
  {
    line: '179',
    says: 'A time limit of 0 or less is 10 s.',
    check: async (world) => {
      const agent = await world.agent()
      agent.hold()
      const { id } = await createSchedule(world, {
        ...{ ...NEVER, timeout_seconds: 0, executor: { kind: 'http', url: agent.url } },
      })
      const runId = await runNow(world, id)
      const { status } = await world.ended(runId)
      const [attempt] = (await scheduleRunOf(world, runId)).attempts
      const took = Date.parse(attempt?.finished_at ?? '') - Date.parse(attempt?.started_at ?? '')
      expect(status).toBe('timeout')
      expect(Math.abs(took - 11_000)).toBeLessThanOrEqual(1_050)
    },
  },
  {
    line: '180',
    says: 'Several moments in one scan are decided one by one, each seeing the newest run.',
    check: async (world) => {
      const { of } = await misfires(world)
      expect(of('attempts').map(({ status, attempt }) => [status, attempt])).toEqual([
        ...[1, 2, 3, 4, 5].map((attempt) => ['failed', attempt]),
      ])
    },
  },
  {
    line: '181',
    says: '`CANCEL_PREV` leaves a run that has just ended as it ended.',
    shownBy: overHttp(
      'an occurrence while the previous run is pending, over HTTP › 21: CANCEL_PREV, concurrency SKIP, max 1: superseded; what succeeded stays a success',
    ),
  },
  {
    line: '184',
    says: 'There is a metric `runs_total{status}`.',
    check: async (world) => {
      await requests(world)
      const byStatus = (await scrape(world.server)).by('runs_total', 'status')
      for (const status of ['success', 'failed', 'timeout', 'cancelled']) expect(byStatus[status]).toBeGreaterThan(0)
    },
  },
  {
    line: '185',
    says: 'There is a metric `task_overlap_skipped_total`.',
    check: metric('task_overlap_skipped_total', overlapSkip),
  },
  {
    line: '186',
    says: 'There is a metric `task_failure_retry_total`.',
    check: metric('task_failure_retry_total', retried),
  },
  {
    line: '187',
    says: 'There is a metric `task_timeout_total`.',
    check: metric('task_timeout_total', requests),
  },
  {
    line: '188',
    says: 'There is a metric `concurrency_skipped_total`.',
    check: metric('concurrency_skipped_total', allowed),
  },
]
