import type { AgentId, OrgId, ProviderName, SessionKey } from '../../domain/ids.ts'
import type { Restrictions } from '../../domain/access/restrictions.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { readPage, type ListedRows } from '../../platform/db/page.ts'
import { column, table, type RowOf } from '../../platform/db/table.ts'

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
