import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyInput, type KeyInput } from '../../../src/features/access/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'
import { decideAccess, type Role } from '../../../src/domain/access/access.ts'
import { principalId } from '../../../src/domain/ids.ts'
import { DAY_MS, formatInstant, later } from '../../../src/domain/instant.ts'
import { createAuthentication } from '../../../src/features/access/authentication.ts'
import type { Grantor } from '../../../src/features/access/caller.ts'
import {
  createKey,
  findKeys,
  findPrincipal,
  getKey,
  hasPersonalKey,
  revokeKey,
} from '../../../src/features/access/keys.ts'
import { ORG, OTHER_ORG } from '../../platform/db/records.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
afterAll(() => world.drop())

const giver = (role: Role, scopes: readonly string[] | null = null): Grantor => ({
  orgId: ORG,
  principal: { id: principalId('key_1'), role, scopes },
})
const create = async (input: KeyInput, by: Grantor = giver('owner')) =>
  createKey(world.ports, by, schemaReader(keyInput)(input))
const textOf = (made: { readonly key: string | null }): string => made.key ?? ''

describe('a new key', () => {
  it('is shown once, and only its hash is stored', async () => {
    expect(await hasPersonalKey(world.ports)).toBe(false)
    const made = await create({ name: 'ci' })
    expect(made).toMatchObject({ name: 'ci', role: 'member', scopes: null, origin: 'person', state: 'active' })
    expect(made.key).toMatch(/^esc_[\w-]{43}$/)
    expect(await hasPersonalKey(world.ports)).toBe(true)
    const { key, ...view } = made
    expect(await getKey(world.ports, world.caller, made.id)).toEqual(view)
    const [row] = await world.rows(`select row_to_json(k)::text as row, encode(key_hash, 'hex') as hash from api_key k`)
    expect(row?.['hash']).toBe(createHash('sha256').update(textOf({ key })).digest('hex'))
    const everything = await world.rows(
      `select (select string_agg(k::text, '') from api_key k) || (select string_agg(a::text, '') from audit a) ||
         (select string_agg(t::text, '') from turn t) as text`,
    )
    const secret = textOf(made).slice(7)
    expect(secret.length).toBeGreaterThan(30)
    expect(String(everything[0]?.['text'])).not.toContain(secret)
  })

  it('says who speaks with it', async () => {
    const made = await create({ name: 'reader', role: 'admin', scopes: ['Runs:Read', 'targets:*'] } as never)
    expect(await findPrincipal(world.ports, textOf(made))).toMatchObject({
      ...{ id: made.id, orgId: ORG, role: 'admin', scopes: ['runs:read', 'targets:*'] },
      ...{ expiresAt: null, revokedAt: null },
    })
    for (const wrong of ['', 'esc_', `${textOf(made)}x`, 'é'.repeat(43), made.hint, 'x'.repeat(10_000)])
      expect(await findPrincipal(world.ports, wrong), wrong).toBeNull()
  })

  it('is refused with what is wrong about it', async () => {
    const bad = { nmae: 'x', role: 'boss', scopes: ['runs:raed'], expires_at: 'soon' } as unknown as KeyInput
    await expect(create(bad)).rejects.toMatchObject({
      code: 'VALIDATION',
      flaws: [{ field: 'nmae' }, { field: 'role' }, { field: 'scopes.0' }, { field: 'expires_at' }],
    })
    await expect(create({} as KeyInput)).rejects.toMatchObject({ flaws: [{ field: 'name' }] })
    const past = { name: 'x', expires_at: formatInstant(world.now) }
    await expect(create(past)).rejects.toMatchObject({ flaws: [{ field: 'expires_at', message: 'is in the past' }] })
  })

  it('cannot do more than whoever makes it', async () => {
    const wanted: KeyInput = { name: 'x', role: 'owner' }
    await expect(create(wanted, giver('admin'))).rejects.toMatchObject({ code: 'FORBIDDEN', status: 403 })
    await expect(create({ name: 'x', role: 'admin' }, giver('member'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const scoped = giver('admin', ['keys:write', 'runs:read'])
    await expect(create({ name: 'x', role: 'viewer' }, scoped)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await create({ name: 'x', role: 'viewer', scopes: ['runs:read'] }, scoped)).toMatchObject({ role: 'viewer' })
    expect(await create({ name: 'x', role: 'owner' }, { orgId: ORG, principal: null })).toMatchObject({ role: 'owner' })
  })

  it('is not made twice for a repeated request, and its text is not shown again', async () => {
    const by = { ...giver('owner'), once: { route: 'keys.create', key: 'same', body: { name: 'once' } } }
    const first = await create({ name: 'once' }, by)
    const again = await create({ name: 'once' }, by)
    expect(again).toEqual({ ...first, key: null })
    expect(await world.rows(`select 1 from api_key where name = 'once'`)).toHaveLength(1)
    const [stored] = await world.rows(`select answer::text from idempotency`)
    expect(String(stored?.['answer'])).not.toContain(textOf(first).slice(7))
  })
})

describe('a key that has ended', () => {
  const request = () => ({ permission: 'runs:read', orgId: ORG, now: world.now }) as const

  it('is told why it does not work: revoked', async () => {
    const made = await create({ name: 'gone' })
    const revoked = await revokeKey(world.ports, giver('owner'), made.id)
    expect(revoked).toMatchObject({ state: 'revoked', revoked_at: formatInstant(world.now) })
    const principal = await findPrincipal(world.ports, textOf(made))
    if (principal === null) throw new Error('the key is gone')
    expect(decideAccess(principal, request())).toMatchObject({ status: 401, why: { reason: 'key_revoked' } })
    world.pass(1_000)
    expect(await revokeKey(world.ports, giver('owner'), made.id)).toEqual(revoked)
    const [count] = await world.rows(`select count(*)::int as n from audit where action = 'key.revoke'`)
    expect(count?.['n']).toBe(1)
  })

  it('is told why it does not work: expired', async () => {
    const made = await create({ name: 'short', expires_at: formatInstant(later(world.now, 1_000)) })
    world.pass(1_000)
    const principal = await findPrincipal(world.ports, textOf(made))
    if (principal === null) throw new Error('the key is gone')
    expect(decideAccess(principal, request())).toMatchObject({ status: 401, why: { reason: 'key_expired' } })
    expect(await getKey(world.ports, world.caller, made.id)).toMatchObject({ state: 'expired' })
  })

  it('is found by its state', async () => {
    const states = async (state: 'active' | 'expired' | 'revoked') =>
      (await findKeys(world.ports, world.caller, { state })).items.map(({ name }) => name)
    expect(await states('revoked')).toEqual(['gone'])
    expect(await states('expired')).toEqual(['short'])
    expect(await states('active')).toContain('ci')
    const bad = { state: 'odd' } as unknown as Parameters<typeof findKeys>[2]
    await expect(findKeys(world.ports, world.caller, bad)).rejects.toMatchObject({ flaws: [{ field: 'state' }] })
  })
})

describe('keys of an org', () => {
  it('come in pages, newest first', async () => {
    const all = (await findKeys(world.ports, world.caller, { limit: 200 })).items.map(({ id }) => id)
    const paged: string[] = []
    for (let cursor: string | undefined; ;) {
      const page = await findKeys(world.ports, world.caller, { limit: 2, ...(cursor === undefined ? {} : { cursor }) })
      paged.push(...page.items.map(({ id }) => id))
      if (page.next_cursor === null) break
      cursor = page.next_cursor
    }
    expect(paged).toEqual(all)
  })

  it('are not there for anybody else', async () => {
    const made = await create({ name: 'mine' })
    await expect(getKey(world.ports, world.stranger, made.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(revokeKey(world.ports, { orgId: OTHER_ORG, principal: null }, made.id)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    })
    expect((await findKeys(world.ports, { orgId: OTHER_ORG, principal: null })).items).toEqual([])
    expect(await getKey(world.ports, world.caller, made.id)).toMatchObject({ state: 'active' })
  })
})

describe('authentication', () => {
  it('asks once a second, and anew when a key has changed', async () => {
    const made = await create({ name: 'hot' })
    let asked = 0
    const counting = {
      query: (text: string, params?: Parameters<typeof world.db.query>[1]) => {
        if (text.includes('from api_key')) asked += 1
        return world.db.query(text, params)
      },
    }
    const node = createAuthentication({ database: counting, clock: world.ports.clock })
    await Promise.all([1, 2, 3].map(async () => node.authenticate(textOf(made))))
    expect(await node.authenticate(textOf(made))).toMatchObject({ id: made.id, revokedAt: null })
    expect(asked).toBe(1)
    await revokeKey(world.ports, giver('owner'), made.id)
    node.onEvents([['run.changed', 'run_1', {}]])
    expect(await node.authenticate(textOf(made))).toMatchObject({ revokedAt: null })
    node.onEvents([['key.changed', made.id, { change: 'revoked' }]])
    expect(await node.authenticate(textOf(made))).toMatchObject({ revokedAt: world.now })
    expect(asked).toBe(2)
  })

  it('finds out within a second by itself', async () => {
    const made = await create({ name: 'elsewhere' })
    const node = createAuthentication(world.ports)
    await node.authenticate(textOf(made))
    await revokeKey(world.ports, giver('owner'), made.id)
    world.pass(999)
    expect(await node.authenticate(textOf(made))).toMatchObject({ revokedAt: null })
    world.pass(1)
    expect(await node.authenticate(textOf(made))).toMatchObject({ revokedAt: expect.any(Number) as number })
  })

  it('does not remember a failure, nor what is not there', async () => {
    const made = await create({ name: 'flaky' })
    let away = true
    const flaky = {
      query: (text: string, params?: Parameters<typeof world.db.query>[1]) =>
        away ? Promise.reject(new Error('away')) : world.db.query(text, params),
    }
    const node = createAuthentication({ database: flaky, clock: world.ports.clock })
    await expect(node.authenticate(textOf(made))).rejects.toThrow('away')
    away = false
    expect(await node.authenticate(textOf(made))).toMatchObject({ id: made.id })
    expect(await node.authenticate(`esc_${'x'.repeat(43)}`)).toBeNull()
  })

  it('notes the use of a key at most once a minute', async () => {
    const made = await create({ name: 'used' })
    const usedAt = async () => (await getKey(world.ports, world.caller, made.id)).last_used_at
    const node = createAuthentication(world.ports)
    const use = async () => {
      await node.authenticate(textOf(made))
      // The note is written beside the request; the next statement of the pool comes after it.
      await expect.poll(usedAt).not.toBeNull()
    }
    await use()
    const first = await usedAt()
    expect(first).toBe(formatInstant(world.now))
    world.pass(58_999)
    await use()
    expect(await usedAt()).toBe(first)
    world.pass(1_001)
    await use()
    await expect.poll(usedAt).toBe(formatInstant(world.now))
    world.pass(DAY_MS)
    await revokeKey(world.ports, giver('owner'), made.id)
    await node.authenticate(textOf(made))
    expect(await usedAt()).not.toBe(formatInstant(world.now))
  })
})
