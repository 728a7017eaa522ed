import type { AgentId, OrgId } from '../domain/ids.ts'
import type { AgentExecutor } from '../features/agents/store.ts'
import type { Connection, Transaction } from './database.ts'
import { column, columns, type RowOf, table, toTimestamp } from '../platform/db/table.ts'

const secrets = table('secret', {
  orgId: column.text<OrgId>(),
  name: column.text(),
  hosts: column.texts(),
  sealedValue: column.text(),
  version: column.int(),
  createdBy: column.text<string | null>(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
  valueSetAt: column.instant(),
})

/** A row of `secret`; its value is sealed. */
export type SecretRow = RowOf<typeof secrets>

/** Keeps a new secret. False: there is one of this name. */
export async function insertSecret(tx: Transaction, row: SecretRow): Promise<boolean> {
  const rows = await tx.query(
    `${secrets.insert} on conflict (org_id, name) do nothing returning 1`,
    secrets.values(row),
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
  return secrets.read(
    await connection.query(
      `select ${secrets.list} from secret where org_id = $1 and name = any ($2::text[]) order by name`,
      [asked.orgId, asked.names],
    ),
  )
}

/** A page of an org's secrets, by name. */
export async function listSecrets(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly after: string; readonly limit: number },
): Promise<readonly SecretRow[]> {
  return secrets.read(
    await connection.query(
      `select ${secrets.list} from secret where org_id = $1 and name > $2 order by name limit $3`,
      [asked.orgId, asked.after, asked.limit],
    ),
  )
}

const users = columns({ id: column.text<AgentId>(), executor: column.json<AgentExecutor>() })

/** An agent that names secrets somewhere. */
export type SecretUser = RowOf<typeof users>

/** The agents of an org that name any secret, by id. */
export async function loadSecretUsers(connection: Connection, org: OrgId): Promise<readonly SecretUser[]> {
  return users.read(
    await connection.query(
      `select ${users.list} from agent where org_id = $1 and executor::text like '%{{%secret:%' order by id`,
      [org],
    ),
  )
}

/** The agent of a run, if it names any secret. */
export async function loadSecretUserOfRun(
  connection: Connection,
  of: { readonly orgId: OrgId; readonly runId: string },
): Promise<SecretUser | undefined> {
  return users.first(
    await connection.query(
      `select ${users.of('a')} from run r join agent a on a.org_id = r.org_id and a.id = r.agent_id
      where r.org_id = $1 and r.id = $2 and a.executor::text like '%{{%secret:%'`,
      [of.orgId, of.runId],
    ),
  )
}
