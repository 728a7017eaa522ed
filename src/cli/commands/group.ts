import type { Command } from 'commander'

/** Begins a group of commands: `escapement <name> …`. */
export const groupOf = (program: Command, name: string, about: string): Command =>
  program.command(name).description(about)

/** Begins a command of a group; `usage` is its name and its arguments: `get <id>`. */
export const commandOf = (group: Command, usage: string, about: string): Command =>
  group.command(usage).description(about)
