import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MemberView, member, memberPage, signInLink } from '../../src/features/access/schema.ts'
import type { Page } from '../../src/api/page.ts'

import { OTHER_ORG } from '../platform/db/records.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

const URL = '/api/v1/orgs/acme/members'
const letIn = async (body: unknown, more = {}): Promise<MemberView> => {
  const response = await world.ask('POST', URL, { body, ...more })
  expect(response.json()).not.toHaveProperty('code')
  expect(response.statusCode).toBe(201)
  return member.parse(response.json())
}

describe('a member', () => {
  it('is let in, shown, changed and shown out', async () => {
    const { id } = await letIn({ name: 'First', email: 'first@example.com', role: 'owner' })
    const made = await letIn({ name: 'Second', role: 'viewer' })
    expect((await world.ask('GET', `${URL}/${made.id}`)).json()).toEqual(made)
    const changed = await world.ask('PATCH', `${URL}/${made.id}`, { body: { role: 'admin', email: 'two@example.com' } })
    expect(member.parse(changed.json())).toMatchObject({ role: 'admin', email: 'two@example.com', name: 'Second' })
    const page = (await world.ask('GET', `${URL}?limit=1`)).json<Page<MemberView>>()
    expect(memberPage.parse(page).items).toHaveLength(1)
    expect(page.next_cursor).not.toBeNull()
    expect((await world.ask('DELETE', `${URL}/${made.id}`)).statusCode).toBe(204)
    problemIn(await world.ask('GET', `${URL}/${made.id}`), 'NOT_FOUND')
    problemIn(await world.ask('DELETE', `${URL}/${id}`), 'CONFLICT')
    problemIn(await world.ask('POST', URL, { body: { name: 'x', email: 'FIRST@example.com' } }), 'CONFLICT')
  })

  it('gets a link to sign in with', async () => {
    const { id } = await letIn({ name: 'Linked' })
    const response = await world.ask('POST', `${URL}/${id}/sign-in-link`)
    expect(response.statusCode).toBe(201)
    expect(signInLink.parse(response.json())).toMatchObject({ member_id: id })
    problemIn(await world.ask('POST', `${URL}/mem_of_nobody/sign-in-link`), 'NOT_FOUND')
  })

  it.each([
    [{}, '/name'],
    [{ name: 'x', email: 'nowhere' }, '/email'],
    [{ name: 'x', role: 'king' }, '/role'],
    [{ name: 'x', mail: 'a@b' }, '/mail'],
  ])('is not made of %j', async (body, pointer) => {
    expect(pointersIn(await world.ask('POST', URL, { body }))).toEqual([pointer])
  })

  it('is the business of the org and of the operator, and of another org not even that it exists', async () => {
    const made = await letIn({ name: 'Ours' })
    expect((await world.ask('GET', `${URL}/${made.id}`, { as: 'operator' })).json()).toEqual(made)
    const theirs = `/api/v1/orgs/${OTHER_ORG}/members`
    const byOperator = await world.ask('POST', theirs, { as: 'operator', body: { name: 'Theirs', role: 'owner' } })
    expect(member.parse(byOperator.json())).toMatchObject({ org_id: OTHER_ORG, created_by: 'key_operator' })
    for (const path of [theirs, '/api/v1/orgs/nowhere/members']) {
      problemIn(await world.ask('GET', path), 'NOT_FOUND')
      problemIn(await world.ask('POST', path, { body: { name: 'x' } }), 'NOT_FOUND')
    }
    problemIn(await world.ask('GET', '/api/v1/orgs/nowhere/members', { as: 'operator' }), 'NOT_FOUND')
    for (const method of ['GET', 'DELETE'] as const)
      problemIn(await world.ask(method, `${URL}/${made.id}`, { as: 'stranger' }), 'NOT_FOUND')
    for (const as of ['member', 'viewer']) problemIn(await world.ask('GET', URL, { as }), 'FORBIDDEN')
  })

  it('is made owner by owners only', async () => {
    problemIn(await world.ask('POST', URL, { as: 'admin', body: { name: 'x', role: 'owner' } }), 'FORBIDDEN')
  })
})
