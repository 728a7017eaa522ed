import type { AuditVerb } from '../domain/access/audit-words.ts'
import { invalid } from '../api/refusals.ts'
import { OPERATOR_ORG } from '../domain/access/access.ts'
import type { Instant } from '../domain/instant.ts'
import {
  insertApiKey,
  loadApiKeyByHash,
  loadLiveKeysOf,
  reviveApiKey,
  revokeApiKey,
  type ApiKeyRow,
} from '../features/access/keys-store.ts'
import { readClock } from '../platform/db/clock.ts'
import type { Database, Transaction } from '../store/database.ts'
import { lockMigrations } from '../platform/db/migrate.ts'
import { ensureOrg } from '../features/access/orgs-store.ts'
import { orgLock } from '../engine/transaction/history-store.ts'
import { appendAudits } from './audit-chain.ts'
import { changed, created, SYSTEM_ACTOR, type AuditEntry } from '../features/audit/entry.ts'
import { hashSecret, hintOf, isKeyText, KEY_TEXT_ALLOWED, newKeyText } from '../features/access/key-text.ts'
import { viewKey } from '../features/access/keys.ts'
import { readPrivateFile, writePrivateFile } from '../platform/private-file.ts'
import type { Ports } from './ports.ts'

/** Where the key with which everything begins is, and what was done about it. */
export interface OwnerKeyPlace {
  /** `<data>/owner.key`. */
  readonly file: string
  /** The schema the database was opened with; its lock is the one that migrations take. */
  readonly schema: string
  /** What `ESCAPEMENT_OWNER_KEY` says; null when it says nothing. */
  readonly environment: string | null
  /**
   * Whether the directory of the file is the only one of this database, so that a file that is missing was lost and is
   * made again. Otherwise it may be on another machine, and a new key for every new machine would be one too many.
   */
  readonly alone: boolean
}

/** What became of it; the text itself is not in it. */
export type OwnerKey =
  /** It was made just now, and is in the file. */
  | { readonly kind: 'made' }
  /** It is in the file, and works. */
  | { readonly kind: 'kept' }
  /** It is in the file and was revoked: remove the file, and a new one is made at the next start. */
  | { readonly kind: 'revoked' }
  /** Another node has made it, in its own directory. */
  | { readonly kind: 'elsewhere' }
  /** The environment names it, and there is no file. */
  | { readonly kind: 'environment' }

/** Sees to it that there is an owner's key, made once however many nodes start together. */
export async function ensureOwnerKey(ports: Ports, place: OwnerKeyPlace): Promise<OwnerKey> {
  const { environment, schema } = place
  if (environment !== null && !isKeyText(environment))
    throw invalid([
      // Not the value: it is a secret, and errors are printed.
      { field: 'ESCAPEMENT_OWNER_KEY', value: undefined, message: 'is no key', allowed: KEY_TEXT_ALLOWED },
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
      const start: Start = { ports, tx, now, records: [] }
      const found = environment === null ? await fromFile(start, place) : await fromEnvironment(start, environment)
      if (start.records.length > 0) await appendAudits(tx, OPERATOR_ORG, { entries: start.records, at: now })
      return found
    },
    { lock: orgLock(OPERATOR_ORG) },
  )
}

interface Start {
  readonly ports: Ports
  readonly tx: Transaction
  readonly now: Instant
  readonly records: AuditEntry[]
}

/** The key that the environment names works; the one it named before does not any more. */
async function fromEnvironment(start: Start, text: string): Promise<OwnerKey> {
  const { tx } = start
  const known = await loadApiKeyByHash(tx, hashSecret(text))
  for (const old of await loadLiveKeysOf(tx, { orgId: OPERATOR_ORG, origin: 'environment' }))
    if (old.id !== known?.id) await end(start, old)
  if (known === undefined) await make(start, text, 'environment')
  else if (known.revokedAt !== null) {
    await reviveApiKey(tx, known)
    record(start, { before: known, after: { ...known, revokedAt: null }, verb: 'revive' })
  }
  return { kind: 'environment' }
}

async function fromFile(start: Start, { file, alone }: OwnerKeyPlace): Promise<OwnerKey> {
  const { tx } = start
  const text = await readPrivateFile(file)
  if (text !== null && isKeyText(text)) {
    const known = await loadApiKeyByHash(tx, hashSecret(text))
    // The directory has outlived its database, or the start that made the file was cut off: the key is adopted.
    if (known === undefined) await make(start, text, 'start')
    return { kind: known === undefined || known.revokedAt === null ? 'kept' : 'revoked' }
  }
  const others = await loadLiveKeysOf(tx, { orgId: OPERATOR_ORG, origin: 'start' })
  if (others.length > 0 && !alone) return { kind: 'elsewhere' }
  for (const lost of others) await end(start, lost)
  const made = newKeyText()
  await make(start, made, 'start')
  await writePrivateFile(file, `${made}\n`)
  return { kind: 'made' }
}

async function make({ ports, tx, now, records }: Start, text: string, origin: ApiKeyRow['origin']): Promise<void> {
  const row: ApiKeyRow = {
    ...{ orgId: OPERATOR_ORG, id: ports.newId('key', now), hint: hintOf(text), role: 'owner', scopes: null, origin },
    ...{ name: origin === 'start' ? 'owner.key' : 'ESCAPEMENT_OWNER_KEY', createdBy: null, createdAt: now },
    ...{ expiresAt: null, revokedAt: null, lastUsedAt: null, guardRails: null },
  }
  await insertApiKey(tx, row, hashSecret(text))
  records.push(created(SYSTEM_ACTOR, { kind: 'key', id: row.id }, viewKey(row, now)))
}

async function end(start: Start, key: ApiKeyRow): Promise<void> {
  const { tx, now } = start
  await revokeApiKey(tx, { orgId: key.orgId, id: key.id, at: now })
  record(start, { before: key, after: { ...key, revokedAt: now }, verb: 'revoke' })
}

function record(
  { records, now }: Start,
  { before, after, verb }: { readonly before: ApiKeyRow; readonly after: ApiKeyRow; readonly verb: AuditVerb<'key'> },
): void {
  const views = { before: viewKey(before, now), after: viewKey(after, now), verb }
  records.push(changed(SYSTEM_ACTOR, { kind: 'key', id: before.id }, views))
}
