import { expect } from 'vitest'
import type { RawAnswer } from '../../http-scenarios/world.ts'
import { createSchedule, NEVER, once, runNow, scheduleOf } from '../experiment.ts'
import type { Row } from '../row.ts'
import type { World } from '../world.ts'
import { failed, planned } from './experiments.ts'

const PERMISSIONS = ['read', 'write', 'run', 'delete'] as const
type Permission = (typeof PERMISSIONS)[number]
type Asked = readonly [method: string, target: string, body?: unknown]

/** The ten routes of the document and the one that deletes, by the permission that opens them. */
const routesOf = (id: string, runId: string): Readonly<Record<Permission, readonly Asked[]>> => ({
  read: [
    ['GET', '/schedules'],
    ['GET', `/schedules/${id}`],
    ['GET', `/schedules/${id}/runs`],
    ['GET', `/schedule-runs/${runId}`],
  ],
  write: [
    ['POST', '/schedules', { ...NEVER, name: 'by permission' }],
    ['PATCH', `/schedules/${id}`, { description: 'changed' }],
    ['POST', `/schedules/${id}/enable`],
    ['POST', `/schedules/${id}/disable`],
  ],
  run: [
    ['POST', `/schedules/${id}/run-now`],
    ['POST', `/schedule-runs/${runId}/retry`],
  ],
  delete: [['DELETE', `/schedules/${id}`]],
})

/** For each permission, held alone: the routes that it opens, by the permission that should open them. */
const matrix = once(async (world) => {
  const opened: Partial<Record<Permission, readonly string[]>> = {}
  for (const held of PERMISSIONS) {
    const { id } = await createSchedule(world, { ...NEVER, agent_id: (await world.agent()).id })
    const runId = await runNow(world, id)
    await world.ended(runId)
    await world.post(`/api/v1/runs/${runId}/cancel`)
    const key = await keyWith(world, [`schedules:${held}`])
    const found: string[] = []
    for (const permission of PERMISSIONS)
      for (const [method, target, body] of routesOf(id, runId)[permission]) {
        const answer = await world.server.raw(method, `/api/v1${target}`, { key, body })
        // A run that has succeeded is not retried: the answer is 409 to who may, 403 to who may not.
        if (answer.status !== 403) found.push(permission)
      }
    opened[held] = found
  }
  return opened
})

async function keyWith(world: World, scopes: readonly string[]): Promise<string> {
  const { body } = await world.post('/api/v1/keys', { name: world.name, role: 'owner', scopes })
  return String(body['key'])
}

const opens = (permission: Permission, count: number) => async (world: World) =>
  expect((await matrix(world))[permission]).toEqual(Array<string>(count).fill(permission))

const bodyOf = async (answer: Promise<RawAnswer>, status: number): Promise<RawAnswer['body']> => {
  const { status: told, body } = await answer
  expect(told, JSON.stringify(body)).toBe(status)
  return body
}

