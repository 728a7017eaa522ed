import { expect } from 'vitest'
import { inShort } from '../../scenarios/support.ts'
import { createSchedule, NEVER, once, runNow } from '../experiment.ts'
import type { Row } from '../row.ts'
import { allowed, crowded, decided, first, misfires, overlapSkip, queued, retried, watched } from './experiments.ts'

/** Every second for a while: the planned moments of its runs, skipped ones included. */
const everySecond = once(async (world) => {
  const agent = await world.agent()
  const { id } = await createSchedule(world, { agent_id: agent.id, cron: '* * * * * *', timezone: 'UTC' })
  const runs = await world.runsOf(id, ({ length }) => length >= 4)
  await world.del(`/api/v1/schedules/${id}`)
  return runs.map(({ nominal_time }) => Date.parse(nominal_time ?? ''))
})

/** The previous run waits for a callback when the next moment comes. */
const awaiting = watched({
  fields: { overlap_action: 'SKIP' },
  prepare: (agent) =>
    agent.respond((_, response) =>
      response.writeHead(202, { 'content-type': 'application/json' }).end('{"async":true}'),
    ),
  isEnough: (runs) => runs.length >= 2 && runs[0]?.status === 'awaiting_callback',
})

const EVERY_SKIP = { overlap_action: 'SKIP', failure_action: 'SKIP', concurrency_policy: 'SKIP' } as const

/** After a failure a run goes on: it overlaps, the last ending is a failure, and the one place is taken. */
const allThree = crowded({ ends: ['failed', 'open'], policies: EVERY_SKIP, count: 1 })

/** The previous run has failed while an older one goes on: nothing overlaps. */
const lastTwo = crowded({ ends: ['open', 'failed'], policies: EVERY_SKIP, count: 2 })

/** How the engine starts and scans: lines 46 to 89. */
export const ENGINE: readonly Row[] = [
  {
    line: '46',
    says: 'The engine remembers up to which second it has scanned, also across a restart.',
    check: async (world) => {
      const { of, moments } = await misfires(world)
      expect(of('fireNow').map(({ nominal_time }) => Date.parse(nominal_time ?? ''))).toEqual(moments)
    },
  },
  {
    line: '47',
    says: 'The poll interval is 1 s by default.',
    check: async (world) =>
      expect(JSON.stringify((await misfires(world)).config)).toMatch(/"schedules\.poll_ms":\{[^}]*1000/),
  },
  {
    line: '49',
    says: 'Stop waits for what is under way.',
    shownBy: [
      'test/http-scenarios/processes.test.ts',
      '13: draining over HTTP › SIGTERM: new work 503, what runs ends, what waits survives into the next process',
    ],
  },
  {
    line: '72',
    says: 'A scan covers every second since the last one, without a gap.',
    check: async (world) => {
      const moments = await everySecond(world)
      expect(moments.map((moment) => (moment - (moments[0] ?? 0)) / 1_000)).toEqual(moments.map((_, index) => index))
    },
  },
  {
    line: '74',
    says: 'Only enabled schedules are scanned.',
    check: async (world) => {
      const on = await createSchedule(world, { every_seconds: 1 })
      const off = await createSchedule(world, { every_seconds: 1, enabled: false })
      await world.runsOf(on.id, ({ length }) => length >= 2)
      expect((await world.server.schedules.runs(off.id)).items).toEqual([])
      await world.del(`/api/v1/schedules/${on.id}`)
    },
  },
  {
    line: '76',
    says: 'Cron expressions match seconds, too.',
    check: async (world) => {
      const { id } = await createSchedule(world, { cron: '*/2 * * * * *', timezone: 'UTC' })
      const runs = await world.runsOf(id, ({ length }) => length >= 2)
      await world.del(`/api/v1/schedules/${id}`)
      expect(runs.map(({ nominal_time }) => Date.parse(nominal_time ?? '') % 2_000)).toEqual(runs.map(() => 0))
    },
  },
  {
    line: '78',
    says: 'Overlap and failure look at the last run.',
    differs: 'At the newest one that was not skipped: a skipped run is neither pending nor failed (D11).',
    check: async (world) => {
      const [running, , skipped] = (await overlapSkip(world)).runs
      expect(skipped?.decision).toMatchObject({ reason: 'overlap', evidence: { previous_run: running?.id } })
    },
  },
  {
    line: '80',
    says: 'Overlap means that the last run is RUNNING.',
    differs: 'It means that the run is pending: one that waits for a slot or a callback is not over (D11).',
    check: async (world) =>
      expect(first(2, (await awaiting(world)).runs)).toEqual(['awaiting_callback', 'skipped/overlap']),
  },
  {
    line: '81',
    says: 'FAILED, TIMEOUT, FAILED_TIMEOUT and CANCELED are understood as states.',
    check: async (world) => {
      const agent = await world.agent({ retry_policy: { max_retries: 0 } })
      agent.hold()
      const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id, timeout_seconds: 1 })
      const late = await runNow(world, id)
      await world.ended(late)
      const found = async (status: string): Promise<unknown> =>
        (await world.get(`/api/v1/runs?schedule_id=${id}&status=${status}`)).body['items']
      for (const status of ['TIMEOUT', 'FAILED_TIMEOUT']) expect(await found(status)).toMatchObject([{ id: late }])
      for (const status of ['FAILED', 'CANCELED']) expect(await found(status)).toEqual([])
    },
  },
  {
    line: '82',
    says: 'Overlap is decided first, then failure, then concurrency.',
    check: async (world) => {
      // Each policy would skip; under failure SKIP that is one occurrence for each failure.
      expect((await allThree(world)).map(inShort)).toEqual(['skipped/overlap'])
      expect((await lastTwo(world)).map(inShort)).toEqual(['skipped/failure', 'skipped/concurrency'])
    },
  },
  {
    line: '85',
    says: 'What is over the limit under SKIP is recorded as skipped.',
    check: async (world) =>
      expect((await allowed(world)).runs[2]).toMatchObject({ status: 'skipped', reason: 'concurrency' }),
  },
  {
    line: '86',
    says: 'What is over the limit under QUEUE is enqueued.',
    check: async (world) => {
      const { runs } = await queued(world)
      expect(runs.slice(1, 3).map(({ status }) => status)).toEqual(['queued', 'queued'])
    },
  },
  {
    line: '87',
    says: 'A run is recorded with its attempt.',
    check: async (world) => {
      const { runs } = await retried(world)
      expect(runs.slice(0, 3).map(({ first_attempt }) => first_attempt)).toEqual([1, 2, 3])
    },
  },
  {
    line: '88',
    says: 'A run that is not skipped goes to the executor.',
    check: async (world) => {
      const { runs, dispatches } = await overlapSkip(world)
      expect(dispatches.map(({ run_id }) => run_id)).toEqual([runs[0]?.id])
    },
  },
  {
    line: '89',
    says: 'Within one scan each moment sees the run of the moment before.',
    check: async (world) => {
      const runs = decided((await misfires(world)).of('attempts'))
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
    },
  },
]
