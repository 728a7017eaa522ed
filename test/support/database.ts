import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import type { Database } from '../../src/platform/db/database.ts'
import { openPostgres, type PostgresOptions } from '../../src/platform/db/postgres/postgres.ts'
import type { ConnectionTarget } from '../../src/platform/db/postgres/target.ts'
import { runOn, withDatabase } from './server-databases.ts'

// One server for the whole test run (database-server.ts starts it), one database for each file that asks for one.

declare module 'vitest' {
  interface ProvidedContext {
    /** The server, by way of its maintenance database. */
    readonly databaseServer: ConnectionTarget
    /** A small copy of the program that child processes of any user can run. */
    readonly smallProgram: string
  }
}

export const TEMPLATE = 'escapement_template'

export interface TestDatabase {
  readonly target: ConnectionTarget
  /** Opens the database as a node would; closed together with it at the latest. */
  readonly open: (options?: Partial<PostgresOptions>) => Promise<Database>
  /** Runs statements from outside: as another session, without the port. */
  readonly outside: (text: string, params?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>
  readonly drop: () => Promise<void>
}

/** A database of its own, cloned from the migrated template, or an empty one. */
export async function createTestDatabase(from: 'migrated' | 'empty' = 'migrated'): Promise<TestDatabase> {
  const server = inject('databaseServer')
  const name = `test_${randomBytes(8).toString('hex')}`
  const template = from === 'migrated' ? TEMPLATE : 'template0'
  // Copied as files: through the log, as is usual, every page would be written twice.
  await runOn(server, `create database ${name} template ${template} strategy file_copy`)
  const target = withDatabase(server, name)
  const opened: Database[] = []
  return {
    target,
    open: async (options) => {
      const database = await openPostgres({ target, ...options })
      opened.push(database)
      return database
    },
    outside: (text, params) => runOn(target, text, params),
    drop: async () => {
      await Promise.all(opened.map((database) => database.close()))
      await runOn(server, `drop database ${name} with (force)`)
    },
  }
}
