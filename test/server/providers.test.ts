import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ProviderView, provider, providerPage } from '../../src/features/providers/schema.ts'

import { stats } from '../../src/features/stats/schema.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('update agent set provider = null; delete from provider')
})

const URL = '/api/v1/providers'
const create = async (body: unknown, headers = {}): Promise<ProviderView> => {
  const response = await world.ask('POST', URL, { body, headers })
  expect([response.statusCode, response.json<{ detail?: string }>().detail]).toEqual([201, undefined])
  return provider.parse(response.json())
}

describe('a provider', () => {
  it('is made with full buckets, shown, changed and deleted', async () => {
    const made = await create({ name: 'model', requests_per_minute: 60, max_concurrent: 4 })
    expect(made).toMatchObject({
      ...{ name: 'model', org_id: 'acme', requests_per_minute: 60, tokens_per_minute: null, max_concurrent: 4 },
      ...{ requests_left: 60, tokens_left: null, in_flight: 0, waiting: 0, closed: null, agents: [] },
    })
    expect((await world.ask('GET', `${URL}/model`)).json()).toEqual(made)
    const changed = await world.ask('PATCH', `${URL}/model`, { body: { max_concurrent: null, tokens_per_minute: 500 } })
    expect(provider.parse(changed.json())).toMatchObject({ max_concurrent: null, tokens_left: 500, requests_left: 60 })
    expect(providerPage.parse((await world.ask('GET', URL)).json()).items).toHaveLength(1)
    expect(stats.parse((await world.ask('GET', '/api/v1/stats')).json()).providers).toEqual([
      {
        ...{ provider: 'model', waiting: 0, in_flight: 0, requests_left: 60, tokens_left: 500, closed_until: null },
      },
    ])
    expect((await world.ask('DELETE', `${URL}/model`)).statusCode).toBe(204)
    for (const method of ['GET', 'PATCH', 'DELETE'] as const)
      problemIn(await world.ask(method, `${URL}/model`, method === 'PATCH' ? { body: {} } : {}), 'NOT_FOUND')
  })

  it('is made once for an idempotency key, and once under a name', async () => {
    const headers = { 'idempotency-key': 'once' }
    expect(await create({ name: 'model' }, headers)).toEqual(await create({ name: 'model' }, headers))
    problemIn(await world.ask('POST', URL, { body: { name: 'model' } }), 'CONFLICT')
  })

  it.each([
    ['nothing', {}, ['/name']],
    ['a name with a space', { name: 'a b' }, ['/name']],
    ['a misspelt field', { name: 'x', rpm: 5 }, ['/rpm']],
    ['no requests at all', { name: 'x', requests_per_minute: 0 }, ['/requests_per_minute']],
    ['more tokens than can be counted', { name: 'x', tokens_per_minute: 1e9 }, ['/tokens_per_minute']],
    ['several flaws', { name: '', max_concurrent: -1 }, ['/max_concurrent', '/name']],
  ])('is refused with %s', async (_, body, pointers) => {
    expect(pointersIn(await world.ask('POST', URL, { body })).toSorted()).toEqual(pointers)
  })

  it('stays while an agent calls it, and says which', async () => {
    await create({ name: 'model' })
    const named = await world.ask('PATCH', '/api/v1/agents/writer', { body: { provider: 'model' } })
    expect([named.statusCode, named.json<{ provider: string }>().provider]).toEqual([200, 'model'])
    const refused = problemIn(await world.ask('DELETE', `${URL}/model`), 'CONFLICT')
    expect(refused.detail).toContain('writer')
    expect(pointersIn(await world.ask('PATCH', '/api/v1/agents/reader', { body: { provider: 'none' } }))).toEqual([
      '/provider',
    ])
    expect((await world.ask('PATCH', '/api/v1/agents/writer', { body: { provider: null } })).statusCode).toBe(200)
    expect((await world.ask('DELETE', `${URL}/model`)).statusCode).toBe(204)
  })

  it('is read and changed by those who may read and change budgets', async () => {
    await create({ name: 'model' })
    expect((await world.ask('GET', URL, { as: 'viewer' })).statusCode).toBe(200)
    expect((await world.ask('POST', URL, { as: 'viewer', body: { name: 'x' } })).statusCode).toBe(403)
    expect((await world.ask('GET', `${URL}/model`, { as: 'stranger' })).statusCode).toBe(404)
  })
})
