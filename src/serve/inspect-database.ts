import { existsSync } from 'node:fs'
import path from 'node:path'
import { Refusal } from '../api/refusals.ts'
import { instant } from '../domain/instant.ts'
import type { KeySource } from '../features/secrets/keys.ts'
import { openVault } from '../features/secrets/vault.ts'
import type { Database } from '../platform/db/database.ts'
import { DatabaseError, DATABASE_ERRORS } from '../platform/db/database-error.ts'
import { openPostgres } from '../platform/db/postgres/postgres.ts'
import { countMissingMigrations } from '../platform/db/migrate.ts'
import { type Configuration, StartError } from './configuration.ts'
import { withDatabase } from './with-database.ts'

/** The state of a database. */
export type DatabaseInspection =
  | {
      readonly ok: true
      readonly missing: number
      /** Why the given keys do not decrypt its secrets; null: they do, or there are no secrets. */
      readonly locked: string | null
    }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly way: string }

/** Time limit, because a user is waiting. */
const INSPECT_TIMEOUT_MS = 5_000

/** Inspects the database of a server without changing it. */
export async function inspectDatabase({
  url,
  schema,
  keys,
}: {
  readonly url: string
  readonly schema: string
  /** The keys to decrypt secrets with; left out: not checked. */
  readonly keys?: KeySource | undefined
}): Promise<DatabaseInspection> {
  try {
    const limits = { connectMs: INSPECT_TIMEOUT_MS, statementMs: INSPECT_TIMEOUT_MS }
    const database = await openPostgres({ target: url, schema, pool: 1, limits, applicationName: 'escapement doctor' })
    try {
      const missing = await countMissingMigrations(database, schema)
      // An older schema may not have the table of encryption keys.
      const locked = keys === undefined || missing > 0 ? null : await inspectSecrets(database, keys)
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
      message: `${message.replace(` ${DATABASE_ERRORS[code].way}.`, '')}${more}`,
      way: DATABASE_ERRORS[code].way,
    }
  }
}

/** Inspects the secrets of an embedded database; null also if it does not exist or does not start. */
export async function inspectEmbedded(configuration: Configuration, keys: KeySource): Promise<string | null> {
  const { config } = configuration.live.current()
  const pathsFile = path.join(path.resolve(configuration.places.cwd, config.data), 'postgres.json')
  if (!existsSync(pathsFile)) return null
  try {
    return await withDatabase(configuration, { name: 'doctor' }, async ({ database, schema }) =>
      (await countMissingMigrations(database, schema)) > 0 ? null : inspectSecrets(database, keys),
    )
  } catch (error) {
    if (error instanceof StartError) return null
    throw error
  }
}

const UNUSED_TIME = instant(0)

/** Opens the vault as a start does, and returns the same error. */
async function inspectSecrets(database: Database, source: KeySource): Promise<string | null> {
  try {
    await openVault({ database, source, isEmbedded: false, now: () => UNUSED_TIME, nodeId: () => '' })
    return null
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}
