import type { OrgId, RunId, TargetId } from '../domain/ids.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import type { Why } from '../domain/reasons.ts'
import type { Connection, Transaction } from './database.ts'
import { column, columns, counted, type RowOf, toTimestamp } from '../platform/db/table.ts'

const due = columns({ orgId: column.text<OrgId>(), targetId: column.text<TargetId>() })

/** Targets whose quiet hours are over and for which something was collected. */
export async function loadDueDigests(
  connection: Connection,
  wish: { readonly now: Instant; readonly limit: number },
): Promise<readonly RowOf<typeof due>[]> {
  const rows = await connection.query(
    `select distinct ${due.list} from (
       select org_id, target_id from delivery
        where state = 'held' and next_try_at is not null and next_try_at <= $1::timestamptz
        order by next_try_at limit $2) due`,
    [toTimestamp(wish.now), wish.limit],
  )
  return due.read(rows)
}

/** Makes everything that waits for the end of quiet hours part of a digest. Answers with how many there are. */
export async function collectDigest(
  tx: Transaction,
  made: {
    readonly orgId: OrgId
    readonly targetId: TargetId
    readonly id: string
    readonly now: Instant
    readonly limit: number
    readonly why: Why
    readonly memberWhy: Why
  },
): Promise<number> {
  const { orgId: org, targetId: target, id, now } = made
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
    [org, target, id, toTimestamp(now), made.limit, JSON.stringify(made.why), JSON.stringify(made.memberWhy)],
  )
  return counted.only(rows).count
}

/** What waits for the end of quiet hours at a target that was switched off waits for it to be enabled instead. */
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

/** Quiet hours have changed: what was collected goes out at another time. */
export function reviewQuiet(
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
  /** When the digest was made. */
  madeAt: column.instant('d.created_at'),
})

/** Something that was collected. */
export type DigestedRow = RowOf<typeof digested>

/** What a digest consists of, in order. */
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

/** A digest has arrived, or was given up: so has everything in it. */
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
