import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { OperationSpec } from '../../src/api/operation.ts'
import { RPC_METHODS } from '../../src/server/rpc/methods.ts'
import { principalId } from '../../src/domain/ids.ts'
import { ALL_OPERATIONS, isStream, kindOf, paramsIn } from '../server/contract/objects.ts'
import { readEvents } from '../server/event-reader.ts'
import { aPrincipal, createHttpWorld, KEYS, SESSIONS, type HttpWorld, type More } from '../server/support.ts'
import { ORG, OTHER_ORG } from '../platform/db/records.ts'
import { addressOf, createOutsider, type Outsider } from './outsider.ts'
import { NEVER_SHOWN, plant, rowsOf, type Garden } from './plant.ts'

// One org is full of marked values; others ask for everything there is, in every way there is. Nothing that is marked may
// come back, nothing may change, and what is there must look like what is not. All of it comes from the tables of
// operations and methods: what is added there is asked here.

const COOKIE = 'cookie-of-a-stranger'
const CSRF = 'csrf-of-a-stranger'

/** Who asks from outside, by how they say who they are. */
const OUTSIDERS: Readonly<Record<string, More>> = {
  'the owner of another org': { as: 'stranger' },
  'a viewer of another org': { as: 'strange viewer' },
  'somebody signed in to another org': {
    ...{ as: null, headers: { cookie: `escapement_session=${COOKIE}`, 'x-csrf-token': CSRF } },
  },
  nobody: { as: null },
}

/** Names of sessions and lanes are the caller's own words: the same word in another org is another thing. */
const NAMED_BY_CALLER = [
  'sessions.update',
  'sessions.send',
  'sessions.sendMany',
  'sessions.stop',
  'sessions.stopAll',
  'sessions.reset',
]

/** What operations cannot do without. */
const QUERIES: Readonly<Record<string, string>> = {
  'explain.ask': '?at=2026-01-01T00:00:00Z',
  'schedules.explain': '?at=2026-01-01T00:00:00Z',
  'schedules.outcomes': '?ids=sch_1',
}

const ASKED = ALL_OPERATIONS.filter(([, spec]) => !isStream(spec))
const CLOSED = ASKED.filter(([, { permission, operatorOnly }]) => permission !== 'none' && operatorOnly !== true)
const THINGS = CLOSED.filter(([id, { path }]) => path.includes(':') && !NAMED_BY_CALLER.includes(id))

let world: HttpWorld
let garden: Garden
let planted: Awaited<ReturnType<typeof rowsOf>>
let outsider: Outsider

beforeAll(async () => {
  const stranger = aPrincipal('owner', { id: principalId('key_stranger'), orgId: OTHER_ORG })
  KEYS.set('strange viewer', { ...stranger, id: principalId('key_strange_viewer'), role: 'viewer' })
  SESSIONS.set(COOKIE, { principal: stranger, csrfToken: CSRF })
  world = await createHttpWorld()
  garden = await plant(world)
  planted = await rowsOf(world, ORG)
  outsider = createOutsider(world, garden)
}, 60_000)
afterAll(async () => {
  KEYS.delete('strange viewer')
  SESSIONS.delete(COOKIE)
  await world.close()
})

/** One thing of a kind, one that is marked where there is any. */
const thing = (kind: string): string => {
  const all = garden.things[kind] ?? []
  return all.find(garden.stamp.isIn) ?? all[0] ?? kind
}
const exampleOf = ({ examples, body }: OperationSpec): unknown =>
  examples?.body ?? (body === undefined ? undefined : {})
const withBody = (more: More, body: unknown): More => (body === undefined ? more : { ...more, body })

/** The fields of a shape that may be texts. */
function textsIn(schema: z.ZodType | undefined): readonly string[] {
  if (schema === undefined) return []
  const { properties = {} } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })
  return Object.entries(properties)
    .filter(([, property]) => /"type":("string"|\[[^\]]*"string"|"array")/.test(JSON.stringify(property)))
    .map(([name]) => name)
}

/** Kept for the working of things; no answer has a place for them. */
const UNSEEN = [
  'chat-message',
  'chat-session',
  'chat-title',
  'cleared-session',
  'decided-schedule',
  'moved-run',
  'peer',
]