/** Routes and permissions: lines 87 to 103. */
export const API: readonly Row[] = [
  {
    line: '87',
    says: '`POST /api/v1/schedules` creates a schedule.',
    check: async (world) => {
      const body = await bodyOf(world.post('/api/v1/schedules', { ...NEVER, name: world.name }), 201)
      expect(body).toMatchObject({ name: world.name, state: 'active' })
    },
  },
  {
    line: '88',
    says: '`GET /api/v1/schedules` lists schedules.',
    check: async (world) => {
      const { id } = await createSchedule(world, NEVER)
      const { items } = await bodyOf(world.get(`/api/v1/schedules?q=${world.name}&limit=200`), 200)
      expect((items as readonly { readonly id: string }[]).map((item) => item.id)).toContain(id)
    },
  },
  {
    line: '89',
    says: '`GET /api/v1/schedules/:id` shows one.',
    check: async (world) => {
      const made = await createSchedule(world, NEVER)
      expect(await bodyOf(world.get(`/api/v1/schedules/${made.id}`), 200)).toEqual(made)
    },
  },
  {
    line: '90',
    says: '`PATCH /api/v1/schedules/:id` changes one.',
    check: async (world) => {
      const { id } = await createSchedule(world, NEVER)
      const body = await bodyOf(world.patch(`/api/v1/schedules/${id}`, { cron_expr: '0 8 * * *' }), 200)
      expect(body).toMatchObject({ id, cron: '0 8 * * *' })
    },
  },
  {
    line: '91',
    says: '`POST /api/v1/schedules/:id/enable` switches one on.',
    check: async (world) => {
      const { id } = await createSchedule(world, { ...NEVER, enabled: false })
      expect(await bodyOf(world.post(`/api/v1/schedules/${id}/enable`), 200)).toMatchObject({ state: 'active' })
    },
  },
  {
    line: '92',
    says: '`POST /api/v1/schedules/:id/disable` switches one off.',
    check: async (world) => {
      const { id } = await createSchedule(world, NEVER)
      expect(await bodyOf(world.post(`/api/v1/schedules/${id}/disable`), 200)).toMatchObject({ state: 'paused' })
      expect(await scheduleOf(world, id)).toMatchObject({ enabled: false, next_run_at: null })
    },
  },
  {
    line: '93',
    says: '`POST /api/v1/schedules/:id/run-now` runs one now.',
    check: async (world) => {
      const { id, next_run_at } = await createSchedule(world, { ...NEVER, agent_id: (await world.agent()).id })
      const { run_id: runId } = await bodyOf(world.post(`/api/v1/schedules/${id}/run-now`), 202)
      expect(await world.ended(String(runId))).toMatchObject({ trigger: 'manual', status: 'success' })
      expect((await scheduleOf(world, id)).next_run_at).toBe(next_run_at)
    },
  },
  {
    line: '94',
    says: '`GET /api/v1/schedules/:id/runs` lists the runs of one.',
    check: async (world) => {
      const { created, run } = await planned(world)
      const { items } = await bodyOf(world.get(`/api/v1/schedules/${created.id}/runs`), 200)
      expect(items).toMatchObject([{ id: run.id, status: 'success' }])
    },
  },
  {
    line: '95',
    says: '`GET /api/v1/schedule-runs/:runId` shows a run to a key with the permissions of the document alone.',
    check: async (world) => {
      const { run } = await planned(world)
      const key = await keyWith(world, ['schedules:read', 'schedules:write', 'schedules:run', 'schedules:delete'])
      expect(await bodyOf(world.get(`/api/v1/schedule-runs/${run.id}`, { key }), 200)).toMatchObject({ id: run.id })
    },
  },
  {
    line: '96',
    says: '`POST /api/v1/schedule-runs/:runId/retry` runs it again under the policies of its schedule.',
    check: async (world) => {
      const { run } = await failed(world)
      const again = await bodyOf(world.post(`/api/v1/schedule-runs/${run.id}/retry`), 202)
      expect(again).toMatchObject({ trigger: 'retry', retry_of: run.id, schedule_id: run.schedule_id })
      const agent = await world.agent()
      agent.hold()
      const { id } = await createSchedule(world, {
        ...{ ...NEVER, agent_id: agent.id, timeout_seconds: 1, retry_policy: { max_retries: 0 } },
      })
      const first = await runNow(world, id)
      await world.ended(first)
      const { id: second } = await bodyOf(world.post(`/api/v1/schedule-runs/${first}/retry`), 202)
      expect(await world.ended(String(second))).toMatchObject({ status: 'timeout', attempt: 1 })
    },
  },
  { line: '100', says: '`schedules:read` opens everything that reads.', check: opens('read', 4) },
  { line: '101', says: '`schedules:write` opens create, change, enable and disable.', check: opens('write', 4) },
  { line: '102', says: '`schedules:run` opens run-now and retry.', check: opens('run', 2) },
  { line: '103', says: '`schedules:delete` opens deleting.', check: opens('delete', 1) },
]
