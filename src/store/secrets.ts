import { agentId, type AgentId, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { AgentExecutor } from './agents.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `secret`; its value is sealed. */
export interface SecretRow {
  readonly orgId: OrgId
  readonly name: string
  readonly hosts: readonly string[]
  readonly sealedValue: string
  readonly version: number
  readonly createdBy: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly valueSetAt: Instant
}

const COLUMNS = 'org_id, name, hosts, sealed_value, version, created_by, created_at, updated_at, value_set_at'

/** Keeps a new secret. False: there is one of this name. */
export async function insertSecret(tx: Transaction, row: SecretRow): Promise<boolean> {
  const rows = await tx.query(
    `insert into secret (${COLUMNS})
     values ($1, $2, $3::text[], $4, $5, $6, $7::timestamptz, $8::timestamptz, $9::timestamptz)
     on conflict (org_id, name) do nothing returning 1`,
    [
      ...[row.orgId, row.name, row.hosts, row.sealedValue, row.version, row.createdBy],
      ...[toTimestamp(row.createdAt), toTimestamp(row.updatedAt), toTimestamp(row.valueSetAt)],
    ],
  )
  return rows.length > 0
}

/** Writes back what may change about a secret. A value that is not given stays as it is sealed by now. */
export async function saveSecret(
  tx: Transaction,
  row: Omit<SecretRow, 'sealedValue'> & { readonly sealedValue: string | null },
): Promise<void> {
  await tx.query(
    `update secret set hosts = $3::text[], sealed_value = coalesce($4, sealed_value), version = $5,
       updated_at = $6::timestamptz, value_set_at = $7::timestamptz
     where org_id = $1 and name = $2`,
    [
      ...[row.orgId, row.name, row.hosts, row.sealedValue, row.version],
      ...[toTimestamp(row.updatedAt), toTimestamp(row.valueSetAt)],
    ],
  )
}

/** Removes a secret. */
export async function deleteSecret(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly name: string },
): Promise<void> {
  await tx.query('delete from secret where org_id = $1 and name = $2', [gone.orgId, gone.name])
}

/** Secrets of an org by their names; those that are missing are left out. */
export async function loadSecrets(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly names: readonly string[] },
): Promise<readonly SecretRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from secret where org_id = $1 and name = any ($2::text[]) order by name`,
    [asked.orgId, asked.names],
  )
  return rows.map(secretOf)
}

/** A page of an org's secrets, by name. */
export async function listSecrets(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly after: string; readonly limit: number },
): Promise<readonly SecretRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from secret where org_id = $1 and name > $2 order by name limit $3`,
    [asked.orgId, asked.after, asked.limit],
  )
  return rows.map(secretOf)
}

/** An agent that names secrets somewhere. */
export interface SecretUser {
  readonly id: AgentId
  readonly executor: AgentExecutor
}

/** The agents of an org that name any secret, by id. */
export async function loadSecretUsers(connection: Connection, org: OrgId): Promise<readonly SecretUser[]> {
  const rows = await connection.query(
    `select id, executor from agent where org_id = $1 and executor::text like '%{{%secret:%' order by id`,
    [org],
  )
  return rows.map(userOf)
}

/** The agent of a run, if it names any secret. */
export async function loadSecretUserOfRun(
  connection: Connection,
  of: { readonly orgId: OrgId; readonly runId: string },
): Promise<SecretUser | undefined> {
  const [row] = await connection.query(
    `select a.id, a.executor from run r join agent a on a.org_id = r.org_id and a.id = r.agent_id
      where r.org_id = $1 and r.id = $2 and a.executor::text like '%{{%secret:%'`,
    [of.orgId, of.runId],
  )
  return row === undefined ? undefined : userOf(row)
}

const userOf = (row: Row): SecretUser => ({
  id: agentId(row['id'] as string),
  executor: row['executor'] as AgentExecutor,
})

const secretOf = (row: Row): SecretRow => ({
  orgId: row['org_id'] as OrgId,
  name: row['name'] as string,
  hosts: row['hosts'] as readonly string[],
  sealedValue: row['sealed_value'] as string,
  version: row['version'] as number,
  createdBy: row['created_by'] as string | null,
  createdAt: row['created_at'] as Instant,
  updatedAt: row['updated_at'] as Instant,
  valueSetAt: row['value_set_at'] as Instant,
})
