import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { OPERATOR_ORG } from '../../src/domain/access/access.ts'
import { later } from '../../src/domain/instant.ts'
import { createSecret, findSecrets, rotateKey } from '../../src/features/secrets/service.ts'
import { exposeSecrets } from '../../src/features/secrets/use.ts'
import {
  getSigningSecret,
  rotateSecret,
  sealSigningSecrets,
  loadSigningTexts,
} from '../../src/features/targets/signing-secret.ts'
import { openVault } from '../../src/features/secrets/vault.ts'
import type { Vault } from '../../src/features/secrets/vault-port.ts'
import { insertNode } from '../../src/features/nodes/store.ts'
import { ensureOrg } from '../../src/features/access/orgs-store.ts'
import { createServiceWorld, type ServiceWorld } from '../features/database/world.ts'
import { ORG, OTHER_ORG } from '../platform/db/records.ts'

const OLD = 'ab'.repeat(32)
const NEW = Buffer.alloc(32, 7).toString('base64')
const PLACE = { orgId: ORG, kind: 'secret', name: 'KEY' } as const
const VALUE = 'hunter2-hunter2'

let world: ServiceWorld
let directory: string

beforeAll(async () => {
  world = await createServiceWorld()
  const org = { id: OPERATOR_ORG, name: 'operator', defaultTimezone: 'UTC', defaultAgentId: null, at: world.now }
  await ensureOrg(world.db, org)
  directory = mkdtempSync(path.join(tmpdir(), 'escapement-vault-'))
})
afterAll(async () => {
  await world.drop()
  rmSync(directory, { recursive: true, force: true })
})
beforeEach(() =>
  world.db.query('delete from secret; delete from sealing_key; delete from signing_secret; delete from node'),
)

/** A vault as a node opens it: with a key of the environment, or with a file. */
const open = (source: { environment?: string; file?: string }, alone = false): Promise<Vault> =>
  openVault({
    ...{ database: world.db, now: () => world.now, isEmbedded: alone, nodeId: () => 'nod_self' },
    source: { environment: source.environment ?? null, file: source.file ?? null },
  })
const portsWith = (vault: Vault): ServiceWorld['ports'] => ({ ...world.ports, vault })
const addNode = (id: string, keyIds: readonly string[] = []): Promise<void> =>
  insertNode(world.db, {
    ...{ id, startedAt: world.now, leaseUntil: later(world.now, 60_000), draining: false, executors: [], lanes: {} },
    ...{ program: 'escapement', lost: false, keyIds },
  })
const SECRET = { name: 'KEY', value: VALUE, hosts: ['api.example.com'] }
const exposed = (vault: Vault): Promise<unknown> =>
  exposeSecrets(portsWith(vault), ORG, { names: ['KEY'], url: 'https://api.example.com/v1' })

describe('a sealed text', () => {
  it('is opened where it belongs and nowhere else, and not when it was changed', async () => {
    const vault = await open({ environment: OLD })
    const sealed = await vault.seal(VALUE, PLACE)
    expect(sealed).toMatch(/^v1\.[0-9a-f]{16}\.[\w-]+$/)
    expect(await vault.open(sealed, PLACE)).toBe(VALUE)
    expect(await vault.seal(VALUE, PLACE)).not.toBe(sealed)
    const [head = '', id = '', body = ''] = sealed.split('.')
    const other = body.startsWith('A') ? 'B' : 'A'
    for (const [text, place] of [
      [sealed, { ...PLACE, name: 'OTHER' }],
      [sealed, { ...PLACE, orgId: OTHER_ORG }],
      [sealed, { ...PLACE, kind: 'channel.credentials' }],
      [`${head}.${id}.${other}${body.slice(1)}`, PLACE],
      [`${head}.${id}.AAAA`, PLACE],
      ['not sealed at all', PLACE],
    ] as const)
      await expect(vault.open(text, place)).rejects.toMatchObject({
        code: 'SECRET_KEY',
        message: expect.stringContaining('set it again') as string,
      })
  })

  it('of another org cannot be copied into a row', async () => {
    const vault = await open({ environment: OLD })
    await createSecret(portsWith(vault), world.caller, SECRET)
    await createSecret(portsWith(vault), world.stranger, { ...SECRET, value: 'of-somebody-else' })
    await world.rows(`update secret s set sealed_value = o.sealed_value from secret o
      where s.org_id = '${ORG}' and o.org_id = '${OTHER_ORG}'`)
    expect(await exposed(vault)).toMatchObject({ ok: false, message: expect.stringContaining('changed') as string })
  })
})

