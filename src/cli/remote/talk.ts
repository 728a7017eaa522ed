import type { Command } from 'commander'
import { createClient, type Client } from '../../client/client.ts'
import { EscapementError } from '../../client/errors.ts'
import { readCommandEnvironment, type CommandEnvironment } from '../../platform/config/config.ts'
import type { Instant } from '../../domain/instant.ts'
import { createStyle, widthOf, type Style } from '../output/style.ts'
import { EXIT, isTerminal, write, type ExitCode, type Terminal } from '../terminal.ts'
import { findPlace, NoServer, type PlaceOptions } from './place.ts'
import { refusedText, type FieldNames } from './refused.ts'
import { UsageError } from './usage.ts'

/** What the commands of a program share. */
export interface Desk {
  readonly terminal: Terminal
  readonly settle: (code: ExitCode) => void
  readonly version: string
}

/** Where a command says something, to a person or to a program. */
export interface Screen {
  readonly terminal: Terminal
  readonly environment: CommandEnvironment
  /** A program reads: JSON, and nothing else. */
  readonly json: boolean
  readonly style: Style
  /** Columns of the terminal; null when a program reads. */
  readonly width: number | null
  /** When the command began: what ages and distances are counted from. */
  readonly now: Instant
  readonly print: (text: string) => Promise<void>
  /** For a person who waits; a pipe stays quiet. */
  readonly note: (text: string) => Promise<void>
}

/** A command that talks to a server, and to whoever typed it. */
export interface Talk extends Screen {
  readonly client: Client
  readonly url: string
  /** What it shows there. */
  readonly key: string
}

/** Options of every command that talks to a server. */
export interface CommonOptions extends PlaceOptions {
  readonly json?: boolean
}

/** What a command does; without an answer it went well. */
export type Work<Options> = (
  talk: Talk,
  args: readonly string[],
  options: Options,
) => Promise<ExitCode | undefined> | Promise<void>

/** Begins a command of a group; `usage` is its name and its arguments: `get <id>`. */
export const commandOf = (group: Command, usage: string, about: string): Command =>
  group.command(usage).description(about)

/** Makes a command of `command`: finds the server, does the work, and tells what was refused. */
export function remote<Options extends object>(
  desk: Desk,
  command: Command,
  told: { readonly work: Work<Options>; readonly names?: FieldNames },
): void {
  withCommonOptions(command).action(async (...given: readonly unknown[]) => {
    // Commander hands over the arguments, then the options, then itself.
    const options = given.at(-2) as Options & CommonOptions
    const args = given.slice(0, -2).flat() as readonly string[]
    const { work, names } = told
    desk.settle(
      await carryOut(
        desk,
        names ?? {},
        async (screen) => (await work(await startTalk(screen, options), args, options)) ?? EXIT.ok,
      ),
    )
  })
}

/** Options that say where the server is and who reads the answer. */
export const withCommonOptions = (command: Command): Command =>
  command
    .option('--json', 'print JSON for programs')
    .option('--url <url>', 'address of the server (ESCAPEMENT_URL)')
    .option('--data <directory>', 'data directory of a server on this machine (default ./.escapement)')

/** Does the work of a command, and tells what was refused. */
export async function carryOut(
  { terminal }: Desk,
  names: FieldNames,
  work: (screen: Omit<Screen, 'json'>) => Promise<ExitCode | undefined> | Promise<void>,
): Promise<ExitCode> {
  const environment = readCommandEnvironment(terminal.variables)
  const complaints = createStyle(environment.colours && isTerminal(terminal.stderr))
  try {
    return (await work(screenOf(terminal, environment))) ?? EXIT.ok
  } catch (error) {
    if (error instanceof UsageError) {
      await write(terminal.stderr, `${error.message}\n`)
      return EXIT.usage
    }
    if (error instanceof NoServer) {
      await write(terminal.stderr, `${error.message}\n`)
      return EXIT.unreachable
    }
    if (!(error instanceof EscapementError)) throw error
    await write(terminal.stderr, refusedText(error, names, complaints))
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

/** The same for a reader who has said what they want to read. */
export const readBy = (screen: Omit<Screen, 'json'>, json: boolean): Screen => ({
  ...{ ...screen, json },
  ...(json ? { note: () => Promise.resolve() } : {}),
})

/** Finds the server. */
export async function startTalk(screen: Omit<Screen, 'json'>, options: CommonOptions): Promise<Talk> {
  const { terminal, environment } = screen
  const place = await findPlace(options, { environment, cwd: terminal.cwd ?? process.cwd() })
  return {
    ...readBy(screen, options.json === true),
    ...{ url: place.url.replace(/\/+$/, ''), key: place.key, client: createClient(place) },
  }
}
