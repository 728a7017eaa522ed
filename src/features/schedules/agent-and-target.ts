import { invalid, Refusal } from '../../api/refusals.ts'
import { inlineAgentId, inlineKindOf } from '../../domain/agent.ts'
import { agentId, type OrgId, type ScheduleId, targetId } from '../../domain/ids.ts'
import type { Parsed } from '../../domain/input.ts'
import { parseZone, UTC, type Zone } from '../../domain/time/zone.ts'
import { deliveryOfSchedule } from '../../engine/commands/announce.ts'
import type { TransactionReads } from '../../engine/transaction/reads.ts'
import type { OrgRow } from '../access/orgs-store.ts'
import { parseOwnExecutor, type ScheduleAgent } from './input.ts'
import type { ScheduleInput } from './schema.ts'
import type { ScheduleRow } from './store.ts'
import { loadTargets, type TargetRow } from '../targets/store.ts'
import type { Connection } from '../../platform/db/database.ts'

/** Returns the org, or refuses with NOT_FOUND when there is none. */
export function existingOrg(org: OrgRow | undefined, id: OrgId): OrgRow {
  if (org === undefined) throw new Refusal('NOT_FOUND', `There is no org ${id}`)
  return org
}

/** Falls back to UTC, so that a zone missing from this server's time zone data does not block every schedule. */
export function orgZone(org: OrgRow): Zone {
  const zone = parseZone('default_timezone', org.defaultTimezone)
  return zone.ok ? zone.value : UTC
}

/** The agent a schedule runs: its own executor, the named agent, the previous agent, or the org's default agent. */
export async function agentForSchedule(
  load: TransactionReads['agent'],
  request: {
    readonly org: OrgRow
    readonly input: ScheduleInput
    readonly existing: ScheduleRow | null
    readonly id: ScheduleId
  },
): Promise<ScheduleAgent> {
  const { org, input, existing } = request
  const executor = valueOrRefuse(parseOwnExecutor(input, existing))
  if (executor !== null) return { id: inlineAgentId(executor.kind, request.id), executor, defaultSession: null }
  const before = existing === null || inlineKindOf(existing.agentId) !== null ? null : existing.agentId
  const id = input.agent_id ?? before ?? org.defaultAgentId
  const field = 'agent_id'
  if (id === null) throw invalid([{ field, value: undefined, message: 'is missing, and the org has no default agent' }])
  const agent = await load(agentId(id))
  const allowed = 'the id of an agent of this org'
  if (agent === undefined) throw invalid([{ field, value: id, message: 'is not an agent of this org', allowed }])
  return agent
}

/** Returns the parsed value, or refuses with all its flaws. */
export function valueOrRefuse<T>(read: Parsed<T>): T {
  if (!read.ok) throw invalid(read.flaws)
  return read.value
}

/** The target named in an input, or null. An unknown target is refused, because its results would be lost silently. */
export async function deliveryTargetFor(
  reads: TransactionReads,
  { delivery }: ScheduleInput,
): Promise<TargetRow | null> {
  if (delivery === undefined || delivery === null) return null
  const target = await reads.target(targetId(delivery.target_id))
  if (target === undefined)
    throw invalid([
      {
        ...{ field: 'delivery.target_id', value: delivery.target_id, message: 'is not a target of this org' },
        allowed: 'the id of a target of this org',
      },
    ])
  return target
}

/** The targets of these schedules that are disabled. */
export async function disabledTargets(
  connection: Connection,
  orgId: OrgId,
  rows: readonly ScheduleRow[],
): Promise<ReadonlySet<string>> {
  const ids = rows.flatMap((row) => {
    const destination = deliveryOfSchedule(row)
    return destination !== null && 'target' in destination ? [destination.target] : []
  })
  if (ids.length === 0) return new Set()
  const targets = await loadTargets(connection, { orgId, ids: [...new Set(ids)] })
  return new Set(targets.filter(({ disabledAt }) => disabledAt !== null).map(({ id }) => id))
}