describe('the garden', () => {
  it('has something in every table that belongs to orgs, and its owner sees every marked value', async () => {
    expect(Object.entries(planted).flatMap(([table, rows]) => (rows.length === 0 ? [table] : []))).toEqual([])
    const seen = new Set<string>()
    for (const [id, spec] of ASKED.filter(
      ([, { method, operatorOnly }]) => method === 'GET' && operatorOnly !== true,
    )) {
      const params = paramsIn(spec.path).map((name) => kindOf(id, spec, name))
      const kind = params.at(-1) ?? ''
      for (const name of garden.things[kind] ?? ['']) {
        const url = addressOf(id, spec, (one) => (one === kind ? name : thing(one)))
        const { body } = await world.ask('GET', `${url}${QUERIES[id] ?? ''}`)
        for (const word of garden.stamp.wordsIn(body)) seen.add(word)
      }
    }
    const unseen = [...garden.stamp.marks.keys()].filter((word) => !seen.has(word)).map((word) => word.split(' ')[0])
    expect([...new Set(unseen)].toSorted()).toEqual([...NEVER_SHOWN, ...UNSEEN].toSorted())
  })
})

describe('the owner of another org', () => {
  const more = { as: 'stranger' }

  it.each(THINGS)('%s cannot tell what is there from what is not', async (id, spec) => {
    const params = paramsIn(spec.path).map((name) => kindOf(id, spec, name))
    const tags =
      spec.etag === true ? [{}, { 'if-match': '"1"' }, { 'if-match': '"99"' }, { 'if-none-match': '*' }] : [{}]
    for (const kind of params)
      for (const headers of tags) {
        const asking = (name: string) => ({
          ...{ method: spec.method, said: [name, ...params.map(thing)] },
          url: `${addressOf(id, spec, (one) => (one === kind ? name : thing(one)))}${QUERIES[id] ?? ''}`,
          more: withBody({ ...more, headers }, exampleOf(spec)),
        })
        await outsider.compare(`${id} by ${kind}`, asking, thing(kind))
      }
    expect(outsider.found.splice(0)).toEqual([])
  })

  it('finds nothing by filters, patterns and searches', async () => {
    const words = [...Object.keys(garden.things).map(thing), garden.stamp.marks.values().next().value ?? '']
    for (const [id, spec] of CLOSED.filter(([, { method }]) => method === 'GET'))
      for (const name of textsIn(spec.query))
        for (const word of [...new Set(words), '%', '_', '*', '.*', "' or '1'='1", '\\']) {
          const url = `${addressOf(id, spec, thing)}?${name}=${encodeURIComponent(word)}`
          await outsider.ask(`${id} by ${name}=${word}`, { method: 'GET', url, more, said: [word, ...words] })
        }
    expect(outsider.found.splice(0)).toEqual([])
  })

  it('gets nothing by going on where somebody else has stopped', async () => {
    const lists = CLOSED.filter(([, { method, query }]) => method === 'GET' && textsIn(query).includes('cursor'))
    const cursors: string[] = []
    for (const [id, spec] of lists) {
      const url = `${addressOf(id, spec, thing)}?limit=1`
      const { next_cursor: next } = (await world.ask('GET', url)).json<{ next_cursor?: string | null }>()
      if (typeof next === 'string') cursors.push(next)
    }
    expect(cursors.length).toBeGreaterThan(4)
    for (const [id, spec] of lists)
      for (const cursor of cursors) {
        const said = paramsIn(spec.path).map((name) => thing(kindOf(id, spec, name)))
        const url = `${addressOf(id, spec, thing)}?cursor=${encodeURIComponent(cursor)}`
        await outsider.ask(`${id} goes on`, { method: 'GET', url, more, said: [cursor, ...said] })
      }
    expect(outsider.found.splice(0)).toEqual([])
  })
})

describe.each(Object.entries(OUTSIDERS))('%s', (who, more) => {
  it('hears nothing by asking for everything by its name', async () => {
    for (const [id, spec] of ASKED.filter(([one]) => !NAMED_BY_CALLER.includes(one))) {
      const said = paramsIn(spec.path).map((name) => thing(kindOf(id, spec, name)))
      const url = `${addressOf(id, spec, thing)}${QUERIES[id] ?? ''}`
      const asked = { method: spec.method, url, more: withBody(more, exampleOf(spec)), said: [...said, ORG] }
      await outsider.ask(`${who}: ${id}`, asked)
    }
    expect(outsider.found.splice(0)).toEqual([])
  })
})

