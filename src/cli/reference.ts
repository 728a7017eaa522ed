import { Command } from 'commander'
import { describeCommands } from './commands.ts'
import type { Desk } from './remote/talk.ts'

/** One command as the reference shows it. */
export interface CommandEntry {
  /** The heading under which it is listed. */
  readonly heading: string
  /** With its arguments: `schedules get <id>`. */
  readonly usage: string
  readonly about: string
  readonly options: readonly { readonly flags: string; readonly about: string; readonly usual: string | null }[]
}

/** Every command there is, in the order in which help lists them. Runs none of them. */
export async function listCommands(): Promise<readonly CommandEntry[]> {
  // Nothing is carried out, so nothing of the desk is touched.
  const program = await describeCommands(new Command('escapement'), {} as Desk)
  return program.commands.flatMap((command) => entriesOf(command, command.helpGroup().replace(/:$/, ''), []))
}

/** The arguments of a command, as they are written: `<id>`. */
export const argumentsOf = ({ registeredArguments }: Command): readonly string[] =>
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
