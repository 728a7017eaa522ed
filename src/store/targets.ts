import { orgId, targetId, type OrgId, type ScheduleId, type TargetId } from '../core/ids.ts'
import type { TargetKind, TargetSettings } from '../core/delivery/target-kinds.ts'
import type { StoredQuietHours } from '../core/delivery/quiet-hours.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import type { Connection, Row, Transaction } from './database.ts'
import type { OrgPage } from './page.ts'
import { columnsOf, jsonOrNull, timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `target`. */
export interface TargetRow {
  readonly orgId: OrgId
  readonly id: TargetId
  readonly name: string
  readonly kind: TargetKind
  /** Empty for kinds that have none. */
  readonly url: string
  /** The address itself, where `url` holds only what may be shown of it. */
  readonly sealedUrl: string | null
  readonly settings: TargetSettings
  readonly quietHours: StoredQuietHours | null
  /** Alerts of the org go to it. */
  readonly alerts: boolean
  readonly failuresInARow: number
  /** Set while it is switched off; the reason is null when a person did it. */
  readonly disabledAt: Instant | null
  readonly disabledWhy: Why | null
  readonly deliveredAt: Instant | null
  readonly failedAt: Instant | null
  readonly createdBy: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const COLUMNS = `org_id, id, name, kind, url, sealed_url, settings, quiet_hours, alerts, failures_in_a_row, disabled_at, disabled_why,
  delivered_at, failed_at, created_by, created_at, updated_at`

/** Keeps a new target. */
export async function insertTarget(tx: Transaction, row: TargetRow): Promise<void> {
  await tx.query(
    `insert into target (org_id, id, name, kind, url, disabled_at, created_by, created_at, updated_at, settings,
       quiet_hours, alerts, sealed_url)
     values ($1, $2, $3, $4, $5, $6::timestamptz, $7, $8::timestamptz, $9::timestamptz, $10::jsonb, $11::jsonb, $12,
       $13)`,
    [
      ...[row.orgId, row.id, row.name, row.kind, row.url, timestampOrNull(row.disabledAt)],
      ...[row.createdBy, toTimestamp(row.createdAt), toTimestamp(row.updatedAt)],
      ...[JSON.stringify(row.settings), jsonOrNull(row.quietHours), row.alerts, row.sealedUrl],
    ],
  )
}

/** Writes back what a person decides about a target. */
export async function saveTarget(tx: Transaction, row: TargetRow): Promise<void> {
  await tx.query(
    `update target set name = $3, url = $4, failures_in_a_row = $5, disabled_at = $6::timestamptz,
       disabled_why = $7::jsonb, updated_at = $8::timestamptz, settings = $9::jsonb, quiet_hours = $10::jsonb,
       alerts = $11, sealed_url = $12
     where org_id = $1 and id = $2`,
    [
      ...[row.orgId, row.id, row.name, row.url, row.failuresInARow, timestampOrNull(row.disabledAt)],
      ...[jsonOrNull(row.disabledWhy), toTimestamp(row.updatedAt)],
      ...[JSON.stringify(row.settings), jsonOrNull(row.quietHours), row.alerts, row.sealedUrl],
    ],
  )
}

/** Writes how tries went. What a person decides stays. */
export function saveTargetHealth(tx: Transaction, org: OrgId, rows: readonly TargetRow[]): void {
  tx.send(
    `update target t set failures_in_a_row = i.failures, disabled_at = i.disabled_at, disabled_why = i.disabled_why,
       delivered_at = i.delivered_at, failed_at = i.failed_at
     from unnest($2::text[], $3::int[], $4::timestamptz[], $5::jsonb[], $6::timestamptz[], $7::timestamptz[])
       as i (id, failures, disabled_at, disabled_why, delivered_at, failed_at)
     where t.org_id = $1 and t.id = i.id`,
    [
      org,
      ...columnsOf(
        rows,
        (row) => row.id,
        (row) => row.failuresInARow,
        (row) => timestampOrNull(row.disabledAt),
        (row) => jsonOrNull(row.disabledWhy),
        (row) => timestampOrNull(row.deliveredAt),
        (row) => timestampOrNull(row.failedAt),
      ),
    ],
  )
}

/** Removes a target. */
export async function deleteTarget(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: TargetId },
): Promise<void> {
  await tx.query('delete from target where org_id = $1 and id = $2', [gone.orgId, gone.id])
}

/** The targets of the org among the ids. */
export async function loadTargets(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly TargetId[] },
): Promise<readonly TargetRow[]> {
  const rows = await connection.query(`select ${COLUMNS} from target where org_id = $1 and id = any($2::text[])`, [
    wanted.orgId,
    wanted.ids,
  ])
  return rows.map(targetOf)
}

