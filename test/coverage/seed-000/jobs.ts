import { expect } from 'vitest'
import { eventOf } from '../conversation.ts'
import { createJob, jobOf, loggedAs, logOf } from '../jobs.ts'
import type { Row } from '../row.ts'
import type { World } from '../world.ts'

const EVERY_SECOND = { kind: 'every', everyMs: 1_000 }
const HOURLY = { kind: 'every', everyMs: 3_600_000 }

/** A job that runs every second until the check has seen enough. */
async function running(world: World, play: (jobId: string) => Promise<void>, reply?: object): Promise<void> {
  const agent = await world.agent({ retry_policy: { max_retries: 0 } })
  if (reply !== undefined) agent.reply(reply)
  const { id } = await createJob(world, EVERY_SECOND, { agentId: agent.id })
  try {
    await play(id)
  } finally {
    await world.rpc('cron.delete', { jobId: id })
  }
}

const switchesOff = async (world: World): Promise<void> => {
  const { id, state } = await createJob(world, HOURLY)
  expect(state.nextRunAtMs).toBeGreaterThan(Date.now())
  await world.rpc('cron.toggle', { jobId: id, enabled: false })
  const off = await jobOf(world, id)
  expect([off?.enabled, off?.state.nextRunAtMs]).toEqual([false, undefined])
}

const computesAnew = async (world: World): Promise<void> => {
  const { id } = await createJob(world, HOURLY, { enabled: false })
  await world.rpc('cron.toggle', { jobId: id, enabled: true })
  const on = await jobOf(world, id)
  expect(on?.state.nextRunAtMs).toBeGreaterThan(Date.now())
}

/** The life of a job. */
export const JOBS: readonly Row[] = [
  {
    line: '116',
    says: 'Due jobs are looked for every second',
    check: (world) =>
      running(world, async (id) => {
        await world.runsOf(id, (runs) => runs.length >= 3)
        const runs = await world.runsOf(id, (all) => all.filter(({ started_at: at }) => at !== null).length >= 2)
        const late = runs.flatMap(({ started_at: at, nominal_time: planned }) =>
          at === null || planned === null ? [] : [Date.parse(at) - Date.parse(planned)],
        )
        // A second between two looks, and the rest for a busy machine.
        expect(Math.min(...late)).toBeLessThan(2_000)
      }),
  },
  {
    line: '119',
    says: '`AddJob()` creates a job',
    check: async (world) => {
      const { id } = await createJob(world, HOURLY)
      expect(await jobOf(world, id)).toMatchObject({ id, enabled: true })
    },
  },
  {
    line: '120',
    says: 'The next run of a new job is computed (`nextRunAtMs`)',
    check: async (world) => {
      const { state, createdAtMs } = await createJob(world, HOURLY)
      expect(state.nextRunAtMs).toBe(createdAtMs + 3_600_000)
    },
  },
  {
    line: '123',
    says: 'A job is executed when its `nextRunAtMs` has come',
    check: (world) =>
      running(world, async (id) => {
        const runs = await world.runsOf(id, (found) => found.some(({ status }) => status === 'success'))
        const run = runs.find(({ status }) => status === 'success')
        expect(Date.parse(run?.started_at ?? '')).toBeGreaterThanOrEqual(Date.parse(run?.nominal_time ?? ''))
      }),
  },
  {
    line: '124',
    says: 'A job that succeeds is completed',
    check: (world) => running(world, async (id) => void (await loggedAs(world, id, 'ok'))),
  },
  {
    line: '125',
    says: 'A job that fails has failed',
    check: (world) =>
      running(world, async (id) => void (await loggedAs(world, id, 'error')), {
        ...{ status: 'failed', error_message: 'out of paper' },
      }),
  },
  {
    line: '129',
    says: 'After a run of an `every` or `cron` job the next run is computed',
    check: (world) =>
      running(world, async (id) => {
        const { ts } = await loggedAs(world, id, 'ok')
        expect((await jobOf(world, id))?.state.nextRunAtMs).toBeGreaterThan(ts)
      }),
  },
  {
    line: '130',
    says: 'An `at` job with `deleteAfterRun` is deleted after its run',
    check: async (world) => {
      const agent = await world.agent()
      const job = await createJob(world, { kind: 'at', atMs: Date.now() + 1_500 }, { agentId: agent.id })
      expect(job.deleteAfterRun).toBe(true)
      await world.until(async () => expect(await jobOf(world, job.id)).toBeUndefined())
      expect((await logOf(world, job.id)).map(({ status }) => status)).toEqual(['ok'])
    },
  },
  { line: '131', says: '`EnableJob(false)` pauses a job', check: switchesOff },
  { line: '132', says: '`EnableJob(true)` resumes a job', check: computesAnew },
  {
    line: '137',
    says: 'Kind `at` takes `atMs`',
    check: async (world) => {
      const atMs = Date.now() + 3_600_000
      expect(await createJob(world, { kind: 'at', atMs })).toMatchObject({
        ...{ schedule: { kind: 'at', atMs }, state: { nextRunAtMs: atMs } },
      })
    },
  },
  {
    line: '138',
    says: 'Kind `every` takes `everyMs`, such as 1,800,000',
    check: async (world) => {
      const { schedule, state, createdAtMs } = await createJob(world, { kind: 'every', everyMs: 1_800_000 })
      expect(schedule).toMatchObject({ kind: 'every', everyMs: 1_800_000 })
      expect(state.nextRunAtMs).toBe(createdAtMs + 1_800_000)
    },
  },
  {
    line: '139',
    says: 'Kind `cron` takes `expr`, such as "0 9 * * 1-5"',
    check: async (world) => {
      const { state } = await createJob(world, { kind: 'cron', expr: '0 9 * * 1-5', tz: 'UTC' })
      const next = new Date(state.nextRunAtMs ?? 0)
      expect([next.getUTCHours(), next.getUTCMinutes()]).toEqual([9, 0])
      expect([1, 2, 3, 4, 5]).toContain(next.getUTCDay())
    },
  },
  {
    line: '141',
    says: 'A job that is not `Enabled` is passed over when due jobs are looked for',
    shownBy: [
      'test/scenarios/schedule-timing.test.ts',
      'switching off and on › off: nothing further occurs, what runs ends; on: from now, without a backlog',
    ],
  },
  { line: '141', says: 'Enabling a job again computes its next run anew', check: computesAnew },
  {
    line: '141',
    says: 'The last 200 results are kept in memory',
    differs:
      'Runs are in the database, 30 days or the newest 200 of a schedule, whichever is more: several nodes and restarts have to see the same.',
    shownBy: [
      'test/platform/db/retention.test.ts',
      'old runs › go unless they are pending, tasks, or among the newest of their schedule',
    ],
  },
  {
    line: '141',
    says: 'Changes of the state of a job are announced',
    check: async (world) => {
      const { id } = await createJob(world, HOURLY)
      const event = await eventOf(world, { kinds: ['schedule.changed'], schedule_id: id }, async () => {
        await world.rpc('cron.toggle', { jobId: id, enabled: false })
        return ({ subject }) => subject === id
      })
      expect(event.data).toMatchObject({ change: 'disabled' })
    },
  },
  {
    line: '181',
    says: 'Cron jobs are executed by way of the scheduler, in lane `cron`',
    check: (world) =>
      running(world, async (id) => {
        const [run] = await world.runsOf(id, (runs) => runs.length > 0)
        expect(run).toMatchObject({ lane: 'cron', trigger: 'schedule' })
      }),
  },
]
