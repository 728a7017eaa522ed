import { readClock } from './clock.ts'
import { type Database, type Transaction } from './database.ts'
import { DatabaseError, isConflict } from './database-error.ts'
import { DEFAULT_SCHEMA } from './identifier.ts'
import { MIGRATIONS_DIRECTORY, readMigrations, type Migration } from './migration-files.ts'
import {
  createSchema,
  insertAppliedMigration,
  loadAppliedMigrations,
  lockMigrations,
  readTransactionId,
  type AppliedMigration,
} from './migration-record.ts'

export interface MigrateOptions {
  /** The schema the database was opened with. */
  readonly schema?: string
  readonly directory?: string
}

export interface MigrateReport {
  /** Numbers this call applied; empty when another node was first or nothing was missing. */
  readonly applied: readonly number[]
  /** The last migration the database has now. */
  readonly version: number
}

/** Collisions with nodes at work before somebody has to look; each costs the second after which a deadlock is noticed. */
const MOST_COLLISIONS = 60

/**
 * Brings the schema up to this program. Each migration is one transaction that takes the lock, looks at the record and
 * applies the first one that is missing: of many nodes that start together one applies it, the others wait and find it
 * done. A node that dies in between leaves either the whole migration or nothing. Nodes of the release before may be at
 * work: a migration that collides with one of their transactions begins again.
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<MigrateReport> {
  const { schema = DEFAULT_SCHEMA, directory = MIGRATIONS_DIRECTORY } = options
  const known = await readMigrations(directory)
  const applied: number[] = []
  let collisions = 0
  for (;;) {
    try {
      // A large table takes its time, and so does the wait for the node that is at it: no limits here.
      const next = await db.transaction((tx) => applyNext(tx, schema, known), { statementMs: 0, lockMs: 0 })
      if (next === undefined) return { applied, version: known.length }
      applied.push(next)
    } catch (error) {
      if (!isConflict(error) || (collisions += 1) > MOST_COLLISIONS) throw error
    }
  }
}

async function applyNext(tx: Transaction, schema: string, known: readonly Migration[]): Promise<number | undefined> {
  await lockMigrations(tx, schema)
  const applied = await loadAppliedMigrations(tx, schema)
  refuseStrangeHistory(applied, known)
  const next = known[applied.length]
  if (next === undefined) return undefined
  if (applied.length === 0) await createSchema(tx, schema)
  await apply(tx, next)
  await insertAppliedMigration(tx, { ...next, at: await readClock(tx) })
  return next.number
}

/** Throws when the record of a schema is none that this program could have begun. */
export function refuseStrangeHistory(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  const newest = applied.at(-1)?.number ?? 0
  if (newest > known.length)
    throw new DatabaseError('database_newer', {
      detail: `it has migration ${newest}, this program knows ${known.length}`,
    })
  for (const [index, migration] of known.slice(0, newest).entries()) {
    const found = applied[index]
    if (found?.number !== migration.number) throw new DatabaseError('migration_missing', { detail: migration.name })
    if (found.checksum !== migration.checksum) throw new DatabaseError('migration_edited', { detail: migration.name })
  }
}

async function apply(tx: Transaction, migration: Migration): Promise<void> {
  const before = await readTransactionId(tx)
  await tx.query(migration.sql).catch((cause: unknown) => {
    if (cause instanceof DatabaseError && cause.code !== 'statement_failed' && cause.code !== 'constraint_violated')
      throw cause
    throw new DatabaseError('migration_failed', { detail: `${migration.name} (${String(cause)})`, cause })
  })
  // A file that ends the transaction itself would leave half of its work behind when the rest fails.
  if ((await readTransactionId(tx)) !== before)
    throw new DatabaseError('migration_failed', { detail: `${migration.name} ends its transaction itself` })
}
