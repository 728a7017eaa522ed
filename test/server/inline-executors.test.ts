import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schedule, type ScheduleView } from '../../src/features/schedules/schema.ts'

import { createHttpWorld, pointersIn, type HttpWorld } from './support.ts'

const URL = '/api/v1/schedules'
const http = { kind: 'http', url: 'https://agents.example/work' }
let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const create = async (body: object): Promise<ScheduleView> => {
  const response = await world.ask('POST', URL, { body: { every_seconds: 60, ...body } })
  expect(response.statusCode).toBe(201)
  return schedule.parse(response.json())
}

describe('a schedule with an executor of its own', () => {
  it('is shown with it, complete, and without an agent', async () => {
    const made = await create({ executor: http })
    const shown = { ...http, method: 'POST', headers: {}, body: null, async: false, success_when: null }
    expect(made).toMatchObject({ agent_id: null, executor: shown, retry_policy: null })
    expect((await world.ask('GET', `${URL}/${made.id}`)).json()).toEqual(made)
  })

  it('shows no credentials', async () => {
    const executor = { ...http, headers: { authorization: 'hunter2' } }
    const made = await create({ executor })
    expect(made).toMatchObject({ executor: { headers: { authorization: '***' } } })
    const changed = await world.ask('PATCH', `${URL}/${made.id}`, { body: { executor: made.executor, name: 'Kept' } })
    expect(changed.json()).toMatchObject({ name: 'Kept', executor: { headers: { authorization: '***' } } })
    const [row] = await world.services.db.query('select input from schedule where id = $1', [made.id])
    expect(row?.['input']).toMatchObject({ executor })
  })

  it.each<[string, object]>([
    ['another kind that keeps any field', { kind: 'echo', url: http.url, env: {} }],
    ['another kind without variables', { kind: 'in-process', url: http.url }],
    ['another path of the same host', { ...http, url: 'https://agents.example/echo' }],
    ['the same kind and address, with variables', { ...http, env: {} }],
  ])('never shows a hidden header in clear after a change to %s', async (_, change) => {
    const { id } = await create({ executor: { ...http, headers: { authorization: 'hunter2' } } })
    const body = { executor: { ...change, headers: { authorization: '***' } } }
    await world.ask('PATCH', `${URL}/${id}`, { as: 'member', body })
    const shown = await world.ask('GET', `${URL}/${id}`, { as: 'viewer' })
    expect(shown.json()).toMatchObject({ executor: { headers: { authorization: '***' } } })
    const [row] = await world.services.db.query('select input from schedule where id = $1', [id])
    const { executor } = row?.['input'] as { executor: { url: string; kind: string; headers: object } }
    const isMoved = executor.url !== http.url || executor.kind !== http.kind
    if (isMoved) expect(JSON.stringify(executor)).not.toContain('hunter2')
  })

  it('of kind echo or tab-action needs nothing more', async () => {
    for (const kind of ['echo', 'tab-action'])
      expect(await create({ executor: { kind } })).toMatchObject({ agent_id: null, executor: { kind } })
  })

  it('becomes one that wakes an agent, and back', async () => {
    const { id } = await create({ executor: http })
    const change = async (body: object): Promise<unknown> =>
      (await world.ask('PATCH', `${URL}/${id}`, { body })).json<ScheduleView>()
    expect(await change({ agent_id: 'reader' })).toMatchObject({ agent_id: 'reader', executor: null })
    expect(await change({ executor: http })).toMatchObject({ agent_id: null, executor: http })
    expect(await change({ name: 'Other' })).toMatchObject({ agent_id: null, executor: http, name: 'Other' })
    expect(await change({ executor: null })).toMatchObject({ agent_id: 'writer', executor: null })
  })

  it.each<[string, object, readonly string[]]>([
    ['an agent as well', { agent_id: 'writer', executor: http }, ['/executor']],
    ['a kind that is none', { executor: { kind: 'magic' } }, ['/executor/kind']],
    ['a function', { executor: { kind: 'in-process' } }, ['/executor/kind']],
    ['a program', { executor: { kind: 'command', program: '/bin/true' } }, ['/executor/kind']],
    ['a worker', { executor: { kind: 'worker' } }, ['/executor/kind']],
    ['a model', { executor: { kind: 'chat', base_url: 'https://example.org/v1', model: 'm' } }, ['/executor/kind']],
    ['no address', { executor: { kind: 'http' } }, ['/executor/url']],
    ['a misspelt option', { executor: { ...http, heders: {} } }, ['/executor/heders']],
    ['a text', { executor: 'http' }, ['/executor']],
  ])('is refused with %s', async (_, body, pointers) => {
    expect(pointersIn(await world.ask('POST', URL, { body: { every_seconds: 60, ...body } }))).toEqual(pointers)
  })
})
