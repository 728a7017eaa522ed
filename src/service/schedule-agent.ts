import { invalid, Refusal } from '../api/refusals.ts'
import type { ScheduleInput } from '../contract/schedule.ts'
import { inlineAgentId, inlineKindOf } from '../core/executor/inline-agent.ts'
import { agentId, type OrgId, type ScheduleId } from '../domain/ids.ts'
import type { Parsed } from '../domain/input.ts'
import { parseZone, UTC, type Zone } from '../core/time/zone.ts'
import type { OrgRow } from '../features/access/orgs-store.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { executorIn, type WokenAgent } from './schedule-input.ts'
import type { TurnReads } from './turn/turn-reads.ts'

/** The org, which is there. */
export function known(org: OrgRow | undefined, id: OrgId): OrgRow {
  if (org === undefined) throw new Refusal('NOT_FOUND', `There is no org ${id}`)
  return org
}

/** The zone was checked when it was set; a server that has forgotten it is no reason to refuse a schedule. */
export function zoneOf(org: OrgRow): Zone {
  const zone = parseZone('default_timezone', org.defaultTimezone)
  return zone.ok ? zone.value : UTC
}

/** The agent that a schedule wakes: the one it brings, names, had before, or the org's own. */
export async function agentFor(
  load: TurnReads['agent'],
  asked: {
    readonly org: OrgRow
    readonly input: ScheduleInput
    readonly existing: ScheduleRow | null
    readonly id: ScheduleId
  },
): Promise<WokenAgent> {
  const { org, input, existing } = asked
  const executor = accepted(executorIn(input, existing))
  if (executor !== null) return { id: inlineAgentId(executor.kind, asked.id), executor, defaultSession: null }
  const before = existing === null || inlineKindOf(existing.agentId) !== null ? null : existing.agentId
  const id = input.agent_id ?? before ?? org.defaultAgentId
  const field = 'agent_id'
  if (id === null) throw invalid([{ field, value: undefined, message: 'is missing, and the org has no default agent' }])
  const agent = await load(agentId(id))
  const allowed = 'the id of an agent, as the list of agents has it'
  if (agent === undefined) throw invalid([{ field, value: id, message: 'names no agent of the org', allowed }])
  return agent
}

/** What was read, or a refusal with every flaw. */
export function accepted<T>(read: Parsed<T>): T {
  if (!read.ok) throw invalid(read.flaws)
  return read.value
}
