import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memberInput, type MemberInput } from '../../../src/features/access/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { OPERATOR_ORG, type Role } from '../../../src/domain/access/access.ts'
import { principalId, type OrgId } from '../../../src/domain/ids.ts'
import { DAY_MS, formatInstant, HOUR_MS, later, MINUTE_MS } from '../../../src/domain/instant.ts'
import { createAuthentication } from '../../../src/features/access/authentication.ts'
import { listAudit } from '../../../src/features/audit/service.ts'
import type { Grantor } from '../../../src/features/access/caller.ts'
import {
  csrfTokenOf,
  findConsoleSession,
  isCsrfToken,
  signOut,
  viewConsoleSession,
} from '../../../src/features/access/console-sessions.ts'
import {
  updateMember,
  createMember,
  findMembers,
  getMember,
  deleteMember,
} from '../../../src/features/access/members.ts'
import { createRetention } from '../../../src/features/retention/service.ts'
import { createSignInLink, createStartLink, signIn } from '../../../src/features/access/sign-in.ts'
import { ensureOrg } from '../../../src/features/access/orgs-store.ts'
import { ORG, OTHER_ORG } from '../../platform/db/records.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
afterAll(() => world.drop())

const giver = (role: Role = 'owner', over: { readonly id?: string; readonly orgId?: OrgId } = {}): Grantor => ({
  orgId: over.orgId ?? ORG,
  principal: { id: principalId(over.id ?? 'key_1'), role, scopes: null },
})
const create = async (input: MemberInput, by: Grantor = giver()) =>
  createMember(world.ports, by, schemaReader(memberInput)(input))
const enter = async (id: string) => (await signIn(world.ports, (await linkFor(id)).token)).cookie
const linkFor = (id: string) => createSignInLink(world.ports, giver(), { member_id: id })

