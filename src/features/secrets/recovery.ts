import { Refusal } from '../../api/refusals.ts'
import type { RotationView } from './schema.ts'
import { OPERATOR_ORG } from '../../domain/access/access.ts'
import { readClock } from '../../platform/db/clock.ts'
import type { Database, Transaction } from '../../platform/db/database.ts'
import { loadLiveNodesWithKey, loadSealingKey, replaceSealingKey, SEALING_KEY_LOCK } from './store.ts'
import { orgLock } from '../../engine/transaction/history-store.ts'
import { acted, appendAudits, SYSTEM_ACTOR } from '../audit/entry.ts'
import { createFirstKey, keyRefusal, readKeys, type KeySource, type SecretKey } from './keys.ts'
import { resealAll } from './sealing.ts'
import { openVault } from './vault.ts'

/** The input of a recovery. */
export interface RecoveryOptions {
  readonly database: Database
  readonly source: KeySource
  /** Id of the lost key, from the error of the failed start: confirms which key the operator gives up. */
  readonly lostKeyId: string
}

/**
 * Replaces a lost sealing key. Values that another key of this node can open are sealed again; the rest stays as it is
 * and must be entered again.
 */
export async function recoverFromLostKey({ database, source, lostKeyId }: RecoveryOptions): Promise<RotationView> {
  const keyId = await database.transaction((tx) => replaceLostKey(tx, source, lostKeyId), { lock: SEALING_KEY_LOCK })
  const at = await readClock(database)
  const vault = await openVault({ database, source, isEmbedded: false, now: () => at, nodeId: () => '' })
  const { count, failed } = await resealAll({ database, vault }, keyId)
  const after = { key_id: keyId, previous_key_id: lostKeyId, sealed_anew: count, failed: failed.length }
  const entries = [acted(SYSTEM_ACTOR, { kind: 'sealing_key', id: keyId }, { verb: 'recover', after })]
  await database.transaction((tx) => appendAudits(tx, OPERATOR_ORG, { entries, at }), { lock: orgLock(OPERATOR_ORG) })
  return { key_id: keyId, previous_key_id: lostKeyId, sealed_anew: count, failed: [...failed] }
}

async function replaceLostKey(tx: Transaction, source: KeySource, lostId: string): Promise<string> {
  const inUse = await loadSealingKey(tx)
  if (inUse !== lostId)
    throw new Refusal('CONFLICT', `Key ${lostId} is not the current key; the current key is ${inUse ?? 'not set yet'}`)
  const keys = await readKeys(source)
  if (keys.some(({ id }) => id === lostId))
    throw new Refusal('CONFLICT', `Key ${lostId} is not lost: this node has it; start the server`)
  const now = await readClock(tx)
  const holders = await loadLiveNodesWithKey(tx, { keyId: lostId, now })
  if (holders.length > 0)
    throw new Refusal(
      'CONFLICT',
      `Key ${lostId} is not lost: running nodes have it (${holders.join(', ')}); copy it from there`,
    )
  const newKey = keys[0] ?? (await createReplacementKey(source))
  await replaceSealingKey(tx, { from: lostId, id: newKey.id, at: now })
  return newKey.id
}

async function createReplacementKey({ file }: KeySource): Promise<SecretKey> {
  const created = file === null ? null : await createFirstKey(file)
  if (created === null)
    throw keyRefusal(
      'There is no key to replace the lost one: set ESCAPEMENT_SECRET_KEY (create a key with: openssl rand -hex 32)',
    )
  return created
}
