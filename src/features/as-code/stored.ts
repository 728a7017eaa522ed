import { createHash } from 'node:crypto'
import { Refusal } from '../../api/refusals.ts'
import type { NamedResource } from '../../domain/as-code/compare.ts'
import type { OrgId } from '../../domain/ids.ts'
import { sortedJson } from '../../domain/json.ts'
import { addAll } from '../../domain/long-lists.ts'
import type { Zone } from '../../domain/time/zone.ts'
import { loadOrg, type OrgRow } from '../access/orgs-store.ts'
import { type AgentRow, listAgents } from '../agents/store.ts'
import { budgetFields, shownAgent, shownSchedule, shownTarget } from './fields.ts'
import { type BudgetWithPeriods, loadBudgets } from '../budgets/store.ts'
import { listChannels } from '../channels/store.ts'
import { loadHeartbeats } from '../heartbeats/store.ts'
import { existingOrg, orgZone } from '../schedules/agent-and-target.ts'
import { ownBudgetId } from '../schedules/budget.ts'
import { listSchedules, type ScheduleCursor, type ScheduleRow } from '../schedules/store.ts'
import { listTargets, type TargetRow } from '../targets/store.ts'
import type { Connection } from '../../platform/db/database.ts'
import { column, columns } from '../../platform/db/table.ts'

const sizes = columns({
  bytes: column.bigint(`((select coalesce(sum(octet_length(executor::text)), 0) from agent where org_id = $1)
      + (select coalesce(sum(coalesce(payload_bytes, 0) + octet_length(input::text)), 0) from schedule
          where org_id = $1))::bigint`),
})

/** The size in bytes of all agents and schedules of an org. */
async function measureDocument(connection: Connection, orgId: OrgId): Promise<number> {
  return sizes.only(await connection.query(`select ${sizes.list}`, [orgId])).bytes
}

/** The stored objects of an org that a document can contain. */
export interface StoredObjects {
  readonly org: OrgRow
  readonly zone: Zone
  readonly agents: readonly AgentRow[]
  readonly targets: readonly TargetRow[]
  /** Created by users. A document does not contain schedules that agents create for themselves. */
  readonly schedules: readonly ScheduleRow[]
  /** Created by agents for themselves. */
  readonly owned: readonly ScheduleRow[]
  /** Without budgets of restricted keys and of schedules. */
  readonly budgets: readonly BudgetWithPeriods[]
  /** Why an agent cannot be deleted, for uses that a document does not contain. */
  readonly needed: ReadonlyMap<string, string>
}

/** The maximum number of objects of a kind in a document. */
const MAX_STORED = 10_000
const PAGE = 1_000

/** The maximum size, because a document is processed in memory as a whole. */
const MAX_DOCUMENT_BYTES = 32 << 20

/** Loads all stored objects that a document can contain. */
export async function loadStoredObjects(connection: Connection, orgId: OrgId): Promise<StoredObjects> {
  const org = existingOrg(await loadOrg(connection, orgId), orgId)
  if ((await measureDocument(connection, orgId)) > MAX_DOCUMENT_BYTES)
    throw new Refusal(
      'CONFLICT',
      `The agents and schedules of the org exceed ${MAX_DOCUMENT_BYTES >> 20} MiB, which is the maximum of a document`,
    )
  const agents = await listAgents(connection, { orgId })
  const schedules = await allSchedules(connection, orgId)
  const targets = await listTargets(connection, { orgId, after: null, limit: MAX_STORED + 1 })
  for (const [kind, rows] of Object.entries({ agents, schedules, targets }))
    if (rows.length > MAX_STORED)
      throw new Refusal('CONFLICT', `The org has more than ${MAX_STORED} ${kind}, which is the maximum of a document`)
  const own = new Set<string>(schedules.map(({ id }) => ownBudgetId(id)))
  return {
    ...{ org, zone: orgZone(org), agents, targets },
    schedules: schedules.filter(({ owner }) => owner === null),
    owned: schedules.filter(({ owner }) => owner !== null),
    budgets: (await loadBudgets(connection, { orgId })).filter(
      ({ id, scope }) => scope.kind !== 'owner' && !own.has(id),
    ),
    needed: await neededAgents(connection, orgId, agents),
  }
}

async function allSchedules(connection: Connection, orgId: OrgId): Promise<readonly ScheduleRow[]> {
  const found: ScheduleRow[] = []
  let after: ScheduleCursor | null = null
  for (;;) {
    const choice = { orgId, state: null, kind: null, agentId: null, text: null, failing: null }
    const rows = await listSchedules(connection, { ...choice, sort: 'created_at', after, limit: PAGE })
    addAll(found, rows)
    const last = rows.at(-1)
    if (rows.length < PAGE || last === undefined || found.length > MAX_STORED) return found
    after = { value: last.createdAt, id: last.id }
  }
}

async function neededAgents(
  connection: Connection,
  orgId: OrgId,
  agents: readonly AgentRow[],
): Promise<ReadonlyMap<string, string>> {
  const heartbeats = await loadHeartbeats(connection, { orgId, agentIds: agents.map(({ id }) => id) })
  const channels = await listChannels(connection, { orgId, after: null, limit: MAX_STORED })
  return new Map([
    ...channels.map(({ agentId, name }) => [agentId, `channel ${name} sends its messages to it`] as const),
    ...heartbeats.flatMap(({ agentId, enabled }) => (enabled ? [[agentId, 'its heartbeat is enabled'] as const] : [])),
  ])
}

/** The ids and names of rows. */
export const calledOf = (rows: readonly { readonly id: string; readonly name: string }[]): readonly NamedResource[] =>
  rows.map(({ id, name }) => ({ id, name }))

/** A digest of everything a plan depends on: the same digest and the same document give the same plan. */
export function fingerprint({ org, agents, targets, schedules, budgets }: StoredObjects): string {
  const parts = [
    [org.defaultAgentId, org.defaultTimezone],
    agents.map((row) => [row.id, shownAgent(row)]),
    targets.map((row) => [row.id, shownTarget(row)]),
    schedules.map((row) => [row.id, shownSchedule(row)]),
    budgets.map((row) => [row.id, budgetFields(row)]),
  ]
  return digestOf(parts)
}

/** A short hash of a value. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(sortedJson(value)).digest('hex').slice(0, 32)
