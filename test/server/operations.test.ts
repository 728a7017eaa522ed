import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { answer, operation, type OperationTable } from '../../src/operations/handler.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

// What the ground does with each thing an operation can say of itself, shown on operations made for it.

const get = { method: 'GET', tag: 'test', summary: 'Tests' } as const
const count = z.strictObject({ count: z.int() })

const operations = {
  'test.any': operation({ ...get, path: '/any', permission: 'any', answers: { 200: count } }).by(() => ({ count: 1 })),
  'test.operator': operation({
    ...{ ...get, path: '/operator', permission: 'admin:*', operatorOnly: true },
    answers: { 200: count },
  }).by(() => ({ count: 2 })),
  'test.approve': operation({
    ...{ ...get, path: '/approve', permission: 'schedules:write', approving: true },
    answers: { 200: count },
  }).by(() => ({ count: 3 })),
  'test.either': operation({ ...get, path: '/either', permission: 'any', answers: { 200: count, 202: count } }).by(
    ({ principal }) => (principal.role === 'owner' ? answer(200, { count: 4 }) : answer(202, { count: 5 })),
  ),
  'test.stream': operation({
    ...{ ...get, path: '/stream', permission: 'none', http: true },
    answers: { 200: { contentType: 'text/event-stream', description: 'Events' } },
  }).by(({ http }) => {
    const raw = http.takeOver()
    raw.writeHead(200, { 'content-type': 'text/event-stream' })
    raw.end('data: 1\n\n')
  }),
  'test.query': operation({
    ...{ ...get, path: '/query', permission: 'none' },
    query: z.strictObject({
      whole: z.int().optional(),
      flag: z.boolean().optional(),
      text: z.string().optional(),
      share: z.number().optional(),
    }),
    answers: { 200: z.unknown() },
  }).by(({ query }) => ({ ...query })),
  'test.body': operation({
    ...{ ...get, method: 'POST', path: '/body/:name', permission: 'none' },
    params: z.strictObject({ name: z.string().max(5) }),
    body: z.strictObject({ list: z.array(z.strictObject({ at: z.iso.datetime() })), word: z.enum(['a', 'b']) }),
    answers: { 200: z.unknown() },
  }).by(({ params, body }) => ({ ...params, ...body })),
}

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld(operations)
})
afterAll(() => world.close())

const status = async (url: string, as: string | null) => (await world.ask('GET', url, { as })).statusCode

describe('an operation', () => {
  it('is open to everybody with a good key, or to the operator alone, or to who may approve', async () => {
    const table = [
      ['/any', { viewer: 200, member: 200, owner: 200, stranger: 200, nobody: 401 }],
      ['/operator', { viewer: 403, owner: 403, stranger: 403, operator: 200 }],
      ['/approve', { viewer: 403, member: 403, admin: 200, owner: 200 }],
    ] as const
    for (const [url, expected] of table)
      for (const [as, wanted] of Object.entries(expected))
        expect([url, as, await status(url, as)]).toEqual([url, as, wanted])
  })

  it('answers under the status its handler chooses', async () => {
    const [owner, viewer] = [await world.ask('GET', '/either'), await world.ask('GET', '/either', { as: 'viewer' })]
    expect([owner.statusCode, owner.json()]).toEqual([200, { count: 4 }])
    expect([viewer.statusCode, viewer.json()]).toEqual([202, { count: 5 }])
  })

  it('may take the connection over', async () => {
    const response = await world.ask('GET', '/stream', { as: null })
    expect([response.headers['content-type'], response.body]).toEqual(['text/event-stream', 'data: 1\n\n'])
    expect(response.headers['x-request-id']).toMatch(/^req_/)
  })

  it('gets numbers and flags of its address as such, and texts as texts', async () => {
    const response = await world.ask('GET', '/query?whole=-3&flag=false&text=12&share=0.5', { as: null })
    expect(response.json()).toEqual({ whole: -3, flag: false, text: '12', share: 0.5 })
  })

  it.each([
    ['whole=1.5', '/whole', 'must be a whole number'],
    ['whole=', '/whole', 'must be a number'],
    ['whole=99999999999999999999', '/whole', 'must be a number'],
    ['whole=NaN', '/whole', 'must be a number'],
    ['flag=yes', '/flag', 'must be true or false'],
    ['tex=1', '/tex', 'is not a known field; did you mean text?'],
    ['text=1&text=2', '/text', 'is given more than once'],
    ['text[]=1', '/text[]', 'is not a known field; did you mean text?'],
  ])('refuses ?%s in our words', async (query, pointer, message) => {
    const { errors } = problemIn(await world.ask('GET', `/query?${query}`, { as: null }), 'VALIDATION')
    expect(errors).toMatchObject([{ pointer, message }])
  })

  it('refuses a body that does not fit, with everything that is wrong', async () => {
    const body = { list: [{ at: 'soon', odd: 1 }, 5], word: 'c', wrod: 'a' }
    const response = await world.ask('POST', '/body/x', { as: null, body })
    expect(pointersIn(response).toSorted()).toEqual(['/list/0/at', '/list/0/odd', '/list/1', '/word', '/wrod'])
    expect(pointersIn(await world.ask('POST', '/body/x', { as: null, body: {} }))).toEqual(['/list', '/word'])
    expect(pointersIn(await world.ask('POST', '/body/toolong', { as: null, body }))).toEqual(['/name'])
    const fits = { list: [{ at: '2026-01-01T00:00:00Z' }], word: 'a' }
    expect((await world.ask('POST', '/body/x', { as: null, body: fits })).json()).toEqual({ name: 'x', ...fits })
  })

  it('is none without its handler', () => {
    const described = operation({ ...get, path: '/any', permission: 'any', answers: { 200: count } })
    // @ts-expect-error Nothing carries it out yet.
    const table: OperationTable = { 'test.any': described }
    expect(Object.keys(table['test.any'] ?? {})).toEqual(['by'])
  })
})
