import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { OPERATOR_ORG } from '../../../src/domain/access/access.ts'
import { verifyAudit } from '../../../src/features/audit/service.ts'
import { findPrincipal, hasPersonalKey, revokeKey } from '../../../src/features/access/keys.ts'
import { ensureOwnerKey, type OwnerKeyOptions } from '../../../src/features/access/first-key.ts'
import { DEFAULT_SCHEMA } from '../../../src/platform/db/database.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
let directory: string

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-owner-'))
  await world.rows('delete from api_key')
})
afterAll(() => world.drop())

const place = (over: Partial<OwnerKeyOptions> = {}): OwnerKeyOptions => ({
  ...{ file: path.join(directory, 'data', 'owner.key'), schema: DEFAULT_SCHEMA, environment: null, alone: true },
  ...over,
})
const ensure = (over: Partial<OwnerKeyOptions> = {}) => ensureOwnerKey(world.ports, place(over))
const textIn = (file = place().file): string => readFileSync(file, 'utf8').trim()
const owner = { orgId: OPERATOR_ORG, role: 'owner', scopes: null, revokedAt: null }

describe('the key of the owner', () => {
  it('is made at the first start, for its owner alone, and kept', async () => {
    expect(await ensure()).toEqual({ kind: 'made' })
    expect(statSync(place().file).mode & 0o777).toBe(0o600)
    expect(await findPrincipal(world.ports, textIn())).toMatchObject(owner)
    const text = textIn()
    expect(await ensure()).toEqual({ kind: 'kept' })
    expect(textIn()).toBe(text)
    expect(await world.rows('select origin, created_by from api_key')).toEqual([{ origin: 'start', created_by: null }])
    expect(await hasPersonalKey(world.ports)).toBe(false)
    rmSync(directory, { recursive: true })
  })

  it('is made once when many start together', async () => {
    const found = await Promise.all([1, 2, 3, 4].map(() => ensure()))
    expect(found.map(({ kind }) => kind).sort()).toEqual(['kept', 'kept', 'kept', 'made'])
    expect(await world.rows('select 1 from api_key')).toHaveLength(1)
    expect(await findPrincipal(world.ports, textIn())).toMatchObject(owner)
    rmSync(directory, { recursive: true })
  })

  it('is made again where its file was lost, and is elsewhere where it may be on another machine', async () => {
    await ensure()
    const lost = textIn()
    rmSync(place().file)
    expect(await ensure({ alone: false })).toEqual({ kind: 'elsewhere' })
    expect(await findPrincipal(world.ports, lost)).toMatchObject(owner)
    expect(await ensure()).toEqual({ kind: 'made' })
    expect(await findPrincipal(world.ports, lost)).toMatchObject({ revokedAt: expect.any(Number) as number })
    expect(await findPrincipal(world.ports, textIn())).toMatchObject(owner)
    rmSync(directory, { recursive: true })
  })

  it('is adopted by a new database', async () => {
    await ensure()
    await world.rows('delete from api_key')
    expect(await ensure()).toEqual({ kind: 'kept' })
    expect(await findPrincipal(world.ports, textIn())).toMatchObject(owner)
    writeFileSync(place().file, 'no key')
    expect(await ensure()).toEqual({ kind: 'made' })
    expect(textIn()).toMatch(/^esc_/)
    rmSync(directory, { recursive: true })
  })

  it('stays revoked when somebody has revoked it', async () => {
    await ensure()
    const [row] = await world.rows('select id from api_key')
    await revokeKey(world.ports, { orgId: OPERATOR_ORG, principal: null }, String(row?.['id']))
    expect(await ensure()).toEqual({ kind: 'revoked' })
    rmSync(directory, { recursive: true })
  })

  it('is the one that the environment names, as long as it does', async () => {
    const [first, second] = ['a'.repeat(24), 'b'.repeat(24)] as const
    expect(await ensure({ environment: first })).toEqual({ kind: 'environment' })
    expect(await findPrincipal(world.ports, first)).toMatchObject(owner)
    expect(() => textIn()).toThrow('ENOENT')
    await ensure({ environment: first })
    expect(await world.rows('select 1 from api_key')).toHaveLength(1)
    await ensure({ environment: second })
    expect(await findPrincipal(world.ports, first)).toMatchObject({ revokedAt: expect.any(Number) as number })
    await ensure({ environment: first })
    expect(await findPrincipal(world.ports, first)).toMatchObject(owner)
    expect(await findPrincipal(world.ports, second)).toMatchObject({ revokedAt: expect.any(Number) as number })
    for (const bad of ['', 'short', `${first} ${second}`, 'é'.repeat(30)])
      await expect(ensure({ environment: bad }), bad).rejects.toMatchObject({
        ...{ code: 'VALIDATION', flaws: [{ field: 'ESCAPEMENT_OWNER_KEY', value: undefined }] },
      })
  })

  it('is on record whenever it changes, without its text', async () => {
    expect(await verifyAudit(world.ports, OPERATOR_ORG)).toMatchObject({ ok: true })
    const rows = await world.rows(
      `select distinct actor || ' ' || action as did from audit where org_id = 'default' order by 1`,
    )
    expect(rows.map(({ did }) => did)).toEqual([
      ...['library key.revoke', 'system key.create', 'system key.revive', 'system key.revoke'],
    ])
    const [text] = await world.rows('select string_agg(a::text, $$ $$) as text from audit a')
    expect(String(text?.['text'])).not.toContain('a'.repeat(24))
  })
})
