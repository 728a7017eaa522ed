import type { Command } from 'commander'

/** Begins a command of a group; `usage` is its name and its arguments: `get <id>`. */
export const commandOf = (group: Command, usage: string, about: string): Command =>
  group.command(usage).description(about)
