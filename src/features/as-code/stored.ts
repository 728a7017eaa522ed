import { createHash } from 'node:crypto'
import { Refusal } from '../../api/refusals.ts'
import { addAll } from '../../domain/long-lists.ts'
import type { Called } from '../../core/as-code/match.ts'
import { textOf } from '../../core/as-code/same.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Zone } from '../../core/time/zone.ts'
import { listAgents, type AgentRow } from '../agents/store.ts'
import { loadBudgets, type BudgetOnRecord } from '../budgets/store.ts'
import { listChannels } from '../channels/store.ts'
import { measureDocument } from '../../store/document-size.ts'
import type { Connection } from '../../store/database.ts'
import { loadHeartbeats } from '../heartbeats/store.ts'
import { loadOrg, type OrgRow } from '../access/orgs-store.ts'
import { listSchedules, type ScheduleCursor } from '../../store/schedules.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { listTargets, type TargetRow } from '../../store/targets.ts'
import { ownBudgetId } from '../../service/schedule-budget.ts'
import { known, zoneOf } from '../../service/schedule-agent.ts'
import { shownAgent } from '../../service/as-code/agent-fields.ts'
import { budgetFields } from '../../service/as-code/budget-fields.ts'
import { shownSchedule } from '../../service/as-code/schedule-fields.ts'
import { shownTarget } from '../../service/as-code/target-fields.ts'

/** Everything of an org that a document can speak of, as it is stored. */
export interface Stored {
  readonly org: OrgRow
  readonly zone: Zone
  readonly agents: readonly AgentRow[]
  readonly targets: readonly TargetRow[]
  /** Those that people have made. What agents make for themselves is theirs and in no document. */
  readonly schedules: readonly ScheduleRow[]
  /** What agents have made for themselves. */
  readonly owned: readonly ScheduleRow[]
  /** Without those of guard rails, and without those that schedules bring with them. */
  readonly budgets: readonly BudgetOnRecord[]
  /** Why an agent is needed by something that no document speaks of. */
  readonly needed: ReadonlyMap<string, string>
}

/** More than a document can be about. */
const MOST_STORED = 10_000
const PAGE = 1_000

/** A document is read, compared and answered as a whole, in memory. */
const MAX_DOCUMENT_BYTES = 32 << 20

/** Reads everything that a document can speak of. */
export async function loadStored(connection: Connection, orgId: OrgId): Promise<Stored> {
  const org = known(await loadOrg(connection, orgId), orgId)
  if ((await measureDocument(connection, orgId)) > MAX_DOCUMENT_BYTES)
    throw new Refusal(
      'CONFLICT',
      `The agents and schedules of the org are above ${MAX_DOCUMENT_BYTES >> 20} MiB together; a document holds at most as much`,
    )
  const agents = await listAgents(connection, { orgId })
  const schedules = await allSchedules(connection, orgId)
  const targets = await listTargets(connection, { orgId, after: null, limit: MOST_STORED + 1 })
  for (const [kind, rows] of Object.entries({ agents, schedules, targets }))
    if (rows.length > MOST_STORED)
      throw new Refusal('CONFLICT', `The org has more than ${MOST_STORED} ${kind}; a document holds at most as many`)
  const own = new Set<string>(schedules.map(({ id }) => ownBudgetId(id)))
  return {
    ...{ org, zone: zoneOf(org), agents, targets },
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
    if (rows.length < PAGE || last === undefined || found.length > MOST_STORED) return found
    after = { value: last.createdAt, id: last.id }
  }
}

async function neededAgents(
  connection: Connection,
  orgId: OrgId,
  agents: readonly AgentRow[],
): Promise<ReadonlyMap<string, string>> {
  const beats = await loadHeartbeats(connection, { orgId, agentIds: agents.map(({ id }) => id) })
  const channels = await listChannels(connection, { orgId, after: null, limit: MOST_STORED })
  return new Map([
    ...channels.map(({ agentId, name }) => [agentId, `channel ${name} hands its messages to it`] as const),
    ...beats.flatMap(({ agentId, enabled }) => (enabled ? [[agentId, 'its heartbeat is switched on'] as const] : [])),
  ])
}

/** How things are called, for whoever looks them up by name. */
export const calledOf = (rows: readonly { readonly id: string; readonly name: string }[]): readonly Called[] =>
  rows.map(({ id, name }) => ({ id, name }))

/** A digest of everything a plan depends on. Two that are the same lead to the same plan for the same document. */
export function fingerprint({ org, agents, targets, schedules, budgets }: Stored): string {
  const facts = [
    [org.defaultAgentId, org.defaultTimezone],
    agents.map((row) => [row.id, shownAgent(row)]),
    targets.map((row) => [row.id, shownTarget(row)]),
    schedules.map((row) => [row.id, shownSchedule(row)]),
    budgets.map((row) => [row.id, budgetFields(row)]),
  ]
  return digestOf(facts)
}

/** A short name for what something says. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(textOf(value)).digest('hex').slice(0, 32)
