import path from 'node:path'
import { startEmbedded } from '../store/embedded/embedded.ts'
import { DatabaseError } from '../store/database-error.ts'
import { migrate } from '../store/migrate.ts'
import { openPostgres, type PostgresOptions } from '../store/postgres.ts'
import type { Configuration } from './configuration.ts'
import { StartRefused } from './start-refused.ts'

/**
 * Opens the database a server would open, applies what is missing and closes it. Answers what was applied. Nothing of the
 * work is touched, so the key of its secrets is not asked for.
 */
export async function bringUpToDate(configuration: Configuration): Promise<readonly string[]> {
  const { config } = configuration.keeper.current()
  const { url, schema } = config.database
  const data = path.resolve(configuration.places.cwd, config.data)
  try {
    if (url !== null) return await migrateAt(url, schema)
    const server = await startEmbedded({ data, tell: () => undefined })
    try {
      return await migrateAt(server.target, schema)
    } finally {
      await server.leave()
    }
  } catch (error) {
    throw error instanceof DatabaseError ? new StartRefused(error.message, { cause: error }) : error
  }
}

async function migrateAt(target: PostgresOptions['target'], schema: string): Promise<readonly string[]> {
  const database = await openPostgres({ target, schema, pool: 1, applicationName: 'escapement migrate' })
  try {
    const { applied } = await migrate(database, { schema })
    return applied.map(String)
  } finally {
    await database.close()
  }
}
