import { Refusal } from '../../contract/refusals.ts'
import type { RotationFailure, RotationInput, RotationView } from '../../contract/secret.ts'
import { OPERATOR_ORG } from '../../core/access.ts'
import { orgId } from '../../core/ids.ts'
import {
  loadSealedOtherwise,
  replaceSealed,
  SEALED_COLUMNS,
  type SealedColumn,
  type SealedRow,
} from '../../store/sealed.ts'
import { acted, actorOf } from '../audit-entry.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import { sealSigningSecrets } from '../target/signing-secret.ts'

const BATCH = 100

/**
 * Seals everything anew with the first key, a few rows at a time and nobody waits for it. What cannot be opened stays as it
 * is and is told of. Whoever is cut off begins again: what is done is done.
 */
export async function rotateKey(ports: Ports, caller: Caller, input: RotationInput): Promise<RotationView> {
  const { keyId, previousKeyId } = await ports.vault.changeKey({ makeNew: input.new_key === true })
  const failed: RotationFailure[] = []
  let anew = await sealSigningSecrets(ports)
  for (const column of SEALED_COLUMNS) anew += await resealColumn(ports, column, { keyId, failed })
  const view: RotationView = { key_id: keyId, previous_key_id: previousKeyId, sealed_anew: anew, failed }
  await ports.turns.take({
    orgId: OPERATOR_ORG,
    apply: (desk) => {
      const after = { key_id: keyId, previous_key_id: previousKeyId, sealed_anew: anew, failed: failed.length }
      desk.changes.audits.push(acted(actorOf(caller), { kind: 'sealing_key', id: keyId }, { verb: 'rotate', after }))
    },
  })
  return view
}

async function resealColumn(
  ports: Ports,
  column: SealedColumn,
  { keyId, failed }: { readonly keyId: string; readonly failed: RotationFailure[] },
): Promise<number> {
  let anew = 0
  let after: SealedRow | null = null
  for (;;) {
    const rows: readonly SealedRow[] = await loadSealedOtherwise(ports.database, column, { keyId, after, limit: BATCH })
    for (const row of rows) {
      const wrong = await reseal(ports, column, row)
      if (wrong === null) anew += 1
      else failed.push({ org_id: row.orgId, kind: column.kind, name: row.name, message: wrong })
    }
    after = rows.at(-1) ?? null
    if (rows.length < BATCH || after === null) return anew
  }
}

/** Null: it is sealed anew, or somebody else has changed it meanwhile, with the new key. */
async function reseal({ database, vault }: Ports, column: SealedColumn, row: SealedRow): Promise<string | null> {
  const place = { orgId: orgId(row.orgId), kind: column.kind, name: row.name }
  try {
    const sealed = await vault.seal(await vault.open(row.sealed, place), place)
    await replaceSealed(database, column, { row, sealed })
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}
