import path from 'node:path'
import { openApp } from '../app.ts'
import { settingsOf } from '../service/settings.ts'
import { DatabaseError } from '../store/database-error.ts'
import type { Configuration } from './configuration.ts'
import { StartRefused } from './start-refused.ts'

/** Opens the database a server would open, applies what is missing and closes it. Answers what was applied. */
export async function bringUpToDate(configuration: Configuration): Promise<readonly string[]> {
  const { config } = configuration.keeper.current()
  const { url, schema } = config.database
  const data = path.resolve(configuration.places.cwd, config.data)
  const settings = settingsOf(config)
  try {
    const app = await openApp({
      database: url === null ? { data, schema } : { url, schema },
      ...{ settings: () => settings, executors: new Map(), estimate: null, log: () => undefined },
    })
    await app.close()
    return app.migrated
  } catch (error) {
    throw error instanceof DatabaseError ? new StartRefused(error.message, { cause: error }) : error
  }
}