/** All texts in a value. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsOf(inner)])
}

/** What a field of a body or of the params of a method names, by the name of the field. */
const REFERENCES: Readonly<Record<string, string>> = {
  agent_id: 'agents.id',
  agentId: 'agents.id',
  default_agent_id: 'agents.id',
  agents: 'agents.id',
  schedule_id: 'schedules.id',
  ids: 'schedules.id',
  jobId: 'schedules.id',
  id: 'schedules.id',
  parent_run_id: 'runs.id',
  job_run_id: 'runs.id',
  attempt_id: 'workers.id',
  holding: 'workers.id',
  worker_id: 'worker',
  target: 'targets.id',
  target_id: 'targets.id',
  session: 'sessions.key',
  sessionKey: 'sessions.key',
  session_id: 'sessions.key',
  default_session: 'sessions.key',
  provider: 'providers.name',
  key: 'sessions.key',
}

/** Fields that look as if they named something, and hold a text of the caller's own. */
const NO_REFERENCES = ['tabId', 'message_id']

const looksLikeName = (field: string): boolean =>
  /(_ids?|Ids?|^ids?|session|sessionKey|target|agents|holding|provider)$/i.test(field)

/** Of what names an own thing, the same body: one that would be accepted but for the name. */
const BODIES: Readonly<Record<string, unknown>> = {
  'schedules.create': { every_seconds: 3_600 },
  'schedules.preview': { every_seconds: 3_600 },
  'schedules.simulate': { all: true, ids: [] },
  'channels.create': { name: 'mine', kind: 'telegram', token: '4711:AAH-mine', allowed_users: ['1'] },
  'budgets.create': { unit: 'tokens', amount: 1_000, period: 'day' },
}

describe('names in what is sent', () => {
  const more = { as: 'stranger' }
  const sending = CLOSED.filter(([, { body, path }]) => body !== undefined && !path.includes(':'))
  const fields = sending.flatMap(([id, spec]) => textsIn(spec.body).map((field) => [id, field, spec] as const))
  const references = fields.filter(([, field]) => field in REFERENCES && field !== 'id' && field !== 'key')

  it('are all known', () => {
    const unknown = fields.map(([, field]) => field).filter((field) => looksLikeName(field) && !(field in REFERENCES))
    expect(unknown.filter((field) => !NO_REFERENCES.includes(field))).toEqual([])
    expect(references.length).toBeGreaterThan(8)
  })

  it.each(references)('of %s as %s lead nowhere', async (id, field, spec) => {
    const example = BODIES[id] ?? exampleOf(spec)
    const isList = Array.isArray((example as Readonly<Record<string, unknown>>)[field])
    const asking = (name: string) => {
      const body = { ...(example as object), [field]: isList ? [name] : name }
      return { method: spec.method, url: spec.path, more: { ...more, body }, said: textsOf(body) }
    }
    await outsider.compare(`${id} with ${field}`, asking, thing(REFERENCES[field] ?? ''))
    expect(outsider.found.splice(0)).toEqual([])
  })

  it.each([
    [
      'schedules.create',
      '/api/v1/schedules',
      'targets.id',
      (name: string) => ({ every_seconds: 60, delivery: { target_id: name } }),
    ],
    [
      'sessions.send',
      '/api/v1/sessions/mine/messages',
      'runs.id',
      (name: string) => ({ text: 'x', parent_run_id: name }),
    ],
    [
      'targets.create',
      '/api/v1/targets',
      'channels.id',
      (name: string) => ({ name: 'mine', kind: 'telegram', settings: { channel: name, chat_id: '1' } }),
    ],
    [
      'agents.create',
      '/api/v1/agents',
      'secrets.name',
      (name: string) => ({
        id: 'mine',
        name: 'Mine',
        executor: { kind: 'http', url: 'https://api.example.com/', headers: { authorization: `{{secret:${name}}}` } },
      }),
    ],
  ] as const)('of %s inside lead nowhere', async (id, url, kind, bodyOf) => {
    const asking = (name: string) => {
      const body = bodyOf(name)
      return { method: 'POST' as const, url, more: { ...more, body }, said: [name] }
    }
    await outsider.compare(`${id} with ${kind}`, asking, thing(kind))
    expect(outsider.found.splice(0)).toEqual([])
  })

  it('of a heartbeat lead nowhere', async () => {
    const asking = (name: string) => ({
      ...{ method: 'PUT' as const, url: '/api/v1/agents/writer/heartbeat', said: [name] },
      more: { ...more, body: { checklist: { text: 'x' }, target: name } },
    })
    await outsider.compare('heartbeat.set', asking, thing('targets.id'))
    expect(outsider.found.splice(0)).toEqual([])
  })

  it.each(Object.entries(RPC_METHODS))('of the method %s lead nowhere', async (method, spec) => {
    for (const field of textsIn(spec.params).filter((name) => name in REFERENCES)) {
      const asking = (name: string) => {
        const params = { ...RPC_PARAMS[method], [field]: name }
        const body = { jsonrpc: '2.0', id: 1, method, params }
        return { method: 'POST' as const, url: '/rpc', more: { ...more, body }, said: [name] }
      }
      // A change of a heartbeat looks up the route that it had, so both sides change the same one.
      if (method === 'heartbeat.set') await world.ask('POST', '/rpc', asking('before').more)
      await outsider.compare(`${method} with ${field}`, asking, thing(REFERENCES[field] ?? ''))
    }
    expect(outsider.found.splice(0)).toEqual([])
  })
})

