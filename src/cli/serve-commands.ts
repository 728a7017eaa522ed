import type { Command } from 'commander'
import type { MigrateOptions } from './migrate.ts'
import type { Desk } from './remote/talk.ts'
import type { ServeOptions } from './serve.ts'

/** The options that say which database a command opens in this process. */
export const withDatabase = (command: Command): Command =>
  command
    .option('--data <directory>', 'directory of keys, sign-in link and embedded server (default ./.escapement)')
    .option('--database-url <url>', 'a PostgreSQL of your own instead of the embedded server')
    .option(
      '--config <file>',
      'configuration file (default <data>/config.yaml or ./escapement.yaml, where there is one)',
    )

/** `escapement serve`: loaded when it is asked for, so that the other commands begin without it. */
export function addServe(command: Command, { terminal, settle, version }: Desk): void {
  command
    .option('--port <port>', 'port to listen on; 0 takes a free one and prints it (default 7420)')
    .option('--host <host>', 'address to listen on (default 127.0.0.1)')
  withDatabase(command).action(async (options: ServeOptions) => {
    const { runServe } = await import('./serve.ts')
    settle(await runServe(terminal, options, { version }))
  })
}

/** `escapement migrate`: the schema of the database. */
export function addMigrate(command: Command, { terminal, settle }: Desk): void {
  withDatabase(command)
    .option('--json', 'print JSON for programs')
    .action(async (options: MigrateOptions) => {
      const { runMigrate } = await import('./migrate.ts')
      settle(await runMigrate(terminal, options))
    })
}
