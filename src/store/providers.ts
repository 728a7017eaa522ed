import { agentId, orgId, providerName, type AgentId, type OrgId, type ProviderName } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Quotas, QuotaState } from '../core/quota/quota.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { columnsOf, timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `provider`. */
export interface ProviderRow {
  readonly orgId: OrgId
  readonly name: ProviderName
  readonly quotas: Quotas
  readonly state: QuotaState
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

/** All providers of the org, by name. */
export async function loadProviders(
  connection: Connection,
  wanted: { readonly orgId: OrgId },
): Promise<readonly ProviderRow[]> {
  const rows = await connection.query(
    `select org_id, name, requests_per_minute, tokens_per_minute, max_concurrent, requests_level, tokens_level, level_at,
       blocked_until, refusals, created_at, updated_at
     from provider where org_id = $1 order by name`,
    [wanted.orgId],
  )
  return rows.map(providerOf)
}

/** Makes a provider. False when there is one of this name. */
export async function insertProvider(tx: Transaction, row: ProviderRow): Promise<boolean> {
  const rows = await tx.query(
    `insert into provider (org_id, name, requests_per_minute, tokens_per_minute, max_concurrent, requests_level,
       tokens_level, level_at, blocked_until, refusals, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8::timestamptz, $9::timestamptz, $10, $11::timestamptz, $11::timestamptz)
     on conflict (org_id, name) do nothing returning name`,
    [row.orgId, row.name, ...valuesOf(row), toTimestamp(row.createdAt)],
  )
  return rows.length > 0
}

/** Writes back what a person may change about a provider, with what is left of its quotas. */
export async function saveProvider(tx: Transaction, row: ProviderRow): Promise<void> {
  await tx.query(
    `update provider set requests_per_minute = $3, tokens_per_minute = $4, max_concurrent = $5, requests_level = $6,
       tokens_level = $7, level_at = $8::timestamptz, blocked_until = $9::timestamptz, refusals = $10,
       updated_at = $11::timestamptz
     where org_id = $1 and name = $2`,
    [row.orgId, row.name, ...valuesOf(row), toTimestamp(row.updatedAt)],
  )
}

const valuesOf = ({ quotas, state }: ProviderRow) => [
  ...[quotas.requestsPerMinute, quotas.tokensPerMinute, quotas.maxConcurrent],
  ...[state.requests, state.tokens, toTimestamp(state.at), timestampOrNull(state.blockedUntil), state.refusals],
]

/** Removes a provider. */
export async function deleteProvider(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly name: ProviderName },
): Promise<void> {
  await tx.query('delete from provider where org_id = $1 and name = $2', [gone.orgId, gone.name])
}

/** Writes what a turn has left of the quotas of providers. */
export function saveQuotaStates(
  tx: Transaction,
  of: OrgId,
  providers: readonly Pick<ProviderRow, 'name' | 'state'>[],
): void {
  tx.send(
    `update provider p set requests_level = n.requests, tokens_level = n.tokens, level_at = n.level_at,
       blocked_until = n.blocked_until, refusals = n.refusals
     from unnest($2::text[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::int[])
       as n (name, requests, tokens, level_at, blocked_until, refusals)
     where p.org_id = $1 and p.name = n.name`,
    [
      of,
      ...columnsOf(
        providers,
        ({ name }) => name,
        ({ state }) => state.requests,
        ({ state }) => state.tokens,
        ({ state }) => toTimestamp(state.at),
        ({ state }) => timestampOrNull(state.blockedUntil),
        ({ state }) => state.refusals,
      ),
    ],
  )
}

/** Which agents call a provider, by id: all of the org's, or those of one. */
export async function loadCallers(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly name?: ProviderName },
): Promise<readonly { readonly id: AgentId; readonly provider: ProviderName }[]> {
  const rows = await connection.query(
    `select id, provider from agent where org_id = $1 and provider is not null and ($2::text is null or provider = $2)
     order by id`,
    [wanted.orgId, wanted.name ?? null],
  )
  return rows.map((row) => ({
    id: agentId(row['id'] as string),
    provider: providerName(row['provider'] as string),
  }))
}

function providerOf(row: Row): ProviderRow {
  return {
    orgId: orgId(row['org_id'] as string),
    name: providerName(row['name'] as string),
    quotas: {
      requestsPerMinute: row['requests_per_minute'] as number | null,
      tokensPerMinute: row['tokens_per_minute'] as number | null,
      maxConcurrent: row['max_concurrent'] as number | null,
    },
    state: {
      requests: row['requests_level'] as number,
      tokens: row['tokens_level'] as number,
      at: row['level_at'] as Instant,
      blockedUntil: row['blocked_until'] as Instant | null,
      refusals: row['refusals'] as number,
    },
    createdAt: row['created_at'] as Instant,
    updatedAt: row['updated_at'] as Instant,
  }
}