/** What methods cannot do without. */
const RPC_PARAMS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'cron.create': { schedule: { kind: 'every', everyMs: 60_000 }, message: 'x' },
  'cron.update': { patch: { message: 'x' } },
  'cron.toggle': { enabled: true },
  'heartbeat.set': { agentId: 'writer', checklist: 'x', target: 'none', session: 'mine' },
  'heartbeat.toggle': { enabled: false },
}

describe('the operator', () => {
  /** The operator lets orgs in and their people; of what they do, there is nothing to see. docs/security.md says so. */
  const SEEN = ['members.get', 'members.list', 'orgs.get', 'orgs.list']

  it('sees of other orgs what they are called and who belongs to them, and nothing else', async () => {
    const seeing = createOutsider(world, garden)
    for (const [id, spec] of ASKED.filter(([, { method }]) => method === 'GET')) {
      const kinds = paramsIn(spec.path).map((name) => kindOf(id, spec, name))
      const url = `${addressOf(id, spec, thing)}${QUERIES[id] ?? ''}`
      const said = kinds.filter((kind) => !/^(orgs|members)/.test(kind)).map(thing)
      // What everybody may read has examples in it.
      if (spec.permission === 'none') said.push(ORG)
      await seeing.ask(id, { method: 'GET', url, more: { as: 'operator' }, said })
    }
    expect([...new Set(seeing.found.map((found) => found.split(':')[0]))].toSorted()).toEqual(SEEN)
  })
})

// From here on marked values are said by others too, who may hear them again.
describe('the same words in another org', () => {
  const more = { as: 'stranger' }

  it.each(ASKED.filter(([id]) => NAMED_BY_CALLER.includes(id)))('are another thing to %s', async (id, spec) => {
    const key = thing('sessions.key')
    const asked = {
      method: spec.method,
      url: addressOf(id, spec, thing),
      more: withBody(more, exampleOf(spec)),
      said: [key],
    }
    const { statusCode } = await outsider.ask(id, asked)
    expect(statusCode).toBeLessThan(300)
    expect(outsider.found.splice(0)).toEqual([])
  })

  it('gets an answer of their own for an idempotency key of somebody else', async () => {
    for (const { operation, method, url, body, key } of garden.plantings) {
      const said = [...textsOf(body), ...url.split('/').map(decodeURIComponent)]
      const asked = { method, url, more: { ...more, body, headers: { 'idempotency-key': key } }, said }
      await outsider.ask(`${operation} again`, asked)
    }
    expect(outsider.found.splice(0)).toEqual([])
  })
})

// Last: a port is listened on for it, and what all of this has left behind is looked at.
describe('after all that was asked', () => {
  it('the owner of another org is told of no event, wherever they begin to listen', async () => {
    await world.ask('POST', '/api/v1/schedules', { as: 'stranger', body: { name: 'Their own', every_seconds: 60 } })
    const own = ['schedules.id', 'keys.id', 'members.id', 'runs.id', 'budgets.id', 'channels.id'].flatMap(
      (kind) => garden.things[kind] ?? [],
    )
    const [session, run] = [thing('sessions.key'), thing('runs.id')].map(encodeURIComponent)
    for (const query of ['', `?session=${session}`, `?run_id=${run}`]) {
      const reader = await readEvents(world.app, query, { as: 'stranger', after: '0' })
      expect(reader.status).toBe(200)
      if (query === '') await reader.one(({ event }) => event === 'schedule.changed')
      else await new Promise((resolve) => setTimeout(resolve, 50))
      for (const name of own) expect(reader.text()).not.toContain(name)
      reader.close()
    }
    expect((await readEvents(world.app, '', { as: 'nobody', after: '0' })).status).toBe(401)
  })

  it('nothing in the org has changed, and nothing of it is in the log', async () => {
    expect(await rowsOf(world, ORG)).toEqual(planted)
    expect(garden.stamp.isIn(JSON.stringify(world.logged))).toBe(false)
    expect(world.logged.filter(({ level }) => level === 'error')).toEqual([])
  })
})
