import { type Instant } from '../core/instant.ts'
import { LOCK_SPACE, lockNumber } from './advisory-locks.ts'
import { type Transaction } from './database.ts'
import { quoteSchema } from './identifier.ts'
import { toTimestamp } from './timestamp.ts'

export interface AppliedMigration {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

/** Waits until no other node migrates this schema; held to the end of the transaction. */
export async function lockMigrations(tx: Transaction, schema: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, $2)', [LOCK_SPACE.migration, lockNumber(schema)])
}

/** Makes the schema unless it exists. Asked first, because `if not exists` demands the right to create all the same. */
export async function createSchema(tx: Transaction, schema: string): Promise<void> {
  const found = await tx.query('select 1 from pg_namespace where nspname = $1', [schema])
  if (found.length === 0) await tx.query(`create schema ${quoteSchema(schema)}`)
}

/** What has been applied to this schema, in order; nothing if it is new. */
export async function loadAppliedMigrations(tx: Transaction, schema: string): Promise<readonly AppliedMigration[]> {
  const found = await tx.query(
    `select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relname = 'migration' and c.relkind = 'r'`,
    [schema],
  )
  if (found.length === 0) return []
  const rows = await tx.query('select number, name, checksum from migration order by number', [])
  return rows.map((row) => ({
    number: row['number'] as number,
    name: row['name'] as string,
    checksum: row['checksum'] as string,
  }))
}

/** Puts a migration on record, in the transaction that applied it. */
export async function insertAppliedMigration(
  tx: Transaction,
  applied: AppliedMigration & { readonly at: Instant },
): Promise<void> {
  await tx.query('insert into migration (number, name, checksum, applied_at) values ($1, $2, $3, $4)', [
    applied.number,
    applied.name,
    applied.checksum,
    toTimestamp(applied.at),
  ])
}

/** The number of the running transaction. */
export async function readTransactionId(tx: Transaction): Promise<string> {
  const [row] = await tx.query('select pg_current_xact_id()::text as id', [])
  return row?.['id'] as string
}
