import { expect, it } from 'vitest'
import { seedRun } from '../../platform/db/records.ts'
import { readCorpus } from '../corpus.ts'
import { PARTS } from '../parts.ts'
import { api } from './api.ts'
import { complaintsOf } from './check.ts'
import { complaintsOfCrowd } from './crowd.ts'
import { complaintsOfRpc } from './rpc.ts'
import { readStep, writeStep, type Step } from './step.ts'
import { createApiWorld } from './world.ts'

it('answers everything in the corpus as it should', async () => {
  const kept = readCorpus('api')
  expect(kept.length).toBeGreaterThan(10)
  expect(await api.replay(kept.map(({ input }) => input))).toEqual([])
}, 60_000)

const drawn = { kind: 'no UTF-8', refused: true, pick: 0, query: [] }

it('keeps bytes as they are', () => {
  const step: Step = { operation: 'schedules.create', drawn: { ...drawn, raw: Uint8Array.from([0x7b, 0xff]) } }
  expect(readStep(JSON.parse(JSON.stringify(writeStep(step))))).toEqual(step)
})

/** As much of an answer as is looked at. */
const answer = (statusCode: number, body: unknown, type = 'application/problem+json; charset=utf-8') =>
  ({
    ...{ statusCode, body: JSON.stringify(body), headers: { 'content-type': type } },
    raw: { req: { method: 'POST' } },
  }) as never

const PROBLEM = {
  ...{ type: '/docs/errors#VALIDATION', title: 'x', status: 400, detail: 'x', code: 'VALIDATION', request_id: 'req_1' },
}

it.each([
  ['a failure of ours', answer(500, PROBLEM), ['5xx']],
  ['a refusal in another shape', answer(400, { error: 'no' }), ['wrong']],
  ['a refusal with another status', answer(409, { ...PROBLEM, status: 409 }), ['wrong']],
  ['a stack', answer(400, { ...PROBLEM, detail: 'x at f (/a/b.ts:5:1)' }), ['wrong']],
  ['what the database says', answer(400, { ...PROBLEM, detail: 'duplicate key value' }), ['wrong']],
  ['a refusal as it should be', answer(400, PROBLEM), []],
])('complains about %s', (_, response, kinds) => {
  expect(complaintsOf(response, { ms: 1, spec: null }).map(({ kind }) => kind)).toEqual(kinds)
})

it('complains about an answer that takes too long', () => {
  expect(complaintsOf(answer(400, PROBLEM), { ms: 5_001, spec: null })).toMatchObject([{ kind: 'hang' }])
})

const ROWS = 'run 4 900\nturn 7 300'

it.each([
  ['everybody told the same', [answer(201, { id: 'a' }), answer(201, { id: 'a', at: 2 })], 'run 5 950\nturn 9 400', 0],
  ['two made', [answer(201, { id: 'a' }), answer(201, { id: 'b' })], ROWS, 1],
  ['taken and not found', [answer(201, { id: 'a' }), answer(404, PROBLEM)], ROWS, 1],
  ['taken and in the way', [answer(201, { id: 'a' }), answer(409, PROBLEM)], ROWS, 0],
  ['one told, two made', [answer(201, { id: 'a' }), answer(201, { id: 'a' })], 'run 6 990\nturn 9 400', 1],
])('looks at a crowd with one key: %s', (_, responses, after, count) => {
  expect(complaintsOfCrowd({ key: 'k', responses, before: ROWS, after })).toHaveLength(count)
})

it('sends the same request several times at once, with one key', async () => {
  const world = await createApiWorld()
  try {
    const body = { name: 'x', every_seconds: 60 }
    const step: Step = {
      ...{ operation: 'schedules.create', drawn: { kind: 'meant', refused: false, pick: 0, query: [], body } },
      twist: { kind: 'at once', times: 4 },
    }
    expect(await world.take(step)).toEqual({ status: 201, complaints: [] })
    expect(await world.database.query('select name from schedule', [])).toEqual([{ name: 'x' }])
    expect(world.sent()).toBe(4)
  } finally {
    await world.close()
  }
})

it('borrows from earlier answers what does not belong to a request', async () => {
  const world = await createApiWorld()
  try {
    const plain = { kind: 'meant', refused: false, pick: 0, query: [] }
    const create: Step = {
      operation: 'budgets.create',
      drawn: { ...plain, body: { unit: 'tokens', amount: 1_000_000, period: 'day' } },
    }
    const read = (back: number): Step => ({
      ...{ operation: 'budgets.get', drawn: plain, borrow: { back, what: 'id', isForeign: true } },
    })
    expect(await world.take({ ...create, as: 'stranger' })).toEqual({ status: 201, complaints: [] })
    expect(await world.take(read(1))).toEqual({ status: 404, complaints: [] })
    expect((await world.take(create)).status).toBe(201)
    // Our own, said to be of another org: it is answered, and that is what must be seen.
    expect(await world.take(read(1))).toMatchObject({ status: 200, complaints: [{ kind: 'wrong' }] })
  } finally {
    await world.close()
  }
})

it('complains about a database in which something does not hold', async () => {
  const world = await createApiWorld()
  try {
    expect(await world.rest()).toEqual([])
    await seedRun(world.database, 'run_lost', { state: 'queued' })
    await world.database.query(`delete from pending where id = 'run_lost'`, [])
    await seedRun(world.database, 'run_gone', { state: 'queued' })
    await world.database.query(`delete from run where id = 'run_gone'`, [])
    await world.database.query('alter table audit disable trigger user', [])
    await world.database.query(`update audit set action = 'nothing' where no = 1`, [])
    const told = (await world.rest()).map(({ message }) => message.replace(/(audit of \w+).*/, '$1'))
    expect(told).toEqual([
      'at the end, pending without a run: acme/run_gone',
      'at the end, neither pending nor ended: acme/run_lost',
      expect.stringContaining('the audit of'),
    ])
  } finally {
    await world.close()
  }
})

it.each([
  ['a result', '{"jsonrpc":"2.0","id":1}', { jsonrpc: '2.0', id: 1, result: {} }, 0],
  ['another id', '{"jsonrpc":"2.0","id":1}', { jsonrpc: '2.0', id: 2, result: {} }, 1],
  ['an error of ours', '{"id":1}', { jsonrpc: '2.0', id: 1, error: { code: -32_603, message: 'x' } }, 1],
  ['a code that is not known', '{"id":1}', { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'x' } }, 1],
  ['neither', '{"id":1}', { jsonrpc: '2.0', id: 1 }, 1],
  ['one answer for two', '[{"id":1},{"id":2}]', [{ jsonrpc: '2.0', id: 1, result: {} }], 1],
])('looks at what /rpc answers: %s', (_, sent, told, count) => {
  expect(complaintsOfRpc(answer(200, told), sent)).toHaveLength(count)
})

it('is one of the parts that the command knows', async () => {
  const { PARTS: named } = (await import(
    /* @vite-ignore */ new URL('../../../scripts/fuzz/options.mjs', import.meta.url).href
  )) as { readonly PARTS: readonly { readonly name: string }[] }
  expect(named.map(({ name }) => name)).toEqual(PARTS.map(({ name }) => name))
})
