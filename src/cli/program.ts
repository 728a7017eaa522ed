import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { runCronNext } from './cron-next.ts'
import { runCronPreview, type PreviewOptions } from './cron-preview.ts'
import { overview } from './overview.ts'
import { runServe, type ServeOptions } from './serve.ts'
import { EXIT, write, type ExitCode, type Terminal } from './terminal.ts'

/** Runs one command line and answers its exit code. Never ends the process itself. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  if (args.length === 0) {
    await write(terminal.stdout, overview(terminal.now()))
    return EXIT.ok
  }
  let code: ExitCode = EXIT.ok
  const program = describeCommands(terminal, (outcome) => (code = outcome))
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    // Commander has already told the user; help and version arrive here too, as endings with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    throw error
  }
}

function describeCommands(terminal: Terminal, settle: (code: ExitCode) => void): Command {
  const program = new Command('escapement')
    .description('The scheduling control plane for AI agents.')
    .version(ownVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'say what a command does')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .showHelpAfterError('(--help says more)')
  program
    .command('serve')
    .description('run the engine and the API in this process')
    .option('--port <port>', 'port to listen on; 0 takes a free one and prints it (default 7420)')
    .option('--host <host>', 'address to listen on (default 127.0.0.1)')
    .option('--data <directory>', 'directory of keys, sign-in link and embedded server (default ./.escapement)')
    .option('--database-url <url>', 'a PostgreSQL of your own instead of the embedded server')
    .option(
      '--config <file>',
      'configuration file (default <data>/config.yaml or ./escapement.yaml, where there is one)',
    )
    .action(async (options: ServeOptions) => settle(await runServe(terminal, options, { version: ownVersion() })))
  const cron = program.command('cron').description('ask the cron evaluator')
  cron
    .command('next')
    .description('answer JSON lines {"expr","from","tz"?,"dst"?,"dayMatch"?,"inclusive"?} with {"next"} or {"error"}')
    .action(async () => settle(await runCronNext(terminal)))
  cron
    .command('preview')
    .description('show when an expression fires, and what clock changes do to it')
    .argument('<expr>', 'the cron expression, quoted')
    .option('--tz <zone>', 'IANA time zone', 'UTC')
    .option('--dst <policy>', 'at clock changes: vixie, skip, shift or both', 'vixie')
    .option('--day-match <how>', 'when both day fields are restricted: or, and', 'or')
    .option('--count <n>', 'how many times to show', '10')
    .option('--from <time>', 'search after this RFC 3339 time instead of now')
    .option('--json', 'print one JSON object')
    .action(async (expr: string, options: PreviewOptions) => settle(await runCronPreview(terminal, expr, options)))
  return program
}

/** The version of the package this file belongs to, both in a checkout and where it is installed. */
function ownVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  return manifest.version
}
