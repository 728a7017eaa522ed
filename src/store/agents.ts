import { agentId, orgId, providerName, sessionKey, type ProviderName } from '../core/ids.ts'
import type { AgentId, OrgId, SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { GuardRails } from '../core/rails/guard-rails.ts'
import type { RetryPolicy } from '../core/run/retry-policy.ts'
import type { Connection, Row, SqlValue, Transaction } from './database.ts'
import { readPage, type Listed } from './page.ts'
import { brandOrNull, columnsOf, jsonOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** How an agent's work is performed: the kind, and the options of that kind. */
export interface AgentExecutor {
  readonly kind: string
  readonly [option: string]: unknown
}

/** A row of `agent`. */
export interface AgentRow {
  readonly orgId: OrgId
  readonly id: AgentId
  readonly name: string
  readonly description: string
  readonly executor: AgentExecutor
  readonly retryPolicy: RetryPolicy | null
  readonly timeoutSeconds: number | null
  readonly maxConcurrent: number | null
  readonly contextWindow: number | null
  /** Where `main` leads; null: `agent:<agent>:main`. */
  readonly defaultSession: SessionKey | null
  /** What it calls, if that has quotas. */
  readonly provider: ProviderName | null
  /** How far what its attempts make by themselves may go; null: they make nothing. */
  readonly selfService: GuardRails | null
  readonly version: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const COLUMNS = `org_id, id, name, description, executor, retry_policy, timeout_seconds, max_concurrent, context_window,
  default_session, version, created_at, updated_at, provider, self_service`

/** The agents of the org among the ids, in no particular order. */
export async function loadAgents(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly AgentId[] },
): Promise<readonly AgentRow[]> {
  const rows = await connection.query(`select ${COLUMNS} from agent where org_id = $1 and id = any($2::text[])`, [
    wanted.orgId,
    wanted.ids,
  ])
  return rows.map(agentOf)
}

/** All agents of the org, by id. */
export async function listAgents(
  connection: Connection,
  wanted: { readonly orgId: OrgId },
): Promise<readonly AgentRow[]> {
  const rows = await connection.query(`select ${COLUMNS} from agent where org_id = $1 order by id`, [wanted.orgId])
  return rows.map(agentOf)
}

/** A page of the org's agents, by id, after the one that is named. */
export function listAgentPage(
  connection: Connection,
  page: { readonly orgId: OrgId; readonly after: AgentId; readonly limit: number },
): Promise<Listed<AgentRow>> {
  return readPage(
    connection,
    {
      text: `select ${COLUMNS} from agent where org_id = $1 and id > $2 order by id limit $3`,
      ...{ values: [page.orgId, page.after, page.limit + 1], large: ['executor', 'description'], limit: page.limit },
    },
    agentOf,
  )
}

/** Makes agents; those that exist stay as they are. Answers with the ids of those that were made. */
export async function insertAgents(tx: Transaction, agents: readonly AgentRow[]): Promise<readonly AgentId[]> {
  const rows = await tx.query(
    `insert into agent (org_id, id, name, description, executor, retry_policy, timeout_seconds, max_concurrent,
       context_window, default_session, provider, self_service, created_at, updated_at)
     select *, created_at from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::jsonb[], $7::int[],
       $8::int[], $9::int[], $10::text[], $11::text[], $12::jsonb[], $13::timestamptz[])
       as n (org_id, id, name, description, executor, retry_policy, timeout_seconds, max_concurrent, context_window,
             default_session, provider, self_service, created_at)
     on conflict (org_id, id) do nothing returning id`,
    [
      ...columnsOf(
        agents,
        (agent) => agent.orgId,
        (agent) => agent.id,
      ),
      ...columnsOf(agents, ...EDITABLE),
      agents.map((agent) => toTimestamp(agent.createdAt)),
    ],
  )
  return rows.map((row) => agentId(row['id'] as string))
}

/** Writes an agent back, one version on. False when it is gone or was changed since it was read. */
export async function saveAgent(tx: Transaction, agent: AgentRow): Promise<boolean> {
  const rows = await tx.query(
    `update agent set name = $4, description = $5, executor = $6::jsonb, retry_policy = $7::jsonb, timeout_seconds = $8,
       max_concurrent = $9, context_window = $10, default_session = $11, provider = $12,
       self_service = $13::jsonb, updated_at = $14::timestamptz, version = version + 1
     where org_id = $1 and id = $2 and version = $3 returning id`,
    [agent.orgId, agent.id, agent.version, ...EDITABLE.map((of) => of(agent)), toTimestamp(agent.updatedAt)],
  )
  return rows.length > 0
}

/** Removes an agent; its runs stay. False when there was none. */
export async function deleteAgent(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: AgentId },
): Promise<boolean> {
  const rows = await tx.query('delete from agent where org_id = $1 and id = $2 returning id', [gone.orgId, gone.id])
  return rows.length > 0
}

const EDITABLE: readonly ((agent: AgentRow) => SqlValue)[] = [
  (agent) => agent.name,
  (agent) => agent.description,
  (agent) => JSON.stringify(agent.executor),
  (agent) => jsonOrNull(agent.retryPolicy),
  (agent) => agent.timeoutSeconds,
  (agent) => agent.maxConcurrent,
  (agent) => agent.contextWindow,
  (agent) => agent.defaultSession,
  (agent) => agent.provider,
  (agent) => jsonOrNull(agent.selfService),
]

function agentOf(row: Row): AgentRow {
  return {
    orgId: orgId(row['org_id'] as string),
    id: agentId(row['id'] as string),
    name: row['name'] as string,
    description: row['description'] as string,
    executor: row['executor'] as AgentExecutor,
    retryPolicy: row['retry_policy'] as RetryPolicy | null,
    timeoutSeconds: row['timeout_seconds'] as number | null,
    maxConcurrent: row['max_concurrent'] as number | null,
    contextWindow: row['context_window'] as number | null,
    defaultSession: brandOrNull(row['default_session'], sessionKey),
    provider: brandOrNull(row['provider'], providerName),
    selfService: row['self_service'] as GuardRails | null,
    version: row['version'] as number,
    createdAt: row['created_at'] as Instant,
    updatedAt: row['updated_at'] as Instant,
  }
}
