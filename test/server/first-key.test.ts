import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createHttpWorld, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

/** As on a fresh install. */
const forgetKey = (): Promise<unknown> => world.services.db.query('delete from sealing_key')
beforeEach(forgetKey)

const keys = async (): Promise<number> => (await world.services.db.query('select 1 from sealing_key')).length

type Body = Readonly<Record<string, unknown>>
type Method = Parameters<HttpWorld['ask']>[0]

interface Sealing {
  readonly what: string
  readonly method: Method
  readonly path: string
  readonly body: Body
  /** What is there before, and answers with its path. */
  readonly existing?: { readonly path: string; readonly body: Body; readonly by: 'id' | 'name' }
  /** Keys that are in use when it was accepted. */
  readonly keys: number
}

const SECRET = { name: 'API_KEY', value: 'hunter2-hunter2', hosts: ['api.example.com'] }
const TARGET = { name: 'Chat', kind: 'slack', url: 'https://hooks.slack.example/s3cr3t' }
const AGENT = {
  id: 'maker',
  name: 'Maker',
  executor: { kind: 'http', url: 'https://api.example.com/' },
  self_service: { max_schedules: 2 },
}
const CHANNELS: readonly Body[] = [
  { kind: 'telegram', token: '4711:AAH-made', allowed_users: [1_001], mode: 'webhook' },
  { kind: 'slack', token: 'xoxb-made', signing_secret: 'made-for-a-test', open: true },
  { kind: 'hook', signing_secret: `whsec_${'c2VjcmV0'.repeat(5)}`, session: '{{body.x}}', lane: 'main' },
].map((body) => ({ ...body, name: `by-${body.kind}`, agent_id: 'writer' }))
const DOCUMENT = { version: 1, targets: [{ ...TARGET, name: 'As code' }], agents: [{ ...AGENT, id: 'as_code' }] }

/** Everything a request can have sealed or signed. */
const SEALING: readonly Sealing[] = [
  { what: 'a secret', method: 'POST', path: '/api/v1/secrets', body: SECRET, keys: 1 },
  {
    ...{ what: 'another value of a secret', method: 'PATCH', path: '/api/v1/secrets', keys: 1 },
    existing: { path: '/api/v1/secrets', body: { ...SECRET, name: 'OTHER_KEY' }, by: 'name' },
    body: { value: 'another-hunter2', hosts: ['api.example.com'] },
  },
  ...CHANNELS.map((body): Sealing => ({
    ...{ what: `a channel of kind ${String(body['kind'])}`, method: 'POST', path: '/api/v1/channels', body, keys: 1 },
  })),
  {
    ...{ what: 'another token of a channel', method: 'PATCH', path: '/api/v1/channels', keys: 1 },
    existing: { path: '/api/v1/channels', body: { ...CHANNELS[1], name: 'changed' }, by: 'id' },
    body: { token: 'xoxb-other', enabled: false },
  },
  { what: 'a target with a hidden address', method: 'POST', path: '/api/v1/targets', body: TARGET, keys: 1 },
  {
    ...{ what: 'another hidden address', method: 'PATCH', path: '/api/v1/targets', keys: 1 },
    existing: { path: '/api/v1/targets', body: { ...TARGET, name: 'Changed' }, by: 'id' },
    body: { url: 'https://hooks.slack.example/other', enabled: true },
  },
  // Nothing is signed before an attempt is given its key.
  { what: 'an agent with self_service', method: 'POST', path: '/api/v1/agents', body: AGENT, keys: 0 },
  {
    ...{ what: 'self_service of an agent', method: 'PATCH', path: '/api/v1/agents', keys: 0 },
    existing: { path: '/api/v1/agents', body: { ...AGENT, id: 'changed', self_service: null }, by: 'id' },
    body: { self_service: { max_schedules: 2 }, name: 'Other' },
  },
  { what: 'a document that is planned', method: 'POST', path: '/api/v1/apply/plan', body: DOCUMENT, keys: 0 },
  { what: 'a document that is applied', method: 'POST', path: '/api/v1/apply', body: DOCUMENT, keys: 1 },
]

const WRONG = [[{}]]

/** The body with each of its fields wrong in turn, at any depth, and with one that nobody knows. */
function wrongBodies(body: Body): readonly Body[] {
  const wrong = Object.entries(body).flatMap(([name, value]): readonly Body[] => [
    { ...body, [name]: WRONG },
    ...(Array.isArray(value)
      ? value.flatMap((one, at) => deeper(one, (other) => ({ ...body, [name]: value.with(at, other) })))
      : []),
    ...deeper(value, (other) => ({ ...body, [name]: other })),
  ])
  return [...wrong, { ...body, surprise: 1 }]
}

const deeper = (value: unknown, around: (other: Body) => Body): readonly Body[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? wrongBodies(value as Body).map(around) : []

describe('the first key that seals', () => {
  it.each(SEALING)('is not made by a request that is refused: $what', async (sealing) => {
    const { method, existing, body } = sealing
    const made = existing === undefined ? null : await world.ask('POST', existing.path, { body: existing.body })
    if (made !== null) expect([made.statusCode, made.body]).toEqual([201, made.body])
    const path =
      existing === undefined || made === null
        ? sealing.path
        : `${sealing.path}/${made.json<Record<string, string>>()[existing.by]}`
    await forgetKey()
    const isPlan = sealing.path.endsWith('/plan')
    for (const wrong of wrongBodies(body)) {
      const { statusCode } = await world.ask(method, path, { body: wrong })
      // A plan answers with what is wrong.
      if (!isPlan) expect(statusCode, JSON.stringify(wrong)).toBeGreaterThanOrEqual(400)
      expect([await keys(), JSON.stringify(wrong)]).toEqual([0, JSON.stringify(wrong)])
    }
    const accepted = await world.ask(method, path, { body })
    expect(accepted.statusCode, accepted.body).toBeLessThan(300)
    expect(await keys()).toBe(sealing.keys)
  })
})
