import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AsCodeDocument, type PlanView, asCodeDocument, planView } from '../../src/features/as-code/schema.ts'

import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
let woken = 0
beforeAll(async () => {
  world = await createHttpWorld()
  world.change({ wakeSchedules: () => void (woken += 1) })
})
afterAll(() => world.close())

const exported = async (query = ''): Promise<AsCodeDocument> =>
  asCodeDocument.parse((await world.ask('GET', `/api/v1/export${query}`)).json())
const sent = async (path: string, body: unknown): Promise<PlanView> => {
  const response = await world.ask('POST', path, { body })
  expect(response.statusCode).toBe(200)
  return planView.parse(response.json())
}

const document = {
  version: 1,
  agents: [{ name: 'Scout', executor: { kind: 'echo' }, timeout_seconds: '5m' }],
  schedules: [{ name: 'Look', agent: 'Scout', every_seconds: '30m', payload: 'Look around' }],
}

describe('a document over HTTP', () => {
  it('is planned, applied with what was seen, and exported as it came', async () => {
    const plan = await sent('/api/v1/apply/plan', document)
    expect(plan).toMatchObject({ applied: false, prune: false, counts: { create: 2, unmanaged: 2 } })
    expect(plan.permissions).toEqual(['agents:write', 'schedules:write'])
    const done = await sent(`/api/v1/apply?expect=${plan.plan_id}`, document)
    expect([done.applied, done.plan_id, woken]).toEqual([true, plan.plan_id, 1])
    expect(await exported('?kinds=schedules')).toEqual({
      version: 1,
      schedules: [{ name: 'Look', agent: 'Scout', every_seconds: 1_800, payload: 'Look around' }],
    })
    const stale = await world.ask('POST', `/api/v1/apply?expect=${plan.plan_id}`, { body: document })
    expect(problemIn(stale, 'STALE_VERSION').detail).toContain('plan it again')
    expect((await sent('/api/v1/apply/plan', await exported())).counts).toMatchObject({ unchanged: 4, flawed: 0 })
  })

  it('is refused with the places of everything that is wrong, and nothing is done', async () => {
    const before = await exported()
    const wrong = {
      version: 1,
      agents: [{ name: 'New', executor: { kind: 'echo' } }],
      schedules: [
        { name: 'Look', agent: 'Scout', cron: '61 * * * *' },
        { name: 'Other', every_seconds: 60, retry_policy: { base_ms: 0 }, delivery: { target: 'Nowhere' } },
      ],
    }
    const refused = await world.ask('POST', '/api/v1/apply', { body: wrong })
    expect(pointersIn(refused)).toEqual([
      ...['/schedules/0/cron', '/schedules/1/delivery/target', '/schedules/1/retry_policy/base_ms'],
    ])
    expect(await exported()).toEqual(before)
    const { items } = await sent('/api/v1/apply/plan', wrong)
    expect(items.flatMap(({ flaws }) => flaws.map(({ pointer }) => pointer))).toEqual(pointersIn(refused))
    expect(pointersIn(await world.ask('POST', '/api/v1/apply/plan', { body: { schedules: [1] } }))).toEqual([
      ...['/version', '/schedules/0'],
    ])
  })

  it('needs the rights of every kind it is about, and is another org’s own', async () => {
    expect((await world.ask('POST', '/api/v1/apply/plan', { body: document, as: 'viewer' })).statusCode).toBe(200)
    const agents = { version: 1, agents: [{ name: 'Another', executor: { kind: 'echo' } }] }
    const refused = problemIn(await world.ask('POST', '/api/v1/apply', { body: agents, as: 'member' }), 'FORBIDDEN')
    expect(refused).toMatchObject({ detail: expect.stringContaining('agents:write is required') as string })
    const theirs = (await world.ask('GET', '/api/v1/export', { as: 'stranger' })).json<AsCodeDocument>()
    expect(theirs.schedules).toEqual([])
  })
})
