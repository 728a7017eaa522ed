import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { describeCommands } from './commands.ts'
import { parseCronPlan } from './cron.ts'
import type { CliContext } from './remote/call.ts'
import { EXIT, type ExitCode, type Terminal, write } from './terminal.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { nextFire } from '../domain/time/cron.ts'
import { formatInZone } from '../domain/time/wall-clock.ts'
import { PACKAGE_ROOT } from '../platform/package-root.ts'

/** A command in the CLI reference. */
interface CommandEntry {
  /** The help heading it is listed under. */
  readonly heading: string
  /** With its arguments: `schedules get <id>`. */
  readonly usage: string
  readonly about: string
  readonly options: readonly { readonly flags: string; readonly about: string; readonly usual: string | null }[]
}

/** Lists all commands in the order of the help, without running any. */
export async function listCommands(): Promise<readonly CommandEntry[]> {
  // No action runs, so the context is never used.
  const program = await describeCommands(new Command('escapement'), {} as CliContext)
  return program.commands.flatMap((command) => entriesOf(command, command.helpGroup().replace(/:$/, ''), []))
}

/** The arguments of a command as help writes them: `<id>`. */
const argumentsOf = ({ registeredArguments }: Command): readonly string[] =>
  registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name()
    return argument.required ? `<${name}>` : `[${name}]`
  })

function entriesOf(command: Command, heading: string, before: readonly string[]): readonly CommandEntry[] {
  const words = [...before, command.name()]
  if (command.commands.length > 0) return command.commands.flatMap((one) => entriesOf(one, heading, words))
  const listed = command.options.filter(({ hidden }) => !hidden)
  const options = listed.map(({ flags, description, defaultValue }) => ({
    flags,
    about: description,
    usual: typeof defaultValue === 'string' ? defaultValue : null,
  }))
  return [{ heading, usage: [...words, ...argumentsOf(command)].join(' '), about: command.description(), options }]
}

const EXAMPLE = { expr: '0 9 * * 1-5', tz: 'Europe/Berlin' }
const EXAMPLE_COUNT = 3

/** The text for `escapement` without arguments. */
function overview(now: Instant): string {
  return [
    'Escapement, the scheduling control plane for AI agents.',
    '',
    'Runs messages, schedules, heartbeats and tasks through one queue, and records a reason for every run.',
    '',
    'Get started (in a checkout, type npm start -- instead of escapement):',
    '  escapement serve                                          start a server on this machine',
    '  escapement schedules create --name Look --every 30m       create a schedule that runs its agent',
    '  escapement runs watch                                     watch runs live',
    '  escapement explain 09:00                                  explain what ran at a time, or why nothing did',
    '  escapement chat echo                                      chat with an agent',
    '  escapement doctor                                         find problems',
    '',
    'Without a server:',
    '  escapement simulate --every 5m --takes 7m --for 1h        simulate a schedule and explain each decision',
    `  escapement cron preview "${EXAMPLE.expr}" --tz ${EXAMPLE.tz}   show when a cron expression fires`,
    '  escapement cron next                                      evaluate JSON lines from stdin, for programs',
    '',
    `"${EXAMPLE.expr}" in ${EXAMPLE.tz} fires next at:`,
    ...exampleFires(now),
    '',
    'List all commands with escapement --help, show one with escapement help COMMAND. README.md links to the documentation.',
    '',
  ].join('\n')
}

function exampleFires(now: Instant): readonly string[] {
  const plan = parseCronPlan(EXAMPLE)
  if (!plan.ok) return []
  const fires: string[] = []
  for (let at = nextFire(plan.value, now); at !== null && fires.length < EXAMPLE_COUNT; at = nextFire(plan.value, at))
    fires.push(`  ${formatInZone(plan.value.zone, at)}   ${formatInstant(at)}`)
  return fires
}

/** Runs one command line and returns its exit code. Never ends the process. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  if (args.length === 0) {
    await write(terminal.stdout, overview(terminal.now()))
    return EXIT.ok
  }
  let code: ExitCode = EXIT.ok
  const program = createProgram(terminal)
  await describeCommands(program, { terminal, version: ownVersion(), settle: (outcome) => (code = outcome) }, args)
  try {
    await program.parseAsync(correctedHelpArguments(program, args), { from: 'user' })
    return code
  } catch (error) {
    // Commander has printed the message; help and version arrive here too, with exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    throw error
  }
}

/** Treats `help x` of an unknown command as `x`, so that the error suggests similar commands. */
function correctedHelpArguments({ commands }: Command, args: readonly string[]): readonly string[] {
  const [first, about] = args
  const isUnknown = about !== undefined && !['help', ...commands.map((one) => one.name())].includes(about)
  return first === 'help' && isUnknown ? args.slice(1) : args
}

function createProgram(terminal: Terminal): Command {
  return (
    new Command('escapement')
      .description('The scheduling control plane for AI agents.')
      .version(ownVersion(), '-V, --version', 'print the version')
      .helpOption('-h, --help', 'show help')
      // Leaves out `[options]`: the options of commands that are not loaded are unknown.
      .configureHelp({ subcommandTerm: (command) => [command.name(), ...argumentsOf(command)].join(' ') })
      .exitOverride()
      .configureOutput({
        writeOut: (text) => terminal.stdout.write(text),
        writeErr: (text) => terminal.stderr.write(text),
      })
      .showHelpAfterError('(see --help)')
  )
}

/** The version in the package.json of this package. */
function ownVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')) as {
    readonly version: string
  }
  return manifest.version
}
