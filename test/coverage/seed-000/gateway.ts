import { expect } from 'vitest'
import * as library from '../../../src/index.ts'
import type { CronJob } from '../../../src/server/rpc/schema.ts'
import { createJob, jobOf, loggedAs, logOf } from '../jobs.ts'
import type { Row } from '../row.ts'

const HOURLY = { kind: 'every', everyMs: 3_600_000 }

const isExported =
  (name: 'ErrQueueFull' | 'ErrQueueDropped' | 'ErrMessageStale' | 'ErrGatewayDraining' | 'ErrLaneCleared') =>
  (): Promise<void> => {
    expect(library[name].prototype).toBeInstanceOf(Error)
    return Promise.resolve()
  }

/** Draining, errors and types, and the methods of the gateway. */
export const GATEWAY: readonly Row[] = [
  {
    line: '159',
    says: 'Draining: new work is refused, running work ends',
    shownBy: [
      'test/http-scenarios/processes.test.ts',
      '13: draining over HTTP › SIGTERM: new work 503, what runs ends, what waits survives into the next process',
    ],
  },
  { line: '160', says: '`ErrQueueFull` is exported', check: isExported('ErrQueueFull') },
  { line: '160', says: '`ErrQueueDropped` is exported', check: isExported('ErrQueueDropped') },
  { line: '160', says: '`ErrMessageStale` is exported', check: isExported('ErrMessageStale') },
  { line: '160', says: '`ErrGatewayDraining` is exported', check: isExported('ErrGatewayDraining') },
  { line: '160', says: '`ErrLaneCleared` is exported', check: isExported('ErrLaneCleared') },
  {
    line: '164',
    says: 'The cron service starts and stops, and creates, reads, changes and deletes jobs',
    check: async (world) => {
      expect(await world.rpc('cron.status')).toMatchObject({ enabled: true })
      const { id } = await createJob(world, HOURLY)
      await world.rpc('cron.update', { jobId: id, patch: { name: 'renamed' } })
      expect(await jobOf(world, id)).toMatchObject({ name: 'renamed' })
      await world.rpc('cron.delete', { jobId: id })
      expect(await jobOf(world, id)).toBeUndefined()
      await world.alone(async ({ start }) => (await start()).stop())
    },
  },
  {
    line: '166',
    says: 'Long output is truncated',
    shownBy: ['test/scenarios/runs.test.ts', 'a run › keeps 16 KiB of its output, cut between characters and marked'],
  },
  {
    line: '167',
    says: 'There are types Job, Schedule, JobState and RunLogEntry',
    check: async (world) => {
      const agent = await world.agent()
      const job = await createJob(world, { kind: 'cron', expr: '0 9 * * *', tz: 'UTC' }, { agentId: agent.id })
      expect(job).toMatchObject({
        ...{ agentId: agent.id, enabled: true, schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'UTC' } },
        state: { nextRunAtMs: expect.any(Number) as number },
      })
      await world.rpc('cron.run', { jobId: job.id })
      const entry = await loggedAs(world, job.id, 'ok')
      expect(entry).toMatchObject({ jobId: job.id, ts: expect.any(Number) as number })
    },
  },
  {
    line: '183',
    says: 'RPC method `list`',
    check: async (world) => {
      const { id } = await createJob(world, HOURLY)
      for (const method of ['cron.list', 'list']) {
        const { jobs } = await world.rpc<{ readonly jobs: readonly CronJob[] }>(method, { includeDisabled: true })
        expect(jobs.map((job) => job.id)).toContain(id)
      }
    },
  },
  {
    line: '183',
    says: 'RPC method `create`',
    check: async (world) => {
      for (const method of ['cron.create', 'create']) {
        const params = { name: 'Inbox', schedule: HOURLY, message: 'Look' }
        const { job } = await world.rpc<{ readonly job: CronJob }>(method, params)
        expect(await jobOf(world, job.id)).toMatchObject({ name: 'Inbox', payload: { message: 'Look' } })
      }
    },
  },
  {
    line: '183',
    says: 'RPC method `update`',
    check: async (world) => {
      const { id } = await createJob(world, HOURLY)
      for (const method of ['cron.update', 'update']) {
        await world.rpc(method, { jobId: id, patch: { message: `by ${method}` } })
        expect(await jobOf(world, id)).toMatchObject({ payload: { message: `by ${method}` } })
      }
    },
  },
  {
    line: '183',
    says: 'RPC method `delete`',
    check: async (world) => {
      for (const method of ['cron.delete', 'delete']) {
        const { id } = await createJob(world, HOURLY)
        await world.rpc(method, { jobId: id })
        expect(await jobOf(world, id)).toBeUndefined()
      }
    },
  },
  {
    line: '183',
    says: 'RPC method `toggle`',
    check: async (world) => {
      const { id } = await createJob(world, HOURLY)
      for (const [method, enabled] of [
        ['cron.toggle', false],
        ['toggle', true],
      ] as const) {
        expect(await world.rpc(method, { jobId: id, enabled })).toEqual({ jobId: id, enabled })
        expect(await jobOf(world, id)).toMatchObject({ enabled })
      }
    },
  },
  {
    line: '183',
    says: 'RPC method `run`',
    check: async (world) => {
      const agent = await world.agent()
      const { id } = await createJob(world, HOURLY, { agentId: agent.id })
      for (const method of ['cron.run', 'run'])
        expect(await world.rpc(method, { jobId: id })).toMatchObject({ ok: true, ran: true })
      await world.until(() => agent.dispatches.length === 2)
    },
  },
  {
    line: '183',
    says: 'RPC method `runs`',
    check: async (world) => {
      const agent = await world.agent()
      const { id } = await createJob(world, HOURLY, { agentId: agent.id })
      await world.rpc('cron.run', { jobId: id })
      await loggedAs(world, id, 'ok')
      expect(await world.rpc('runs', { jobId: id })).toMatchObject({ entries: await logOf(world, id), total: 1 })
    },
  },
  {
    line: '183',
    says: 'Clients of GoClaw send its own WebSocket frames',
    differs: 'The wire is JSON-RPC 2.0, which every language has a client for; methods and their fields are the same.',
    check: async (world) => {
      const frame = { type: 'req', id: '1', method: 'cron.list', params: {} }
      expect((await world.post('/rpc', frame)).body).toMatchObject({ error: { code: -32_600 } })
      expect((await world.get('/ws')).status).toBe(404)
    },
  },
]
