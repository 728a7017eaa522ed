import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Instant } from '../../domain/instant.ts'
import { PACKAGE_ROOT } from '../package-root.ts'
import { LOCK_SPACE, lockNumber } from '../../store/advisory-locks.ts'
import { readClock } from './clock.ts'
import { DatabaseError, isConflict } from './database-error.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { DEFAULT_SCHEMA, quoteSchema } from '../../store/identifier.ts'
import { column, columns, type RowOf, table, toTimestamp } from './table.ts'

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

interface Migration {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly sql: string
}

export const MIGRATIONS_DIRECTORY = fileURLToPath(new URL('migrations', PACKAGE_ROOT))

const FILE = /^(\d{4})_([a-z0-9_]+)\.sql$/

/** Reads the numbered files of a directory, in order. A gap, a repeated number or a stray file is refused. */
export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const files = await readdir(directory).catch((cause: unknown) => {
    throw new DatabaseError('migrations_unreadable', { detail: directory, cause })
  })
  const migrations = await Promise.all(
    files.filter((file) => file.endsWith('.sql')).map((file) => readMigration(directory, file)),
  )
  const ordered = migrations.sort((a, b) => a.number - b.number)
  const wrong = ordered.find((migration, index) => migration.number !== index + 1)
  if (wrong !== undefined || ordered.length === 0)
    throw new DatabaseError('migrations_unreadable', {
      detail: wrong === undefined ? `${directory} is empty` : `the numbers have a gap or repeat at ${wrong.name}`,
    })
  return ordered
}

async function readMigration(directory: string, file: string): Promise<Migration> {
  const match = FILE.exec(file)
  if (match === null)
    throw new DatabaseError('migrations_unreadable', { detail: `${file} is not named 0001_words.sql` })
  // Line ends differ between checkouts of the same commit; they must not look like an edit.
  const sql = (await readFile(path.join(directory, file), 'utf8')).replaceAll('\r\n', '\n')
  const checksum = createHash('sha256').update(sql).digest('hex')
  return { number: Number(match[1]), name: file.slice(0, -'.sql'.length), checksum, sql }
}

const migrations = table('migration', { number: column.int(), name: column.text(), checksum: column.text() })
type AppliedMigration = RowOf<typeof migrations>

/** Waits until no other node migrates this schema; held to the end of the transaction. */
export async function lockMigrations(tx: Transaction, schema: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, $2)', [LOCK_SPACE.migration, lockNumber(schema)])
}

/** Makes the schema unless it exists. Asked first, because `if not exists` demands the right to create all the same. */
async function createSchema(tx: Transaction, schema: string): Promise<void> {
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

/** The number of the running transaction. */
async function readTransactionId(tx: Transaction): Promise<string> {
  return transactions.only(await tx.query(`select ${transactions.list}`, [])).id
}

const roles = columns({ isStandby: column.boolean('pg_is_in_recovery()') })

/** How many migrations the schema lacks. Changes nothing; throws where a start would be refused. */
export async function countMissingMigrations(db: Database, schema: string): Promise<number> {
  const known = await readMigrations(MIGRATIONS_DIRECTORY)
  return db.transaction(async (tx) => {
    const { isStandby } = roles.only(await tx.query(`select ${roles.list}`, []))
    if (isStandby) throw new DatabaseError('database_read_only')
    const applied = await loadAppliedMigrations(tx, schema)
    refuseStrangeHistory(applied, known)
    return known.length - applied.length
  })
}