describe('the key', () => {
  it('may be hexadecimal or Base64, and anything else is refused without being shown', async () => {
    const bytes = Buffer.alloc(32, 0xff)
    const ids = await Promise.all(
      [
        bytes.toString('hex'),
        bytes.toString('base64'),
        bytes.toString('base64url'),
        ` ${bytes.toString('hex')} , ${OLD}`,
      ].map(async (environment) => (await open({ environment })).keyIds()[0]),
    )
    expect(new Set(ids).size).toBe(1)
    for (const wrong of ['password1234', 'ab'.repeat(31), `${OLD},password1234`, ',']) {
      const refusal = await open({ environment: wrong }).catch((error: unknown) => error as Error)
      expect(refusal).toMatchObject({ code: 'SECRET_KEY' })
      expect((refusal as Error).message).not.toContain('password1234')
    }
  })

  it('is made once, in a file that only its owner can read', async () => {
    const file = path.join(directory, 'made', 'secret.key')
    const vault = await open({ file }, true)
    expect(vault.keyIds()).toEqual([])
    const sealed = await vault.seal(VALUE, PLACE)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const text = readFileSync(file, 'utf8')
    const again = await open({ file }, true)
    expect(await again.open(sealed, PLACE)).toBe(VALUE)
    await again.seal(VALUE, PLACE)
    expect(readFileSync(file, 'utf8')).toBe(text)
    expect(JSON.stringify(await world.rows('select * from sealing_key'))).not.toContain(text.trim())
    chmodSync(file, 0o644)
    await expect(open({ file }, true)).rejects.toThrow(`chmod 600 ${file}`)
    writeFileSync(file, '# nothing\n', { mode: 0o600 })
    chmodSync(file, 0o600)
    await expect(open({ file }, true)).rejects.toThrow('contains no key')
  })

  it('of another node is refused at the start, saying what to do', async () => {
    const first = await open({ environment: OLD })
    const [id = ''] = first.keyIds()
    await expect(open({ environment: NEW })).resolves.toBeDefined()
    const late = await open({ environment: NEW })
    const sealed = await first.seal(VALUE, PLACE)
    await expect(open({ environment: NEW })).rejects.toThrow(`encrypted with key ${id}, and this node has`)
    await expect(open({})).rejects.toThrow('this node has no key: give it that key as ESCAPEMENT_SECRET_KEY')
    await expect(open({ environment: `${NEW},${OLD}` })).resolves.toBeDefined()
    // Whoever was started before anything was sealed is told when it matters.
    await expect(late.open(sealed, PLACE)).rejects.toMatchObject({ code: 'SECRET_KEY', details: { key_id: id } })
    await expect(late.seal(VALUE, PLACE)).rejects.toMatchObject({ code: 'SECRET_KEY' })
  })

  it('is missing where there is no place for one', async () => {
    const vault = await open({})
    await expect(createSecret(portsWith(vault), world.caller, SECRET)).rejects.toThrow('openssl rand -hex 32')
    expect((await findSecrets(world.ports, world.caller)).items).toEqual([])
  })
})

