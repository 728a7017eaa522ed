import type { AgentId, OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import type { OrgPage } from '../../platform/db/page.ts'
import { column, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const orgs = table('org', {
  id: column.text<OrgId>(),
  name: column.text(),
  defaultTimezone: column.text(),
  defaultAgentId: column.text<AgentId | null>(),
  maxConcurrent: column.int<number | null>(),
  maxSchedules: column.int<number | null>(),
  runsPerDay: column.int<number | null>(),
  /** The maximum time limit of an attempt. */
  maxTimeoutSeconds: column.int<number | null>(),
  createdAt: column.instant(),
})

/** A row of `org`. A null limit means unlimited. */
export type OrgRow = RowOf<typeof orgs>

/** The values of an org that is created on first use. */
export interface NewOrg {
  readonly id: OrgId
  readonly name: string
  readonly defaultTimezone: string
  readonly defaultAgentId: AgentId | null
  readonly at: Instant
}

/** Creates an org unless the id exists; an existing org is not changed. True if it was created. */
export async function ensureOrg(connection: Connection, org: NewOrg): Promise<boolean> {
  const rows = await connection.query(
    `insert into org (id, name, default_timezone, default_agent_id, created_at)
     values ($1, $2, $3, $4, $5::timestamptz)
     on conflict (id) do nothing returning id`,
    [org.id, org.name, org.defaultTimezone, org.defaultAgentId, toTimestamp(org.at)],
  )
  return rows.length > 0
}

/** Inserts an org. False if the id exists, even if that org is being deleted. */
export async function insertOrg(tx: Transaction, org: OrgRow): Promise<boolean> {
  const rows = await tx.query(`${orgs.insert} on conflict (id) do nothing returning id`, orgs.values(org))
  return rows.length > 0
}

const EDITED = orgs.omit('id', 'createdAt')

/** Updates the editable columns of an org. */
export async function saveOrg(tx: Transaction, org: OrgRow): Promise<void> {
  await tx.query(`update org set ${EDITED.assigned(2)} where id = $1`, [org.id, ...EDITED.values(org)])
}

/** The org, or undefined. An org that is being deleted is left out. */
export async function loadOrg(connection: Connection, id: OrgId): Promise<OrgRow | undefined> {
  return orgs.first(await connection.query(`select ${orgs.list} from org where id = $1 and deleted_at is null`, [id]))
}

/** All orgs of the deployment, by id. */
export async function listOrgs(connection: Connection): Promise<readonly OrgRow[]> {
  return orgs.read(await connection.query(`select ${orgs.list} from org where deleted_at is null order by id`, []))
}

/** Orgs of the deployment, newest first. */
export async function listOrgsPage(
  connection: Connection,
  choice: Pick<OrgPage, 'after' | 'limit'>,
): Promise<readonly OrgRow[]> {
  return orgs.read(
    await connection.query(
      `select ${orgs.list} from org
      where deleted_at is null and ($1::timestamptz is null or (created_at, id) < ($1::timestamptz, $2::text))
      order by created_at desc, id desc limit $3`,
      [timestampOrNull(choice.after?.createdAt ?? null), choice.after?.id ?? null, choice.limit],
    ),
  )
}

/** Marks an org as deleted. From then on it is not found; its rows are deleted in small steps. */
export async function markOrgDeleted(tx: Transaction, id: OrgId, at: Instant): Promise<void> {
  await tx.query('update org set deleted_at = $2::timestamptz where id = $1', [id, toTimestamp(at)])
}

const ids = orgs.pick('id')

/** Orgs that are being deleted and have nothing pending, by id. */
export async function loadDeletedOrgs(connection: Connection): Promise<readonly OrgId[]> {
  const rows = await connection.query(
    `select ${ids.of('o')} from org o
      where o.deleted_at is not null and not exists (select 1 from pending p where p.org_id = o.id)
        and not exists (select 1 from backlog_line l where l.org_id = o.id) order by o.id`,
    [],
  )
  return ids.read(rows).map(({ id }) => id)
}

/**
 * The tables with rows of an org, in the order in which they can be deleted. The audit log stays, and so does the
 * version: if the id is used again, its history continues above the versions that nodes have already seen.
 */
export const ORG_TABLES = [
  ...([
    'unsuccessful_run',
    'run',
    'attempt',
    'occurrence',
    'decision',
    'callback',
    'worker_attempt',
    'worker',
    'idempotency',
    'backfill',
    'clearing',
    'clock_step',
    'schedule',
    'session',
  ] as const),
  ...(['delivery_try', 'delivery', 'target', 'alert', 'signing_secret', 'secret'] as const),
  ...(['heartbeat_log', 'heartbeat'] as const),
  ...(['chat_mark', 'chat', 'channel'] as const),
  ...([
    'rail_act',
    'budget',
    'usage',
    'provider',
    'agent',
    'api_key',
    'member',
    'probe',
    'probe_answer',
    'run_log',
    'run_edit',
    'run_count',
    'run_count_place',
  ] as const),
  ...(['task_count', 'task_count_place', 'timeline_count', 'timeline_count_place', 'turn'] as const),
] as const

/** Deletes rows of an org from one of its tables. Returns how many. */
export async function deleteRowsOfOrg(
  connection: Connection,
  table: (typeof ORG_TABLES)[number],
  of: { readonly orgId: OrgId; readonly limit: number },
): Promise<number> {
  // In a partitioned table, `ctid` does not identify one row.
  const rowId = table === 'turn' ? 'no' : 'ctid'
  const rows = await connection.query(
    `delete from ${table} where org_id = $1 and ${rowId} = any (array(
       select ${rowId} from ${table} where org_id = $1 limit $2)) returning 1`,
    [of.orgId, of.limit],
  )
  return rows.length
}

/** Deletes an org that has no rows left. */
export async function deleteOrgRow(connection: Connection, id: OrgId): Promise<void> {
  await connection.query('delete from org where id = $1 and deleted_at is not null', [id])
}

/**
 * Counts the runs an org has created since a time, for a limit that is set in the middle of the day. Rejected and
 * skipped runs do not count.
 */
export async function seedDailyRuns(
  tx: Transaction,
  day: { readonly orgId: OrgId; readonly id: string; readonly start: Instant; readonly limit: number },
): Promise<void> {
  await tx.query(
    `insert into usage (org_id, budget_id, period_start, used)
     select $1, $2, $3::timestamptz, count(*) from (
       select 1 from run where org_id = $1 and created_at >= $3::timestamptz
         and (state is null or state not in ('rejected', 'skipped')) limit $4) made
     on conflict (org_id, budget_id, period_start) do update set used = greatest(usage.used, excluded.used)`,
    [day.orgId, day.id, toTimestamp(day.start), day.limit],
  )
}

/** Sets the default agent of an org. */
export async function setDefaultAgent(
  connection: Connection,
  choice: { readonly orgId: OrgId; readonly agentId: AgentId },
): Promise<void> {
  await connection.query('update org set default_agent_id = $2 where id = $1', [choice.orgId, choice.agentId])
}
