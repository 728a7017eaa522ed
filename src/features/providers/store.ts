import type { AgentId, OrgId, ProviderName } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Quotas, QuotaState } from '../../domain/budget/quota.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, columns, table, type RowOf } from '../../platform/db/table.ts'

/** A row of `provider`. */
export interface ProviderRow {
  readonly orgId: OrgId
  readonly name: ProviderName
  readonly quotas: Quotas
  readonly state: QuotaState
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const providerColumns = table('provider', {
  orgId: column.text<OrgId>(),
  name: column.text<ProviderName>(),
  requestsPerMinute: column.int<number | null>(),
  tokensPerMinute: column.int<number | null>(),
  maxConcurrent: column.int<number | null>(),
  requests: column.bigint('requests_level'),
  tokens: column.bigint('tokens_level'),
  at: column.instant('level_at'),
  blockedUntil: column.instant<Instant | null>(),
  refusals: column.int(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
})

/** Loads all providers of the org by name. */
export async function loadProviders(
  connection: Connection,
  filter: { readonly orgId: OrgId },
): Promise<readonly ProviderRow[]> {
  const rows = await connection.query(`select ${providerColumns.list} from provider where org_id = $1 order by name`, [
    filter.orgId,
  ])
  return providerColumns.read(rows).map(providerOf)
}

/** Creates a provider. Returns false if the name is taken. */
export async function insertProvider(tx: Transaction, row: ProviderRow): Promise<boolean> {
  const rows = await tx.query(
    `${providerColumns.insert} on conflict (org_id, name) do nothing returning name`,
    providerColumns.values({ ...row, ...row.quotas, ...row.state, updatedAt: row.createdAt }),
  )
  return rows.length > 0
}

const EDITED = providerColumns.omit('orgId', 'name', 'createdAt')

/** Writes the settings of a provider and the rest of its quotas. */
export async function saveProvider(tx: Transaction, row: ProviderRow): Promise<void> {
  await tx.query(`update provider set ${EDITED.assigned(3)} where org_id = $1 and name = $2`, [
    row.orgId,
    row.name,
    ...EDITED.values({ ...row, ...row.quotas, ...row.state }),
  ])
}

/** Deletes a provider. */
export async function deleteProviderRow(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly name: ProviderName },
): Promise<void> {
  await tx.query('delete from provider where org_id = $1 and name = $2', [gone.orgId, gone.name])
}

const QUOTA_STATE = providerColumns.pick('name', 'requests', 'tokens', 'at', 'blockedUntil', 'refusals')

/** Writes the rest of the quotas after a transaction. */
export function saveQuotaStates(
  tx: Transaction,
  of: OrgId,
  providers: readonly Pick<ProviderRow, 'name' | 'state'>[],
): void {
  tx.send(
    `update provider p set ${QUOTA_STATE.assignedFrom('n')} from unnest(${QUOTA_STATE.arrays(2)}) as n (${QUOTA_STATE.names})
     where p.org_id = $1 and p.name = n.name`,
    [of, ...QUOTA_STATE.lists(providers.map(({ name, state }) => ({ name, ...state })))],
  )
}

const agentColumns = columns({ id: column.text<AgentId>(), provider: column.text<ProviderName>() })

/** Lists the agents of the org that use a provider, by agent id; with `name`, only the agents of that one. */
export async function loadProviderAgents(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly name?: ProviderName },
): Promise<readonly RowOf<typeof agentColumns>[]> {
  const rows = await connection.query(
    `select ${agentColumns.list} from agent where org_id = $1 and provider is not null and ($2::text is null or provider = $2)
     order by id`,
    [filter.orgId, filter.name ?? null],
  )
  return agentColumns.read(rows)
}

const providerOf = ({ orgId, name, createdAt, updatedAt, ...row }: RowOf<typeof providerColumns>): ProviderRow => {
  const { requestsPerMinute, tokensPerMinute, maxConcurrent, ...state } = row
  return { orgId, name, quotas: { requestsPerMinute, tokensPerMinute, maxConcurrent }, state, createdAt, updatedAt }
}