describe('rotation', () => {
  it('seals everything anew in batches, and the old key is not needed any more', async () => {
    const before = portsWith(await open({ environment: OLD }))
    for (let n = 0; n < 105; n += 1)
      await world.rows(
        `insert into secret select '${ORG}', 'N${n}', '{a.test}', '${await before.vault.seal(`value-${n}-value`, {
          ...PLACE,
          name: `N${n}`,
        })}', 1, null, now(), now(), now()`,
      )
    const signing = await getSigningSecret(before, world.caller)
    const vault = await open({ environment: `${NEW},${OLD}` })
    const done = await rotateKey(portsWith(vault), { ...world.caller, orgId: OPERATOR_ORG }, {})
    expect(done).toMatchObject({ sealed_anew: 106, failed: [], previous_key_id: before.vault.keyIds()[0] })
    const alone = portsWith(await open({ environment: NEW }))
    expect(await loadSigningTexts(alone, { orgId: ORG, now: world.now })).toEqual([signing.secret])
    const opened = await exposeSecrets(alone, ORG, { names: ['N104', 'N7'], url: 'https://a.test/' })
    expect(opened).toEqual({ ok: true, values: { N104: 'value-104-value', N7: 'value-7-value' } })
    await expect(open({ environment: OLD })).rejects.toMatchObject({ code: 'SECRET_KEY' })
    expect(await rotateKey(alone, world.caller, {})).toMatchObject({ sealed_anew: 0, previous_key_id: null })
    const [audit] = await world.rows(`select after from audit where action = 'sealing_key.rotate' order by no limit 1`)
    expect(audit?.['after']).toMatchObject({ sealed_anew: 106, failed: 0 })
  })

  it('leaves what cannot be opened as it is, and says so', async () => {
    const before = portsWith(await open({ environment: OLD }))
    await createSecret(before, world.caller, SECRET)
    await createSecret(before, world.caller, { ...SECRET, name: 'LOST' })
    await world.rows(`update secret set sealed_value = 'v1.0123456789abcdef.AAAA' where name = 'LOST'`)
    const vault = await open({ environment: `${NEW},${OLD}` })
    const done = await rotateKey(portsWith(vault), world.caller, {})
    expect(done).toMatchObject({ sealed_anew: 1, failed: [{ org_id: ORG, kind: 'secret', name: 'LOST' }] })
    expect(await exposed(vault)).toEqual({ ok: true, values: { KEY: VALUE } })
  })

  it('waits until every node that is alive has the new key, and seals with the old one until then', async () => {
    const before = portsWith(await open({ environment: OLD }))
    await createSecret(before, world.caller, SECRET)
    const vault = await open({ environment: `${NEW},${OLD}` })
    await addNode('nod_self', vault.keyIds())
    await addNode('nod_other', before.vault.keyIds())
    await expect(rotateKey(portsWith(vault), world.caller, {})).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { nodes: ['nod_other'] },
    })
    expect(await before.vault.open(await vault.seal('still readable', PLACE), PLACE)).toBe('still readable')
    await world.rows(`delete from node where id = 'nod_other'`)
    expect(await rotateKey(portsWith(vault), world.caller, {})).toMatchObject({ sealed_anew: 1 })
  })

  it('makes a new key in the file of an embedded database, and only there', async () => {
    const file = path.join(directory, 'rotated', 'secret.key')
    const vault = await open({ file }, true)
    const other = await open({ file }, true)
    await createSecret(portsWith(vault), world.caller, SECRET)
    const done = await rotateKey(portsWith(vault), world.caller, { new_key: true })
    expect(done.previous_key_id).not.toBe(done.key_id)
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    // A process of the same directory finds the new key when it comes across it.
    expect(await exposed(other)).toEqual({ ok: true, values: { KEY: VALUE } })
    await expect(
      rotateKey(portsWith(await open({ file: path.join(directory, 'rotated', 'secret.key') })), world.caller, {
        new_key: true,
      }),
    ).rejects.toThrow('first line of secret.key')
    await world.db.query('delete from secret; delete from sealing_key')
    const fromEnvironment = portsWith(await open({ environment: OLD }))
    await expect(rotateKey(fromEnvironment, world.caller, { new_key: true })).rejects.toThrow('new,old')
    // What was refused has decided on no key.
    expect(await world.rows('select id from sealing_key')).toEqual([])
  })
})

describe('signing secrets', () => {
  const kept = (): Promise<readonly unknown[]> =>
    world.rows(
      'select secret, sealed is not null as is_sealed, previous, previous_sealed is not null as was from signing_secret',
    )

  it('are sealed, and sign as before through changes', async () => {
    const ports = portsWith(await open({ environment: OLD }))
    const first = await getSigningSecret(ports, world.caller)
    expect(await kept()).toEqual([{ secret: null, is_sealed: true, previous: null, was: false }])
    const second = await rotateSecret(ports, world.caller)
    expect(await kept()).toEqual([{ secret: null, is_sealed: true, previous: null, was: true }])
    expect(await loadSigningTexts(ports, { orgId: ORG, now: world.now })).toEqual([second.secret, first.secret])
  })

  it('of the release before stay as they are while one of its nodes is alive, and are sealed then', async () => {
    const ports = portsWith(await open({ environment: OLD }))
    await addNode('nod_before')
    await world.rows(`insert into signing_secret (org_id, secret, created_at, previous, previous_until)
      values ('${ORG}', 'whsec_now', now(), 'whsec_was', now() + interval '1 day')`)
    expect(await sealSigningSecrets(ports)).toBe(0)
    const other = await getSigningSecret(ports, world.stranger)
    expect(await kept()).toMatchObject([{ secret: 'whsec_now' }, { secret: other.secret, is_sealed: false }])
    await world.rows('delete from node')
    expect(await sealSigningSecrets(ports)).toBe(3)
    expect(await kept()).toMatchObject([{ secret: null, previous: null, was: true }, { secret: null }])
    expect((await getSigningSecret(ports, world.caller)).secret).toBe('whsec_now')
    expect((await getSigningSecret(ports, world.stranger)).secret).toBe(other.secret)
  })

  it('stay clear where nobody has decided on a key that other machines have too', async () => {
    const ports = portsWith(await open({ file: path.join(directory, 'unused', 'secret.key') }))
    await getSigningSecret(ports, world.caller)
    expect(await kept()).toMatchObject([{ is_sealed: false }])
    expect(await world.rows('select * from sealing_key')).toEqual([])
  })
})
