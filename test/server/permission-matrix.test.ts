import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OperationSpec } from '../../src/api/operation.ts'
import { OPERATOR_ORG, PERMISSIONS, type Permission } from '../../src/domain/access/access.ts'
import { formatInstant, later } from '../../src/domain/instant.ts'
import { createAuthentication } from '../../src/features/access/authentication.ts'
import { createKey, revokeKey } from '../../src/features/access/keys.ts'
import type { KeyInput } from '../../src/features/access/schema.ts'
import type { OrgId } from '../../src/domain/ids.ts'
import { ORG, OTHER_ORG } from '../platform/db/records.ts'
import { ALL_OPERATIONS, fillPath, isStream, kindOf, make, makeOwner, paramsIn } from './contract/objects.ts'
import { createHttpWorld, KEYS, refusedIn, type HttpWorld } from './support.ts'

// Every route, by every permission, in one's own org and from another, with keys as the API makes them. All of it comes
// from the table of operations: an operation that is added there is asked here.

const ALL_PERMISSIONS = Object.keys(PERMISSIONS) as readonly Permission[]
const CLOSED = ALL_OPERATIONS.filter(([, { permission }]) => permission !== 'none')
const OPEN = ALL_OPERATIONS.filter(([, { permission }]) => permission === 'none')

/** Names of sessions and lanes are the caller's own words: the same word in another org is another thing. */
const NAMED_BY_CALLER = [
  'sessions.update',
  'sessions.send',
  'sessions.sendMany',
  'sessions.stop',
  'sessions.stopAll',
  'sessions.reset',
]

/** Whoever lets people in gives them a role, and nobody gives what they do not have: here the permission alone is too little. */
const GIVING = ['members.create', 'members.update', 'members.delete', 'members.invite', 'auth.link', 'keys.revoke']

/** What an operation is asked with where its example would not do for a key that may do only this. */
const BODIES: Readonly<Record<string, unknown>> = {
  'keys.create': { name: 'Another', scopes: ['keys:write'], role: 'owner' },
  'runs.retry': { force: true },
  'members.update': { name: 'Another' },
  'channels.create': {
    name: 'hook',
    kind: 'telegram',
    agent_id: 'writer',
    token: '4711:secret',
    allowed_users: ['1001'],
  },
  'worker.claim': { worker_id: 'wrk_01', agents: ['researcher'] },
}

let world: HttpWorld
const texts = new Map<string, string>()
const objects = new Map<string, string>()

async function addKey(name: string, org: OrgId, input: Partial<KeyInput>): Promise<string> {
  const giver = { orgId: org, principal: null }
  const made = await createKey(world.services.ports, giver, { name: 'Matrix', role: 'owner', ...input })
  texts.set(name, made.key ?? '')
  return made.id
}

beforeAll(async () => {
  world = await createHttpWorld()
  const { ports } = world.services
  const auth = createAuthentication(ports)
  world.change({ authenticate: (text) => KEYS.get(text) ?? auth.authenticate(text) })
  for (const org of [ORG, OPERATOR_ORG])
    for (const permission of ALL_PERMISSIONS) {
      await addKey(`${org} only ${permission}`, org, { scopes: [permission] })
      const rest = ALL_PERMISSIONS.filter((one) => one !== permission)
      await addKey(`${org} all but ${permission}`, org, { scopes: rest })
    }
  const revoked = await addKey('revoked', ORG, {})
  await revokeKey(ports, { orgId: ORG, principal: null }, revoked)
  await addKey('expired', ORG, { expires_at: formatInstant(later(world.services.now, 1_000)) })
  await addKey('viewer', ORG, { role: 'viewer', scopes: ['agents:read'] })
  world.services.pass(2_000)
  await makeOwner(world)
  for (const [id, spec] of ALL_OPERATIONS)
    for (const param of paramsIn(spec.path)) {
      const kind = kindOf(id, spec, param)
      if (!objects.has(kind)) objects.set(kind, await make(world, kind))
    }
})
afterAll(() => world.close())

