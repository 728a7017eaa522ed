import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHttpWorld, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const refused: string[] = []
const port = (isPrivate: boolean) => ({
  metrics: {
    render: () => Promise.resolve('# HELP up Up\n# TYPE up gauge\nup 1\n'),
    isPrivate: () => Promise.resolve(isPrivate),
    countRefusal: (code: string) => void refused.push(code),
  },
})

describe('where others could ask', () => {
  beforeAll(() => world.change(port(false)))

  it('the operator’s owners see the numbers of the deployment', async () => {
    const response = await world.ask('GET', '/metrics', { as: 'operator' })
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      ...{ 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' },
    })
    expect(response.body).toContain('up 1')
  })

  it.each(['owner', 'admin', 'member', 'viewer', 'stranger'])('%s of another org does not', async (as) => {
    problemIn(await world.ask('GET', '/metrics', { as }), 'FORBIDDEN')
  })

  it('nobody does without a key', async () => {
    problemIn(await world.ask('GET', '/metrics', { as: null }), 'UNAUTHENTICATED')
  })
})

describe('where only this machine can ask and there is one org', () => {
  beforeAll(() => world.change(port(true)))

  it.each([null, 'viewer', 'nobody knows this key'])('everybody sees them, also with the key %s', async (as) => {
    expect((await world.ask('GET', '/metrics', { as })).statusCode).toBe(200)
  })

  it('a page that a browser was tricked with does not', async () => {
    const headers = { host: 'attacker.example' }
    problemIn(await world.ask('GET', '/metrics', { as: null, headers }), 'MISDIRECTED')
    const origin = { origin: 'http://attacker.example' }
    problemIn(await world.ask('GET', '/metrics', { as: null, headers: origin }), 'FOREIGN_ORIGIN')
  })
})

it('every refusal is counted by its code', async () => {
  refused.length = 0
  await world.ask('GET', '/api/v1/schedules/sch_nobody')
  await world.ask('GET', '/api/v1/schedules', { as: null })
  await world.ask('POST', '/api/v1/schedules', { body: {} })
  expect(refused).toEqual(['NOT_FOUND', 'UNAUTHENTICATED', 'VALIDATION'])
})
