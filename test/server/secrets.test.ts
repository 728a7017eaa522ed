import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rotation, secret, secretPage, type SecretView } from '../../src/features/secrets/schema.ts'

import { exposeSecrets } from '../../src/features/secrets/use.ts'
import { ORG, OTHER_ORG } from '../platform/db/records.ts'
import { createHttpWorld, KEYS, pointersIn, problemIn, aPrincipal, type HttpWorld } from './support.ts'

const VALUE = 'hunter2-hunter2'
const URL = '/api/v1/secrets'
const AGENTS = '/api/v1/agents'
const body = { name: 'API_KEY', value: VALUE, hosts: ['api.example.com'] }

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  KEYS.set('agent-writer', aPrincipal('admin', { scopes: ['agents:*', 'secrets:*'] as never }))
})
afterAll(async () => {
  KEYS.delete('agent-writer')
  await world.close()
})
beforeEach(() => world.services.db.query(`delete from agent where id not in ('reader', 'writer'); delete from secret`))

const said: string[] = []
const ask = async (...asked: Parameters<HttpWorld['ask']>): Promise<LightMyRequestResponse> => {
  const response = await world.ask(...asked)
  said.push(response.body)
  return response
}
const create = async (more: object = {}): Promise<SecretView> => {
  const response = await ask('POST', URL, { body: { ...body, ...more } })
  expect([response.statusCode, response.json<{ detail?: string }>().detail]).toEqual([201, undefined])
  return secret.parse(response.json())
}
const agentOf = (executor: object, id = 'caller'): object => ({
  body: { id, name: id, executor: { kind: 'http', url: 'https://api.example.com/run', ...executor } },
})
const USING = { headers: { authorization: 'Bearer {{secret:API_KEY}}' } }
const opened = (url = 'https://api.example.com/', org = ORG): Promise<unknown> =>
  exposeSecrets(world.services.ports, org, { names: ['API_KEY'], url })

describe('a secret', () => {
  it('is kept, shown without its value, changed and deleted', async () => {
    const made = await create()
    expect(made).toMatchObject({ name: 'API_KEY', org_id: ORG, hosts: body.hosts, used_by: [], version: 1 })
    expect(Object.keys(made)).not.toContain('value')
    const shown = await ask('GET', `${URL}/API_KEY`)
    expect([shown.json(), shown.headers.etag]).toEqual([made, '"1"'])
    expect(secretPage.parse((await ask('GET', URL)).json())).toEqual({ items: [made], next_cursor: null })
    expect(await opened()).toEqual({ ok: true, values: { API_KEY: VALUE } })

    const headers = { 'if-match': '"1"' }
    const moved = await ask('PATCH', `${URL}/API_KEY`, { body: { hosts: ['b.example.com'] }, headers })
    expect(secret.parse(moved.json())).toMatchObject({
      hosts: ['b.example.com'],
      version: 2,
      value_set_at: made.value_set_at,
    })
    problemIn(await ask('PATCH', `${URL}/API_KEY`, { body: { value: 'another-value' }, headers }), 'STALE_VERSION')
    expect(await opened('https://b.example.com/')).toEqual({ ok: true, values: { API_KEY: VALUE } })
    world.services.pass(1_000)
    const changed = secret.parse((await ask('PATCH', `${URL}/API_KEY`, { body: { value: 'another-value' } })).json())
    expect(changed.value_set_at).not.toBe(made.value_set_at)
    expect(await opened('https://b.example.com/')).toEqual({ ok: true, values: { API_KEY: 'another-value' } })

    expect((await ask('DELETE', `${URL}/API_KEY`)).statusCode).toBe(204)
    problemIn(await ask('GET', `${URL}/API_KEY`), 'NOT_FOUND')
    problemIn(await ask('DELETE', `${URL}/API_KEY`), 'NOT_FOUND')
  })

  it.each<[string, unknown, readonly string[]]>([
    ['nothing', {}, ['/name', '/value', '/hosts']],
    ['a list', [VALUE], ['']],
    ['a name that is none', { ...body, name: VALUE.replace('-', '.') }, ['/name']],
    ['a value that could not be hidden', { ...body, value: 'hunter2' }, ['/value']],
    ['a value that is no text', { ...body, value: [VALUE] }, ['/value']],
    ['a misspelt field', { ...body, valeu: VALUE }, ['/valeu']],
    ['no hosts', { ...body, hosts: [] }, ['/hosts']],
    ['an address for a host', { ...body, hosts: [`https://${VALUE}.example`] }, ['/hosts/0']],
    ['any host', { ...body, hosts: ['*'] }, ['/hosts/0']],
  ])('with %s is refused, and what was sent is not repeated', async (_, given, pointers) => {
    const response = await ask('POST', URL, { body: given })
    expect(pointersIn(response).filter((pointer) => pointers.includes(pointer))).toEqual(pointers)
    expect(response.body).not.toMatch(/hunter2/)
    expect((await ask('GET', URL)).json<{ items: unknown[] }>().items).toEqual([])
  })

  it('is there once, for its own org alone', async () => {
    await create()
    problemIn(await ask('POST', URL, { body }), 'CONFLICT')
    problemIn(await ask('GET', `${URL}/API_KEY`, { as: 'stranger' }), 'NOT_FOUND')
    problemIn(await ask('DELETE', `${URL}/API_KEY`, { as: 'stranger' }), 'NOT_FOUND')
    expect(await opened('https://api.example.com/', OTHER_ORG)).toMatchObject({ ok: false })
    expect((await ask('POST', URL, { body, as: 'stranger' })).statusCode).toBe(201)
    problemIn(await ask('POST', URL, { body, as: 'member' }), 'FORBIDDEN')
    expect((await ask('GET', URL, { as: 'viewer' })).statusCode).toBe(200)
  })

  it('goes to its hosts and nowhere else', async () => {
    await create()
    expect(await opened('https://evil.example/')).toEqual({
      ok: false,
      message: 'secret API_KEY may not be sent to evil.example, only to api.example.com',
    })
  })

  it('is listed in pages by name', async () => {
    for (const name of ['C', 'A', 'B']) await create({ name })
    const first = secretPage.parse((await ask('GET', `${URL}?limit=2`)).json())
    expect(first.items.map(({ name }) => name)).toEqual(['A', 'B'])
    const rest = secretPage.parse((await ask('GET', `${URL}?limit=2&cursor=${first.next_cursor ?? ''}`)).json())
    expect([rest.items.map(({ name }) => name), rest.next_cursor]).toEqual([['C'], null])
  })
})

