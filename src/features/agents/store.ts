import type { AgentId, OrgId, ProviderName, SessionKey } from '../../domain/ids.ts'
import type { GuardRails } from '../../core/rails/guard-rails.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { readPage, type Listed } from '../../platform/db/page.ts'
import { column, table, type RowOf } from '../../platform/db/table.ts'

/** How an agent's work is performed: the kind, and the options of that kind. */
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
  /** Where `main` leads; null: `agent:<agent>:main`. */
  defaultSession: column.text<SessionKey | null>(),
  /** What it calls, if that has quotas. */
  provider: column.text<ProviderName | null>(),
  /** How far what its attempts make by themselves may go; null: they make nothing. */
  selfService: column.json<GuardRails | null>(),
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

/** A page of the org's agents, by id, after the one that is named. */
export function listAgentPage(
  connection: Connection,
  page: { readonly orgId: OrgId; readonly after: AgentId; readonly limit: number },
): Promise<Listed<AgentRow>> {
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

/** Makes agents; those that exist stay as they are. Answers with the ids of those that were made. */
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

/** Writes an agent back, one version on. False when it is gone or was changed since it was read. */
export async function saveAgent(tx: Transaction, agent: AgentRow): Promise<boolean> {
  const rows = await tx.query(
    `update agent set ${EDITED.assigned(4)}, version = version + 1
     where org_id = $1 and id = $2 and version = $3 returning id`,
    [agent.orgId, agent.id, agent.version, ...EDITED.values(agent)],
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
