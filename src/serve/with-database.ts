import path from 'node:path'
import { Refusal } from '../api/refusals.ts'
import { recoverFromLostKey } from '../features/secrets/recovery.ts'
import type { RotationView } from '../features/secrets/schema.ts'
import { DatabaseError } from '../platform/db/database-error.ts'
import type { Database } from '../platform/db/database.ts'
import { startEmbedded } from '../platform/db/embedded/embedded.ts'
import { migrate } from '../platform/db/migrate.ts'
import { openPostgres, type PostgresOptions } from '../platform/db/postgres/postgres.ts'
import { type Configuration, StartError } from './configuration.ts'

/** A database that is open for one command. */
interface OpenDatabase {
  readonly database: Database
  readonly schema: string
  /** The data directory. */
  readonly data: string
}

/** Opens the database of a server, runs the callback, and closes the database. */
export async function withDatabase<T>(
  configuration: Configuration,
  { name, pool = 1 }: { readonly name: string; readonly pool?: number },
  callback: (stored: OpenDatabase) => Promise<T>,
): Promise<T> {
  const { config } = configuration.live.current()
  const { url, schema } = config.database
  const data = path.resolve(configuration.places.cwd, config.data)
  const withTarget = async (target: PostgresOptions['target']): Promise<T> => {
    const database = await openPostgres({ target, schema, pool, applicationName: `escapement ${name}` })
    try {
      return await callback({ database, schema, data })
    } finally {
      await database.close()
    }
  }
  try {
    if (url !== null) return await withTarget(url)
    const server = await startEmbedded({ data, onEvent: () => undefined })
    try {
      return await withTarget(server.target)
    } finally {
      await server.leave()
    }
  } catch (error) {
    throw error instanceof DatabaseError ? new StartError(error.message, { cause: error }) : error
  }
}

/**
 * Applies the missing migrations and returns them. Does not need the encryption key, because it reads no secrets.
 */
export const migrateDatabase = (configuration: Configuration): Promise<readonly string[]> =>
  withDatabase(configuration, { name: 'migrate' }, async ({ database, schema }) => {
    const { applied } = await migrate(database, { schema })
    return applied.map(String)
  })

/** The input of `escapement secrets recover`. */
interface RecoveryInput {
  readonly lostKeyId: string
  /** `ESCAPEMENT_SECRET_KEY`; null: the key is in the data directory. */
  readonly secretKey: string | null
}

/** Replaces a lost encryption key. Runs without a server, because none starts without the key. */
export async function recoverSecrets(configuration: Configuration, recovery: RecoveryInput): Promise<RotationView> {
  try {
    // Needs a second connection, because texts are encrypted outside of the transaction that holds the lock.
    return await withDatabase(configuration, { name: 'recover', pool: 2 }, async ({ database, schema, data }) => {
      await migrate(database, { schema })
      const source = { environment: recovery.secretKey, file: path.join(data, 'secret.key') }
      return recoverFromLostKey({ database, source, lostKeyId: recovery.lostKeyId })
    })
  } catch (error) {
    throw error instanceof Refusal ? new StartError(error.message, { cause: error }) : error
  }
}
