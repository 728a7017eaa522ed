import type { ImportInput, ImportReport } from './schema.ts'
import { invalid } from '../../api/refusals.ts'
import type { ScheduleInput } from '../schedules/schema.ts'
import { parseClawJobs, type PlannedClawJob } from '../../domain/import/openclaw.ts'
import { agentId, type OrgId } from '../../domain/ids.ts'
import { loadAgents } from '../agents/store.ts'
import { listTargets, type TargetRow } from '../targets/store.ts'
import type { Caller } from '../access/caller.ts'
import type { Ports } from '../../engine/ports.ts'
import { zoneOrOrgDefault } from '../schedules/preview.ts'
import { runImport, checkImport, type SkippedLine, type ImportItem } from './service.ts'

/** Imports a jobs file of OpenClaw, or returns the plan. */
export async function importClawJobs(ports: Ports, caller: Caller, input: ImportInput): Promise<ImportReport> {
  await checkImport(ports, caller, input)
  const zone = await zoneOrOrgDefault(ports, caller.orgId, input.timezone)
  const jobs = parseClawJobs(input.text)
  if (typeof jobs === 'string') throw invalid([{ field: 'text', value: undefined, message: jobs }])
  const planned = jobs.flatMap((job) => ('refused' in job ? [] : [job]))
  const context: ClawContext = {
    ...{ input, zone: zone.name, now: ports.clock.now() },
    agents: await knownAgents(ports, caller.orgId, planned),
    targets: await listTargets(ports.database, { orgId: caller.orgId, after: null, limit: MAX_TARGETS }),
  }
  const refused: readonly SkippedLine[] = jobs.flatMap((job) =>
    'refused' in job
      ? [
          {
            line: job.line,
            text: job.text,
            name: job.name,
            column: null,
            outcome: 'refused' as const,
            notes: [job.refused],
          },
        ]
      : [],
  )
  const seen = planned.map((job) => clawItem(job, planned, context))
  return runImport(ports, caller, {
    ...{ source: 'openclaw', plan: input.plan === true, zone },
    wanted: seen.flatMap((one) => ('identity' in one ? [one] : [])),
    others: [...refused, ...seen.flatMap((one) => ('identity' in one ? [] : [one]))],
  })
}

/** The maximum number of targets searched for a URL; orgs have few. */
const MAX_TARGETS = 200

interface ClawContext {
  readonly input: ImportInput
  readonly zone: string
  readonly now: number
  readonly agents: ReadonlySet<string>
  readonly targets: readonly TargetRow[]
}

async function knownAgents(
  { database }: Ports,
  orgId: OrgId,
  jobs: readonly PlannedClawJob[],
): Promise<ReadonlySet<string>> {
  const ids = jobs.flatMap(({ agent }) => (agent === null || agent.includes('\u0000') ? [] : [agentId(agent)]))
  return new Set((await loadAgents(database, { orgId, ids })).map(({ id }) => id))
}

function clawItem(job: PlannedClawJob, all: readonly PlannedClawJob[], context: ClawContext): ImportItem | SkippedLine {
  const { line, text, name, identity, description } = job
  const refuse = (note: string): SkippedLine => ({ line, text, name, column: null, outcome: 'refused', notes: [note] })
  const first = all.find((other) => other.identity === identity)
  if (first !== undefined && first !== job) return refuse(`has the id of job ${first.line}`)
  const { at } = job.fields
  if (typeof at === 'string' && Date.parse(at) <= context.now)
    return { ...refuse(`its time ${at} has passed`), outcome: 'left_out' }
  const agent = clawAgentOf(job, context)
  const delivery = clawDeliveryOf(job, context)
  const zone = clawZoneOf(job, context)
  const fields: ScheduleInput = { ...job.fields, ...zone.fields, ...agent.fields, ...delivery.fields }
  return {
    ...{ line, text, column: null, name: name.slice(0, 200), description, identity, fields, agent: null },
    ...{ enabled: job.enabled && context.input.disabled !== true },
    notes: [
      ...job.notes,
      ...zone.notes,
      ...agent.notes,
      ...delivery.notes,
      ...(job.enabled ? [] : ['is disabled in the file, and imported disabled']),
    ],
  }
}

interface FieldsAndNotes {
  readonly fields: ScheduleInput
  readonly notes: readonly string[]
}

function clawZoneOf({ fields }: PlannedClawJob, { zone, input }: ClawContext): FieldsAndNotes {
  if (fields['cron'] === undefined || fields['timezone'] !== undefined) return { fields: {}, notes: [] }
  const given = input.timezone === undefined || input.timezone === null
  const notes = given
    ? [`interpreted in ${zone}, the org's time zone, because the job sets none; OpenClaw uses that of its machine`]
    : []
  return { fields: { timezone: zone }, notes }
}

function clawAgentOf({ agent }: PlannedClawJob, { input, agents }: ClawContext): FieldsAndNotes {
  if (input.agent_id !== undefined && input.agent_id !== null)
    return { fields: { agent_id: input.agent_id }, notes: [] }
  if (agent === null) return { fields: {}, notes: [] }
  if (agents.has(agent)) return { fields: { agent_id: agent }, notes: [] }
  return {
    fields: {},
    notes: [`there is no agent ${agent}, so the default agent of the org is used; choose another with --agent`],
  }
}

/** A given target gets all results; otherwise the target with the same URL is used. */
function clawDeliveryOf({ delivery }: PlannedClawJob, { input, targets }: ClawContext): FieldsAndNotes {
  if (delivery === null) return { fields: {}, notes: [] }
  if (input.target_id !== undefined && input.target_id !== null)
    return { fields: { delivery: { target_id: input.target_id } }, notes: [] }
  const recipient = 'url' in delivery ? delivery.url : delivery.place
  const matching = 'url' in delivery ? targets.find(({ url }) => url === delivery.url) : undefined
  if (matching !== undefined) return { fields: { delivery: { target_id: matching.id } }, notes: [] }
  const what = `the delivery to ${recipient} is not imported; create a target for it and import again with --deliver-to`
  return { fields: {}, notes: [what] }
}
