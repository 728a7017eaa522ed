import type { AuditVerb } from '../../domain/access/audit-words.ts'
import { invalid } from '../../api/refusals.ts'
import { OPERATOR_ORG } from '../../domain/access/access.ts'
import type { Instant } from '../../domain/instant.ts'
import {
  insertApiKey,
  loadApiKeyByHash,
  loadLiveKeysOf,
  reviveApiKey,
  revokeApiKey,
  type ApiKeyRow,
} from './keys-store.ts'
import { readClock } from '../../platform/db/clock.ts'
import type { Database, Transaction } from '../../platform/db/database.ts'
import { lockMigrations } from '../../platform/db/migrate.ts'
import { ensureOrg } from './orgs-store.ts'
import { orgLock } from '../../engine/transaction/history-store.ts'
import { appendAudits, type AuditEntry, changed, created, SYSTEM_ACTOR } from '../audit/entry.ts'
import { hashSecret, hintOf, isKeyText, KEY_TEXT_ALLOWED, newKeyText } from './key-text.ts'
import { viewKey } from './keys.ts'
import { readPrivateFile, writePrivateFile } from '../../platform/private-file.ts'
import type { Ports } from '../../engine/ports.ts'

/** Where the owner key of the deployment is kept. */
export interface OwnerKeyOptions {
  /** `<data>/owner.key`. */
  readonly file: string
  /** The schema of the database; migrations take the same lock. */
  readonly schema: string
  /** The value of `ESCAPEMENT_OWNER_KEY`; null if it is not set. */
  readonly environment: string | null
  /**
   * Whether this data directory is the only one of the database. If so, a missing file was lost and is created again.
   * If not, the file may be on another machine, and no second key is created.
   */
  readonly alone: boolean
}

/** The outcome, without the text of the key. */
export type OwnerKey =
  /** It was created just now and written to the file. */
  | { readonly kind: 'made' }
  /** It is in the file and works. */
  | { readonly kind: 'kept' }
  /** It is in the file and was revoked. After the file is removed, the next start creates a new key. */
  | { readonly kind: 'revoked' }
  /** Another node created it in its own data directory. */
  | { readonly kind: 'elsewhere' }
  /** The environment sets it, and there is no file. */
  | { readonly kind: 'environment' }

/** Ensures that there is exactly one owner key, however many nodes start together. */
export async function ensureOwnerKey(ports: Ports, options: OwnerKeyOptions): Promise<OwnerKey> {
  const { environment, schema } = options
  if (environment !== null && !isKeyText(environment))
    throw invalid([
      // The value is left out, because it is a secret and errors are printed.
      { field: 'ESCAPEMENT_OWNER_KEY', value: undefined, message: 'is not a valid key', allowed: KEY_TEXT_ALLOWED },
    ])
  const database = ports.database as Database
  return database.transaction(
    async (tx) => {
      await lockMigrations(tx, schema)
      const now = await readClock(tx)
      await ensureOrg(tx, {
        ...{ id: OPERATOR_ORG, name: OPERATOR_ORG, defaultAgentId: null, at: now },
        defaultTimezone: ports.settings().schedules.defaultTimezone,
      })
      const setup: OwnerKeySetup = { ports, tx, now, records: [] }
      const found = environment === null ? await fromFile(setup, options) : await fromEnvironment(setup, environment)
      if (setup.records.length > 0) await appendAudits(tx, OPERATOR_ORG, { entries: setup.records, at: now })
      return found
    },
    { lock: orgLock(OPERATOR_ORG) },
  )
}

interface OwnerKeySetup {
  readonly ports: Ports
  readonly tx: Transaction
  readonly now: Instant
  readonly records: AuditEntry[]
}

/** Activates the key set in the environment and revokes the one set before. */
async function fromEnvironment(setup: OwnerKeySetup, text: string): Promise<OwnerKey> {
  const { tx } = setup
  const existing = await loadApiKeyByHash(tx, hashSecret(text))
  for (const old of await loadLiveKeysOf(tx, { orgId: OPERATOR_ORG, origin: 'environment' }))
    if (old.id !== existing?.id) await revokeOwnerKey(setup, old)
  if (existing === undefined) await createOwnerKey(setup, text, 'environment')
  else if (existing.revokedAt !== null) {
    await reviveApiKey(tx, existing)
    recordChange(setup, { before: existing, after: { ...existing, revokedAt: null }, verb: 'revive' })
  }
  return { kind: 'environment' }
}

async function fromFile(setup: OwnerKeySetup, { file, alone: isOnlyDirectory }: OwnerKeyOptions): Promise<OwnerKey> {
  const { tx } = setup
  const text = await readPrivateFile(file)
  if (text !== null && isKeyText(text)) {
    const existing = await loadApiKeyByHash(tx, hashSecret(text))
    // The database is newer than the directory, or the start that wrote the file was interrupted: the key is adopted.
    if (existing === undefined) await createOwnerKey(setup, text, 'start')
    return { kind: existing === undefined || existing.revokedAt === null ? 'kept' : 'revoked' }
  }
  const others = await loadLiveKeysOf(tx, { orgId: OPERATOR_ORG, origin: 'start' })
  if (others.length > 0 && !isOnlyDirectory) return { kind: 'elsewhere' }
  for (const lost of others) await revokeOwnerKey(setup, lost)
  const newText = newKeyText()
  await createOwnerKey(setup, newText, 'start')
  await writePrivateFile(file, `${newText}\n`)
  return { kind: 'made' }
}

async function createOwnerKey(
  { ports, tx, now, records }: OwnerKeySetup,
  text: string,
  origin: ApiKeyRow['origin'],
): Promise<void> {
  const row: ApiKeyRow = {
    ...{ orgId: OPERATOR_ORG, id: ports.newId('key', now), hint: hintOf(text), role: 'owner', scopes: null, origin },
    ...{ name: origin === 'start' ? 'owner.key' : 'ESCAPEMENT_OWNER_KEY', createdBy: null, createdAt: now },
    ...{ expiresAt: null, revokedAt: null, lastUsedAt: null, guardRails: null },
  }
  await insertApiKey(tx, row, hashSecret(text))
  records.push(created(SYSTEM_ACTOR, { kind: 'key', id: row.id }, viewKey(row, now)))
}

async function revokeOwnerKey(setup: OwnerKeySetup, key: ApiKeyRow): Promise<void> {
  const { tx, now } = setup
  await revokeApiKey(tx, { orgId: key.orgId, id: key.id, at: now })
  recordChange(setup, { before: key, after: { ...key, revokedAt: now }, verb: 'revoke' })
}

function recordChange(
  { records, now }: OwnerKeySetup,
  { before, after, verb }: { readonly before: ApiKeyRow; readonly after: ApiKeyRow; readonly verb: AuditVerb<'key'> },
): void {
  const views = { before: viewKey(before, now), after: viewKey(after, now), verb }
  records.push(changed(SYSTEM_ACTOR, { kind: 'key', id: before.id }, views))
}
