import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  consoleSession,
  type ConsoleSessionView,
  type MadeKey,
  me,
  type MeView,
  type SignInLink,
} from '../../src/features/access/schema.ts'

import { formatInstant, later } from '../../src/domain/instant.ts'
import { createAuthentication } from '../../src/features/access/authentication.ts'
import { csrfTokenOf } from '../../src/features/access/console-sessions.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  const authentication = createAuthentication(world.services.ports)
  world.change({
    consoleSession: async (cookie) => {
      const found = await authentication.consoleSession(cookie)
      return found === null ? null : { principal: found.principal, csrfToken: csrfTokenOf(cookie) }
    },
    forgetSession: authentication.forget,
  })
  const owner = await world.ask('POST', '/api/v1/orgs/acme/members', { body: { name: 'Owner', role: 'owner' } })
  expect(owner.statusCode).toBe(201)
})
afterAll(() => world.close())

const link = async (): Promise<SignInLink> => (await world.ask('POST', '/api/v1/sign-in-links')).json<SignInLink>()
const signIn = (token: string) => world.ask('POST', '/api/v1/sign-in', { as: null, body: { token } })
const cookieIn = (header: unknown): string => /escapement_session=([^;]+)/.exec(String(header))?.[1] ?? ''

describe('a link', () => {
  it('signs a browser in once: it gets a cookie that no script sees, and a token against other pages', async () => {
    const { token, member_id: id } = await link()
    const response = await signIn(token)
    expect(response.statusCode).toBe(200)
    const session: ConsoleSessionView = consoleSession.parse(response.json())
    expect(session.member?.id).toBe(id)
    const header = String(response.headers['set-cookie'])
    expect(header).toMatch(/^escapement_session=[\w-]{43}; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/)
    expect(response.body).not.toContain(cookieIn(header))
    problemIn(await signIn(token), 'UNAUTHENTICATED')

    const headers = { cookie: `escapement_session=${cookieIn(header)}` }
    const about = await world.ask('GET', '/api/v1/me', { as: null, headers })
    expect(me.parse(about.json())).toMatchObject({
      ...{ id, kind: 'member', role: 'owner', operator: false, csrf_token: session.csrf_token },
      ...{ org: { id: 'acme' }, member: { name: 'Owner' } },
    })
    const body = { name: 'by hand', every_seconds: 60 }
    problemIn(await world.ask('POST', '/api/v1/schedules', { as: null, headers, body }), 'CSRF')
    const safe = { ...headers, 'x-csrf-token': session.csrf_token }
    expect((await world.ask('POST', '/api/v1/schedules', { as: null, headers: safe, body })).statusCode).toBe(201)

    problemIn(await world.ask('POST', '/api/v1/sign-out', { as: null, headers }), 'CSRF')
    const out = await world.ask('POST', '/api/v1/sign-out', { as: null, headers: safe })
    expect(out.statusCode).toBe(204)
    expect(String(out.headers['set-cookie'])).toMatch(/^escapement_session=; .*Expires=Thu, 01 Jan 1970/)
    problemIn(await world.ask('GET', '/api/v1/me', { as: null, headers }), 'UNAUTHENTICATED')
  })

  it('goes over TLS only where the console is reached by TLS', async () => {
    world.set({ publicUrl: 'https://console.example.com' })
    const response = await signIn((await link()).token)
    expect(String(response.headers['set-cookie'])).toContain('; Secure')
    world.set({ publicUrl: null })
  })

  it('is over after ten minutes, and a made-up one is none', async () => {
    const { token } = await link()
    world.services.pass(600_001)
    problemIn(await signIn(token), 'UNAUTHENTICATED')
    problemIn(await signIn('x'.repeat(43)), 'UNAUTHENTICATED')
    problemIn(await signIn(''), 'VALIDATION')
    problemIn(await world.ask('POST', '/api/v1/sign-in', { as: null, body: { tokn: 'x' } }), 'VALIDATION')
  })

  it('is made by admins only', async () => {
    for (const as of ['member', 'viewer'])
      problemIn(await world.ask('POST', '/api/v1/sign-in-links', { as }), 'FORBIDDEN')
    problemIn(await world.ask('POST', '/api/v1/sign-in-links', { as: null }), 'UNAUTHENTICATED')
  })
})

describe('who asks', () => {
  it('is told who they are and what they may do', async () => {
    const about = async (as: string): Promise<MeView> => me.parse((await world.ask('GET', '/api/v1/me', { as })).json())
    expect(await about('viewer')).toMatchObject({
      ...{ id: 'key_viewer', kind: 'key', role: 'viewer', operator: false, member: null, csrf_token: null },
    })
    expect((await about('viewer')).permissions).not.toContain('schedules:write')
    expect(await about('operator')).toMatchObject({ org: { id: 'default' }, operator: true })
    problemIn(await world.ask('GET', '/api/v1/me', { as: null }), 'UNAUTHENTICATED')
  })

  it('may sign out with a key, which changes nothing', async () => {
    expect((await world.ask('POST', '/api/v1/sign-out')).statusCode).toBe(204)
    expect((await world.ask('GET', '/api/v1/me')).statusCode).toBe(200)
  })
})

describe('a key', () => {
  const enter = (key: string) => world.ask('POST', '/api/v1/sign-in', { as: null, body: { key } })
  const make = async (body: Readonly<Record<string, unknown>>): Promise<MadeKey> =>
    (await world.ask('POST', '/api/v1/keys', { body })).json<MadeKey>()

  it('signs a browser in as what the key may, and not a moment longer than the key', async () => {
    const { id, key } = await make({ name: 'Looks', role: 'viewer' })
    const response = await enter(key ?? '')
    const session = consoleSession.parse(response.json())
    expect(session.member).toBeNull()
    const cookie = cookieIn(response.headers['set-cookie'])
    const headers = { cookie: `escapement_session=${cookie}`, 'x-csrf-token': session.csrf_token }
    const about = await world.ask('GET', '/api/v1/me', { as: null, headers })
    expect(me.parse(about.json())).toMatchObject({ id, kind: 'key', role: 'viewer', member: null })
    expect(about.json<MeView>().csrf_token).toBe(session.csrf_token)
    const body = { name: 'by a viewer', every_seconds: 60 }
    problemIn(await world.ask('POST', '/api/v1/schedules', { as: null, headers, body }), 'FORBIDDEN')
    expect((await world.ask('DELETE', `/api/v1/keys/${id}`)).statusCode).toBe(200)
    world.services.pass(1_001)
    problemIn(await world.ask('GET', '/api/v1/me', { as: null, headers }), 'UNAUTHENTICATED')
    problemIn(await enter(key ?? ''), 'UNAUTHENTICATED')
  })

  it('that ends soon ends the session with it, and keeps its scopes', async () => {
    const until = formatInstant(later(world.services.now, 60_000))
    const { key } = await make({ name: 'Soon over', role: 'member', scopes: ['runs:read'], expires_at: until })
    const session = consoleSession.parse((await enter(key ?? '')).json())
    expect([session.expires_at, session.permissions]).toEqual([until, ['runs:read']])
    world.services.pass(60_001)
    problemIn(await enter(key ?? ''), 'UNAUTHENTICATED')
  })

  it('is not stored, and a wrong one, none or two of them are refused', async () => {
    problemIn(await enter('esc_nobody-has-ever-had-this-key-of-ours'), 'UNAUTHENTICATED')
    for (const body of [{}, { key: 'x'.repeat(43), token: 'x'.repeat(43) }])
      expect(pointersIn(await world.ask('POST', '/api/v1/sign-in', { as: null, body }))).toEqual(['/token'])
  })
})
