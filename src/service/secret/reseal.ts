import { Refusal } from '../../api/refusals.ts'
import type { RotationFailure } from '../../features/secrets/schema.ts'
import { orgId } from '../../domain/ids.ts'
import type { Database } from '../../store/database.ts'
import {
  loadSealedOtherwise,
  replaceSealed,
  SEALED_COLUMNS,
  type SealedColumn,
  type SealedRow,
} from '../../store/sealed.ts'
import type { Vault } from './vault-port.ts'

const BATCH = 100

/** What texts are sealed again with. */
interface Resealing {
  readonly database: Pick<Database, 'query'>
  readonly vault: Pick<Vault, 'seal' | 'open'>
}

/** How many texts were sealed again, and those that could not be opened: they stay as they are. */
export interface Resealed {
  readonly count: number
  readonly failed: readonly RotationFailure[]
}

/** Seals everything that another key has sealed, a few rows at a time. Cut off, it goes on where it was. */
export async function resealAll(resealing: Resealing, keyId: string): Promise<Resealed> {
  const failed: RotationFailure[] = []
  let count = 0
  for (const column of SEALED_COLUMNS) count += await resealColumn(resealing, column, { keyId, failed })
  return { count, failed }
}

async function resealColumn(
  resealing: Resealing,
  column: SealedColumn,
  { keyId, failed }: { readonly keyId: string; readonly failed: RotationFailure[] },
): Promise<number> {
  let anew = 0
  let after: SealedRow | null = null
  for (;;) {
    const rows: readonly SealedRow[] = await loadSealedOtherwise(resealing.database, column, {
      ...{ keyId, after, limit: BATCH },
    })
    for (const row of rows) {
      const wrong = await reseal(resealing, column, row)
      if (wrong === null) anew += 1
      else failed.push({ org_id: row.orgId, kind: column.kind, name: row.name, message: wrong })
    }
    after = rows.at(-1) ?? null
    if (rows.length < BATCH || after === null) return anew
  }
}

/** Null: it is sealed anew, or somebody else has changed it meanwhile, with the new key. */
async function reseal({ database, vault }: Resealing, column: SealedColumn, row: SealedRow): Promise<string | null> {
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
