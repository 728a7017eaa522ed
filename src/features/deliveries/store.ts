import type { DeliveryKind, DeliveryState } from '../../domain/delivery/delivery.ts'
import type { OrgId, RunId, TargetId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { tries, type TryRow } from './outbox-store.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { type ListedRows, type OrgPage, readPage } from '../../platform/db/page.ts'
import {
  column,
  columns,
  counted,
  countRemoved,
  type OldRows,
  type RowOf,
  table,
  toTimestamp,
} from '../../platform/db/table.ts'

const deliveries = table('delivery', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  runId: column.text<RunId | null>(),
  /** Alert that the delivery reports. */
  alertId: column.text<string | null>(),
  /** The digest it is part of. */
  digestId: column.text<string | null>(),
  isDigest: column.boolean(),
  kind: column.text<DeliveryKind>(),
  /** The recipient; see `lineOf`. */
  line: column.text(),
  targetId: column.text<TargetId | null>(),
  /** The URL of a callback; a target has its own. */
  url: column.text<string | null>(),
  state: column.text<DeliveryState>(),
  triesInAll: column.int(),
  nextTryAt: column.instant<Instant | null>(),
  why: column.json<Why>(),
  createdAt: column.instant(),
  finishedAt: column.instant<Instant | null>(),
})

/** A row of `delivery`, without its contents. */
export type DeliveryRecord = RowOf<typeof deliveries>

/** Filters of deliveries; null: any. */
interface DeliveryChoice extends OrgPage {
  readonly runId: RunId | null
  readonly targetId: TargetId | null
  readonly states: readonly DeliveryState[] | null
  /** Only deliveries of scheduled runs. */
  readonly onlyOfSchedules?: boolean
}

/** Deliveries of the org, newest first. */
export function listDeliveries(connection: Connection, choice: DeliveryChoice): Promise<ListedRows<DeliveryRecord>> {
  const conditions = ['org_id = $1']
  const params: (string | number | readonly string[])[] = [choice.orgId]
  const add = (condition: (param: string) => string, value: string | readonly string[]): void => {
    params.push(value)
    conditions.push(condition(`$${params.length}`))
  }
  if (choice.runId !== null) add((param) => `run_id = ${param}`, choice.runId)
  if (choice.targetId !== null) add((param) => `target_id = ${param}`, choice.targetId)
  const [only, ...more] = choice.states ?? []
  if (only !== undefined && more.length === 0) add((param) => `state = ${param}`, only)
  else if (only !== undefined) add((param) => `state = any(${param}::text[])`, [only, ...more])
  if (choice.after !== null) {
    params.push(toTimestamp(choice.after.createdAt), choice.after.id)
    conditions.push(`(created_at, id) < ($${params.length - 1}::timestamptz, $${params.length}::text)`)
  }
  if (choice.onlyOfSchedules === true) conditions.push(OF_SCHEDULES)
  params.push(choice.limit + 1)
  const text = `select ${deliveries.list} from delivery where ${conditions.join(' and ')}
    order by created_at desc, id desc limit $${params.length}`
  return readPage(
    connection,
    { text, values: params, large: ['url', 'why'], extraBytes: TRIES_BYTES, limit: choice.limit },
    deliveries,
  )
}

const OF_SCHEDULES = `exists (select 1 from run r
  where r.org_id = delivery.org_id and r.id = delivery.run_id and r.schedule_id is not null)`

/** The size of a delivery's tries, which are read with it and contain response texts. */
const TRIES_BYTES = `(select coalesce(sum(300 + octet_length(coalesce(t.message, ''))), 0) from delivery_try t
  where t.org_id = page."orgId" and t.delivery_id = page.id)`

/** The delivery, or undefined. */
export async function loadDelivery(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<DeliveryRecord | undefined> {
  return deliveries.first(
    await connection.query(`select ${deliveries.list} from delivery where org_id = $1 and id = $2`, [
      ...[wanted.orgId, wanted.id],
    ]),
  )
}

/** The tries of deliveries, in order. */
export async function loadTries(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly string[] },
): Promise<readonly TryRow[]> {
  return tries.read(
    await connection.query(
      `select ${tries.list} from delivery_try
        where org_id = $1 and delivery_id = any($2::text[]) order by delivery_id, number`,
      [wanted.orgId, wanted.ids],
    ),
  )
}

/** Restarts a delivery; it is due now. */
export async function restartDelivery(
  tx: Transaction,
  wanted: { readonly orgId: OrgId; readonly id: string; readonly now: Instant; readonly why: Why },
): Promise<void> {
  await tx.query(
    `update delivery set state = 'pending', tries = 0, next_try_at = $3::timestamptz, why = $4::jsonb, finished_at = null
      where org_id = $1 and id = $2`,
    [wanted.orgId, wanted.id, toTimestamp(wanted.now), JSON.stringify(wanted.why)],
  )
}