/** Targets of the org, newest first, after one of them. */
export async function listTargets(connection: Connection, page: OrgPage): Promise<readonly TargetRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from target
      where org_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2::timestamptz, $3::text))
      order by created_at desc, id desc limit $4`,
    [page.orgId, timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? '', page.limit],
  )
  return rows.map(targetOf)
}

/** How many messages are held for each of the targets; those with none are left out. */
export async function countHeld(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly TargetId[] },
): Promise<ReadonlyMap<TargetId, number>> {
  const rows = await connection.query(
    `select target_id, count(*) as held from delivery
      where org_id = $1 and target_id = any($2::text[]) and state = 'held' group by target_id`,
    [wanted.orgId, wanted.ids],
  )
  return new Map(rows.map((row) => [targetId(row['target_id'] as string), row['held'] as number]))
}

/** Some of the schedules that deliver to a target. */
export async function loadSchedulesOfTarget(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: TargetId; readonly limit: number },
): Promise<readonly ScheduleId[]> {
  const rows = await connection.query(
    `select id from schedule where org_id = $1 and input ? 'delivery' and input -> 'delivery' ->> 'target_id' = $2
      order by id limit $3`,
    [wanted.orgId, wanted.id, wanted.limit],
  )
  return rows.map((row) => row['id'] as ScheduleId)
}

/** Holds everything that is on its way to targets. What somebody is sending right now keeps its claim. */
export function holdDeliveries(
  tx: Transaction,
  held: { readonly orgId: OrgId; readonly ids: readonly TargetId[] },
): void {
  tx.send(
    `update delivery d set state = 'held', next_try_at = null,
       why = coalesce(t.disabled_why, jsonb_build_object('reason', 'target_off', 'rule', 'target.enabled',
         'evidence', jsonb_build_object('target', t.name)))
       from target t
      where d.org_id = $1 and d.target_id = any($2::text[]) and d.state = 'pending'
        and t.org_id = d.org_id and t.id = d.target_id`,
    [held.orgId, held.ids],
  )
}

/** Sends on their way what was held for a target. Answers with how many. */
export async function letGoDeliveries(
  tx: Transaction,
  wanted: { readonly orgId: OrgId; readonly id: TargetId; readonly now: Instant; readonly why: Why },
): Promise<number> {
  const rows = await tx.query(
    `with gone as (
       update delivery set state = 'pending', tries = 0, next_try_at = $3::timestamptz, why = $4::jsonb
        where org_id = $1 and target_id = $2 and state = 'held' and digest_id is null returning 1)
     select count(*) as released from gone`,
    [wanted.orgId, wanted.id, toTimestamp(wanted.now), JSON.stringify(wanted.why)],
  )
  return rows[0]?.['released'] as number
}

/** Ends what was on its way to a target that goes. */
export async function failDeliveries(
  tx: Transaction,
  wanted: { readonly orgId: OrgId; readonly id: TargetId; readonly now: Instant; readonly why: Why },
): Promise<void> {
  await tx.query(
    `update delivery set state = 'failed', next_try_at = null, claim = null, claimed_until = null, why = $4::jsonb,
       finished_at = $3::timestamptz
      where org_id = $1 and target_id = $2 and state in ('pending', 'held')`,
    [wanted.orgId, wanted.id, toTimestamp(wanted.now), JSON.stringify(wanted.why)],
  )
}

const targetOf = (row: Row): TargetRow => ({
  orgId: orgId(row['org_id'] as string),
  id: targetId(row['id'] as string),
  name: row['name'] as string,
  kind: row['kind'] as TargetKind,
  url: row['url'] as string,
  sealedUrl: row['sealed_url'] as string | null,
  settings: row['settings'] as TargetSettings,
  quietHours: row['quiet_hours'] as StoredQuietHours | null,
  alerts: row['alerts'] as boolean,
  failuresInARow: row['failures_in_a_row'] as number,
  disabledAt: row['disabled_at'] as Instant | null,
  disabledWhy: row['disabled_why'] as Why | null,
  deliveredAt: row['delivered_at'] as Instant | null,
  failedAt: row['failed_at'] as Instant | null,
  createdBy: row['created_by'] as string | null,
  createdAt: row['created_at'] as Instant,
  updatedAt: row['updated_at'] as Instant,
})
