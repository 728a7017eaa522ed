import type { Database } from './database.ts'
import { DatabaseError } from './database-error.ts'
import { refuseStrangeHistory } from './migrate.ts'
import { MIGRATIONS_DIRECTORY, readMigrations } from './migration-files.ts'
import { loadAppliedMigrations } from './migration-record.ts'
import { column, columns } from './table.ts'

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
