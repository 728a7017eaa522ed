import type { Command } from 'commander'
import { createStyle, type Style, widthOf } from '../output/style.ts'
import { type FieldNames, apiErrorText } from './refused.ts'
import { findServer, NoServerError, type ServerSelection } from './server.ts'
import { EXIT, type ExitCode, isTerminal, type Terminal, write } from '../terminal.ts'
import { type Client, createClient } from '../../client/client.ts'
import { EscapementError } from '../../client/errors.ts'
import type { Instant } from '../../domain/instant.ts'
import { type CommandEnvironment, readCommandEnvironment } from '../../platform/config/config.ts'

/** An invalid command line. The message says what is allowed. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}

/** What all commands share. */
export interface CliContext {
  readonly terminal: Terminal
  readonly settle: (code: ExitCode) => void
  readonly version: string
}

/** The output of a command, to a person or to a program. */
export interface Screen {
  readonly terminal: Terminal
  readonly environment: CommandEnvironment
  /** `--json`: print JSON only. */
  readonly json: boolean
  readonly style: Style
  /** Columns of the terminal; null: the output is not a terminal. */
  readonly width: number | null
  /** When the command started; relative times are computed from it. */
  readonly now: Instant
  readonly print: (text: string) => Promise<void>
  /** Writes to stderr if that is a terminal. */
  readonly note: (text: string) => Promise<void>
}

/** The context of a command that calls a server. */
export interface CliCall extends Screen {
  readonly client: Client
  readonly url: string
  /** The API key. */
  readonly key: string
}

/** Options of every command that calls a server. */
export interface CommonOptions extends ServerSelection {
  readonly json?: boolean
}

/** The action of a command; no exit code means success. */
type CommandAction<Options> = (
  call: CliCall,
  args: readonly string[],
  options: Options,
) => Promise<ExitCode | undefined> | Promise<void>

/** Adds a command to a group; `usage` is its name and arguments: `get <id>`. */
export const commandOf = (group: Command, usage: string, about: string): Command =>
  group.command(usage).description(about)

/** Sets the action of a command that calls a server: finds the server, runs the action, prints errors. */
export function remote<Options extends object>(
  cli: CliContext,
  command: Command,
  definition: { readonly work: CommandAction<Options>; readonly names?: FieldNames },
): void {
  withCommonOptions(command).action(async (...parameters: readonly unknown[]) => {
    // Commander passes the arguments, then the options, then the command.
    const options = parameters.at(-2) as Options & CommonOptions
    const args = parameters.slice(0, -2).flat() as readonly string[]
    const { work: action, names } = definition
    cli.settle(
      await runAction(
        cli,
        names ?? {},
        async (screen) => (await action(await openCliCall(screen, options), args, options)) ?? EXIT.ok,
      ),
    )
  })
}

/** Adds the options that select the server and the output format. */
export const withCommonOptions = (command: Command): Command =>
  command
    .option('--json', 'print JSON for programs')
    .option('--url <url>', 'server URL (default ESCAPEMENT_URL)')
    .option('--data <directory>', 'data directory of a local server (default ./.escapement)')

/** Runs the action of a command and prints its errors. */
export async function runAction(
  { terminal }: CliContext,
  names: FieldNames,
  action: (screen: Omit<Screen, 'json'>) => Promise<ExitCode | undefined> | Promise<void>,
): Promise<ExitCode> {
  const environment = readCommandEnvironment(terminal.variables)
  const errorStyle = createStyle(environment.colours && isTerminal(terminal.stderr))
  try {
    return (await action(screenOf(terminal, environment))) ?? EXIT.ok
  } catch (error) {
    if (error instanceof UsageError) {
      await write(terminal.stderr, `${error.message}\n`)
      return EXIT.usage
    }
    if (error instanceof NoServerError) {
      await write(terminal.stderr, `${error.message}\n`)
      return EXIT.unreachable
    }
    if (!(error instanceof EscapementError)) throw error
    await write(terminal.stderr, apiErrorText(error, names, errorStyle))
    return error.code === 'UNREACHABLE' || error.code === 'BAD_ANSWER' ? EXIT.unreachable : EXIT.refused
  }
}

const screenOf = (terminal: Terminal, environment: CommandEnvironment): Omit<Screen, 'json'> => ({
  ...{ terminal, environment },
  style: createStyle(environment.colours && isTerminal(terminal.stdout)),
  width: widthOf(terminal.stdout),
  now: terminal.now(),
  print: (text) => write(terminal.stdout, text),
  note: (text) => (isTerminal(terminal.stderr) ? write(terminal.stderr, text) : Promise.resolve()),
})

/** Completes a screen with the output format; JSON output has no notes. */
export const withOutputFormat = (screen: Omit<Screen, 'json'>, json: boolean): Screen => ({
  ...{ ...screen, json },
  ...(json ? { note: () => Promise.resolve() } : {}),
})

/** Finds the server and creates a client for it. */
export async function openCliCall(screen: Omit<Screen, 'json'>, options: CommonOptions): Promise<CliCall> {
  const { terminal, environment } = screen
  const server = await findServer(options, { environment, cwd: terminal.cwd ?? process.cwd() })
  return {
    ...withOutputFormat(screen, options.json === true),
    ...{ url: server.url.replace(/\/+$/, ''), key: server.key, client: createClient(server) },
  }
}
