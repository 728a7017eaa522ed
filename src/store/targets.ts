import type { StoredQuietHours } from '../domain/delivery/quiet-hours.ts'
import type { TargetKind, TargetSettings } from '../core/delivery/target-kinds.ts'
import type { OrgId, ScheduleId, TargetId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Why } from '../domain/reasons.ts'
import type { Connection, Transaction } from './database.ts'
import type { OrgPage } from '../platform/db/page.ts'
import { column, columns, counted, type RowOf, table, timestampOrNull, toTimestamp } from '../platform/db/table.ts'

const targets = table('target', {
  orgId: column.text<OrgId>(),
  id: column.text<TargetId>(),
  name: column.text(),
  kind: column.text<TargetKind>(),
  /** Empty for kinds that have none. */
  url: column.text(),
  /** The address itself, where `url` holds only what may be shown of it. */
  sealedUrl: column.text<string | null>(),
  settings: column.json<TargetSettings>(),
  quietHours: column.json<StoredQuietHours | null>(),
  /** Alerts of the org go to it. */
  alerts: column.boolean(),
  failuresInARow: column.int(),
  /** Set while it is switched off; the reason is null when a person did it. */
  disabledAt: column.instant<Instant | null>(),
  disabledWhy: column.json<Why | null>(),
  deliveredAt: column.instant<Instant | null>(),
  failedAt: column.instant<Instant | null>(),
  createdBy: column.text<string | null>(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
})

/** A row of `target`. */
export type TargetRow = RowOf<typeof targets>

const CREATED = targets.omit('failuresInARow', 'disabledWhy', 'deliveredAt', 'failedAt')

/** Keeps a new target. */
export async function insertTarget(tx: Transaction, row: TargetRow): Promise<void> {
  await tx.query(CREATED.insert, CREATED.values(row))
}

const EDITED = targets.pick(
  'name',
  'url',
  'failuresInARow',
  'disabledAt',
  'disabledWhy',
  'updatedAt',
  'settings',
  'quietHours',
  'alerts',
  'sealedUrl',
)

/** Writes back what a person decides about a target. */
export async function saveTarget(tx: Transaction, row: TargetRow): Promise<void> {
  await tx.query(`update target set ${EDITED.assigned(3)} where org_id = $1 and id = $2`, [
    row.orgId,
    row.id,
    ...EDITED.values(row),
  ])
}

const HEALTH = targets.pick('id', 'failuresInARow', 'disabledAt', 'disabledWhy', 'deliveredAt', 'failedAt')

/** Writes how tries went. What a person decides stays. */
export function saveTargetHealth(tx: Transaction, org: OrgId, rows: readonly TargetRow[]): void {
  tx.send(
    `update target t set ${HEALTH.assignedFrom('i')} from unnest(${HEALTH.arrays(2)}) as i (${HEALTH.names})
     where t.org_id = $1 and t.id = i.id`,
    [org, ...HEALTH.lists(rows)],
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
  return targets.read(
    await connection.query(`select ${targets.list} from target where org_id = $1 and id = any($2::text[])`, [
      wanted.orgId,
      wanted.ids,
    ]),
  )
}

/** Targets of the org, newest first, after one of them. */
export async function listTargets(connection: Connection, page: OrgPage): Promise<readonly TargetRow[]> {
  return targets.read(
    await connection.query(
      `select ${targets.list} from target
      where org_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2::timestamptz, $3::text))
      order by created_at desc, id desc limit $4`,
      [page.orgId, timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? '', page.limit],
    ),
  )
}

const held = columns({ targetId: column.text<TargetId>(), count: column.bigint('count(*)') })

/** How many messages are held for each of the targets; those with none are left out. */
export async function countHeld(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly TargetId[] },
): Promise<ReadonlyMap<TargetId, number>> {
  const rows = await connection.query(
    `select ${held.list} from delivery
      where org_id = $1 and target_id = any($2::text[]) and state = 'held' group by target_id`,
    [wanted.orgId, wanted.ids],
  )
  return new Map(held.read(rows).map(({ targetId, count }) => [targetId, count]))
}

const scheduleIds = columns({ id: column.text<ScheduleId>() })

/** Some of the schedules that deliver to a target. */
export async function loadSchedulesOfTarget(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: TargetId; readonly limit: number },
): Promise<readonly ScheduleId[]> {
  const rows = await connection.query(
    `select ${scheduleIds.list} from schedule where org_id = $1 and input ? 'delivery' and input -> 'delivery' ->> 'target_id' = $2
      order by id limit $3`,
    [wanted.orgId, wanted.id, wanted.limit],
  )
  return scheduleIds.read(rows).map(({ id }) => id)
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
     select ${counted.list} from gone`,
    [wanted.orgId, wanted.id, toTimestamp(wanted.now), JSON.stringify(wanted.why)],
  )
  return counted.only(rows).count
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
