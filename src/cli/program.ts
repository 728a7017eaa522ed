import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { PACKAGE_ROOT } from '../platform/package-root.ts'
import { describeCommands } from './commands.ts'
import { argumentsOf } from './reference.ts'
import { overview } from './overview.ts'
import { EXIT, write, type ExitCode, type Terminal } from './terminal.ts'

/** Runs one command line and answers its exit code. Never ends the process itself. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  if (args.length === 0) {
    await write(terminal.stdout, overview(terminal.now()))
    return EXIT.ok
  }
  let code: ExitCode = EXIT.ok
  const program = beginProgram(terminal)
  await describeCommands(program, { terminal, version: ownVersion(), settle: (outcome) => (code = outcome) }, args)
  try {
    await program.parseAsync(meant(program, args), { from: 'user' })
    return code
  } catch (error) {
    // Commander has already told the user; help and version arrive here too, as endings with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    throw error
  }
}

/** `help x` of what is no command is told so, with what comes near, as `x` itself would be. */
function meant({ commands }: Command, args: readonly string[]): readonly string[] {
  const [first, about] = args
  const isUnknown = about !== undefined && !['help', ...commands.map((one) => one.name())].includes(about)
  return first === 'help' && isUnknown ? args.slice(1) : args
}

function beginProgram(terminal: Terminal): Command {
  return (
    new Command('escapement')
      .description('The scheduling control plane for AI agents.')
      .version(ownVersion(), '-V, --version', 'print the version')
      .helpOption('-h, --help', 'show help')
      // Options of commands that are not loaded are not known.
      .configureHelp({ subcommandTerm: (command) => [command.name(), ...argumentsOf(command)].join(' ') })
      .exitOverride()
      .configureOutput({
        writeOut: (text) => terminal.stdout.write(text),
        writeErr: (text) => terminal.stderr.write(text),
      })
      .showHelpAfterError('(--help shows more)')
  )
}

/** The version of the package this file belongs to, both in a checkout and where it is installed. */
function ownVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')) as {
    readonly version: string
  }
  return manifest.version
}
