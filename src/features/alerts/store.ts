import type { AlertKind, AlertSubject } from '../../domain/alerts.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import type { OrgPage } from '../../platform/db/page.ts'
import {
  column,
  countRemoved,
  type OldRows,
  type RowOf,
  table,
  timestampOrNull,
  toTimestamp,
  writes,
} from '../../platform/db/table.ts'

const alerts = table('alert', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  kind: column.text<AlertKind>(),
  subjectKind: column.text<AlertSubject>(),
  subjectId: column.text(),
  why: column.json<Why>(),
  raisedAt: column.instant(),
  clearedAt: column.instant<Instant | null>(),
  clearedWhy: column.json<Why | null>(),
  acknowledgedAt: column.instant<Instant | null>(),
  /** The principal that acknowledged it, or `library`. */
  acknowledgedBy: column.text<string | null>(),
  snoozedUntil: column.instant<Instant | null>(),
})

/** A row of `alert`. */
export type AlertRow = RowOf<typeof alerts>

/** An alert to raise or clear. */
export interface AlertChange {
  readonly change: 'raised' | 'cleared'
  readonly id: string
  readonly kind: AlertKind
  readonly subjectKind: AlertSubject
  readonly subjectId: string
  /** The name of the subject, for messages. */
  readonly about: string
  readonly why: Why
}

/** Raises alerts, except those that are already open. */
export function insertAlerts(
  tx: Transaction,
  org: OrgId,
  { raised, now }: { readonly raised: readonly AlertChange[]; readonly now: Instant },
): void {
  tx.send(INSERT, [org, toTimestamp(now), ...RAISED.lists(raised)])
}

const RAISED = alerts.pick('id', 'kind', 'subjectKind', 'subjectId', 'why')
const CLEARED = alerts.pick('id', 'why')

const INSERT = `insert into alert (org_id, raised_at, ${RAISED.names})
  select $1, $2::timestamptz, * from unnest(${RAISED.arrays(3)})
  on conflict (org_id, kind, subject_id) where cleared_at is null do nothing`

/** Raises one alert unless it is already open. Returns whether it was raised. */
export async function raiseAlertRow(
  tx: Transaction,
  org: OrgId,
  { raised, now }: { readonly raised: AlertChange; readonly now: Instant },
): Promise<boolean> {
  const rows = await tx.query(`${INSERT} returning id`, [org, toTimestamp(now), ...RAISED.lists([raised])])
  return rows.length > 0
}

/** Clears alerts by their ids. */
export function clearAlerts(
  tx: Transaction,
  org: OrgId,
  { cleared, now }: { readonly cleared: readonly AlertChange[]; readonly now: Instant },
): void {
  tx.send(
    `update alert a set cleared_at = $2::timestamptz, cleared_why = i.why
       from unnest(${CLEARED.arrays(3)}) as i (${CLEARED.names})
      where a.org_id = $1 and a.id = i.id and a.cleared_at is null`,
    [org, toTimestamp(now), ...CLEARED.lists(cleared)],
  )
}

/** Clears one alert unless it is already cleared. Returns whether it was cleared now. */
export async function clearAlertRow(
  tx: Transaction,
  org: OrgId,
  { cleared, now }: { readonly cleared: AlertChange; readonly now: Instant },
): Promise<boolean> {
  const rows = await tx.query(
    `update alert set cleared_at = $3::timestamptz, cleared_why = $4::jsonb
      where org_id = $1 and id = $2 and cleared_at is null returning id`,
    [org, cleared.id, toTimestamp(now), JSON.stringify(cleared.why)],
  )
  return rows.length > 0
}

/** Open alerts of a kind, of all orgs. */
export async function loadAllOpenAlerts(connection: Connection, kind: AlertKind): Promise<readonly AlertRow[]> {
  return alerts.read(
    await connection.query(`select ${alerts.list} from alert where kind = $1 and cleared_at is null`, [kind]),
  )
}

/** Open alerts of a kind. */
export async function loadOpenAlerts(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly kind: AlertKind; readonly subjectId?: string },
): Promise<readonly AlertRow[]> {
  return alerts.read(
    await connection.query(
      `select ${alerts.list} from alert
      where org_id = $1 and kind = $2 and cleared_at is null and ($3::text is null or subject_id = $3)`,
      [wanted.orgId, wanted.kind, wanted.subjectId ?? null],
    ),
  )
}

const MESSAGES = writes<AlertMessage>([
  ['name', 'text', ({ name }) => name],
  ['alert_id', 'text', ({ alertId }) => alertId],
  ['subject_id', 'text', ({ subjectId }) => subjectId],
  ['body', 'text', ({ body }) => body],
])

