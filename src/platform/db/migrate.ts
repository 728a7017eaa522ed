import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Instant } from '../../domain/instant.ts'
import { PACKAGE_ROOT } from '../package-root.ts'
import { LOCK_SPACE, lockNumber } from './advisory-locks.ts'
import { readClock } from './clock.ts'
import { DatabaseError, isConflict } from './database-error.ts'
import { type Database, DEFAULT_SCHEMA, quoteSchema, type Transaction } from './database.ts'
import { column, columns, type RowOf, table, toTimestamp } from './table.ts'

export interface MigrateOptions {
  /** The schema the database was opened with. */
  readonly schema?: string
  readonly directory?: string
}

export interface MigrateReport {
  /** The migrations this call applied; empty if none were missing or another node applied them. */
  readonly applied: readonly number[]
  /** The last migration of the database. */
  readonly version: number
}

/** Conflicts with active nodes before giving up; each takes a second, the deadlock timeout. */
const MAX_COLLISIONS = 60

/**
 * Migrates the schema to this version. Each migration is one transaction that takes a lock, reads the applied migrations
 * and applies the first missing one, so that of many starting nodes one applies it and the others wait. A crash leaves the
 * whole migration or nothing. Nodes of the previous release may be active: a migration that conflicts with their
 * transactions is repeated.
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<MigrateReport> {
  const { schema = DEFAULT_SCHEMA, directory = MIGRATIONS_DIRECTORY } = options
  const known = await readMigrations(directory)
  const applied: number[] = []
  let conflicts = 0
  for (;;) {
    try {
      // No limits, because migrating a large table, or waiting for another node to do so, may take long.
      const next = await db.transaction((tx) => applyNext(tx, schema, known), { statementMs: 0, lockMs: 0 })
      if (next === undefined) return { applied, version: known.length }
      applied.push(next)
    } catch (error) {
      if (!isConflict(error) || (conflicts += 1) > MAX_COLLISIONS) throw error
    }
  }
}

async function applyNext(tx: Transaction, schema: string, known: readonly Migration[]): Promise<number | undefined> {
  await lockMigrations(tx, schema)
  const applied = await loadAppliedMigrations(tx, schema)
  checkMigrationHistory(applied, known)
  const next = known[applied.length]
  if (next === undefined) return undefined
  if (applied.length === 0) await createSchema(tx, schema)
  await apply(tx, next)
  await insertAppliedMigration(tx, { ...next, at: await readClock(tx) })
  return next.number
}

/** Throws if the applied migrations are not a prefix of the known ones. */
export function checkMigrationHistory(applied: readonly AppliedMigration[], known: readonly Migration[]): void {
  const newest = applied.at(-1)?.number ?? 0
  if (newest > known.length)
    throw new DatabaseError('database_newer', {
      detail: `it has migration ${newest}, this version knows ${known.length}`,
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
  // A file that ends the transaction itself would leave partial changes if the rest fails.
  if ((await readTransactionId(tx)) !== before)
    throw new DatabaseError('migration_failed', { detail: `${migration.name} ends its own transaction` })
}

interface Migration {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly sql: string
}

export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('migrations', PACKAGE_ROOT))

const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/

/** Reads the numbered files of a directory in order. Throws on a gap, a repeated number or another file name. */
export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const files = await readdir(directory).catch((cause: unknown) => {
    throw new DatabaseError('migrations_unreadable', { detail: directory, cause })
  })
  const migrations = await Promise.all(
    files.filter((file) => file.endsWith('.sql')).map((file) => readMigration(directory, file)),
  )
  const ordered = migrations.sort((a, b) => a.number - b.number)
  const misnumbered = ordered.find((migration, index) => migration.number !== index + 1)
  if (misnumbered !== undefined || ordered.length === 0)
    throw new DatabaseError('migrations_unreadable', {
      detail:
        misnumbered === undefined ? `${directory} is empty` : `numbers are missing or repeated at ${misnumbered.name}`,
    })
  return ordered
}

async function readMigration(directory: string, file: string): Promise<Migration> {
  const match = FILE.exec(file)
  if (match === null)
    throw new DatabaseError('migrations_unreadable', { detail: `${file} is not named like 0001_name.sql` })
  // Line endings differ between checkouts of the same commit and must not change the checksum.
  const sql = (await readFile(path.join(directory, file), 'utf8')).replaceAll('\r\n', '\n')
  const checksum = createHash('sha256').update(sql).digest('hex')
  return { number: Number(match[1]), name: file.slice(0, -'.sql'.length), checksum, sql }
}

const migrations = table('migration', { number: column.int(), name: column.text(), checksum: column.text() })
type AppliedMigration = RowOf<typeof migrations>

/** Takes the migration lock of this schema until the end of the transaction. */
export async function lockMigrations(tx: Transaction, schema: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, $2)', [LOCK_SPACE.migration, lockNumber(schema)])
}

/** Creates the schema if needed. Checks first, because `if not exists` requires the create privilege in any case. */
async function createSchema(tx: Transaction, schema: string): Promise<void> {
  const found = await tx.query('select 1 from pg_namespace where nspname = $1', [schema])
  if (found.length === 0) await tx.query(`create schema ${quoteSchema(schema)}`)
}

/** The applied migrations of a schema, in order; empty for a new one. */
export async function loadAppliedMigrations(tx: Transaction, schema: string): Promise<readonly AppliedMigration[]> {
  const found = await tx.query(
    `select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relname = 'migration' and c.relkind = 'r'`,
    [schema],
  )
  if (found.length === 0) return []
  return migrations.read(await tx.query(`select ${migrations.list} from migration order by number`, []))
}

/** Records a migration in the transaction that applied it. */
async function insertAppliedMigration(
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

/** The id of the current transaction. */
async function readTransactionId(tx: Transaction): Promise<string> {
  return transactions.only(await tx.query(`select ${transactions.list}`, [])).id
}

const roles = columns({ isStandby: column.boolean('pg_is_in_recovery()') })

/** The number of missing migrations. Read-only; throws where a start would fail. */
export async function countMissingMigrations(db: Database, schema: string): Promise<number> {
  const known = await readMigrations(MIGRATIONS_DIRECTORY)
  return db.transaction(async (tx) => {
    const { isStandby } = roles.only(await tx.query(`select ${roles.list}`, []))
    if (isStandby) throw new DatabaseError('database_read_only')
    const applied = await loadAppliedMigrations(tx, schema)
    checkMigrationHistory(applied, known)
    return known.length - applied.length
  })
}
