import { Command, CommanderError } from 'commander'
import { describeCommands } from '../../../src/cli/commands.ts'
import type { CliContext } from '../../../src/cli/remote/call.ts'

/** The real program, of which nothing is carried out. */
async function program(): Promise<Command> {
  const made = new Command('escapement')
    .version('0', '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
  await describeCommands(made, {} as CliContext)
  disarm(made)
  return made
}

function disarm(command: Command): void {
  if (command.commands.length === 0) command.action(() => undefined)
  for (const one of command.commands) disarm(one)
}

const shared = await program()

/** What the program says against these arguments, or null. Runs nothing. */
export function refusalOf(args: readonly string[]): string | null {
  try {
    shared.parse(args, { from: 'user' })
    return null
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return error.exitCode === 0 ? null : error.message
  }
}

/**
 * What is wrong with the words of a command in a sentence, or null: the command and its options must exist, and whatever
 * it takes may be left out.
 */
export function strangeWordOf(args: readonly string[]): string | null {
  let command = shared
  for (const [index, word] of args.entries()) {
    if (word === '--') return null
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
    if (next !== undefined) command = next
    else if (word.startsWith('-') && word !== '-') {
      const name = word.split('=')[0] ?? ''
      const known = command.options.some(({ long, short }) => long === name || short === name)
      if (!known && !['--help', '-h', '--version', '-V'].includes(name))
        return `${commandOf(args, index)} has no ${name}`
    } else if (command.commands.length > 0 && word !== '…') return `there is no command ${commandOf(args, index + 1)}`
  }
  return null
}

const commandOf = (args: readonly string[], until: number): string => ['escapement', ...args.slice(0, until)].join(' ')