/** A message about alerts, for each of the org's alert targets. */
export interface AlertMessage {
  /** Part of the delivery's id, together with the target. */
  readonly name: string
  readonly alertId: string | null
  /** Not sent to the target it is about, because that target is failing. */
  readonly subjectId: string
  readonly body: string
}

/** Inserts the deliveries of messages about alerts. Those to a disabled target are held. */
export function insertAlertMessages(
  tx: Transaction,
  org: OrgId,
  { messages, now, why }: { readonly messages: readonly AlertMessage[]; readonly now: Instant; readonly why: Why },
): void {
  tx.send(
    `insert into delivery (org_id, id, alert_id, kind, target_id, line, body, state, why, next_try_at, created_at)
     select $1, 'dlv_' || i.name || '_' || regexp_replace(t.id, '^tgt_', ''), i.alert_id, 'saved', t.id, t.id, i.body,
       case when t.disabled_at is null then 'pending' else 'held' end,
       case when t.disabled_at is null then $3::jsonb
            else coalesce(t.disabled_why, jsonb_build_object('reason', 'target_off', 'rule', 'target.enabled',
              'evidence', jsonb_build_object('target', t.name))) end,
       case when t.disabled_at is null then $2::timestamptz end, $2::timestamptz
     from unnest(${MESSAGES.arrays(4)}) as i (${MESSAGES.names})
       join target t on t.org_id = $1 and t.alerts and t.id <> i.subject_id
     on conflict do nothing`,
    [org, toTimestamp(now), JSON.stringify(why), ...MESSAGES.lists(messages)],
  )
}

const MARKS = alerts.pick('acknowledgedAt', 'acknowledgedBy', 'snoozedUntil')

/** Saves who has acknowledged an alert, and until when it is snoozed. */
export async function saveAlertMarks(tx: Transaction, row: AlertRow): Promise<void> {
  await tx.query(`update alert set ${MARKS.assigned(3)} where org_id = $1 and id = $2`, [
    ...[row.orgId, row.id],
    ...MARKS.values(row),
  ])
}

/** The alert, or undefined. */
export async function loadAlert(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<AlertRow | undefined> {
  return alerts.first(
    await connection.query(`select ${alerts.list} from alert where org_id = $1 and id = $2`, [
      ...[wanted.orgId, wanted.id],
    ]),
  )
}

/** Alerts that were open between two times, newest first. */
export async function loadAlertsBetween(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly from: Instant; readonly to: Instant; readonly limit: number },
): Promise<readonly AlertRow[]> {
  return alerts.read(
    await connection.query(
      `select ${alerts.list} from alert
      where org_id = $1 and raised_at <= $3::timestamptz and (cleared_at is null or cleared_at >= $2::timestamptz)
      order by raised_at desc, id desc limit $4`,
      [wanted.orgId, toTimestamp(wanted.from), toTimestamp(wanted.to), wanted.limit],
    ),
  )
}

/** Alerts of the org, newest first. `open` null: both. */
export async function listAlerts(
  connection: Connection,
  page: OrgPage & {
    readonly open: boolean | null
    /** Only open alerts that are neither acknowledged nor snoozed at this time; null: all. */
    readonly needingAttentionAt: Instant | null
    readonly kind: AlertKind | null
    readonly subjectId: string | null
  },
): Promise<readonly AlertRow[]> {
  return alerts.read(
    await connection.query(
      `select ${alerts.list} from alert
      where org_id = $1 and ($2::boolean is null or (cleared_at is null) = $2::boolean)
        and ($3::timestamptz is null or (raised_at, id) < ($3::timestamptz, $4::text))
        and ($6::text is null or kind = $6) and ($7::text is null or subject_id = $7)
        and ($8::timestamptz is null or (cleared_at is null and acknowledged_at is null
          and (snoozed_until is null or snoozed_until <= $8::timestamptz)))
      order by raised_at desc, id desc limit $5`,
      [
        ...[page.orgId, page.open, timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? '', page.limit],
        ...[page.kind, page.subjectId, timestampOrNull(page.needingAttentionAt)],
      ],
    ),
  )
}

/** Deletes alerts that were cleared before a time. Returns how many. */
export function deleteOldAlerts(connection: Connection, old: OldRows): Promise<number> {
  return countRemoved(
    connection,
    `with doomed as (
       select id from alert where org_id = $1 and raised_at < $2::timestamptz and cleared_at < $2::timestamptz
        order by raised_at, id limit $3 for update skip locked),
     gone as (delete from alert a using doomed d where a.org_id = $1 and a.id = d.id returning 1)
     select count(*) as removed from gone`,
    [old.orgId, toTimestamp(old.before), old.limit],
  )
}