/** What operations cannot do without. */
const QUERIES: Readonly<Record<string, string>> = {
  'explain.ask': '?at=2026-01-01T00:00:00Z',
  'schedules.explain': '?at=2026-01-01T00:00:00Z',
  'schedules.outcomes': '?ids=sch_1',
}

type Named = (kind: string) => string
const named: Named = (kind) => objects.get(kind) ?? ''

const urlOf = (id: string, spec: OperationSpec, naming: Named): string => {
  const params = paramsIn(spec.path).map((name) => [name, naming(kindOf(id, spec, name))])
  const path = fillPath(spec.path, Object.fromEntries(params) as Record<string, string>)
  return `${path}${QUERIES[id] ?? ''}`
}

/** Asks an operation with its example, as somebody by the name of their key. */
async function ask(...[id, spec, who, naming = named]: readonly [string, OperationSpec, string | null, Named?]) {
  const body = BODIES[id] ?? spec.examples?.body ?? (spec.body === undefined ? undefined : {})
  const as = who === null ? null : (texts.get(who) ?? who)
  const url = urlOf(id, spec, naming)
  if (!isStream(spec)) return world.ask(spec.method, url, { as, ...(body === undefined ? {} : { body }) })
  const headers = as === null ? {} : { authorization: `Bearer ${as}` }
  const response = await world.app.inject({ method: 'GET', url, headers, payloadAsStream: true })
  if (response.statusCode === 200) {
    response.stream().destroy()
    return response
  }
  return world.app.inject({ method: 'GET', url, headers })
}

const neededBy = ({ permission }: OperationSpec): readonly Permission[] => {
  if (permission === 'any' || permission === 'none') return []
  return typeof permission === 'string' ? [permission] : permission
}

/** The words of a problem without what they are about. */
const nameless = (detail: string): string =>
  ['nobody_made_this', ...objects.values()].reduce((text, name) => text.replaceAll(name, '…'), detail)

const homeOf = ({ operatorOnly }: OperationSpec): OrgId => (operatorOnly === true ? OPERATOR_ORG : ORG)

describe('without a key', () => {
  it.each(CLOSED)('%s answers 401', async (id, spec) => {
    const response = await ask(id, spec, null)
    refusedIn(spec, response, 'UNAUTHENTICATED')
    expect(response.headers['www-authenticate']).toMatch(/^Bearer/)
  })

  it.each(OPEN)('%s answers', async (id, spec) => {
    const { statusCode } = await ask(id, spec, null)
    const refusing = spec.refusals?.includes('UNAUTHENTICATED') === true ? [403] : [401, 403]
    expect(refusing).not.toContain(statusCode)
  })
})

describe('with a key that is not good any more', () => {
  it.each(CLOSED)('%s answers 401', async (id, spec) => {
    for (const [who, reason] of [
      ['revoked', 'key_revoked'],
      ['expired', 'key_expired'],
    ] as const)
      expect(refusedIn(spec, await ask(id, spec, who), 'UNAUTHENTICATED')).toMatchObject({ details: { reason } })
    refusedIn(spec, await ask(id, spec, 'esc_nobody'), 'UNAUTHENTICATED')
  })
})

describe('without the permission', () => {
  const guarded = CLOSED.filter(([, spec]) => neededBy(spec).length > 0)

  it.each(guarded)('%s answers 403 to whoever has every other', async (id, spec) => {
    const needed = neededBy(spec)
    const who = needed.length === 1 ? `${homeOf(spec)} all but ${needed[0] ?? ''}` : 'none of the list'
    if (needed.length > 1) await addKey(who, ORG, { scopes: ALL_PERMISSIONS.filter((one) => !needed.includes(one)) })
    expect(refusedIn(spec, await ask(id, spec, who), 'FORBIDDEN')).toMatchObject({ details: { permission: needed[0] } })
  })

  it.each(guarded)('%s answers 403 to every key that may do one other thing', async (id, spec) => {
    const others = ALL_PERMISSIONS.filter((one) => !neededBy(spec).includes(one))
    for (const one of others) refusedIn(spec, await ask(id, spec, `${homeOf(spec)} only ${one}`), 'FORBIDDEN')
  })
})

