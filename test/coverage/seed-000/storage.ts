import { expect } from 'vitest'
import { eventOf, send, sendAll } from '../conversation.ts'
import { createJob } from '../jobs.ts'
import type { Row } from '../row.ts'
import type { World } from '../world.ts'

const tables = async ({ database }: World): Promise<readonly unknown[]> =>
  (await database.outside(`select tablename as name from pg_tables where schemaname = 'escapement'`)).map(
    ({ name }) => name,
  )

/** Where jobs and logs are kept, and what the two halves are responsible for. */
export const STORAGE: readonly Row[] = [
  {
    line: '19',
    says: 'Cron jobs are stored in PostgreSQL',
    check: async (world) => {
      const { id } = await createJob(world, { kind: 'every', everyMs: 3_600_000 })
      const found = await world.database.outside('select id from escapement.schedule where id = $1', [id])
      expect(found).toEqual([{ id }])
    },
  },
  {
    line: '19',
    says: 'Their table is named `cron_jobs`',
    differs: 'The table is `schedule`: it also holds reminders, intervals and recurrence rules.',
    check: async (world) => {
      expect(await tables(world)).toContain('schedule')
      expect(await tables(world)).not.toContain('cron_jobs')
    },
  },
  {
    line: '19',
    says: 'Run logs are stored in PostgreSQL',
    check: async (world) => {
      const agent = await world.agent()
      const id = await send(world, agent.session(), 'hello')
      await world.ended(id)
      const found = await world.database.outside('select state from escapement.run where id = $1', [id])
      expect(found).toEqual([{ state: 'success' }])
    },
  },
  {
    line: '19',
    says: 'Their table is named `cron_run_logs`',
    differs: 'The table is `run`: messages, tasks and heartbeats are runs as well.',
    check: async (world) => {
      expect(await tables(world)).toContain('run')
      expect(await tables(world)).not.toContain('cron_run_logs')
    },
  },
  {
    line: '19',
    says: 'Changes of jobs are announced as the event `cache:cron`',
    differs: 'The event is `schedule.changed`: there is no cache to invalidate, and clients listen to the same event.',
    check: async (world) => {
      await eventOf(world, { kinds: ['schedule.changed'] }, async () => {
        const { id } = await createJob(world, { kind: 'every', everyMs: 3_600_000 })
        return ({ subject }) => subject === id
      })
    },
  },
  {
    line: '21',
    says: 'The scheduler limits concurrency by lane',
    check: async (world) => {
      const lane = `${world.name}-two`
      await world.put(`/api/v1/lanes/${lane}`, { concurrency: 2 })
      const agent = await world.agent()
      agent.hold()
      const sessions = ['a', 'b', 'c', 'd', 'e', 'f'].map(agent.session)
      const ids = await Promise.all(sessions.map((key) => send(world, key, 'hello', { lane })))
      await world.until(() => agent.busy() === 2)
      agent.release()
      await Promise.all(ids.map(world.ended))
      expect(agent.most()).toBe(2)
    },
  },
  {
    line: '21',
    says: 'The messages of a session are processed one after the other',
    check: async (world) => {
      const agent = await world.agent()
      const ids = await sendAll(world, agent.session(), ['1', '2', '3', '4'])
      await Promise.all(ids.map(world.ended))
      expect(agent.messages()).toEqual(['1', '2', '3', '4'])
      expect(agent.most()).toBe(1)
    },
  },
  {
    line: '22',
    says: 'A job is of kind at, every or cron',
    check: async (world) => {
      for (const schedule of [
        { kind: 'at', atMs: Date.now() + 3_600_000 },
        { kind: 'every', everyMs: 1_800_000 },
        { kind: 'cron', expr: '0 9 * * 1-5' },
      ])
        expect((await createJob(world, schedule)).schedule).toMatchObject(schedule)
    },
  },
  {
    line: '22',
    says: 'Runs of jobs are logged',
    shownBy: [
      'test/http-scenarios/rpc.test.ts',
      'calls over a WebSocket to a server › make a job that runs, show its log, and stop what it began',
    ],
  },
  {
    line: '22',
    says: 'Failures are retried with exponential back-off',
    shownBy: [
      'test/http-scenarios/http-agents.test.ts',
      '26: a failing agent turn, over HTTP › is tried 4 times with waits of about 2, 4 and 8 s, the same job with another key each time',
    ],
  },
]
