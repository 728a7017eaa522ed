import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AgentView, agent, agentPage } from '../../src/features/agents/schema.ts'
import type { Page } from '../../src/api/page.ts'

import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query(`delete from schedule; delete from agent where id not in ('reader', 'writer')`)
})

const URL = '/api/v1/agents'
const parrot = { id: 'parrot', name: 'Parrot', executor: { kind: 'echo' } }
const create = async (body: unknown, headers = {}): Promise<AgentView> => {
  const response = await world.ask('POST', URL, { body, headers })
  expect([response.statusCode, response.json<{ detail?: string }>().detail]).toEqual([201, undefined])
  return agent.parse(response.json())
}
const ids = async (query = '', as = 'owner'): Promise<readonly string[]> =>
  agentPage.parse((await world.ask('GET', `${URL}${query}`, { as })).json()).items.map(({ id }) => id)

describe('an agent', () => {
  it('is made, shown with its version as entity tag, changed and deleted', async () => {
    const body = {
      ...{ ...parrot, description: 'Says it again', max_concurrent: 2, timeout_seconds: 5, context_window: 1_000 },
      ...{ default_session: 'home', retry_policy: { max_retries: 1 } },
    }
    const made = await world.ask('POST', URL, { body })
    expect([made.statusCode, made.headers.etag]).toEqual([201, '"1"'])
    expect(agent.parse(made.json())).toMatchObject({
      ...body,
      org_id: 'acme',
      version: 1,
      retry_policy: { max_retries: 1 },
    })
    const shown = await world.ask('GET', `${URL}/parrot`)
    expect([shown.json(), shown.headers.etag]).toEqual([made.json(), '"1"'])
    const changed = await world.ask('PATCH', `${URL}/parrot`, { body: { max_concurrent: null, name: 'Ara' } })
    expect([changed.statusCode, changed.headers.etag]).toEqual([200, '"2"'])
    expect(agent.parse(changed.json())).toMatchObject({ name: 'Ara', max_concurrent: null, timeout_seconds: 5 })
    expect((await world.ask('DELETE', `${URL}/parrot`)).statusCode).toBe(204)
    problemIn(await world.ask('GET', `${URL}/parrot`), 'NOT_FOUND')
    problemIn(await world.ask('DELETE', `${URL}/parrot`), 'NOT_FOUND')
  })

  it('gets an id unless it brings one, which nobody else has', async () => {
    expect((await create({ name: 'A', executor: { kind: 'in-process' } })).id).toMatch(/^agent_/)
    await create(parrot)
    problemIn(await world.ask('POST', URL, { body: parrot }), 'CONFLICT')
    expect((await world.ask('POST', URL, { body: parrot, as: 'stranger' })).statusCode).toBe(201)
  })

  it('is changed and deleted only in the version that If-Match names', async () => {
    await create(parrot)
    const patch = (tag: string) =>
      world.ask('PATCH', `${URL}/parrot`, { body: { name: tag }, headers: { 'if-match': tag } })
    expect((await patch('"1"')).statusCode).toBe(200)
    expect(problemIn(await patch('"1"'), 'STALE_VERSION').details).toEqual({ version: 2 })
    problemIn(await world.ask('DELETE', `${URL}/parrot`, { headers: { 'if-match': '"1"' } }), 'STALE_VERSION')
    const known = await world.ask('GET', `${URL}/parrot`, { headers: { 'if-none-match': '"2"' } })
    expect([known.statusCode, known.body]).toEqual([304, ''])
    expect((await world.ask('DELETE', `${URL}/parrot`, { headers: { 'if-match': '"2"' } })).statusCode).toBe(204)
  })

  it('is made once for an idempotency key', async () => {
    const headers = { 'idempotency-key': 'k' }
    const body = { name: 'Once', executor: { kind: 'echo' } }
    const first = await create(body, headers)
    expect(await create(body, headers)).toEqual(first)
    problemIn(await world.ask('POST', URL, { body: { ...body, name: 'Twice' }, headers }), 'IDEMPOTENCY_MISMATCH')
    expect(await ids()).toHaveLength(3)
  })

  it('starts programs only for an owner of the operator org, and only where its file lists them', async () => {
    const body = { name: 'Tool', executor: { kind: 'command', program: '/bin/date' } }
    problemIn(await world.ask('POST', URL, { body }), 'FORBIDDEN')
    problemIn(await world.ask('PATCH', `${URL}/writer`, { body: { executor: body.executor } }), 'FORBIDDEN')
    const off = await world.ask('POST', URL, { body, as: 'operator' })
    expect(problemIn(off, 'VALIDATION').errors).toMatchObject([{ pointer: '/executor/kind' }])
    const rules = { enabled: true, programs: ['/bin/date'], directories: ['/srv/work'] }
    world.change({ ports: { ...world.services.ports, commandRules: () => rules } })
    const wrong = { program: '/bin/sh', args: ['a{{payload.x}}', 1], cwd: 'here', env: { '1A': 'x' }, shell: true }
    const flawed = await world.ask('POST', URL, {
      body: { ...body, executor: { kind: 'command', ...wrong } },
      as: 'operator',
    })
    expect(pointersIn(flawed)).toEqual([
      ...['/executor/shell', '/executor/args/0', '/executor/args/1', '/executor/cwd', '/executor/env/1A'],
    ])
    const elsewhere = { ...body, executor: { ...body.executor, cwd: '/srv/workshop' } }
    expect(pointersIn(await world.ask('POST', URL, { body: elsewhere, as: 'operator' }))).toEqual(['/executor/cwd'])
    const sh = { ...body, executor: { ...body.executor, program: '/bin/sh' } }
    expect(pointersIn(await world.ask('POST', URL, { body: sh, as: 'operator' }))).toEqual(['/executor/program'])
    const env = { API_TOKEN: 'private', WHERE: '{{payload.where}}' }
    const good = { ...body, executor: { ...body.executor, cwd: '/srv/work/a', env } }
    const made = (await world.ask('POST', URL, { body: good, as: 'operator' })).json<Record<string, unknown>>()
    expect(made['executor']).toEqual({
      ...{ kind: 'command', program: '/bin/date', args: [], cwd: '/srv/work/a', stdin: null, output_bytes: 1_048_576 },
      env: { API_TOKEN: '***', WHERE: '{{payload.where}}' },
      ...{ preset: null, resume: false, service: null },
    })
    const back = await world.ask('PATCH', `${URL}/${String(made['id'])}`, {
      ...{ body: { executor: made['executor'] }, as: 'operator' },
    })
    expect(pointersIn(back)).toEqual(['/executor/env/API_TOKEN'])
    world.change({ ports: world.services.ports })
  })

  it('over HTTP is shown as it will be called', async () => {
    const executor = { kind: 'http', url: 'https://agents.example/{{run_id}}', headers: { 'X-A': 'b' }, async: true }
    const made = await create({ id: 'far', name: 'Far', executor })
    const shown = { ...executor, method: 'POST', body: null, success_when: null }
    expect(made['executor']).toEqual(shown)
    const patch = { executor: { kind: 'http', url: 'https://agents.example/', method: 'put' } }
    const patched = await world.ask('PATCH', `${URL}/far`, { body: patch })
    expect(patched.json()).toMatchObject({ executor: { method: 'PUT', headers: {}, async: false } })
    await world.ask('DELETE', `${URL}/far`)
  })

  it('shows no credentials, and keeps them while it is called at the same place', async () => {
    const url = 'https://agents.example/a'
    const headers = { Authorization: 'Bearer hunter2', 'X-Api-Key': 'hunter2', 'X-Plain': 'p' }
    const made = await create({ id: 'far', name: 'Far', executor: { kind: 'http', url, headers } })
    const hidden = { Authorization: '***', 'X-Api-Key': '***', 'X-Plain': 'p' }
    expect(made['executor']).toMatchObject({ headers: hidden })
    const change = (executor: object) =>
      world.ask('PATCH', `${URL}/far`, { body: { executor: { kind: 'http', ...executor } } })
    const moved = await change({ url: 'https://agents.example/b', headers: hidden })
    expect(moved.json()).toMatchObject({ executor: { url: 'https://agents.example/b', headers: hidden } })
    const [row] = await world.services.db.query(`select executor from agent where id = 'far'`, [])
    expect(row?.['executor']).toMatchObject({ headers })
    expect(pointersIn(await change({ url: 'https://elsewhere.example/', headers: hidden }))).toEqual([
      ...['/executor/headers/Authorization', '/executor/headers/X-Api-Key'],
    ])
    const shown = [await world.ask('GET', URL), await world.ask('GET', '/api/v1/audit?limit=200')]
    expect(shown.map(({ body }) => body).join()).not.toContain('hunter2')
    await world.ask('DELETE', `${URL}/far`)
  })

  it.each<[string, object, readonly string[]]>([
    ['no address', { kind: 'http' }, ['/executor/url']],
    ['an address with a password', { kind: 'http', url: 'https://a:b@agents.example/' }, ['/executor/url']],
    ['a host from the payload', { kind: 'http', url: 'https://{{payload.host}}/' }, ['/executor/url']],
    ['a secret in its address', { kind: 'http', url: 'https://a.example/{{secret:K}}' }, ['/executor/url']],
    ['a secret that is not there', { kind: 'http', url: 'https://a.example/', body: '{{secret:K}}' }, ['/executor']],
    ['a misspelt option', { kind: 'http', url: 'https://a.example/', asnyc: true }, ['/executor/asnyc']],
    [
      'a condition that looks for nothing',
      { kind: 'http', url: 'https://a.example/', success_when: { path: 'a' } },
      ['/executor/success_when/path'],
    ],
    ['its own idea of where browsers are', { kind: 'tab-action', url: 'https://a.example/' }, ['/executor/url']],
  ])('with %s is refused and nothing is stored', async (_, executor, pointers) => {
    expect(pointersIn(await world.ask('POST', URL, { body: { ...parrot, executor } }))).toEqual(pointers)
    expect(pointersIn(await world.ask('PATCH', `${URL}/writer`, { body: { executor } }))).toEqual(pointers)
    expect(await ids()).toEqual(['reader', 'writer'])
  })

  it.each([
    ['nothing', {}, ['/executor', '/name']],
    ['a misspelt field', { ...parrot, maxConcurrent: 2 }, ['/maxConcurrent']],
    ['an executor that is none', { ...parrot, executor: { kind: 'magic' } }, ['/executor/kind']],
    ['an executor without a kind', { ...parrot, executor: {} }, ['/executor/kind']],
    ['an id that cannot be one', { ...parrot, id: 'a:b' }, ['/id']],
    [
      'numbers that cannot be',
      { ...parrot, max_concurrent: 0, context_window: 1.5, timeout_seconds: 'long' },
      ['/context_window', '/max_concurrent', '/timeout_seconds'],
    ],
    ['a retry policy that is none', { ...parrot, retry_policy: { max_retries: -1 } }, ['/retry_policy/max_retries']],
    ['a session key that is too long', { ...parrot, default_session: 'ü'.repeat(300) }, ['/default_session']],
  ])('is refused with %s, and nothing is made', async (_, body, pointers) => {
    expect(pointersIn(await world.ask('POST', URL, { body })).toSorted()).toEqual(pointers)
    expect(await ids()).toEqual(['reader', 'writer'])
  })

  it('keeps its id for ever, and its place while a schedule wakes it', async () => {
    await create(parrot)
    expect(pointersIn(await world.ask('PATCH', `${URL}/parrot`, { body: { id: 'ara' } }))).toEqual(['/id'])
    await world.ask('POST', '/api/v1/schedules', { body: { every_seconds: 60, agent_id: 'parrot' } })
    expect(problemIn(await world.ask('DELETE', `${URL}/parrot`), 'CONFLICT').details).toEqual({ schedules: 1 })
    expect((await world.ask('GET', `${URL}/parrot`)).json<AgentView>().version).toBe(1)
  })

  it('belongs to its org, and to those who may', async () => {
    await create(parrot)
    for (const method of ['GET', 'PATCH', 'DELETE'] as const)
      problemIn(
        await world.ask(method, `${URL}/parrot`, { as: 'stranger', body: method === 'PATCH' ? {} : undefined }),
        'NOT_FOUND',
      )
    for (const as of ['member', 'viewer']) {
      problemIn(await world.ask('POST', URL, { as, body: parrot }), 'FORBIDDEN')
      problemIn(await world.ask('DELETE', `${URL}/parrot`, { as }), 'FORBIDDEN')
      expect(await ids('', as)).toContain('parrot')
    }
  })
})

describe('the list of agents', () => {
  it('is in the order of ids, in pages', async () => {
    for (const id of ['b', 'Z', 'ä', 'a']) await create({ ...parrot, id })
    const all = await ids()
    expect(all).toEqual(['Z', 'a', 'b', 'reader', 'writer', 'ä'])
    const pages: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page<AgentView> = (await world.ask('GET', `${URL}?limit=4&cursor=${cursor}`)).json<Page<AgentView>>()
      pages.push(...page.items.map(({ id }) => id))
      cursor = page.next_cursor
    }
    expect(pages).toEqual(all)
  })

  it.each([
    ['?limit=0', ['/limit']],
    ['?cursor=nonsense', ['/cursor']],
    [`?cursor=${Buffer.from('["a","b"]').toString('base64url')}`, ['/cursor']],
    [`?cursor=${Buffer.from('["\\u0000"]').toString('base64url')}`, ['/cursor']],
    ['?name=x', ['/name']],
  ])('refuses %s', async (query, pointers) => {
    expect(pointersIn(await world.ask('GET', `${URL}${query}`))).toEqual(pointers)
  })
})
