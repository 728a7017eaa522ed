import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAnswerMemory, type AnswerMemory } from '../../src/server/http/answer-memory.ts'
import { createHttpWorld, problemIn, type HttpWorld } from './support.ts'

const MIB = 1 << 20

let world: HttpWorld
let answers: AnswerMemory
beforeAll(async () => {
  answers = createAnswerMemory(MIB)
  world = await createHttpWorld(undefined, answers)
})
afterAll(() => world.close())

describe('as many large answers as the node may hold', () => {
  it('make it refuse further large ones for a while, and small ones are answered', async () => {
    const release = answers.hold(MIB)
    const refused = await world.ask('GET', '/openapi.json')
    problemIn(refused, 'ANSWERS_FULL')
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect((await world.ask('GET', '/api/v1/agents')).statusCode).toBe(200)
    release()
    expect((await world.ask('GET', '/openapi.json')).statusCode).toBe(200)
  })

  it('are forgotten once they were taken', async () => {
    for (let asked = 0; asked < 20; asked += 1) expect((await world.ask('GET', '/openapi.json')).statusCode).toBe(200)
  })
})

describe('a batch of calls with large answers', () => {
  it('is carried out up to a number of bytes, and says which calls were not', async () => {
    const other = await createHttpWorld()
    try {
      for (let made = 0; made < 3; made += 1)
        await other.ask('POST', '/api/v1/schedules', { body: { every_seconds: 60, payload: 'x'.repeat(900_000) } })
      const body = Array.from({ length: 10 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'cron.list', params: {} }))
      const response = await other.ask('POST', '/rpc', { body })
      const told = response.json<readonly { id: number; error?: { data?: { code?: string } } }[]>()
      const refused = told.filter(({ error }) => error !== undefined)
      expect(told).toHaveLength(10)
      expect(refused.length).toBeGreaterThan(3)
      expect(refused.map(({ error }) => error?.data?.code)).toEqual(refused.map(() => 'ANSWERS_FULL'))
      expect(response.body.length).toBeLessThan(16 * MIB)
    } finally {
      await other.close()
    }
  })
})
