import type { AgentId, OrgId, ProviderName, RunId, SessionKey } from '../../domain/ids.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import type { Restrictions } from '../../domain/access/restrictions.ts'
import type { Instant } from '../../domain/instant.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { firstStartSql } from '../runs/store.ts'
import { readPage, type ListedRows } from '../../platform/db/page.ts'
import { column, columns, table, toTimestamp, type RowOf } from '../../platform/db/table.ts'

/** The kind of an executor, and its options. */
export interface AgentExecutor {
  readonly kind: string
  readonly [option: string]: unknown
}

const agents = table('agent', {
  orgId: column.text<OrgId>(),
  id: column.text<AgentId>(),
  name: column.text(),
  description: column.text(),
  executor: column.json<AgentExecutor>(),
  retryPolicy: column.json<RetryPolicy | null>(),
  timeoutSeconds: column.int<number | null>(),
  maxConcurrent: column.int<number | null>(),
  contextWindow: column.int<number | null>(),
  /** The session that `main` stands for; null: `agent:<agent>:main`. */
  defaultSession: column.text<SessionKey | null>(),
  /** The provider it calls, if that has quotas. */
  provider: column.text<ProviderName | null>(),
  /** The restrictions of the keys of its attempts; null: they get no keys. */
  selfService: column.json<Restrictions | null>(),
  version: column.int(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
})

/** A row of `agent`. */
export type AgentRow = RowOf<typeof agents>

/** The agents of the org among the ids, in no particular order. */
export async function loadAgents(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly AgentId[] },
): Promise<readonly AgentRow[]> {
  return agents.read(
    await connection.query(`select ${agents.list} from agent where org_id = $1 and id = any($2::text[])`, [
      wanted.orgId,
      wanted.ids,
    ]),
  )
}

/** All agents of the org, by id. */
export async function listAgents(
  connection: Connection,
  wanted: { readonly orgId: OrgId },
): Promise<readonly AgentRow[]> {
  return agents.read(
    await connection.query(`select ${agents.list} from agent where org_id = $1 order by id`, [wanted.orgId]),
  )
}

/** A page of the org's agents, by id, after a given id. */
export function listAgentPage(
  connection: Connection,
  page: { readonly orgId: OrgId; readonly after: AgentId; readonly limit: number },
): Promise<ListedRows<AgentRow>> {
  return readPage(
    connection,
    {
      text: `select ${agents.list} from agent where org_id = $1 and id > $2 order by id limit $3`,
      ...{ values: [page.orgId, page.after, page.limit + 1], large: ['executor', 'description'], limit: page.limit },
    },
    agents,
  )
}

const CREATED = agents.omit('version')

/** Inserts agents; existing agents are not changed. Returns the ids of the inserted ones. */
export async function insertAgents(tx: Transaction, rows: readonly AgentRow[]): Promise<readonly AgentId[]> {
  const created = await tx.query(
    `${CREATED.insertMany} on conflict (org_id, id) do nothing returning id`,
    CREATED.lists(rows.map((agent) => ({ ...agent, updatedAt: agent.createdAt }))),
  )
  return agents
    .pick('id')
    .read(created)
    .map(({ id }) => id)
}

const EDITED = agents.omit('orgId', 'id', 'version', 'createdAt')

/** Updates an agent and increments its version. False if it was deleted or changed since it was read. */
export async function saveAgent(tx: Transaction, agent: AgentRow): Promise<boolean> {
  const rows = await tx.query(
    `update agent set ${EDITED.assigned(4)}, version = version + 1
     where org_id = $1 and id = $2 and version = $3 returning id`,
    [agent.orgId, agent.id, agent.version, ...EDITED.values(agent)],
  )
  return rows.length > 0
}

/** Deletes an agent; its runs stay. False if there was none. */
export async function deleteAgentRow(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: AgentId },
): Promise<boolean> {
  const rows = await tx.query('delete from agent where org_id = $1 and id = $2 returning id', [gone.orgId, gone.id])
  return rows.length > 0
}

const dayColumns = columns({
  /** Null: all days together. */
  at: column.instant<Instant | null>('day'),
  runs: column.bigint('count(*)'),
  success: column.bigint(`count(*) filter (where state = 'success')`),
  p50: column.float<number | null>('percentile_cont(0.5) within group (order by duration)'),
  p95: column.float<number | null>('percentile_cont(0.95) within group (order by duration)'),
  tokens: column.float('coalesce(sum(tokens), 0)::float8'),
  costMicros: column.float('coalesce(sum(cost), 0)::float8'),
})

/** How the runs of an agent went on one day, or in the whole time. */
export type AgentDay = RowOf<typeof dayColumns>

/** The ended runs of an agent since a time, by UTC day and in total. Runs that never started are left out. */
export async function loadAgentDays(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentId: AgentId; readonly from: Instant },
): Promise<readonly AgentDay[]> {
  return dayColumns.read(
    await connection.query(
      `select ${dayColumns.list} from (
         select date_trunc('day', created_at, 'UTC') as day, state,
           extract(epoch from finished_at - coalesce(${firstStartSql('r', 'r.attempt')}, started_at)) * 1000 as duration,
           coalesce((usage ->> 'inputTokens')::float8, 0) + coalesce((usage ->> 'outputTokens')::float8, 0) as tokens,
           (usage ->> 'costMicros')::float8 as cost
         from run r where org_id = $1 and agent_id = $2 and created_at >= $3::timestamptz
           and state in ('success', 'failed', 'timeout', 'cancelled')) ended
       group by grouping sets ((day), ()) order by day`,
      [wanted.orgId, wanted.agentId, toTimestamp(wanted.from)],
    ),
  )
}

const outcomeColumns = columns({
  agentId: column.text<AgentId>('a.id'),
  id: column.text<RunId | null>('o.id'),
  state: column.text<RunState>('o.state'),
  createdAt: column.instant('o.created_at'),
})

/** The last runs of some agents, newest first, at most `limit` of each. Reads the end of each agent's part of an index. */
export async function loadAgentOutcomes(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly AgentId[]; readonly limit: number },
): Promise<readonly RowOf<typeof outcomeColumns>[]> {
  return outcomeColumns.read(
    await connection.query(
      `select ${outcomeColumns.list}
         from agent a left join lateral (
           select r.id, r.created_at, coalesce(r.state,
                    (select p.state from pending p where p.org_id = r.org_id and p.id = r.id)) as state
             from (select org_id, id, state, created_at from run
                    where org_id = $1 and agent_id = a.id order by created_at desc, id desc limit $3) r
         ) o on true
        where a.org_id = $1 and a.id = any($2::text[])
        order by a.id, o.created_at desc, o.id desc`,
      [wanted.orgId, wanted.ids, wanted.limit],
    ),
  )
}
