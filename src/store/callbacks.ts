import { attemptId, orgId, runId, type AttemptId, type OrgId, type RunId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Transaction } from './database.ts'
import { columnsOf } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/**
 * A row of `callback`: the hash of a token and the attempt it speaks for. It stays when the attempt has ended, so that a
 * repeated report is known from a wrong token; retention removes it.
 */
export interface CallbackRow {
  readonly tokenHash: Uint8Array
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly createdAt: Instant
}

/** Puts tokens on record. */
export function insertCallbacks(tx: Transaction, callbacks: readonly CallbackRow[]): void {
  tx.send(
    `insert into callback (token_hash, org_id, run_id, attempt_id, created_at)
     select decode(token_hash, 'hex'), org_id, run_id, attempt_id, created_at
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
         as n (token_hash, org_id, run_id, attempt_id, created_at)`,
    columnsOf(
      callbacks,
      (callback) => Buffer.from(callback.tokenHash).toString('hex'),
      (callback) => callback.orgId,
      (callback) => callback.runId,
      (callback) => callback.attemptId,
      (callback) => toTimestamp(callback.createdAt),
    ),
  )
}

/** What the token of this hash speaks for. No org is asked for: whoever has the token speaks for its run. */
export async function loadCallback(connection: Connection, tokenHash: Uint8Array): Promise<CallbackRow | undefined> {
  const [row] = await connection.query(
    'select token_hash, org_id, run_id, attempt_id, created_at from callback where token_hash = $1',
    [tokenHash],
  )
  if (row === undefined) return undefined
  return {
    tokenHash: row['token_hash'] as Uint8Array,
    orgId: orgId(row['org_id'] as string),
    runId: runId(row['run_id'] as string),
    attemptId: attemptId(row['attempt_id'] as string),
    createdAt: row['created_at'] as Instant,
  }
}

/** Forgets a token: from now on it is a wrong one. */
export async function deleteCallback(connection: Connection, tokenHash: Uint8Array): Promise<void> {
  await connection.query('delete from callback where token_hash = $1', [tokenHash])
}
