import { readServerEnvironment } from '../platform/config/config.ts'
import { openConfiguration, StartError } from '../serve/configuration.ts'
import { migrateDatabase } from '../serve/with-database.ts'
import { EXIT, isTerminal, write, type ExitCode, type Terminal } from './terminal.ts'

/** The flags of `escapement migrate`. */
export interface MigrateOptions {
  readonly data?: string
  readonly databaseUrl?: string
  readonly config?: string
  readonly json?: boolean
}

/** Applies the missing migrations without starting a server. */
export async function runMigrate(terminal: Terminal, options: MigrateOptions): Promise<ExitCode> {
  const { variables } = readServerEnvironment(terminal.variables)
  try {
    const configuration = await openConfiguration({
      file: options.config ?? null,
      flags: { data: options.data, 'database.url': options.databaseUrl },
      ...{ variables, cwd: terminal.cwd ?? process.cwd() },
    })
    if (isTerminal(terminal.stderr)) await write(terminal.stderr, 'Opening the database …\n')
    const applied = await migrateDatabase(configuration)
    await write(terminal.stdout, options.json === true ? `${JSON.stringify({ applied })}\n` : sentenceOf(applied))
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    await write(terminal.stderr, `${error.message}\n`)
    return EXIT.refused
  }
}

function sentenceOf(applied: readonly string[]): string {
  if (applied.length === 0) return 'The database is up to date.\n'
  return `Applied migration${applied.length === 1 ? '' : 's'} ${applied.join(', ')}. The database is up to date.\n`
}
