import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DeliveryView } from '../../src/features/deliveries/schema.ts'
import type { Explanation } from '../../src/features/explain/schema.ts'
import type { LineageView } from '../../src/features/access/restrictions-schema.ts'
import type { Page } from '../../src/api/page.ts'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { principalId } from '../../src/domain/ids.ts'
import { because } from '../../src/domain/reasons.ts'
import { ORG, seedRun } from '../platform/db/records.ts'
import { aPrincipal, createHttpWorld, KEYS, problemIn, type HttpWorld } from './support.ts'

const FOUR = ['schedules:read', 'schedules:write', 'schedules:run', 'schedules:delete'] as const
type One = (typeof FOUR)[number]

let world: HttpWorld
let schedule = ''
beforeAll(async () => {
  world = await createHttpWorld()
  for (const one of FOUR) KEYS.set(one, aPrincipal('owner', { id: principalId(`key_${one}`), scopes: [one] }))
})
afterAll(async () => {
  for (const one of FOUR) KEYS.delete(one)
  await world.close()
})
beforeEach(async () => {
  await world.services.db.query(
    'delete from delivery; delete from run; delete from pending; delete from schedule; delete from idempotency',
  )
  schedule = (
    await world.ask('POST', '/api/v1/schedules', { body: { name: 'Nightly', cron: '0 3 * * *' } })
  ).json<ScheduleView>().id
  const ended = { state: 'failed', errorCode: 'agent_error', errorMessage: 'It broke' } as const
  await seedRun(world.services.db, 'of_schedule', { ...ended, schedule, trigger: 'schedule' })
  await seedRun(world.services.db, 'of_message', ended)
  const why = JSON.stringify(because('delivery_given_up', 'delivery.max_tries', { tries: 30, target: 'x' }))
  for (const [id, run] of [
    ['dlv_schedule', 'of_schedule'],
    ['dlv_message', 'of_message'],
    ['dlv_alert', null],
  ] as const)
    await world.services.db.query(
      `insert into delivery (org_id, id, run_id, kind, url, line, state, why, created_at, finished_at)
       values ($1, $2, $3, 'callback', 'https://example.com', 'callback', 'failed', $4::jsonb, now(), now())`,
      [ORG, id, run, why],
    )
})

type Ask = readonly ['GET' | 'POST' | 'PATCH' | 'DELETE', string, One, unknown?]

/** The ten routes of seed 002 with the permission that opens each, and the deletion that its fourth permission is for. */
const ROUTES: readonly Ask[] = [
  ['POST', '/api/v1/schedules', 'schedules:write', { name: 'Hourly', cron: '0 * * * *' }],
  ['GET', '/api/v1/schedules', 'schedules:read'],
  ['GET', '/api/v1/schedules/:id', 'schedules:read'],
  ['PATCH', '/api/v1/schedules/:id', 'schedules:write', { name: 'Renamed' }],
  ['POST', '/api/v1/schedules/:id/enable', 'schedules:write'],
  ['POST', '/api/v1/schedules/:id/disable', 'schedules:write'],
  ['POST', '/api/v1/schedules/:id/run-now', 'schedules:run', {}],
  ['GET', '/api/v1/schedules/:id/runs', 'schedules:read'],
  ['GET', '/api/v1/schedule-runs/:runId', 'schedules:read'],
  ['POST', '/api/v1/schedule-runs/:runId/retry', 'schedules:run', {}],
  ['DELETE', '/api/v1/schedules/:id', 'schedules:delete'],
]

/** The other addresses of a schedule's run, which the same permissions open. */
const OTHER_ROUTES: readonly Ask[] = [
  ['GET', '/api/v1/runs', 'schedules:read'],
  ['GET', '/api/v1/runs/:runId', 'schedules:read'],
  ['GET', '/api/v1/runs/:runId/explain', 'schedules:read'],
  ['GET', '/api/v1/runs/:runId/lineage', 'schedules:read'],
  ['GET', '/api/v1/explain?id=:runId', 'schedules:read'],
  ['GET', '/api/v1/explain?id=dlv_schedule', 'schedules:read'],
  ['GET', '/api/v1/explain?at=2026-01-15T12:00:00Z', 'schedules:read'],
  ['GET', '/api/v1/deliveries', 'schedules:read'],
  ['GET', '/api/v1/deliveries/dlv_schedule', 'schedules:read'],
  ['POST', '/api/v1/runs/:runId/retry', 'schedules:run', {}],
]

