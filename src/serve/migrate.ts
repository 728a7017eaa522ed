import { migrate } from '../platform/db/migrate.ts'
import type { Configuration } from './configuration.ts'
import { withDatabase } from './with-database.ts'

/**
 * Opens the database a server would open, applies what is missing and closes it. Answers what was applied. Nothing of the
 * work is touched, so the key of its secrets is not asked for.
 */
export const bringUpToDate = (configuration: Configuration): Promise<readonly string[]> =>
  withDatabase(configuration, { name: 'migrate' }, async ({ database, schema }) => {
    const { applied } = await migrate(database, { schema })
    return applied.map(String)
  })
