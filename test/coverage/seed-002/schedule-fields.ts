import { expect } from 'vitest'
import { createSchedule, NEVER, once, scheduleOf } from '../experiment.ts'
import type { Row } from '../row.ts'
import { failed, PAYLOAD, planned } from './experiments.ts'

const RUN_AT = '2030-01-01T00:00:00.000Z'

/** One schedule of each type, created and read back under the names of the document. */
const typed = once(async (world) => {
  const cron = await createSchedule(world, { schedule_type: 'cron', cron_expr: '0 7 * * *', timezone: 'Asia/Shanghai' })
  const interval = await createSchedule(world, { schedule_type: 'interval', interval_seconds: 600 })
  const at = await createSchedule(world, { schedule_type: 'once', run_at: RUN_AT })
  return Promise.all([cron, interval, at].map(({ id }) => scheduleOf(world, id)))
})

/** The fields of `agent_schedules`: lines 61 to 70. */
export const SCHEDULE_FIELDS: readonly Row[] = [
  {
    line: '61',
    says: 'A schedule has an `id`.',
    differs: 'Ids are not UUIDs: they say what they belong to (`sch_…`), because people read them (D10).',
    check: async (world) => expect((await planned(world)).created.id).toMatch(/^sch_/),
  },
  {
    line: '62',
    says: 'A schedule has an `org_id`.',
    check: async (world) => expect((await planned(world)).created.org_id).toBe('default'),
  },
  {
    line: '62',
    says: 'A schedule has a `created_by`.',
    check: async (world) => expect((await planned(world)).created.created_by).toMatch(/^key_/),
  },
  {
    line: '62',
    says: 'A schedule has an `agent_id`, which must exist.',
    check: async (world) => {
      const { agent, created } = await planned(world)
      expect(created.agent_id).toBe(agent)
      const { status, body } = await world.post('/api/v1/schedules', { ...NEVER, agent_id: 'not-there' })
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('/agent_id')])
    },
  },
  {
    line: '63',
    says: 'A schedule has a `name` and a `description`.',
    check: async (world) => {
      const made = await createSchedule(world, { ...NEVER, name: 'Daily', description: 'Every morning' })
      expect(await scheduleOf(world, made.id)).toMatchObject({ name: 'Daily', description: 'Every morning' })
    },
  },
  {
    line: '64',
    says: '`schedule_type` is `cron`, `interval` or `once` when a schedule is created.',
    check: async (world) => expect((await typed(world)).map(({ kind }) => kind)).toEqual(['cron', 'every', 'at']),
  },
  {
    line: '64',
    says: '`schedule_type` is shown when a schedule is read.',
    check: async (world) =>
      expect((await typed(world)).map((made) => made['schedule_type'])).toEqual(['cron', 'interval', 'once']),
  },
  {
    line: '65',
    says: '`cron_expr` is taken when a schedule is created.',
    check: async (world) => expect((await typed(world))[0]).toMatchObject({ cron: '0 7 * * *' }),
  },
  {
    line: '65',
    says: '`cron_expr` is shown when a schedule is read.',
    check: async (world) => expect((await typed(world))[0]).toMatchObject({ cron_expr: '0 7 * * *' }),
  },
  {
    line: '65',
    says: 'A schedule has a `timezone`.',
    check: async (world) => {
      const [cron] = await typed(world)
      expect(cron?.timezone).toBe('Asia/Shanghai')
      expect(cron?.next_run_at).toMatch(/T23:00:00/)
    },
  },
  {
    line: '65',
    says: '`interval_seconds` is taken when a schedule is created.',
    check: async (world) => expect((await typed(world))[1]).toMatchObject({ every_seconds: 600 }),
  },
  {
    line: '65',
    says: '`interval_seconds` is shown when a schedule is read.',
    check: async (world) => expect((await typed(world))[1]).toMatchObject({ interval_seconds: 600 }),
  },
  {
    line: '65',
    says: '`run_at` is taken when a schedule is created.',
    check: async (world) => expect((await typed(world))[2]).toMatchObject({ at: RUN_AT, next_run_at: RUN_AT }),
  },
  {
    line: '65',
    says: '`run_at` is shown when a schedule is read.',
    check: async (world) => expect((await typed(world))[2]).toMatchObject({ run_at: RUN_AT }),
  },
  {
    line: '66',
    says: '`payload` is JSON with the prompt, its context and what the output must be.',
    check: async (world) => {
      const { created, dispatch } = await planned(world)
      expect([created.payload, dispatch?.payload]).toEqual([PAYLOAD, PAYLOAD])
    },
  },
  {
    line: '67',
    says: 'A schedule has an `enabled` flag.',
    check: async (world) => {
      const { enabled, state, next_run_at } = await createSchedule(world, { ...NEVER, enabled: false })
      expect([enabled, state, next_run_at]).toEqual([false, 'paused', null])
    },
  },
  {
    line: '68',
    says: 'A schedule has a `next_run_at`.',
    check: async (world) => {
      const { next_run_at } = await createSchedule(world, { cron: '0 0 1 1 *', timezone: 'UTC' })
      expect(next_run_at).toBe(`${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`)
    },
  },
  {
    line: '68',
    says: 'A schedule has a `last_run_at`, which a run started by hand moves as well.',
    check: async (world) => {
      const { created, run, after } = await planned(world)
      expect(created.last_run_at).toBeNull()
      expect(Date.parse(after.last_run_at ?? '')).toBeGreaterThanOrEqual(Date.parse(run.nominal_time ?? ''))
      const { last_run_at, last_status } = (await failed(world)).after
      expect([last_run_at, last_status]).toEqual([expect.any(String), 'failed'])
    },
  },
  {
    line: '69',
    says: '`retry_policy` is JSON.',
    check: async (world) => {
      const retry_policy = { max_retries: 5, strategy: 'ladder', ladder_seconds: [30, 60, 300, 900, 3_600] }
      const made = await createSchedule(world, { ...NEVER, retry_policy })
      expect(made.retry_policy).toMatchObject(retry_policy)
      const { status } = await world.post('/api/v1/schedules', { ...NEVER, retry_policy: { tries: 5 } })
      expect(status).toBe(400)
    },
  },
  {
    line: '70',
    says: 'A schedule has a `created_at` and an `updated_at`.',
    check: async (world) => {
      const made = await createSchedule(world, NEVER)
      await world.patch(`/api/v1/schedules/${made.id}`, { description: 'changed' })
      const { created_at, updated_at } = await scheduleOf(world, made.id)
      expect(created_at).toBe(made.created_at)
      expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(created_at))
    },
  },
]
