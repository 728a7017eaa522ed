import type { AgentPatch } from '../features/agents/schema.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import { commandRefusal, NO_COMMANDS, parseCommandOptions } from '../executors/command/options.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'

/**
 * A program runs on the operator's machine, so only an owner of the operator's org says which, and only among those that
 * the operator's file lists. Looked at before anything is stored, whatever way the agent came.
 */
export function judgeCommand(
  { commands }: Pick<Ports, 'commands'>,
  { isOperatorOwner = false }: Caller,
  { executor }: AgentPatch,
): void {
  if (executor?.kind !== 'command') return
  if (!isOperatorOwner)
    throw new Refusal('FORBIDDEN', 'Only an owner of the operator org makes agents that start programs')
  const read = parseCommandOptions('executor', executor)
  if (!read.ok) throw invalid(read.flaws)
  const refusal = commandRefusal(read.value, commands?.() ?? NO_COMMANDS)
  if (refusal === null) return
  const { field, message, allowed } = refusal
  const value = field === 'kind' ? 'command' : read.value[field]
  throw invalid([{ field: `executor.${field}`, value, message, ...(allowed === undefined ? {} : { allowed }) }])
}
