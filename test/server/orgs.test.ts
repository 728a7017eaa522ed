import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type OrgView, createdOrg, org, orgPage } from '../../src/features/access/schema.ts'
import type { Page } from '../../src/api/page.ts'

import { OPERATOR_ORG } from '../../src/domain/access/access.ts'
import { createAuthentication } from '../../src/features/access/authentication.ts'
import { aPrincipal, createHttpWorld, KEYS, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const URL = '/api/v1/orgs'
const as = 'operator'

describe('an org', () => {
  it('is made, shown, changed and deleted by the operator', async () => {
    const body = { id: 'north', name: 'North', default_timezone: 'Europe/Berlin', max_concurrent: 5 }
    const made = await world.ask('POST', URL, { as, body })
    expect(made.statusCode).toBe(201)
    expect(org.parse(made.json())).toMatchObject({ ...body, default_agent_id: 'echo', runs_per_day: null })
    const changed = await world.ask('PATCH', `${URL}/north`, { as, body: { max_concurrent: null, runs_per_day: 9 } })
    expect(org.parse(changed.json())).toMatchObject({ id: 'north', max_concurrent: null, runs_per_day: 9 })
    expect((await world.ask('GET', `${URL}/north`, { as })).json()).toEqual(changed.json())
    const gone = await world.ask('DELETE', `${URL}/north`, { as })
    expect([gone.statusCode, gone.body]).toEqual([204, ''])
    for (const method of ['GET', 'DELETE'] as const)
      problemIn(await world.ask(method, `${URL}/north`, { as }), 'NOT_FOUND')
    problemIn(await world.ask('POST', URL, { as, body }), 'CONFLICT')
  })

  it('is on a list with pages', async () => {
    const first = (await world.ask('GET', `${URL}?limit=2`, { as })).json<Page<OrgView>>()
    expect(orgPage.parse(first).items).toHaveLength(2)
    const rest = (await world.ask('GET', `${URL}?limit=2&cursor=${first.next_cursor ?? ''}`, { as })).json<
      Page<OrgView>
    >()
    const ids = [...first.items, ...rest.items].map(({ id }) => id)
    expect(ids.toSorted()).toEqual(['acme', 'default', 'other'])
  })

  it('is made once for an idempotency key', async () => {
    const more = { as, body: { name: 'Once' }, headers: { 'idempotency-key': 'o1' } }
    const first = await world.ask('POST', URL, more)
    expect((await world.ask('POST', URL, more)).json()).toEqual(first.json())
  })

  it('comes with its first key in one call, whose text is told once', async () => {
    const { ports } = world.services
    const more = { as, body: { id: 'keyed', name: 'Keyed', with_key: true }, headers: { 'idempotency-key': 'o2' } }
    const made = createdOrg.parse((await world.ask('POST', URL, more)).json())
    const { id, key } = made.first_key ?? { id: '', key: null }
    expect(await createAuthentication(ports).authenticate(key ?? '')).toMatchObject({
      id,
      orgId: 'keyed',
      role: 'owner',
    })
    const again = createdOrg.parse((await world.ask('POST', URL, more)).json())
    expect(again.first_key).toEqual({ id, key: null })
    KEYS.set('operator-scoped', aPrincipal('owner', { orgId: OPERATOR_ORG, scopes: ['admin:*'] }))
    problemIn(await world.ask('POST', URL, { as: 'operator-scoped', body: { name: 'x', with_key: true } }), 'FORBIDDEN')
    KEYS.delete('operator-scoped')
  })

  it.each([
    [{}, '/name'],
    [{ name: 'x', id: 'Not An Id' }, '/id'],
    [{ name: 'x', default_timezone: 'Mars/Base' }, '/default_timezone'],
    [{ name: 'x', max_concurrent: 0 }, '/max_concurrent'],
    [{ name: 'x', max_schedule: 3 }, '/max_schedule'],
  ])('is not made of %j', async (body, pointer) => {
    expect(pointersIn(await world.ask('POST', URL, { as, body }))).toEqual([pointer])
  })

  it('that operates the deployment, or has something planned, stays', async () => {
    problemIn(await world.ask('DELETE', `${URL}/default`, { as }), 'CONFLICT')
    await world.ask('POST', '/api/v1/schedules', { body: { name: 'x', every_seconds: 60 } })
    problemIn(await world.ask('DELETE', `${URL}/acme`, { as }), 'CONFLICT')
  })

  it("is nobody else's business", async () => {
    for (const who of ['owner', 'viewer', 'stranger']) {
      problemIn(await world.ask('GET', URL, { as: who }), 'FORBIDDEN')
      problemIn(await world.ask('GET', `${URL}/acme`, { as: who }), 'FORBIDDEN')
      problemIn(await world.ask('POST', URL, { as: who, body: { name: 'x' } }), 'FORBIDDEN')
      problemIn(await world.ask('PATCH', `${URL}/acme`, { as: who, body: { name: 'x' } }), 'FORBIDDEN')
      problemIn(await world.ask('DELETE', `${URL}/acme`, { as: who }), 'FORBIDDEN')
    }
  })
})
