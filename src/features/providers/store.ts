import type { AgentId, OrgId, ProviderName } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Quotas, QuotaState } from '../../core/quota/quota.ts'
import type { Connection, Transaction } from '../../store/database.ts'
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

const stored = table('provider', {
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

/** All providers of the org, by name. */
export async function loadProviders(
  connection: Connection,
  wanted: { readonly orgId: OrgId },
): Promise<readonly ProviderRow[]> {
  const rows = await connection.query(`select ${stored.list} from provider where org_id = $1 order by name`, [
    wanted.orgId,
  ])
  return stored.read(rows).map(providerOf)
}

/** Makes a provider. False when there is one of this name. */
export async function insertProvider(tx: Transaction, row: ProviderRow): Promise<boolean> {
  const rows = await tx.query(
    `${stored.insert} on conflict (org_id, name) do nothing returning name`,
    stored.values({ ...row, ...row.quotas, ...row.state, updatedAt: row.createdAt }),
  )
  return rows.length > 0
}

const EDITED = stored.omit('orgId', 'name', 'createdAt')

/** Writes back what a person may change about a provider, with what is left of its quotas. */
export async function saveProvider(tx: Transaction, row: ProviderRow): Promise<void> {
  await tx.query(`update provider set ${EDITED.assigned(3)} where org_id = $1 and name = $2`, [
    row.orgId,
    row.name,
    ...EDITED.values({ ...row, ...row.quotas, ...row.state }),
  ])
}

/** Removes a provider. */
export async function deleteProvider(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly name: ProviderName },
): Promise<void> {
  await tx.query('delete from provider where org_id = $1 and name = $2', [gone.orgId, gone.name])
}

const LEFT = stored.pick('name', 'requests', 'tokens', 'at', 'blockedUntil', 'refusals')

/** Writes what a turn has left of the quotas of providers. */
export function saveQuotaStates(
  tx: Transaction,
  of: OrgId,
  providers: readonly Pick<ProviderRow, 'name' | 'state'>[],
): void {
  tx.send(
    `update provider p set ${LEFT.assignedFrom('n')} from unnest(${LEFT.arrays(2)}) as n (${LEFT.names})
     where p.org_id = $1 and p.name = n.name`,
    [of, ...LEFT.lists(providers.map(({ name, state }) => ({ name, ...state })))],
  )
}

const callers = columns({ id: column.text<AgentId>(), provider: column.text<ProviderName>() })

/** Which agents call a provider, by id: all of the org's, or those of one. */
export async function loadCallers(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly name?: ProviderName },
): Promise<readonly RowOf<typeof callers>[]> {
  const rows = await connection.query(
    `select ${callers.list} from agent where org_id = $1 and provider is not null and ($2::text is null or provider = $2)
     order by id`,
    [wanted.orgId, wanted.name ?? null],
  )
  return callers.read(rows)
}

const providerOf = ({ orgId, name, createdAt, updatedAt, ...row }: RowOf<typeof stored>): ProviderRow => {
  const { requestsPerMinute, tokensPerMinute, maxConcurrent, ...state } = row
  return { orgId, name, quotas: { requestsPerMinute, tokensPerMinute, maxConcurrent }, state, createdAt, updatedAt }
}
