import { expect, it } from 'vitest'
import { seedRun } from '../../store/records.ts'
import { readCorpus } from '../corpus.ts'
import { PARTS } from '../parts.ts'
import { api } from './api.ts'
import { complaintsOf } from './check.ts'
import { complaintsOfCrowd } from './crowd.ts'
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

it('is one of the parts that the command knows', async () => {
  const { PARTS: named } = (await import(
    /* @vite-ignore */ new URL('../../../scripts/fuzz/options.mjs', import.meta.url).href
  )) as { readonly PARTS: readonly { readonly name: string }[] }
  expect(named.map(({ name }) => name)).toEqual(PARTS.map(({ name }) => name))
})
