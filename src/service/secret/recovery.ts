import { Refusal } from '../../api/refusals.ts'
import type { RotationView } from '../../features/secrets/schema.ts'
import { OPERATOR_ORG } from '../../domain/access/access.ts'
import { readClock } from '../../platform/db/clock.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { loadNodesWith, loadSealingKey, replaceSealingKey, SEALING_KEY_LOCK } from '../../store/sealed.ts'
import { orgLock } from '../../engine/transaction/history-store.ts'
import { appendAudits } from '../audit-chain.ts'
import { acted, SYSTEM_ACTOR } from '../../features/audit/entry.ts'
import { createFirstKey, keyRefusal, readKeys, type KeySource, type SecretKey } from '../../features/secrets/keys.ts'
import { resealAll } from './reseal.ts'
import { openVault } from './vault.ts'

/** What a recovery is made with. */
export interface Recovery {
  readonly database: Database
  readonly source: KeySource
  /** The id of the key that is lost, as the refusal of a start names it: a key that is merely elsewhere is not given up. */
  readonly lostKeyId: string
}

/**
 * Takes another key into use after the one that seals was lost. Everything that a key of this node opens is sealed again;
 * the rest stays as it is, and has to be entered again.
 */
export async function recoverFromLostKey({ database, source, lostKeyId }: Recovery): Promise<RotationView> {
  const keyId = await database.transaction((tx) => replaceLost(tx, source, lostKeyId), { lock: SEALING_KEY_LOCK })
  const at = await readClock(database)
  const vault = await openVault({ database, source, alone: false, now: () => at, nodeId: () => '' })
  const { count, failed } = await resealAll({ database, vault }, keyId)
  const after = { key_id: keyId, previous_key_id: lostKeyId, sealed_anew: count, failed: failed.length }
  const entries = [acted(SYSTEM_ACTOR, { kind: 'sealing_key', id: keyId }, { verb: 'recover', after })]
  await database.transaction((tx) => appendAudits(tx, OPERATOR_ORG, { entries, at }), { lock: orgLock(OPERATOR_ORG) })
  return { key_id: keyId, previous_key_id: lostKeyId, sealed_anew: count, failed: [...failed] }
}

async function replaceLost(tx: Transaction, source: KeySource, lost: string): Promise<string> {
  const inUse = await loadSealingKey(tx)
  if (inUse !== lost)
    throw new Refusal('CONFLICT', `Key ${lost} is not the one that seals; that is ${inUse ?? 'none yet'}`)
  const keys = await readKeys(source)
  if (keys.some(({ id }) => id === lost))
    throw new Refusal('CONFLICT', `Key ${lost} is here; nothing is lost, and the server starts with it`)
  const now = await readClock(tx)
  const holders = await loadNodesWith(tx, { keyId: lost, now })
  if (holders.length > 0)
    throw new Refusal('CONFLICT', `Key ${lost} is not lost: ${holders.join(', ')} runs with it; copy it from there`)
  const next = keys[0] ?? (await firstKey(source))
  await replaceSealingKey(tx, { from: lost, id: next.id, at: now })
  return next.id
}

async function firstKey({ file }: KeySource): Promise<SecretKey> {
  const made = file === null ? null : await createFirstKey(file)
  if (made === null)
    throw keyRefusal('There is no key to go on with: give one as ESCAPEMENT_SECRET_KEY (openssl rand -hex 32)')
  return made
}
