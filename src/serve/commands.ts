import type { App } from '../app.ts'
import type { CommandRules } from '../core/executor/command-options.ts'
import { strangerOf } from '../executors/command/account.ts'
import { createCommandExecutor } from '../executors/command/execute.ts'
import { rememberOfAgents } from '../library/remembered.ts'
import { findCommandOptions } from '../service/command-agents.ts'
import { readAnsweredResult } from '../service/result-input.ts'
import type { Configuration } from './configuration.ts'

/** What the operator's file lets agents start. */
export const commandRules =
  ({ keeper }: Configuration): (() => CommandRules) =>
  () =>
    keeper.current().config.executors.command

/** Lets the node start programs, if the operator's file lists any. */
export function addCommands(app: App, configuration: Configuration): void {
  const rules = commandRules(configuration)
  if (!rules().enabled) return
  const { ports, parts } = app
  parts.ctx.executors.set(
    'command',
    createCommandExecutor({
      ...{ rules, readResult: readAnsweredResult, account: strangerOf() },
      optionsOf: rememberOfAgents(app, (attempt) => findCommandOptions(ports, attempt)),
    }),
  )
}
