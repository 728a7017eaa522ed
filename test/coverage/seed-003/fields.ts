import { expect } from 'vitest'
import { inShort } from '../../scenarios/support.ts'
import { createSchedule, NEVER, runNow, scheduleOf } from '../experiment.ts'
import type { Row } from '../row.ts'
import {
  allowed,
  cancelPrev,
  first,
  misfires,
  newRuns,
  overlapSkip,
  parallelQueue,
  parallelSkip,
  queued,
  retried,
  skippedOnce,
  SPACING_MS,
  startsOf,
} from './experiments.ts'

const overHttp = (title: string) => ['test/http-scenarios/policies.test.ts', title] as const

/** The new fields, their combinations, and what was planned for later: lines 6 to 39. */
export const FIELDS: readonly Row[] = [
  {
    line: '6',
    says: 'A schedule has an `overlap_action`.',
    check: async (world) => {
      for (const overlap_action of ['ALLOW', 'SKIP', 'CANCEL_PREV', 'PARALLEL'])
        expect(await createSchedule(world, { ...NEVER, overlap_action })).toMatchObject({ overlap_action })
      expect((await world.post('/api/v1/schedules', { ...NEVER, overlap_action: 'OTHER' })).status).toBe(400)
    },
  },
  {
    line: '7',
    says: '`ALLOW`, the default, goes on under the concurrency policy.',
    check: async (world) => {
      expect((await createSchedule(world, NEVER)).overlap_action).toBe('ALLOW')
      expect(first(3, (await allowed(world)).runs)).toEqual(['running', 'running', 'skipped/concurrency'])
    },
  },
  {
    line: '8',
    says: '`SKIP` skips the occurrence and records a run.',
    check: async (world) =>
      expect(first(3, (await overlapSkip(world)).runs)).toEqual(['running', 'skipped/overlap', 'skipped/overlap']),
  },
  {
    line: '8',
    says: 'The skipped run goes from SCHEDULED to SKIPPED.',
    differs: 'It is recorded as `skipped` in one step: a state that lasts no time helps no reader of the history.',
    check: async (world) => {
      const [, skipped] = (await overlapSkip(world)).runs
      const { timeline } = await world.server.runs.get(skipped?.id ?? '')
      expect(timeline.map(({ status }) => status)).toEqual(['skipped'])
    },
  },
  {
    line: '9',
    says: '`CANCEL_PREV` cancels the previous run and starts the new one.',
    check: async (world) => {
      const { runs, dispatches } = await cancelPrev(world)
      expect(runs[0]).toMatchObject({ status: 'cancelled', reason: 'superseded', superseded: true })
      expect(dispatches.length).toBeGreaterThanOrEqual(2)
    },
  },
  {
    line: '10',
    says: '`PARALLEL` ignores the limit under `concurrency_policy=SKIP`.',
    check: async (world) => {
      const { most, created } = await parallelSkip(world)
      expect(created.max_concurrency).toBe(1)
      expect(most).toBeGreaterThanOrEqual(3)
    },
  },
  {
    line: '10',
    says: '`PARALLEL` ignores the limit under `concurrency_policy=QUEUE`.',
    check: async (world) => {
      const { most, created } = await parallelQueue(world)
      expect(created.max_concurrency).toBe(1)
      expect(most).toBeGreaterThanOrEqual(3)
    },
  },
  {
    line: '11',
    says: 'A schedule has a `failure_action`.',
    check: async (world) => {
      for (const failure_action of ['RUN_NEW', 'SKIP', 'RETRY'])
        expect(await createSchedule(world, { ...NEVER, failure_action })).toMatchObject({ failure_action })
    },
  },
  {
    line: '11',
    says: 'Failed, timed-out and cancelled runs count as failures.',
    shownBy: overHttp(
      '23: after a run that failed, over HTTP › `timeout` and `cancelled` count, skipped and superseded do not',
    ),
  },
  {
    line: '12',
    says: '`RUN_NEW`, the default, starts a new run with attempt 1.',
    check: async (world) => {
      const { runs } = await newRuns(world)
      expect(runs.slice(0, 3).map(({ status, attempt }) => [status, attempt])).toEqual(Array(3).fill(['failed', 1]))
    },
  },
  {
    line: '13',
    says: '`SKIP` skips this occurrence and records it.',
    check: async (world) =>
      expect(first(3, (await skippedOnce(world)).runs)).toEqual(['failed', 'skipped/failure', 'failed']),
  },
  {
    line: '14',
    says: '`RETRY` gives the next run the attempt of the last one + 1.',
    check: async (world) =>
      expect((await retried(world)).runs.slice(0, 3).map(({ attempt }) => attempt)).toEqual([1, 2, 3]),
  },
  {
    line: '17',
    says: '`concurrency_policy=SKIP` skips what is over the limit.',
    check: async (world) => expect((await allowed(world)).runs[2]).toMatchObject({ reason: 'concurrency' }),
  },
  {
    line: '17',
    says: '`PARALLEL` overrides the limit only while the previous run runs.',
    shownBy: [
      'test/scenarios/both/schedules.ts',
      'an occurrence while the previous run is pending › 22: PARALLEL, concurrency SKIP, full: runs; but only while the previous run itself is pending',
    ],
  },
  {
    line: '18',
    says: '`concurrency_policy=QUEUE` enqueues what is over the limit.',
    differs: 'Up to `queue_depth` (10): a schedule whose run never ends would fill the database (D14).',
    check: async (world) =>
      expect(first(4, (await queued(world)).runs)).toEqual(['running', 'queued', 'queued', 'skipped/queue_full']),
  },
  {
    line: '21',
    says: 'Seconds that a late scan missed are found.',
    check: async (world) => {
      const { of, moments } = await misfires(world)
      expect(of('skip').map(({ nominal_time }) => Date.parse(nominal_time ?? ''))).toEqual(moments)
    },
  },
  {
    line: '22',
    says: '`FIRE_NOW` makes up for all of them, whatever `queue_depth` says.',
    check: async (world) => {
      const { of } = await misfires(world)
      expect(of('many').map(inShort)).toEqual(Array(12).fill('success'))
    },
  },
  {
    line: '22',
    says: '`FIRE_NOW` fires all of them at once.',
    differs:
      'They start some time apart (1 s by default) and end at the catch-up window: three days of downtime must not become a flood (D12).',
    check: async (world) => {
      const starts = startsOf((await misfires(world)).of('fireNow'))
      expect(starts).toHaveLength(5)
      // Half of what is planned: the first of them may be late on a busy machine.
      expect(starts[4]).toBeGreaterThanOrEqual(2 * SPACING_MS)
    },
  },
  {
    line: '23',
    says: '`SKIP` schedules only the current second.',
    differs: 'The newest one fires up to 60 s late: a scan that comes 3 s late must not lose a daily report (D12).',
    check: async (world) =>
      expect((await misfires(world)).of('skip').map(inShort)).toEqual([
        ...Array<string>(4).fill('skipped/misfire'),
        'success',
      ]),
  },
  {
    line: '24',
    says: '`CATCH_UP_LIMITED` makes up for the newest `catchup_limit`.',
    check: async (world) =>
      expect((await misfires(world)).of('newestTwo').map(inShort)).toEqual([
        ...['skipped/misfire', 'skipped/misfire', 'skipped/misfire', 'success', 'success'],
      ]),
  },
  {
    line: '25',
    says: 'Each second that is made up for passes overlap, failure and concurrency in its turn.',
    check: async (world) => {
      const { of } = await misfires(world)
      expect(of('inTurn').map(inShort)).toEqual(Array(5).fill('success'))
      expect(of('attempts').map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
    },
  },
  {
    line: '28',
    says: 'A request that takes too long ends its run as TIMEOUT.',
    check: async (world) => {
      const agent = await world.agent({ retry_policy: { max_retries: 0 } })
      agent.hold()
      const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id, timeout_seconds: 1 })
      expect(await world.ended(await runNow(world, id))).toMatchObject({ status: 'timeout', error_code: 'timeout' })
    },
  },
  {
    line: '31',
    says: '`CANCEL_PREV` cancels the execution and marks the run as cancelled.',
    check: async (world) => {
      const { runs, dropped } = await cancelPrev(world)
      expect(runs.slice(0, 2).map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
      expect(dropped).toBeGreaterThanOrEqual(1)
    },
  },
  {
    line: '31',
    says: 'A run that has already ended is not changed by `CANCEL_PREV`.',
    shownBy: overHttp(
      'an occurrence while the previous run is pending, over HTTP › 21: CANCEL_PREV, concurrency SKIP, max 1: superseded; what succeeded stays a success',
    ),
  },
  {
    line: '34',
    says: '`failure_action` can be BACKOFF.',
    shownBy: [
      'test/scenarios/failure.test.ts',
      '23: after a run that failed › BACKOFF: nothing until the step of the ladder has passed',
    ],
  },
  {
    line: '34',
    says: '`failure_action` can be HALF_OPEN.',
    shownBy: [
      'test/scenarios/failure.test.ts',
      '23: after a run that failed › HALF_OPEN: after the threshold nothing for the cooldown, then a probe; success closes it',
    ],
  },
  {
    line: '35',
    says: 'The number of parallel overlaps can be limited.',
    shownBy: [
      'test/scenarios/overlap.test.ts',
      'an occurrence while the previous run is pending › 22: PARALLEL goes no further than max_parallel',
    ],
  },
  {
    line: '36',
    says: 'Several schedulers share one database without firing twice.',
    shownBy: [
      'test/scenarios/nodes.test.ts',
      '31: two nodes on one database › an every-second cron: exactly one run per second',
    ],
  },
  {
    line: '36',
    says: 'Schedules are sharded between schedulers.',
    differs: 'There are no shards: any node serves any org, so that none stops when one node does.',
    shownBy: [
      'test/scenarios/nodes.test.ts',
      '31: two nodes on one database › one moment of many schedules is fired once each',
    ],
  },
  {
    line: '39',
    says: 'The two fields are set when a schedule is created.',
    check: async (world) => {
      const fields = { overlap_action: 'CANCEL_PREV', failure_action: 'RETRY' }
      expect(await createSchedule(world, { ...NEVER, ...fields })).toMatchObject(fields)
    },
  },
  {
    line: '39',
    says: 'The two fields are set when a schedule is changed.',
    check: async (world) => {
      const { id } = await createSchedule(world, NEVER)
      const fields = { overlap_action: 'PARALLEL', failure_action: 'SKIP' }
      expect((await world.patch(`/api/v1/schedules/${id}`, fields)).status).toBe(200)
      expect(await scheduleOf(world, id)).toMatchObject(fields)
    },
  },
  {
    line: '39',
    says: 'The defaults are ALLOW and RUN_NEW.',
    check: async (world) =>
      expect(await createSchedule(world, NEVER)).toMatchObject({ overlap_action: 'ALLOW', failure_action: 'RUN_NEW' }),
  },
  {
    line: '39',
    says: 'The migration `0001_init.sql` has the columns.',
    differs: 'Escapement has migrations of its own, and the policies of a schedule are one JSON value.',
    check: async (world) => {
      const { id } = await createSchedule(world, { ...NEVER, overlap_action: 'PARALLEL' })
      const rows = await world.database.outside('select * from escapement.schedule where id = $1', [id])
      expect(JSON.stringify(rows[0])).toContain('PARALLEL')
      expect(Object.keys(rows[0] ?? {})).not.toContain('overlap_action')
    },
  },
]
