import type { OrgId, RunId } from '../core/ids.ts'
import type { Transaction } from './database.ts'
import { column, columns } from './table.ts'

const payloads = columns({ id: column.text<RunId>(), payload: column.json() })

/** What runs were given to do. */
export async function loadPayloads(
  tx: Transaction,
  asked: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<ReadonlyMap<RunId, unknown>> {
  const rows = await tx.query(`select ${payloads.list} from run where org_id = $1 and id = any($2::text[])`, [
    asked.orgId,
    asked.ids,
  ])
  return new Map(payloads.read(rows).map(({ id, payload }) => [id, payload]))
}
