import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  await world.ask('POST', '/api/v1/agents', { body: { ...AGENT, id: 'patient', timeout_seconds: 86_400 } })
  await world.ask('POST', '/api/v1/schedules', { body: { ...SCHEDULE, name: 'patient', timeout_seconds: 86_400 } })
  const limited = await world.ask('PATCH', '/api/v1/orgs/acme', { as: 'operator', body: { max_timeout_seconds: 600 } })
  expect(limited.json()).toMatchObject({ max_timeout_seconds: 600 })
})
afterAll(() => world.close())

const AGENT = { name: 'Agent', executor: { kind: 'echo' } }
const SCHEDULE = { name: 'hourly', every_seconds: 3_600 }
const idOf = async (name: string): Promise<string> => {
  const { items } = (await world.ask('GET', '/api/v1/schedules')).json<{ items: { id: string; name: string }[] }>()
  return items.find((one) => one.name === name)?.id ?? ''
}

describe('a time limit in an org that allows 600 s', () => {
  it.each([
    ['POST', '/api/v1/schedules', SCHEDULE, 201],
    ['POST', '/api/v1/agents', AGENT, 201],
    ['PATCH', '/api/v1/agents/patient', {}, 200],
  ] as const)('is refused by %s %s when it is longer, with the limit named', async (method, url, body, accepted) => {
    const refused = await world.ask(method, url, { body: { ...body, timeout_seconds: 601 } })
    const problem = problemIn(refused, 'VALIDATION')
    expect(pointersIn(refused)).toEqual(['/timeout_seconds'])
    expect(problem.errors?.[0]?.message).toBe('is above the limit of the org, max_timeout_seconds 600')
    for (const timeout of [600, 1, 0, undefined])
      expect((await world.ask(method, url, { body: { ...body, timeout_seconds: timeout } })).statusCode).toBe(accepted)
  })

  it('is refused in a change of a schedule, whose stored one stays otherwise', async () => {
    const url = `/api/v1/schedules/${await idOf('patient')}`
    expect(pointersIn(await world.ask('PATCH', url, { body: { timeout_seconds: 700 } }))).toEqual(['/timeout_seconds'])
    const renamed = await world.ask('PATCH', url, { body: { description: 'still patient' } })
    expect([renamed.statusCode, renamed.json<{ timeout_seconds: number }>().timeout_seconds]).toEqual([200, 86_400])
  })

  it('is refused in a document and in an import, planned or not', async () => {
    const document = { version: 1, schedules: [{ name: 'coded', every_seconds: 60, timeout_seconds: 601 }] }
    const applied = await world.ask('POST', '/api/v1/apply/plan', { body: document })
    expect(applied.body).toContain('max_timeout_seconds 600')
    const job = { id: 'job', name: 'job', schedule: { kind: 'every', everyMs: 60_000 } }
    const payload = { kind: 'agentTurn', message: 'hello', timeoutSeconds: 601 }
    const body = { text: JSON.stringify({ version: 1, jobs: [{ ...job, payload }] }), plan: true }
    const imported = await world.ask('POST', '/api/v1/import/openclaw', { body })
    expect(imported.body).toContain('max_timeout_seconds 600')
  })

  it('may be any again once the org has no limit', async () => {
    const change = (most: number | null) =>
      world.ask('PATCH', '/api/v1/orgs/acme', { as: 'operator', body: { max_timeout_seconds: most } })
    await change(null)
    const body = { ...SCHEDULE, name: 'free', timeout_seconds: 31_622_400 }
    expect((await world.ask('POST', '/api/v1/schedules', { body })).statusCode).toBe(201)
    await change(600)
  })

  it.each([0, -1, 1.5, 31_622_401, '600'])('is not a limit of %j', async (most) => {
    const refused = await world.ask('PATCH', '/api/v1/orgs/acme', {
      as: 'operator',
      body: { max_timeout_seconds: most },
    })
    expect(pointersIn(refused)).toEqual(['/max_timeout_seconds'])
  })
})
