import { readServerEnvironment } from '../platform/config/config.ts'
import { openConfiguration } from '../serve/configuration.ts'
import { bringUpToDate } from '../serve/migrate.ts'
import { StartRefused } from '../serve/start-refused.ts'
import { EXIT, isTerminal, write, type ExitCode, type Terminal } from './terminal.ts'

/** The flags of `escapement migrate`. */
export interface MigrateOptions {
  readonly data?: string
  readonly databaseUrl?: string
  readonly config?: string
  readonly json?: boolean
}

/** Brings the schema of the database up to this program, without serving. */
export async function runMigrate(terminal: Terminal, options: MigrateOptions): Promise<ExitCode> {
  const { variables } = readServerEnvironment(terminal.variables)
  try {
    const configuration = await openConfiguration({
      file: options.config ?? null,
      flags: { data: options.data, 'database.url': options.databaseUrl },
      ...{ variables, cwd: terminal.cwd ?? process.cwd() },
    })
    if (isTerminal(terminal.stderr)) await write(terminal.stderr, 'Opening the database …\n')
    const applied = await bringUpToDate(configuration)
    await write(terminal.stdout, options.json === true ? `${JSON.stringify({ applied })}\n` : sentenceOf(applied))
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error
    await write(terminal.stderr, `${error.message}\n`)
    return EXIT.refused
  }
}

function sentenceOf(applied: readonly string[]): string {
  if (applied.length === 0) return 'The database is up to date.\n'
  const what = applied.length === 1 ? `Migration ${applied[0] ?? ''} was` : `Migrations ${applied.join(', ')} were`
  return `${what} applied. The database is up to date.\n`
}
