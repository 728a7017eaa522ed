import type { AgentInput } from '../agents/schema.ts'
import type { CrontabInput, ImportReport } from './schema.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import { commandRefusal, NO_COMMANDS, type CommandRules } from '../../executors/command/options.ts'
import { plainCommand } from '../../core/import/command-line.ts'
import { planCrontab, type PlannedJob } from '../../core/import/crontab.ts'
import type { Caller } from '../../service/caller.ts'
import type { Ports } from '../../service/ports.ts'
import { zoneFor } from '../../service/schedule-words.ts'
import { carry, judgeImport, type Unwanted, type Wanted } from './service.ts'
import { shortNameOf } from '../../service/import/mark.ts'

/** Takes over a crontab, or says what would become of it. */
export async function importCrontab(ports: Ports, caller: Caller, input: CrontabInput): Promise<ImportReport> {
  await judgeImport(ports, caller, input)
  const zone = await zoneFor(ports, caller.orgId, input.timezone)
  const agent = input.agent_id ?? null
  const { jobs, others } = planCrontab(input.text, { system: input.system === true, toAgent: agent !== null })
  const rules = ports.commands?.() ?? NO_COMMANDS
  const seen = jobs.map((job) =>
    wantedOf(job, { input, zone: zone.name, rules, isOwner: caller.isOperatorOwner === true }),
  )
  return carry(ports, caller, {
    ...{ source: 'crontab', plan: input.plan === true, zone },
    wanted: seen.flatMap((one) => ('identity' in one ? [one] : [])),
    others: [...others, ...seen.flatMap((one) => ('identity' in one ? [] : [one]))],
  })
}

interface Asked {
  readonly input: CrontabInput
  readonly zone: string
  readonly rules: CommandRules
  readonly isOwner: boolean
}

function wantedOf(job: PlannedJob, asked: Asked): Wanted | Unwanted {
  const { input, zone } = asked
  const { line, text, column, command, description, identity } = job
  const work =
    input.agent_id === undefined || input.agent_id === null ? commandWork(job, asked) : promptWork(job, input.agent_id)
  if (typeof work === 'string')
    return { line, text, column: null, outcome: 'refused', name: nameOf(command), notes: [work] }
  const { target_id: target } = input
  const delivery = target === undefined || target === null ? {} : { delivery: { target_id: target } }
  const fields: ScheduleInput = { cron: job.cron, timezone: job.timezone ?? zone, ...work.fields, ...delivery }
  const said =
    job.timezone === null && input.timezone === undefined
      ? [`read in ${zone}, the zone of the org: the file names none`]
      : []
  return {
    ...{ line, text, column, name: nameOf(command), description, identity, fields },
    ...{ enabled: input.disabled !== true, agent: work.agent, notes: [...job.notes, ...said] },
  }
}

const MOST_NAME = 60

const nameOf = (command: string): string =>
  command.length <= MOST_NAME ? command : `${command.slice(0, MOST_NAME - 1).trimEnd()}…`

interface LineWork {
  readonly fields: ScheduleInput
  readonly agent: Wanted['agent']
}

/** The line as something to read: what it would run, and what that would be given. */
const promptWork = ({ command, stdin }: PlannedJob, agent: string): LineWork => ({
  fields: { agent_id: agent, payload: { prompt: stdin === null ? command : `${command}\n\n${stdin.trimEnd()}` } },
  agent: null,
})

/**
 * The line as a program that is started: by itself where it needs no shell, else by the shell. The command stands in the
 * agent and not in the payload, or whoever may write schedules could start anything.
 */
function commandWork(job: PlannedJob, { rules, isOwner }: Asked): LineWork | string {
  if (!isOwner) return 'only an owner of the operator org takes over commands; with --agent the line becomes a prompt'
  const plain = plainCommand(job.command)
  const ways = [...(plain === null ? [] : [plain]), { program: job.interpreter, args: ['-c', job.command] }]
  const way = ways.find(({ program }) => commandRefusal({ program, cwd: null }, rules) === null)
  if (way === undefined)
    return refusalOf(
      ways.map(({ program }) => program),
      rules,
    )
  const executor = { kind: 'command', ...way, env: job.env, stdin: job.stdin ?? '' } as const
  const agent: AgentInput & { readonly id: string } = {
    ...{ id: `cron-${shortNameOf(executor)}`, name: nameOf(job.command), executor },
    description: 'Runs a line of a crontab.',
  }
  return { fields: { agent_id: agent.id, payload: null }, agent }
}

function refusalOf(programs: readonly string[], { enabled }: CommandRules): string {
  const listed = [...new Set(programs)].join(' or ')
  const first = enabled ? '' : 'executors.command.enabled is false: '
  return `${first}the operator lists ${listed} in executors.command.programs of the file of the server; or give the line to an agent as a prompt (--agent)`
}