describe('an agent that names a secret', () => {
  it('needs one that is there and may go where it calls', async () => {
    const missing = problemIn(await ask('POST', AGENTS, agentOf(USING)), 'VALIDATION')
    expect(missing.detail).toContain('escapement secrets set API_KEY --host api.example.com')
    await create()
    const elsewhere = problemIn(
      await ask('POST', AGENTS, agentOf({ ...USING, url: 'https://evil.example/' })),
      'VALIDATION',
    )
    expect(elsewhere.detail).toContain('may not be sent to evil.example, only to api.example.com')
    expect((await ask('POST', AGENTS, agentOf(USING))).statusCode).toBe(201)
    problemIn(
      await ask('PATCH', `${AGENTS}/caller`, {
        body: { executor: { kind: 'http', url: 'https://evil.example/', ...USING } },
      }),
      'VALIDATION',
    )
    const shown = (await ask('GET', `${AGENTS}/caller`)).json<{ executor: { headers: object } }>()
    expect(shown.executor.headers).toEqual(USING.headers)
  })

  it('is made and sent elsewhere by an admin alone', async () => {
    await create({ hosts: ['api.example.com', 'b.example.com'] })
    const refused = problemIn(await ask('POST', AGENTS, { ...agentOf(USING), as: 'agent-writer' }), 'FORBIDDEN')
    expect(refused.detail).toContain('admin:*')
    await ask('POST', AGENTS, agentOf(USING))
    const moved = { executor: { kind: 'http', url: 'https://b.example.com/', ...USING } }
    problemIn(await ask('PATCH', `${AGENTS}/caller`, { body: moved, as: 'agent-writer' }), 'FORBIDDEN')
    expect((await ask('PATCH', `${AGENTS}/caller`, { body: { name: 'Other' }, as: 'agent-writer' })).statusCode).toBe(
      200,
    )
    expect((await ask('PATCH', `${AGENTS}/caller`, { body: moved })).statusCode).toBe(200)
  })

  it('keeps its secret from being deleted, and from losing the host it calls', async () => {
    await create({ hosts: ['api.example.com', 'b.example.com'] })
    await ask('POST', AGENTS, agentOf({ body: { deep: ['{{ secret:API_KEY }}'] } }))
    expect(secret.parse((await ask('GET', `${URL}/API_KEY`)).json()).used_by).toEqual(['caller'])
    const deleted = problemIn(await ask('DELETE', `${URL}/API_KEY`), 'CONFLICT')
    expect([deleted.detail, deleted.details]).toEqual([
      expect.stringContaining('caller') as string,
      { agent_ids: ['caller'] },
    ])
    problemIn(await ask('PATCH', `${URL}/API_KEY`, { body: { hosts: ['b.example.com'] } }), 'CONFLICT')
    expect((await ask('PATCH', `${URL}/API_KEY`, { body: { hosts: ['api.example.com'] } })).statusCode).toBe(200)
    expect((await ask('DELETE', `${AGENTS}/caller`)).statusCode).toBe(204)
    expect((await ask('DELETE', `${URL}/API_KEY`)).statusCode).toBe(204)
  })

  it('is no schedule: an executor of its own names none', async () => {
    await create()
    const executor = { kind: 'http', url: 'https://api.example.com/', ...USING }
    const response = await ask('POST', '/api/v1/schedules', { body: { name: 'x', every_seconds: 60, executor } })
    expect(problemIn(response, 'VALIDATION').detail).toContain('only agents may reference secrets')
  })
})

describe('rotation', () => {
  it('is for whoever operates the deployment', async () => {
    await create()
    problemIn(await ask('POST', `${URL}/rotate`), 'FORBIDDEN')
    const done = rotation.parse((await ask('POST', `${URL}/rotate`, { as: 'operator' })).json())
    expect(done).toMatchObject({ previous_key_id: null, sealed_anew: 0, failed: [] })
    problemIn(await ask('POST', `${URL}/rotate`, { as: 'operator', body: { new_key: true } }), 'CONFLICT')
  })
})

describe('the record', () => {
  it('says who did what, and holds no value, sealed or not; neither does any answer', async () => {
    await create()
    await ask('PATCH', `${URL}/API_KEY`, { body: { value: 'another-value' } })
    await ask('DELETE', `${URL}/API_KEY`)
    const audit = await ask('GET', '/api/v1/audit?limit=200')
    const actions = audit.json<{ items: { action: string }[] }>().items.map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['secret.create', 'secret.update', 'secret.delete']))
    const all = [...said, JSON.stringify(await world.services.rows('select * from audit'))].join('\n')
    for (const hidden of [/hunter2-hunter2/, /another-value/, /v1\.[0-9a-f]{16}\./]) expect(all).not.toMatch(hidden)
  })
})
