import type { Command } from 'commander'
import type { MigrateOptions } from './migrate.ts'
import type { CliContext } from './remote/call.ts'
import type { ServeOptions } from './serve.ts'

/** Adds the options that select the database to open in this process. */
export const withDatabase = (command: Command): Command =>
  command
    .option(
      '--data <directory>',
      'directory for keys, the sign-in link and the embedded database (default ./.escapement)',
    )
    .option('--database-url <url>', 'URL of your own PostgreSQL instead of the embedded one')
    .option('--config <file>', 'configuration file (default <data>/config.yaml or ./escapement.yaml, if present)')

/** `escapement serve`: loaded on use, so that other commands start faster. */
export function addServe(command: Command, { terminal, settle, version }: CliContext): void {
  command
    .option('--port <port>', 'port to listen on; 0 picks a free one and prints it (default 7420)')
    .option('--host <host>', 'address to listen on (default 127.0.0.1)')
  withDatabase(command).action(async (options: ServeOptions) => {
    const { runServe } = await import('./serve.ts')
    settle(await runServe(terminal, options, { version }))
  })
}

/** `escapement migrate`: migrates the schema of the database. */
export function addMigrate(command: Command, { terminal, settle }: CliContext): void {
  withDatabase(command)
    .option('--json', 'print JSON for programs')
    .action(async (options: MigrateOptions) => {
      const { runMigrate } = await import('./migrate.ts')
      settle(await runMigrate(terminal, options))
    })
}
