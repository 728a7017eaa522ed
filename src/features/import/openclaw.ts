import type { ImportInput, ImportReport } from './schema.ts'
import { invalid } from '../../api/refusals.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import { readClawJobs, type PlannedClawJob } from '../../domain/import/openclaw.ts'
import { agentId, type OrgId } from '../../domain/ids.ts'
import { loadAgents } from '../agents/store.ts'
import { listTargets, type TargetRow } from '../../store/targets.ts'
import type { Caller } from '../../service/caller.ts'
import type { Ports } from '../../service/ports.ts'
import { zoneFor } from '../../service/schedule-words.ts'
import { carry, judgeImport, type Unwanted, type Wanted } from './service.ts'

/** Takes over a jobs file of OpenClaw, or says what would become of it. */
export async function importClawJobs(ports: Ports, caller: Caller, input: ImportInput): Promise<ImportReport> {
  await judgeImport(ports, caller, input)
  const zone = await zoneFor(ports, caller.orgId, input.timezone)
  const jobs = readClawJobs(input.text)
  if (typeof jobs === 'string') throw invalid([{ field: 'text', value: undefined, message: jobs }])
  const planned = jobs.flatMap((job) => ('refused' in job ? [] : [job]))
  const asked: Asked = {
    ...{ input, zone: zone.name, now: ports.clock.now() },
    agents: await knownAgents(ports, caller.orgId, planned),
    targets: await listTargets(ports.database, { orgId: caller.orgId, after: null, limit: MOST_TARGETS }),
  }
  const refused: readonly Unwanted[] = jobs.flatMap((job) =>
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
  const seen = planned.map((job) => wantedOf(job, planned, asked))
  return carry(ports, caller, {
    ...{ source: 'openclaw', plan: input.plan === true, zone },
    wanted: seen.flatMap((one) => ('identity' in one ? [one] : [])),
    others: [...refused, ...seen.flatMap((one) => ('identity' in one ? [] : [one]))],
  })
}

/** An org has a handful; the first ones are enough to look an address up. */
const MOST_TARGETS = 200

interface Asked {
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

function wantedOf(job: PlannedClawJob, all: readonly PlannedClawJob[], asked: Asked): Wanted | Unwanted {
  const { line, text, name, identity, description } = job
  const refuse = (note: string): Unwanted => ({ line, text, name, column: null, outcome: 'refused', notes: [note] })
  const first = all.find((other) => other.identity === identity)
  if (first !== undefined && first !== job) return refuse(`has the id of job ${first.line}`)
  const { at } = job.fields
  if (typeof at === 'string' && Date.parse(at) <= asked.now)
    return { ...refuse(`its moment ${at} has passed`), outcome: 'left_out' }
  const agent = agentOf(job, asked)
  const delivery = deliveryOf(job, asked)
  const zone = zoneOf(job, asked)
  const fields: ScheduleInput = { ...job.fields, ...zone.fields, ...agent.fields, ...delivery.fields }
  return {
    ...{ line, text, column: null, name: name.slice(0, 200), description, identity, fields, agent: null },
    ...{ enabled: job.enabled && asked.input.disabled !== true },
    notes: [
      ...job.notes,
      ...zone.notes,
      ...agent.notes,
      ...delivery.notes,
      ...(job.enabled ? [] : ['is off there, and off here']),
    ],
  }
}

interface Decided {
  readonly fields: ScheduleInput
  readonly notes: readonly string[]
}

function zoneOf({ fields }: PlannedClawJob, { zone, input }: Asked): Decided {
  if (fields['cron'] === undefined || fields['timezone'] !== undefined) return { fields: {}, notes: [] }
  const given = input.timezone === undefined || input.timezone === null
  const notes = given
    ? [`read in ${zone}, the zone of the org: the job names none, and OpenClaw takes that of its machine`]
    : []
  return { fields: { timezone: zone }, notes }
}

function agentOf({ agent }: PlannedClawJob, { input, agents }: Asked): Decided {
  if (input.agent_id !== undefined && input.agent_id !== null)
    return { fields: { agent_id: input.agent_id }, notes: [] }
  if (agent === null) return { fields: {}, notes: [] }
  if (agents.has(agent)) return { fields: { agent_id: agent }, notes: [] }
  return {
    fields: {},
    notes: [`there is no agent ${agent} here: the default agent of the org does it (--agent names another)`],
  }
}

/** A target that is named is for everything that was delivered there; an address is looked up among the targets. */
function deliveryOf({ delivery }: PlannedClawJob, { input, targets }: Asked): Decided {
  if (delivery === null) return { fields: {}, notes: [] }
  if (input.target_id !== undefined && input.target_id !== null)
    return { fields: { delivery: { target_id: input.target_id } }, notes: [] }
  const place = 'url' in delivery ? delivery.url : delivery.place
  const known = 'url' in delivery ? targets.find(({ url }) => url === delivery.url) : undefined
  if (known !== undefined) return { fields: { delivery: { target_id: known.id } }, notes: [] }
  const what = `the delivery to ${place} is not carried over: make a target for it and import again with --deliver-to`
  return { fields: {}, notes: [what] }
}