const ask = (...[method, path, as, body]: readonly [Ask[0], string, string, unknown]) =>
  world.ask(method, path.replace(':id', schedule).replace(':runId', 'of_schedule'), {
    as,
    ...(body === undefined ? {} : { body }),
  })

describe('a key with exactly one of the four permissions of seed 002', () => {
  it.each([...ROUTES, ...OTHER_ROUTES])('%s %s is open to %s and to no other', async (...route) => {
    const [method, path, needed, body] = route as unknown as Ask
    for (const other of FOUR.filter((one) => one !== needed))
      problemIn(await ask(method, path, other, body), 'FORBIDDEN')
    const answer = await ask(method, path, needed, body)
    expect([200, 201, 202, 204], answer.body).toContain(answer.statusCode)
  })
})

describe('a reader of schedules', () => {
  it('is shown no run that a schedule did not start', async () => {
    for (const path of ['/api/v1/runs/of_message', '/api/v1/schedule-runs/of_message'])
      problemIn(await ask('GET', path, 'schedules:read', undefined), 'FORBIDDEN')
    for (const part of ['explain', 'lineage'])
      problemIn(await ask('GET', `/api/v1/runs/of_message/${part}`, 'schedules:read', undefined), 'FORBIDDEN')
    problemIn(await ask('GET', '/api/v1/runs/of_nothing', 'schedules:read', undefined), 'NOT_FOUND')
  })

  it.each(['', '?status=failed', '?trigger=schedule'])(
    'finds in /runs%s the runs of schedules alone',
    async (query) => {
      const found = (as: string) => world.ask('GET', `/api/v1/runs${query}`, { as })
      const ids = (await found('schedules:read')).json<Page<RunView>>().items.map(({ id }) => id)
      expect(ids).toEqual(['of_schedule'])
      expect((await found('owner')).json<Page<RunView>>().items.length).toBe(query.includes('trigger') ? 1 : 2)
    },
  )

  it('is explained neither another run nor what that delivered', async () => {
    for (const id of ['of_message', 'dlv_message', 'dlv_alert'])
      problemIn(await ask('GET', `/api/v1/explain?id=${id}`, 'schedules:read', undefined), 'NOT_FOUND')
    const around = (as: string) =>
      world.ask('GET', '/api/v1/explain?at=2026-01-15T12:00:00Z&within_seconds=86400', { as })
    const runsIn = async (as: string): Promise<readonly (string | null)[]> =>
      (await around(as)).json<Explanation>().findings.flatMap(({ kind, about }) => (kind === 'run' ? [about] : []))
    expect(await runsIn('owner')).toContain('of_message')
    expect(await runsIn('schedules:read')).not.toContain('of_message')
  })

  it('finds what runs of schedules delivered, and nothing else', async () => {
    const found = async (as: string): Promise<readonly string[]> =>
      (await world.ask('GET', '/api/v1/deliveries', { as })).json<Page<DeliveryView>>().items.map(({ id }) => id)
    expect(await found('schedules:read')).toEqual(['dlv_schedule'])
    expect(await found('owner')).toHaveLength(3)
    for (const id of ['dlv_message', 'dlv_alert'])
      problemIn(await ask('GET', `/api/v1/deliveries/${id}`, 'schedules:read', undefined), 'FORBIDDEN')
  })

  it('sees in the lineage of a run no other runs than those of schedules', async () => {
    await seedRun(world.services.db, 'child')
    await world.services.db.query(`update run set parent_run_id = 'of_schedule' where id = 'child'`)
    const lineage = async (as: string): Promise<readonly string[]> =>
      (await world.ask('GET', '/api/v1/runs/of_schedule/lineage', { as }))
        .json<LineageView>()
        .children.map(({ id }) => id)
    expect(await lineage('owner')).toEqual(['child'])
    expect(await lineage('schedules:read')).toEqual([])
  })
})
