import path from 'node:path'
import type { Database } from '../store/database.ts'
import { DatabaseError } from '../platform/db/database-error.ts'
import { startEmbedded } from '../store/embedded/embedded.ts'
import { openPostgres, type PostgresOptions } from '../platform/db/postgres/postgres.ts'
import type { Configuration } from './configuration.ts'
import { StartRefused } from './start-refused.ts'

/** A database that is open for one command. */
export interface Stored {
  readonly database: Database
  readonly schema: string
  /** The data directory. */
  readonly data: string
}

/** Opens the database a server would open, works with it, and closes it. */
export async function withDatabase<T>(
  configuration: Configuration,
  { name, pool = 1 }: { readonly name: string; readonly pool?: number },
  work: (stored: Stored) => Promise<T>,
): Promise<T> {
  const { config } = configuration.keeper.current()
  const { url, schema } = config.database
  const data = path.resolve(configuration.places.cwd, config.data)
  const at = async (target: PostgresOptions['target']): Promise<T> => {
    const database = await openPostgres({ target, schema, pool, applicationName: `escapement ${name}` })
    try {
      return await work({ database, schema, data })
    } finally {
      await database.close()
    }
  }
  try {
    if (url !== null) return await at(url)
    const server = await startEmbedded({ data, tell: () => undefined })
    try {
      return await at(server.target)
    } finally {
      await server.leave()
    }
  } catch (error) {
    throw error instanceof DatabaseError ? new StartRefused(error.message, { cause: error }) : error
  }
}