describe('members', () => {
  it('are made, found and changed', async () => {
    const ann = await create({ name: 'Ann', email: 'Ann@example.org', role: 'owner' })
    const bob = await create({ name: 'Bob' })
    expect(ann).toMatchObject({ org_id: ORG, role: 'owner', email: 'Ann@example.org', created_by: 'key_1' })
    expect(bob).toMatchObject({ role: 'member', email: null, last_sign_in_at: null })
    expect((await findMembers(world.ports, world.caller)).items).toHaveLength(2)
    const first = await findMembers(world.ports, world.caller, { limit: 1 })
    const rest = await findMembers(world.ports, world.caller, { cursor: first.next_cursor ?? '' })
    expect(new Set([...first.items, ...rest.items].map(({ id }) => id))).toEqual(new Set([ann.id, bob.id]))
    const changed = await updateMember(world.ports, giver(), { id: bob.id, change: { email: 'bob@example.org' } })
    expect(changed).toEqual({ ...bob, email: 'bob@example.org' })
    expect(await getMember(world.ports, world.caller, bob.id)).toEqual(changed)
    const { items } = await listAudit(world.ports, world.caller, { object_kind: 'member' })
    expect(items.map(({ action, before, after }) => [action, before, after])).toEqual([
      ['member.update', { email: null }, { email: 'bob@example.org' }],
      ['member.create', null, bob],
      ['member.create', null, ann],
    ])
  })

  it('have an address that nobody else in the org has', async () => {
    await expect(create({ name: 'X', email: 'ANN@EXAMPLE.ORG' })).rejects.toMatchObject({ code: 'CONFLICT' })
    const [bob] = (await findMembers(world.ports, world.caller)).items.filter(({ name }) => name === 'Bob')
    const change = { email: 'ann@example.org' }
    await expect(updateMember(world.ports, giver(), { id: bob?.id ?? '', change })).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    await create({ name: 'Ann', email: 'ann@example.org' }, giver('owner', { orgId: OTHER_ORG }))
  })

  it('are refused with what is wrong about them', async () => {
    const bad = { nmae: 'x', email: 'x', role: 'boss' } as unknown as MemberInput
    await expect(create(bad)).rejects.toMatchObject({
      flaws: [{ field: 'nmae' }, { field: 'email' }, { field: 'role' }],
    })
    await expect(create({} as MemberInput)).rejects.toMatchObject({ flaws: [{ field: 'name' }] })
    const nowhere = giver('owner', { orgId: 'nowhere' as OrgId })
    await expect(create({ name: 'X' }, nowhere)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('are not there for another org', async () => {
    const [ann] = (await findMembers(world.ports, world.caller)).items
    const id = ann?.id ?? ''
    const stranger = giver('owner', { orgId: OTHER_ORG })
    const missing = { code: 'NOT_FOUND' }
    await expect(getMember(world.ports, world.stranger, id)).rejects.toMatchObject(missing)
    await expect(updateMember(world.ports, stranger, { id, change: { name: 'x' } })).rejects.toMatchObject(missing)
    await expect(deleteMember(world.ports, stranger, id)).rejects.toMatchObject(missing)
    await expect(createSignInLink(world.ports, stranger, { member_id: id })).rejects.toMatchObject(missing)
  })

  it('are changed only by those who have what they have', async () => {
    const ann = (await findMembers(world.ports, world.caller)).items.find(({ name }) => name === 'Ann')
    const id = ann?.id ?? ''
    const forbidden = { code: 'FORBIDDEN' }
    await expect(create({ name: 'X', role: 'owner' }, giver('admin'))).rejects.toMatchObject(forbidden)
    const change = { role: 'viewer' } as const
    await expect(updateMember(world.ports, giver('admin'), { id, change })).rejects.toMatchObject(forbidden)
    await expect(deleteMember(world.ports, giver('admin'), id)).rejects.toMatchObject(forbidden)
    await expect(createSignInLink(world.ports, giver('admin'), { member_id: id })).rejects.toMatchObject(forbidden)
  })

  it('leave an owner behind', async () => {
    const ann = (await findMembers(world.ports, world.caller)).items.find(({ name }) => name === 'Ann')
    const id = ann?.id ?? ''
    await expect(deleteMember(world.ports, giver(), id)).rejects.toMatchObject({ code: 'CONFLICT' })
    const change = { role: 'admin' } as const
    await expect(updateMember(world.ports, giver(), { id, change })).rejects.toMatchObject({ code: 'CONFLICT' })
    const eve = await create({ name: 'Eve', role: 'owner' })
    await deleteMember(world.ports, giver(), eve.id)
    await expect(getMember(world.ports, world.caller, eve.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a sign-in link', () => {
  it('signs in once', async () => {
    const dan = await create({ name: 'Dan', role: 'viewer' })
    const { token, member_id: id, expires_at: until } = await linkFor(dan.id)
    expect([id, until]).toEqual([dan.id, formatInstant(later(world.now, 10 * MINUTE_MS))])
    const { cookie } = await signIn(world.ports, token)
    const signedIn = await findConsoleSession(world.ports, cookie)
    expect(signedIn?.principal).toMatchObject({ id: dan.id, orgId: ORG, role: 'viewer', scopes: null })
    expect(await getMember(world.ports, world.caller, dan.id)).toMatchObject({
      last_sign_in_at: formatInstant(world.now),
    })
    await expect(signIn(world.ports, token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED', status: 401 })
    const stored = await world.rows(
      `select coalesce(string_agg(s::text, ''), '') || (select string_agg(c::text, '') from console_session c) ||
        (select string_agg(a::text, '') from audit a) || (select string_agg(t::text, '') from turn t) as text from sign_in s`,
    )
    for (const secret of [token, cookie, csrfTokenOf(cookie)]) expect(String(stored[0]?.['text'])).not.toContain(secret)
    const { items } = await listAudit(world.ports, world.caller, { object_id: dan.id, limit: 2 })
    expect(items.map(({ actor, action }) => [actor, action])).toEqual([
      [dan.id, 'member.sign_in'],
      ['key_1', 'member.sign_in_link'],
    ])
  })

  it('signs in only one of many who use it at once', async () => {
    const { token } = await linkFor((await create({ name: 'Gus' })).id)
    const used = await Promise.allSettled([1, 2, 3, 4].map(() => signIn(world.ports, token)))
    expect(used.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const answer of used)
      if (answer.status === 'rejected') expect(String(answer.reason)).toMatch(/used before|history of/)
  })

  it('is over after ten minutes', async () => {
    const { token } = await linkFor((await create({ name: 'Fay' })).id)
    world.pass(10 * MINUTE_MS)
    await expect(signIn(world.ports, token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    for (const wrong of ['', 'x', 'x'.repeat(43), '\u0000'.repeat(43)])
      await expect(signIn(world.ports, wrong)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  it('is for whoever asks, else for the oldest owner', async () => {
    const ann = (await findMembers(world.ports, world.caller)).items.find(({ name }) => name === 'Ann')
    expect(await createSignInLink(world.ports, giver())).toMatchObject({ member_id: ann?.id })
    await expect(createSignInLink(world.ports, giver('member'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const hal = await create({ name: 'Hal' })
    const own = await createSignInLink(world.ports, giver('member', { id: hal.id }))
    expect(own.member_id).toBe(hal.id)
  })

  it('of a start is for an owner of the operator org, who is made once', async () => {
    await ensureOrg(world.db, {
      ...{ id: OPERATOR_ORG, name: 'default', defaultTimezone: 'UTC', defaultAgentId: null, at: world.now },
    })
    const first = await createStartLink(world.ports)
    const second = await createStartLink(world.ports)
    expect(second.member_id).toBe(first.member_id)
    expect(second.token).not.toBe(first.token)
    const { cookie } = await signIn(world.ports, first.token)
    expect(await findConsoleSession(world.ports, cookie)).toMatchObject({
      ...{ member: { name: 'Owner' }, principal: { orgId: OPERATOR_ORG, role: 'owner' } },
    })
    await signIn(world.ports, second.token)
  })
})

describe('a console session', () => {
  it('ends after twelve hours without a visit', async () => {
    const cookie = await enter((await create({ name: 'Ida' })).id)
    const node = createAuthentication(world.ports)
    world.pass(11 * HOUR_MS)
    expect(await node.consoleSession(cookie)).not.toBeNull()
    await expect
      .poll(async () => (await world.rows('select max(seen_at) as at from console_session'))[0]?.['at'])
      .toBe(world.now)
    world.pass(12 * HOUR_MS - 1)
    expect(await node.consoleSession(cookie)).not.toBeNull()
    await expect
      .poll(async () => (await world.rows('select max(seen_at) as at from console_session'))[0]?.['at'])
      .toBe(world.now)
    world.pass(12 * HOUR_MS)
    expect(await node.consoleSession(cookie)).toBeNull()
  })

  it('ends after seven days, however often it is visited', async () => {
    const cookie = await enter((await create({ name: 'Jon' })).id)
    await world.rows(`update console_session set seen_at = 'infinity'`)
    world.pass(7 * DAY_MS - 1)
    expect(await findConsoleSession(world.ports, cookie)).not.toBeNull()
    world.pass(1)
    expect(await findConsoleSession(world.ports, cookie)).toBeNull()
  })

  it('ends by signing out', async () => {
    const cookie = await enter((await create({ name: 'Kim' })).id)
    await signOut(world.ports, cookie)
    expect(await findConsoleSession(world.ports, cookie)).toBeNull()
    await signOut(world.ports, cookie)
    await signOut(world.ports, 'nonsense')
  })

  it('knows what its member may do now, and ends with them', async () => {
    const lea = await create({ name: 'Lea', role: 'viewer' })
    const cookie = await enter(lea.id)
    const node = createAuthentication(world.ports)
    expect((await node.consoleSession(cookie))?.principal.role).toBe('viewer')
    await updateMember(world.ports, giver(), { id: lea.id, change: { role: 'admin' } })
    node.onEvents([['member.changed', lea.id, {}]])
    expect((await node.consoleSession(cookie))?.principal.role).toBe('admin')
    await deleteMember(world.ports, giver(), lea.id)
    node.onEvents([['member.changed', lea.id, {}]])
    expect(await node.consoleSession(cookie)).toBeNull()
  })

  it('has a token that only its own page knows', async () => {
    const cookie = await enter((await create({ name: 'Mia' })).id)
    const signedIn = await findConsoleSession(world.ports, cookie)
    if (signedIn === null) throw new Error('nobody is signed in')
    const view = viewConsoleSession(signedIn, cookie)
    expect(view).toMatchObject({ member: { name: 'Mia' }, expires_at: formatInstant(later(world.now, 7 * DAY_MS)) })
    expect(view.permissions).toContain('schedules:write')
    expect(view.permissions).not.toContain('admin:*')
    expect(isCsrfToken(cookie, view.csrf_token)).toBe(true)
    for (const wrong of ['', 'x', csrfTokenOf('other'), cookie]) expect(isCsrfToken(cookie, wrong)).toBe(false)
  })

  it('is removed with links when it is over', async () => {
    const cookie = await enter((await create({ name: 'Ned' })).id)
    await linkFor((await create({ name: 'Oda' })).id)
    const rows = async () => [
      (await world.rows('select 1 from console_session')).length,
      (await world.rows('select 1 from sign_in')).length,
    ]
    await createRetention(world.ports).pass()
    const [sessions, links] = await rows()
    expect(sessions).toBeGreaterThan(0)
    expect(links).toBe(1)
    expect(await findConsoleSession(world.ports, cookie)).not.toBeNull()
    world.pass(8 * DAY_MS)
    const pruned = await createRetention(world.ports).pass()
    expect([pruned.consoleSessions, pruned.signIns]).toEqual([sessions, links])
    expect(await rows()).toEqual([0, 0])
  })
})
