import { expect, it } from 'vitest'
import { readCorpus } from '../corpus.ts'
import { PARTS } from '../parts.ts'
import { api } from './api.ts'
import { complaintsOf } from './check.ts'
import { readStep, writeStep, type Step } from './step.ts'

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

it('is one of the parts that the command knows', async () => {
  const { PARTS: named } = (await import(
    /* @vite-ignore */ new URL('../../../scripts/fuzz/options.mjs', import.meta.url).href
  )) as { readonly PARTS: readonly { readonly name: string }[] }
  expect(named.map(({ name }) => name)).toEqual(PARTS.map(({ name }) => name))
})
