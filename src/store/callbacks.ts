import type { AttemptId, OrgId, RunId } from '../domain/ids.ts'
import type { Connection, Transaction } from './database.ts'
import { column, table, type RowOf } from '../platform/db/table.ts'

const callbacks = table('callback', {
  tokenHash: column.bytes(),
  orgId: column.text<OrgId>(),
  runId: column.text<RunId>(),
  attemptId: column.text<AttemptId>(),
  createdAt: column.instant(),
})

/**
 * A row of `callback`: the hash of a token and the attempt it speaks for. It stays when the attempt has ended, so that a
 * repeated report is known from a wrong token; retention removes it.
 */
export type CallbackRow = RowOf<typeof callbacks>

/** Puts tokens on record. */
export function insertCallbacks(tx: Transaction, rows: readonly CallbackRow[]): void {
  tx.send(callbacks.insertMany, callbacks.lists(rows))
}

/** What the token of this hash speaks for. No org is asked for: whoever has the token speaks for its run. */
export async function loadCallback(connection: Connection, tokenHash: Uint8Array): Promise<CallbackRow | undefined> {
  const rows = await connection.query(`select ${callbacks.list} from callback where token_hash = $1`, [tokenHash])
  return callbacks.first(rows)
}
