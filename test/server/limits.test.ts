import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createHttpWorld, problemIn, type HttpWorld } from './support.ts'

// Limits of what one request can make a node hold in memory, each at its edge: what is just allowed and what is not.

const LARGE = 'x'.repeat(900_000)
const MIB = 1 << 20

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

async function createLarge(count: number, at = world): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const body = { every_seconds: 86_400, enabled: false, payload: LARGE }
    expect((await at.ask('POST', '/api/v1/schedules', { body })).statusCode).toBe(201)
  }
}

describe('the time that a request has', () => {
  it('is not longer for its headers: Node would give the whole request the longer of the two', async () => {
    const world = await createHttpWorld()
    try {
      const { headersTimeout, requestTimeout } = world.app.server
      expect([headersTimeout, requestTimeout]).toEqual([30_000, 30_000])
    } finally {
      await world.close()
    }
  })
})

describe('the name of a lane', () => {
  const ways = {
    'a lane': (lane: string) => world.ask('PUT', `/api/v1/lanes/${lane}`, { body: { concurrency: 1 }, as: 'operator' }),
    'a schedule': (lane: string) =>
      world.ask('POST', '/api/v1/schedules', { body: { every_seconds: 86_400, payload: 'x', lane } }),
    'a message': (lane: string) =>
      world.ask('POST', '/api/v1/sessions/agent:writer:api:direct:1/messages', { body: { text: 'x', lane } }),
  }

  it.each(Object.entries(ways))('of %s has up to 100 characters', async (_what, send) => {
    const [allowed, refused] = [await send('l'.repeat(100)), await send('l'.repeat(101))]
    expect([allowed.statusCode < 300, refused.statusCode], allowed.body).toEqual([true, 400])
    problemIn(refused, 'VALIDATION')
  })
})

describe('a batch over WebSocket', () => {
  const list = (id: number): unknown => ({ jsonrpc: '2.0', id, method: 'cron.list', params: { includeDisabled: true } })

  let served: HttpWorld
  beforeAll(async () => {
    served = await createHttpWorld()
    await createLarge(3, served)
    await served.app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => served.close())

  async function ask(body: unknown): Promise<string> {
    const { port } = served.app.server.address() as AddressInfo
    const socket = new WebSocket(`ws://127.0.0.1:${port}/rpc`, { headers: { authorization: 'Bearer owner' } })
    try {
      return await new Promise((resolve, reject) => {
        socket.on('open', () => {
          socket.send(JSON.stringify(body))
        })
        socket.on('message', (data: Buffer) => {
          resolve(data.toString())
        })
        socket.on('error', reject)
      })
    } finally {
      socket.terminate()
    }
  }

  it('has up to 50 calls', async () => {
    const status = (id: number): unknown => ({ jsonrpc: '2.0', id, method: 'cron.status' })
    const of = (count: number): unknown => Array.from({ length: count }, (_, id) => status(id))
    expect(JSON.parse(await ask(of(50)))).toHaveLength(50)
    expect(JSON.parse(await ask(of(51)))).toMatchObject({ id: null, error: { code: -32600 } })
  })

  it('is carried out up to a number of bytes, and says which calls were not', async () => {
    const text = await ask(Array.from({ length: 10 }, (_, id) => list(id)))
    const answers = JSON.parse(text) as readonly { readonly error?: { readonly data?: { readonly code?: string } } }[]
    const refused = answers.filter(({ error }) => error !== undefined)
    expect([answers.length, refused.length > 3]).toEqual([10, true])
    expect(new Set(refused.map(({ error }) => error?.data?.code))).toEqual(new Set(['ANSWERS_FULL']))
    expect(text.length).toBeLessThan(16 * MIB)
  })
})

describe('a batch over MCP', () => {
  const post = (body: unknown) =>
    world.ask('POST', '/mcp', {
      body,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    })
  const call = (name: string, input: unknown, id: number): unknown => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: input },
  })

  it('has up to 50 calls', async () => {
    const of = (count: number): unknown =>
      Array.from({ length: count }, (_, id) => call('schedule_preview', { cron: '0 9 * * *' }, id))
    expect((await post(of(50))).json()).toHaveLength(50)
    expect((await post(of(51))).json()).toMatchObject({ error: { code: -32600 } })
  })

  it('is carried out up to a number of bytes, and says which calls were not', async () => {
    // A rule that has no words of its own is told as it is written.
    const rrule = `FREQ=YEARLY;BYYEARDAY=${Array.from({ length: 366 }, (_, day) => day + 1).join(',')}`
    for (let made = 0; made < 50; made += 1) {
      const created = await world.ask('POST', '/api/v1/schedules', { body: { rrule, payload: 'x' } })
      expect(created.statusCode, created.body.slice(0, 300)).toBe(201)
    }
    const response = await post(Array.from({ length: 50 }, (_, place) => call('schedule_list', { limit: 50 }, place)))
    const answers = response.json<readonly unknown[]>().map((answer) => JSON.stringify(answer))
    const refused = answers.filter((answer) => answer.includes('ANSWERS_FULL'))
    expect([answers.length, refused.length > 0, refused.length < 50], String(response.body.length)).toEqual([
      50,
      true,
      true,
    ])
    expect(response.body.length).toBeLessThan(16 * MIB)
  })
})

describe('a document of an org', () => {
  it('is refused where what it would hold is above 32 MiB, and says so', async () => {
    await world.services.startOver('schedule')
    await createLarge(2)
    expect((await world.ask('GET', '/api/v1/export')).statusCode).toBe(200)
    await createLarge(37)
    const doors = [
      await world.ask('GET', '/api/v1/export'),
      await world.ask('POST', '/api/v1/apply/plan', { body: { version: 1, agents: [] } }),
    ]
    for (const response of doors) {
      expect(response.statusCode, response.body.slice(0, 300)).toBe(409)
      expect(problemIn(response, 'CONFLICT').detail).toContain('exceed 32 MiB')
    }
  })
})
