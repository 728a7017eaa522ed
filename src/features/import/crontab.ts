import type { AgentInput } from '../agents/schema.ts'
import type { CrontabInput, ImportReport } from './schema.ts'
import type { ScheduleInput } from '../schedules/schema.ts'
import { commandRefusal, NO_COMMANDS, type CommandRules } from '../../executors/command/options.ts'
import { plainCommand, planCrontab, type PlannedJob } from '../../domain/import/crontab.ts'
import type { Caller } from '../access/caller.ts'
import type { Ports } from '../../engine/ports.ts'
import { zoneOrOrgDefault } from '../schedules/preview.ts'
import { runImport, checkImport, type SkippedLine, type ImportItem } from './service.ts'
import { shortNameOf } from './imported.ts'

/** Imports a crontab, or returns the plan. */
export async function importCrontab(ports: Ports, caller: Caller, input: CrontabInput): Promise<ImportReport> {
  await checkImport(ports, caller, input)
  const zone = await zoneOrOrgDefault(ports, caller.orgId, input.timezone)
  const agent = input.agent_id ?? null
  const { jobs, others } = planCrontab(input.text, { system: input.system === true, toAgent: agent !== null })
  const rules = ports.commandRules?.() ?? NO_COMMANDS
  const seen = jobs.map((job) =>
    crontabItem(job, { input, zone: zone.name, rules, isOwner: caller.isOperatorOwner === true }),
  )
  return runImport(ports, caller, {
    ...{ source: 'crontab', plan: input.plan === true, zone },
    wanted: seen.flatMap((one) => ('identity' in one ? [one] : [])),
    others: [...others, ...seen.flatMap((one) => ('identity' in one ? [] : [one]))],
  })
}

interface CrontabContext {
  readonly input: CrontabInput
  readonly zone: string
  readonly rules: CommandRules
  readonly isOwner: boolean
}

function crontabItem(job: PlannedJob, context: CrontabContext): ImportItem | SkippedLine {
  const { input, zone } = context
  const { line, text, column, command, description, identity } = job
  const imported =
    input.agent_id === undefined || input.agent_id === null
      ? commandOfLine(job, context)
      : promptOfLine(job, input.agent_id)
  if (typeof imported === 'string')
    return { line, text, column: null, outcome: 'refused', name: lineName(command), notes: [imported] }
  const { target_id: target } = input
  const delivery = target === undefined || target === null ? {} : { delivery: { target_id: target } }
  const fields: ScheduleInput = { cron: job.cron, timezone: job.timezone ?? zone, ...imported.fields, ...delivery }
  const zoneNotes =
    job.timezone === null && input.timezone === undefined
      ? [`interpreted in ${zone}, the org's time zone, because the file sets none`]
      : []
  return {
    ...{ line, text, column, name: lineName(command), description, identity, fields },
    ...{ enabled: input.disabled !== true, agent: imported.agent, notes: [...job.notes, ...zoneNotes] },
  }
}

const MAX_NAME_LENGTH = 60

const lineName = (command: string): string =>
  command.length <= MAX_NAME_LENGTH ? command : `${command.slice(0, MAX_NAME_LENGTH - 1).trimEnd()}…`

interface ImportedCommand {
  readonly fields: ScheduleInput
  readonly agent: ImportItem['agent']
}

/** A crontab line as a prompt: its command and standard input. */
const promptOfLine = ({ command, stdin }: PlannedJob, agent: string): ImportedCommand => ({
  fields: { agent_id: agent, payload: { prompt: stdin === null ? command : `${command}\n\n${stdin.trimEnd()}` } },
  agent: null,
})

/**
 * A crontab line as a command: run directly if it needs no shell, else by the shell. The command is part of the agent
 * and not of the payload, because otherwise everyone with permission to write schedules could run any command.
 */
function commandOfLine(job: PlannedJob, { rules, isOwner }: CrontabContext): ImportedCommand | string {
  if (!isOwner)
    return 'only an owner of the operator org can import commands; use --agent to import the line as a prompt'
  const plain = plainCommand(job.command)
  const ways = [...(plain === null ? [] : [plain]), { program: job.interpreter, args: ['-c', job.command] }]
  const way = ways.find(({ program }) => commandRefusal({ program, cwd: null }, rules) === null)
  if (way === undefined)
    return commandRefusalNote(
      ways.map(({ program }) => program),
      rules,
    )
  const executor = { kind: 'command', ...way, env: job.env, stdin: job.stdin ?? '' } as const
  const agent: AgentInput & { readonly id: string } = {
    ...{ id: `cron-${shortNameOf(executor)}`, name: lineName(job.command), executor },
    description: 'Runs a line of a crontab.',
  }
  return { fields: { agent_id: agent.id, payload: null }, agent }
}

function commandRefusalNote(programs: readonly string[], { enabled }: CommandRules): string {
  const listed = [...new Set(programs)].join(' or ')
  const first = enabled ? '' : 'executors.command.enabled is false; '
  return `${first}the operator must list ${listed} in executors.command.programs of the server's configuration file; or import the line as a prompt for an agent (--agent)`
}
