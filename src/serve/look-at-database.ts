import { DatabaseError, REFUSALS } from '../store/database-error.ts'
import { openPostgres } from '../store/postgres.ts'
import { countMissingMigrations } from '../store/schema-look.ts'

/** What a look at a database has shown. */
export type DatabaseLook =
  | { readonly ok: true; readonly missing: number }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly way: string }

/** Whoever asks sits there and waits. */
const PATIENCE_MS = 5_000

/** Opens the database a server would open, and changes nothing in it. */
export async function lookAtDatabase({
  url,
  schema,
}: {
  readonly url: string
  readonly schema: string
}): Promise<DatabaseLook> {
  try {
    const limits = { connectMs: PATIENCE_MS, statementMs: PATIENCE_MS }
    const database = await openPostgres({ target: url, schema, pool: 1, limits, applicationName: 'escapement doctor' })
    try {
      return { ok: true, missing: await countMissingMigrations(database, schema) }
    } finally {
      await database.close()
    }
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    const { code, message, cause } = error
    const more = cause instanceof Error && !message.includes(cause.message) ? ` (${cause.message})` : ''
    return {
      ok: false,
      code,
      message: `${message.replace(` ${REFUSALS[code].way}.`, '')}${more}`,
      way: REFUSALS[code].way,
    }
  }
}
