import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RPC_ERRORS } from '../../../src/server/rpc/schema.ts'
import { RPC_METHODS } from '../../../src/server/rpc/methods.ts'
import { createHttpWorld, type HttpWorld } from '../support.ts'
import { post, type Answer } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const anything = fc.jsonValue({ maxDepth: 3 })
const words = ['jobId', 'id', 'patch', 'schedule', 'message', 'name', 'agentId', 'key', 'limit', 'offset', 'enabled']
const timing = ['kind', 'atMs', 'everyMs', 'expr', 'tz']

/** Values that are nearly right. */
const nearly = fc.oneof(
  anything,
  fc.constantFrom('sch_1', 'cron', 'every', '* * * * *', 'UTC', 'force', 1_000, -1, 0, 1e300, true, null, ''),
  fc.dictionary(fc.constantFrom(...timing, ...words), fc.oneof(anything, fc.constantFrom('cron', '0 9 * * *', 60_000))),
)
const call = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, anything),
    id: fc.oneof({ weight: 5, arbitrary: fc.nat() }, anything),
    method: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...Object.keys(RPC_METHODS)) }, anything),
    params: fc.oneof({ weight: 9, arbitrary: fc.dictionary(fc.constantFrom(...words, ...timing), nearly) }, anything),
  },
  { requiredKeys: [] },
)

function check(answer: Answer): void {
  expect(answer.jsonrpc).toBe('2.0')
  expect('result' in answer).not.toBe('error' in answer)
  if (answer.error === undefined) return
  expect(Object.keys(RPC_ERRORS), JSON.stringify(answer)).toContain(String(answer.error.code))
  expect(answer.error.code, `nobody expected this: ${JSON.stringify(answer)}`).not.toBe(-32603)
  expect(answer.error.message).not.toBe('')
}

it('whatever is sent is answered as JSON-RPC says, and nothing is unexpected', async () => {
  const sent = fc.oneof(call, fc.array(call, { maxLength: 4 }), anything)
  await fc.assert(
    fc.asyncProperty(sent, async (body) => {
      const response = await post(world, JSON.stringify(body), { headers: { 'content-type': 'application/json' } })
      expect([200, 204], response.body).toContain(response.statusCode)
      if (response.statusCode === 204) {
        expect(response.body).toBe('')
        return
      }
      const answers = response.json<Answer | readonly Answer[]>()
      for (const answer of Array.isArray(answers) ? (answers as readonly Answer[]) : [answers as Answer]) check(answer)
    }),
    { numRuns: 1_500 },
  )
  expect(world.logged.filter(({ level }) => level === 'error')).toEqual([])
})
