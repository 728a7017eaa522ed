import type { DeliveryState } from '../../core/delivery/delivery-states.ts'
import type { DeliveryKind } from '../../core/delivery/run-delivery.ts'
import type { OrgId, RunId, TargetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { readPage, type Listed, type OrgPage } from '../../platform/db/page.ts'
import { tries, type TryRow } from './outbox-store.ts'
import { column, countRemoved, type OldRows, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

const deliveries = table('delivery', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  runId: column.text<RunId | null>(),
  /** The alert it tells of. */
  alertId: column.text<string | null>(),
  /** The digest it is part of. */
  digestId: column.text<string | null>(),
  isDigest: column.boolean(),
  kind: column.text<DeliveryKind>(),
  /** Where it goes; see `lineOf`. */
  line: column.text(),
  targetId: column.text<TargetId | null>(),
  /** Of a callback; a target has its own. */
  url: column.text<string | null>(),
  state: column.text<DeliveryState>(),
  triesInAll: column.int(),
  nextTryAt: column.instant<Instant | null>(),
  why: column.json<Why>(),
  createdAt: column.instant(),
  finishedAt: column.instant<Instant | null>(),
})

/** A delivery as it is read. */
export type DeliveryRecord = RowOf<typeof deliveries>

/** Which deliveries are wanted; what is null does not matter. */
export interface DeliveryChoice extends OrgPage {
  readonly runId: RunId | null
  readonly targetId: TargetId | null
  readonly states: readonly DeliveryState[] | null
  /** Only those of runs of schedules. */
  readonly onlyOfSchedules?: boolean
}

/** Deliveries of the org, newest first. */
export function listDeliveries(connection: Connection, choice: DeliveryChoice): Promise<Listed<DeliveryRecord>> {
  const conditions = ['org_id = $1']
  const params: (string | number | readonly string[])[] = [choice.orgId]
  const add = (condition: (place: string) => string, value: string | readonly string[]): void => {
    params.push(value)
    conditions.push(condition(`$${params.length}`))
  }
  if (choice.runId !== null) add((place) => `run_id = ${place}`, choice.runId)
  if (choice.targetId !== null) add((place) => `target_id = ${place}`, choice.targetId)
  const [only, ...more] = choice.states ?? []
  if (only !== undefined && more.length === 0) add((place) => `state = ${place}`, only)
  else if (only !== undefined) add((place) => `state = any(${place}::text[])`, [only, ...more])
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
    { text, values: params, large: ['url', 'why'], besides: TRIES_BYTES, limit: choice.limit },
    deliveries,
  )
}

const OF_SCHEDULES = `exists (select 1 from run r
  where r.org_id = delivery.org_id and r.id = delivery.run_id and r.schedule_id is not null)`

/** The tries of a delivery are read with it, and each has what it was answered. */
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

/** Lets a delivery begin anew: it is due now. */
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

/** Whether a delivery still has what it sends: its run, or what was sent before. */
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

/** Ended deliveries of a kind from before a moment, with their tries. Answers with how many. */
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