/** Whether the content of a delivery is still stored: its run, or the body sent before. */
export async function isSendable(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<boolean> {
  const rows = await connection.query(
    `select 1 from delivery d where d.org_id = $1 and d.id = $2
        and (d.body is not null or d.is_digest or exists (select 1 from run r where r.org_id = $1 and r.id = d.run_id))`,
    [wanted.orgId, wanted.id],
  )
  return rows.length > 0
}

/** Deletes ended deliveries of a kind from before a time, with their tries. Returns how many. */
export function deleteOldDeliveries(
  connection: Connection,
  old: OldRows & { readonly kind: DeliveryKind },
): Promise<number> {
  return countRemoved(
    connection,
    `with doomed as (
       select id from delivery
        where org_id = $1 and kind = $2 and finished_at is not null and finished_at < $3::timestamptz
        order by finished_at limit $4 for update skip locked),
     tries as (delete from delivery_try t using doomed d where t.org_id = $1 and t.delivery_id = d.id),
     gone as (delete from delivery x using doomed d where x.org_id = $1 and x.id = d.id returning 1)
     select count(*) as removed from gone`,
    [old.orgId, old.kind, toTimestamp(old.before), old.limit],
  )
}

const dueColumns = columns({ orgId: column.text<OrgId>(), targetId: column.text<TargetId>() })

/** Targets with held deliveries whose quiet hours have ended. */
export async function loadDueDigests(
  connection: Connection,
  query: { readonly now: Instant; readonly limit: number },
): Promise<readonly RowOf<typeof dueColumns>[]> {
  const rows = await connection.query(
    `select distinct ${dueColumns.list} from (
       select org_id, target_id from delivery
        where state = 'held' and next_try_at is not null and next_try_at <= $1::timestamptz
        order by next_try_at limit $2) due`,
    [toTimestamp(query.now), query.limit],
  )
  return dueColumns.read(rows)
}

/** Makes the deliveries held by quiet hours part of a digest. Returns how many. */
export async function collectDigest(
  tx: Transaction,
  digest: {
    readonly orgId: OrgId
    readonly targetId: TargetId
    readonly id: string
    readonly now: Instant
    readonly limit: number
    readonly why: Why
    readonly memberWhy: Why
  },
): Promise<number> {
  const { orgId: org, targetId: target, id, now } = digest
  const rows = await tx.query(
    `with member as (
       select m.id from delivery m
        where m.org_id = $1 and m.target_id = $2 and m.state = 'held' and m.digest_id is null
          and m.next_try_at is not null and m.next_try_at <= $4::timestamptz
        order by m.created_at, m.id limit $5),
     joined as (
       update delivery d set digest_id = $3, next_try_at = null, why = $7::jsonb
         from member where d.org_id = $1 and d.id = member.id returning d.id),
     made as (
       insert into delivery (org_id, id, kind, target_id, line, state, why, next_try_at, created_at, is_digest)
       select $1, $3, 'saved', $2, $2, 'pending', $6::jsonb, $4::timestamptz, $4::timestamptz, true
        where exists (select 1 from joined))
     select ${counted.list} from joined`,
    [org, target, id, toTimestamp(now), digest.limit, JSON.stringify(digest.why), JSON.stringify(digest.memberWhy)],
  )
  return counted.only(rows).count
}

/** Deliveries held by quiet hours of a disabled target wait until the target is enabled. */
export function holdForTarget(
  tx: Transaction,
  held: { readonly orgId: OrgId; readonly targetId: TargetId; readonly why: Why },
): void {
  tx.send(
    `update delivery set next_try_at = null, why = $3::jsonb
      where org_id = $1 and target_id = $2 and state = 'held' and next_try_at is not null`,
    [held.orgId, held.targetId, JSON.stringify(held.why)],
  )
}

/** Reschedules the deliveries held by quiet hours after the quiet hours changed. */
export function rescheduleHeld(
  tx: Transaction,
  changed: { readonly orgId: OrgId; readonly targetId: TargetId; readonly until: Instant },
): void {
  tx.send(
    `update delivery set next_try_at = $3::timestamptz,
       why = jsonb_set(why, '{evidence,until}', to_jsonb($4::text))
      where org_id = $1 and target_id = $2 and state = 'held' and next_try_at is not null`,
    [changed.orgId, changed.targetId, toTimestamp(changed.until), formatInstant(changed.until)],
  )
}

const digested = columns({
  runId: column.text<RunId | null>('m.run_id'),
  body: column.text<string | null>('m.body'),
  /** When the digest was created. */
  madeAt: column.instant('d.created_at'),
})

/** A delivery in a digest. */
type DigestedRow = RowOf<typeof digested>

/** The deliveries of a digest, in order. */
export async function loadDigested(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly digestId: string },
): Promise<readonly DigestedRow[]> {
  const rows = await connection.query(
    `select ${digested.list}
       from delivery m join delivery d on d.org_id = m.org_id and d.id = m.digest_id
      where m.org_id = $1 and m.digest_id = $2 order by m.created_at, m.id`,
    [wanted.orgId, wanted.digestId],
  )
  return digested.read(rows)
}

/** Ends the deliveries of a digest that was delivered or given up. */
export function endDigested(
  tx: Transaction,
  ended: {
    readonly orgId: OrgId
    readonly digestIds: readonly string[]
    readonly state: 'delivered' | 'failed'
    readonly now: Instant
    readonly why: Why
  },
): void {
  tx.send(
    `update delivery set state = $3, why = $5::jsonb, finished_at = $4::timestamptz
      where org_id = $1 and digest_id = any($2::text[]) and state <> 'delivered'`,
    [ended.orgId, ended.digestIds, ended.state, toTimestamp(ended.now), JSON.stringify(ended.why)],
  )
}
