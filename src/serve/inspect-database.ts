import { existsSync } from 'node:fs'
import path from 'node:path'
import { Refusal } from '../api/refusals.ts'
import { instant } from '../domain/instant.ts'
import type { KeySource } from '../features/secrets/keys.ts'
import { openVault } from '../service/secret/vault.ts'
import type { Database } from '../store/database.ts'
import { DatabaseError, REFUSALS } from '../platform/db/database-error.ts'
import { openPostgres } from '../platform/db/postgres/postgres.ts'
import { countMissingMigrations } from '../platform/db/migrate.ts'
import type { Configuration } from './configuration.ts'
import { StartRefused } from './start-refused.ts'
import { withDatabase } from './with-database.ts'

/** What a look at a database has shown. */
export type DatabaseLook =
  | {
      readonly ok: true
      readonly missing: number
      /** Why the keys that were given do not open the secrets in it; null: they do, or there are none. */
      readonly locked: string | null
    }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly way: string }

/** Whoever asks sits there and waits. */
const PATIENCE_MS = 5_000

/** Opens the database a server would open, and changes nothing in it. */
export async function lookAtDatabase({
  url,
  schema,
  keys,
}: {
  readonly url: string
  readonly schema: string
  /** What secrets would be opened with; left out: nobody asks. */
  readonly keys?: KeySource | undefined
}): Promise<DatabaseLook> {
  try {
    const limits = { connectMs: PATIENCE_MS, statementMs: PATIENCE_MS }
    const database = await openPostgres({ target: url, schema, pool: 1, limits, applicationName: 'escapement doctor' })
    try {
      const missing = await countMissingMigrations(database, schema)
      // An older schema may not have the table that says which key is in use.
      const locked = keys === undefined || missing > 0 ? null : await lookAtSecrets(database, keys)
      return { ok: true, missing, locked }
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

/** The same for an embedded database that was started before; null also where there is none, or it does not start. */
export async function lookIntoEmbedded(configuration: Configuration, keys: KeySource): Promise<string | null> {
  const { config } = configuration.keeper.current()
  const note = path.join(path.resolve(configuration.places.cwd, config.data), 'postgres.json')
  if (!existsSync(note)) return null
  try {
    return await withDatabase(configuration, { name: 'doctor' }, async ({ database, schema }) =>
      (await countMissingMigrations(database, schema)) > 0 ? null : lookAtSecrets(database, keys),
    )
  } catch (error) {
    if (error instanceof StartRefused) return null
    throw error
  }
}

const NOTHING_IS_SEALED = instant(0)

/** A start opens the vault in the same way, and is refused with the same words. */
async function lookAtSecrets(database: Database, source: KeySource): Promise<string | null> {
  try {
    await openVault({ database, source, alone: false, now: () => NOTHING_IS_SEALED, nodeId: () => '' })
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}
