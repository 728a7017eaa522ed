import { type Instant } from '../core/instant.ts'
import { LOCK_SPACE, lockNumber } from './advisory-locks.ts'
import { type Transaction } from './database.ts'
import { quoteSchema } from './identifier.ts'
import { column, columns, table, type RowOf } from './table.ts'
import { toTimestamp } from './timestamp.ts'

const migrations = table('migration', { number: column.int(), name: column.text(), checksum: column.text() })
export type AppliedMigration = RowOf<typeof migrations>

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
  return migrations.read(await tx.query(`select ${migrations.list} from migration order by number`, []))
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

const transactions = columns({ id: column.text('pg_current_xact_id()::text') })

/** The number of the running transaction. */
export async function readTransactionId(tx: Transaction): Promise<string> {
  return transactions.only(await tx.query(`select ${transactions.list}`, [])).id
}