describe('from another org', () => {
  const operators = CLOSED.filter(([, { operatorOnly }]) => operatorOnly === true)
  const tenants = CLOSED.filter(([, { operatorOnly }]) => operatorOnly !== true)
  const things = tenants.filter(([id, { path }]) => path.includes(':') && !NAMED_BY_CALLER.includes(id))
  const lists = tenants.filter(([, spec]) => spec.method === 'GET' && !spec.path.includes(':') && !isStream(spec))

  it.each(operators)(
    '%s answers 403 to whoever is not the operator, whatever they may do in their org',
    async (id, spec) => {
      for (const who of ['owner', 'stranger', `${ORG} only admin:*`])
        refusedIn(spec, await ask(id, spec, who), 'FORBIDDEN')
    },
  )

  it.each(things)('%s answers 404, as of something that is not there', async (id, spec) => {
    const foreign = refusedIn(spec, await ask(id, spec, 'stranger'), 'NOT_FOUND')
    const missing = refusedIn(spec, await ask(id, spec, 'stranger', () => 'nobody_made_this'), 'NOT_FOUND')
    expect(nameless(foreign.detail)).toBe(nameless(missing.detail))
  })

  it.each(lists)('%s tells of nothing that is not theirs', async (id, spec) => {
    const { statusCode, body } = await ask(id, spec, 'stranger')
    expect(statusCode).toBe(200)
    const theirs = [...objects].filter(([kind]) => kind !== 'lanes.name').map(([, value]) => value)
    for (const value of [...theirs, ORG]) expect(body).not.toContain(value)
    expect(
      body === '' ||
        body.includes(OTHER_ORG) ||
        /"items":|"findings":|"days":|"next_cursor"|"ok"|"tasks":\[\]|"totalQueued":0|"version":1/.test(body),
    ).toBe(true)
  })

  it.each(CLOSED.filter(([id]) => NAMED_BY_CALLER.includes(id)))(
    '%s leaves the thing of that name alone',
    async (id, spec) => {
      const look = async () => {
        const key = encodeURIComponent(objects.get('sessions.key') ?? '')
        const runs = await world.ask('GET', `/api/v1/sessions/${key}/messages`)
        return [(await world.ask('GET', `/api/v1/sessions/${key}`)).json(), runs.json()] as unknown
      }
      const before = await look()
      expect((await ask(id, spec, 'stranger')).statusCode).toBeLessThan(300)
      expect(await look()).toEqual(before)
    },
  )
})

// Last, because these do what they are asked; and of them last what deletes.
describe('with the permission alone', () => {
  const gentle = CLOSED.filter(([, { method }]) => method !== 'DELETE')
  const deleting = CLOSED.filter(([, { method }]) => method === 'DELETE')

  it.each([...gentle, ...deleting])('%s lets one in', async (id, spec) => {
    const needed = neededBy(spec)
    const keys = needed.length === 0 ? ['viewer'] : needed.map((one) => `${homeOf(spec)} only ${one}`)
    const answers: number[] = []
    if (GIVING.includes(id)) {
      const { details } = refusedIn(spec, await ask(id, spec, keys[0] ?? null), 'FORBIDDEN')
      expect(details).not.toMatchObject({ rule: 'access.permission' })
      keys.splice(0, 1, 'owner')
    }
    if (id.startsWith('asCode.')) {
      // A document is of several kinds, and each kind has its own permission: no single one is enough.
      for (const who of keys.splice(0, keys.length, 'owner'))
        expect(refusedIn(spec, await ask(id, spec, who), 'FORBIDDEN')).toHaveProperty('details.permissions')
    }
    for (const who of keys) answers.push((await ask(id, spec, who)).statusCode)
    expect(answers).not.toContain(401)
    // Of a list one is enough to be let in, and what is asked for may need the other.
    expect(answers.filter((status) => status < 300 || status === 409)).not.toEqual([])
    if (keys.length === 1) expect(answers).not.toContain(403)
  })
})
