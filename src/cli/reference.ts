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
export function listCommands(): readonly CommandEntry[] {
  const program = new Command('escapement')
  // Nothing is carried out, so nothing of the desk is touched.
  describeCommands(program, {} as Desk)
  return program.commands.flatMap((command) => entriesOf(command, command.helpGroup().replace(/:$/, ''), []))
}

function entriesOf(command: Command, heading: string, before: readonly string[]): readonly CommandEntry[] {
  const words = [...before, command.name()]
  if (command.commands.length > 0) return command.commands.flatMap((one) => entriesOf(one, heading, words))
  const given = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name()
    return argument.required ? `<${name}>` : `[${name}]`
  })
  const listed = command.options.filter(({ hidden }) => !hidden)
  const options = listed.map(({ flags, description, defaultValue }) => ({
    flags,
    about: description,
    usual: typeof defaultValue === 'string' ? defaultValue : null,
  }))
  return [{ heading, usage: [...words, ...given].join(' '), about: command.description(), options }]
}
