import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type KeyView, type MadeKey, key, keyPage, madeKey } from '../../src/features/access/schema.ts'
import type { Page } from '../../src/api/page.ts'

import { createAuthentication } from '../../src/features/access/authentication.ts'
import { createHttpWorld, KEYS, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  const { authenticate } = createAuthentication(world.services.ports)
  world.change({ authenticate: async (text) => KEYS.get(text) ?? (await authenticate(text)) })
})
afterAll(() => world.close())

const URL = '/api/v1/keys'
const make = async (body: unknown, more = {}): Promise<MadeKey> => {
  const response = await world.ask('POST', URL, { body, ...more })
  expect(response.json()).not.toHaveProperty('code')
  expect(response.statusCode).toBe(201)
  return madeKey.parse(response.json())
}

describe('a key', () => {
  it('is made, works, is shown without its text, and ends at once', async () => {
    const { key: text, ...made } = await make({ name: 'reports', role: 'member', scopes: ['schedules:read', 'runs:*'] })
    expect(text).toMatch(/^esc_/)
    const asked = await world.ask('GET', '/api/v1/schedules', { as: text })
    expect(asked.statusCode).toBe(200)
    problemIn(await world.ask('GET', URL, { as: text }), 'FORBIDDEN')
    const shown = await world.ask('GET', `${URL}/${made.id}`)
    expect(key.parse(shown.json())).toMatchObject({ ...made, last_used_at: expect.anything() as string })
    expect(shown.body).not.toContain(text)
    const revoked = await world.ask('DELETE', `${URL}/${made.id}`)
    expect(key.parse(revoked.json())).toMatchObject({ id: made.id, state: 'revoked' })
    // This world does not hear of turns, so what was looked up is believed for a second.
    world.services.pass(1_001)
    problemIn(await world.ask('GET', '/api/v1/schedules', { as: text }), 'UNAUTHENTICATED')
  })

  it('is on the list of its org, by state and in pages', async () => {
    for (const name of ['one', 'two', 'three']) await make({ name })
    const first = (await world.ask('GET', `${URL}?state=active&limit=2`)).json<Page<KeyView>>()
    keyPage.parse(first)
    const rest = (await world.ask('GET', `${URL}?state=active&limit=2&cursor=${first.next_cursor ?? ''}`)).json<
      Page<KeyView>
    >()
    expect([...first.items, ...rest.items].map(({ name }) => name)).toEqual(['three', 'two', 'one'])
    expect((await world.ask('GET', URL, { as: 'stranger' })).json<Page<KeyView>>().items).toEqual([])
  })

  it('is made once for an idempotency key, and its text is told once', async () => {
    const headers = { 'idempotency-key': 'k1' }
    const first = await make({ name: 'once' }, { headers })
    expect(await make({ name: 'once' }, { headers })).toEqual({ ...first, key: null })
    problemIn(await world.ask('POST', URL, { body: { name: 'other' }, headers }), 'IDEMPOTENCY_MISMATCH')
  })

  it.each([
    [{}, '/name'],
    [{ name: '' }, '/name'],
    [{ name: 'x', role: 'king' }, '/role'],
    [{ name: 'x', scopes: ['schedule:read'] }, '/scopes/0'],
    [{ name: 'x', expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    [{ name: 'x', expires_at: 'soon' }, '/expires_at'],
    [{ name: 'x', rol: 'member' }, '/rol'],
  ])('is not made of %j', async (body, pointer) => {
    expect(pointersIn(await world.ask('POST', URL, { body }))).toEqual([pointer])
  })

  it('is given by nobody who has less, and is nothing to other orgs', async () => {
    problemIn(await world.ask('POST', URL, { body: { name: 'x', role: 'owner' }, as: 'admin' }), 'FORBIDDEN')
    problemIn(await world.ask('POST', URL, { body: { name: 'x' }, as: 'member' }), 'FORBIDDEN')
    const { id } = await make({ name: 'mine' })
    for (const method of ['GET', 'DELETE'] as const)
      problemIn(await world.ask(method, `${URL}/${id}`, { as: 'stranger' }), 'NOT_FOUND')
    problemIn(await world.ask('DELETE', `${URL}/key_of_nobody`), 'NOT_FOUND')
    expect((await world.ask('GET', `${URL}/${id}`)).json<KeyView>().state).toBe('active')
  })

  it('that expires makes none that outlives it', async () => {
    const expires = new Date(world.services.now + 3_600_000).toISOString()
    const later = new Date(world.services.now + 7_200_000).toISOString()
    const sooner = new Date(world.services.now + 1_800_000).toISOString()
    const { key: parent } = await make({ name: 'parent', role: 'admin', expires_at: expires })
    const as = parent ?? ''
    expect((await make({ name: 'child' }, { as })).expires_at).toBe(expires)
    expect((await make({ name: 'child', expires_at: sooner }, { as })).expires_at).toBe(sooner)
    problemIn(await world.ask('POST', URL, { body: { name: 'child', expires_at: later }, as }), 'FORBIDDEN')
    const grandchild = await make({ name: 'child', role: 'admin', expires_at: sooner }, { as })
    expect((await make({ name: 'grandchild' }, { as: grandchild.key })).expires_at).toBe(sooner)
  })

  it('ends itself and keys below it, and none that may do more', async () => {
    const owner = await make({ name: 'owner', role: 'owner' })
    const admin = await make({ name: 'admin', role: 'admin' })
    const revoker = await make({ name: 'revoker', role: 'admin', scopes: ['keys:write'] })
    const end = (id: string, as: string | null) => world.ask('DELETE', `${URL}/${id}`, { as })
    problemIn(await end(owner.id, revoker.key), 'FORBIDDEN')
    problemIn(await end(admin.id, revoker.key), 'FORBIDDEN')
    problemIn(await end(owner.id, admin.key), 'FORBIDDEN')
    expect((await world.ask('GET', `${URL}/${owner.id}`)).json<KeyView>().state).toBe('active')
    const member = await make({ name: 'member', role: 'member' })
    expect((await end(member.id, admin.key)).statusCode).toBe(200)
    expect((await end(revoker.id, revoker.key)).statusCode).toBe(200)
    expect((await end(admin.id, owner.key)).statusCode).toBe(200)
  })
})
