import type { DeliveryState } from '../core/delivery/delivery-states.ts'
import { kindOf, type DeliveryKind, type RunDelivery } from '../core/delivery/run-delivery.ts'
import { orgId, runId, type OrgId, type RunId, type TargetId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { brandOrNull, columnsOf, jsonOrNull, timestampOrNull } from './rows.ts'
import type { TargetRow } from './targets.ts'
import { toTimestamp } from './timestamp.ts'

/** A result that is to be carried somewhere. */
export interface NewDelivery {
  readonly id: string
  readonly runId: RunId
  readonly to: RunDelivery
  readonly line: string
  readonly state: 'pending' | 'kept'
  readonly why: Why
  /** The whole output as JSON, when the run keeps only the beginning of it. */
  readonly output: string | null
}

/**
 * Writes what is to be sent, with the ending of its run. What goes to a target that is switched off is held, and what
 * goes to one that is gone has failed before it began.
 */
export function insertDeliveries(
  tx: Transaction,
  org: OrgId,
  made: { readonly deliveries: readonly NewDelivery[]; readonly now: Instant },
): void {
  tx.send(
    `insert into delivery (org_id, id, run_id, kind, target_id, url, line, output, state, why, next_try_at, created_at,
       finished_at)
     select $1, i.id, i.run_id, i.kind, i.target_id, i.url, i.line,
       i.output, s.state,
       case when s.state = i.state then i.why
            when s.state = 'held' then coalesce(t.disabled_why, jsonb_build_object('reason', 'target_off',
              'rule', 'target.enabled', 'evidence', jsonb_build_object('target', t.name)))
            else jsonb_build_object('reason', 'target_gone', 'rule', 'delivery.target',
              'evidence', jsonb_build_object('target', i.target_id)) end,
       case when s.state = 'pending' then $2::timestamptz end, $2::timestamptz,
       case when s.state in ('failed', 'kept') then $2::timestamptz end
     from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::json[], $9::text[], $10::jsonb[],
                 $11::text[])
       as i (id, run_id, target_id, url, line, output, state, why, kind)
       left join target t on t.org_id = $1 and t.id = i.target_id
       cross join lateral (select case
         when i.state <> 'pending' or i.kind <> 'saved' then i.state
         when t.id is null then 'failed'
         when t.disabled_at is not null then 'held'
         else 'pending' end as state) s`,
    [
      org,
      toTimestamp(made.now),
      ...columnsOf(
        made.deliveries,
        (delivery) => delivery.id,
        (delivery) => delivery.runId,
        (delivery) => ('target' in delivery.to ? delivery.to.target : null),
        (delivery) => ('callback' in delivery.to ? delivery.to.callback : null),
        (delivery) => delivery.line,
        (delivery) => delivery.output,
        (delivery) => delivery.state,
        (delivery) => JSON.stringify(delivery.why),
        (delivery) => kindOf(delivery.to),
      ),
    ],
  )
}

/** A delivery that somebody has claimed in order to send it. */
export interface ClaimedDelivery {
  readonly orgId: OrgId
  readonly id: string
  /** Null for what is no result: an alert, or a digest. */
  readonly runId: RunId | null
  readonly kind: DeliveryKind
  /** Where it goes, when that is neither a target nor a callback: see `lineOf`. */
  readonly line: string
  readonly targetId: TargetId | null
  /** Of a callback. */
  readonly url: string | null
  /** Null for a callback, and when the target is gone. */
  readonly target: ClaimedTarget | null
  readonly isDigest: boolean
  /** Why it is on its way. */
  readonly why: Why
  /** Which try this is, counted from 1. */
  readonly number: number
  readonly output: unknown
  /** What was sent before it was given up. */
  readonly body: string | null
}

/** Of the target of a claimed delivery, what sending depends on. */
export type ClaimedTarget = Pick<TargetRow, 'name' | 'kind' | 'url' | 'sealedUrl' | 'settings' | 'quietHours'>

/** How many rows at the head of a line are looked at for claims of others; what is claimed is at the head. */
const HEAD = 64

/**
 * Claims what is due, longest first, at most so many of a line at a time over all nodes, and passes over what others are
 * at. It goes from line to line in the index, so that a line with a million messages hides no other.
 */
export async function claimDeliveries(
  connection: Connection,
  wish: {
    readonly now: Instant
    readonly until: Instant
    readonly claim: string
    readonly perLine: number
    readonly limit: number
  },
): Promise<readonly ClaimedDelivery[]> {
  const rows = await connection.query(
    `with recursive any_due as (
       select exists (select 1 from delivery where state = 'pending' and next_try_at <= $1::timestamptz
         and (claimed_until is null or claimed_until <= $1::timestamptz)) as is_due),
     line as (
       (select org_id, line from delivery where state = 'pending' and (select is_due from any_due)
         order by org_id, line limit 1)
       union all
       select n.org_id, n.line from line l cross join lateral (
         select d.org_id, d.line from delivery d
          where d.state = 'pending' and (d.org_id, d.line) > (l.org_id, l.line)
          order by d.org_id, d.line limit 1) n),
     due as materialized (
       select p.org_id, p.id from line l cross join lateral (
         select d.org_id, d.id, d.next_try_at from delivery d
          where d.state = 'pending' and d.org_id = l.org_id and d.line = l.line and d.next_try_at <= $1::timestamptz
            and (d.claimed_until is null or d.claimed_until <= $1::timestamptz)
          order by d.next_try_at, d.id
          limit greatest(0, case when starts_with(l.line, 'session:') or starts_with(l.line, 'channel:') then 1 else $2::int end - (select count(*) from (
            select c.claimed_until from delivery c
             where c.state = 'pending' and c.org_id = l.org_id and c.line = l.line
             order by c.next_try_at, c.id limit ${HEAD}) h where h.claimed_until > $1::timestamptz))
          for update skip locked) p
        where exists (select 1 from org o where o.id = l.org_id and o.deleted_at is null)
        order by p.next_try_at, p.id limit $3::int)
     update delivery d set claim = $4, claimed_until = $5::timestamptz
       from due left join delivery w on w.org_id = due.org_id and w.id = due.id
         left join target t on t.org_id = w.org_id and t.id = w.target_id
      where d.org_id = due.org_id and d.id = due.id
     returning d.org_id, d.id, d.run_id, d.kind, d.line, d.target_id, d.url, d.is_digest, d.why,
       d.tries_in_all + 1 as number, d.output, d.body, t.id is not null as has_target, t.name as target_name,
       t.kind as target_kind, t.url as target_url, t.sealed_url, t.settings as target_settings, t.quiet_hours`,
    [toTimestamp(wish.now), wish.perLine, wish.limit, wish.claim, toTimestamp(wish.until)],
  )
  return rows.map(claimedOf)
}

const claimedOf = (row: Row): ClaimedDelivery => ({
  orgId: orgId(row['org_id'] as string),
  id: row['id'] as string,
  runId: brandOrNull(row['run_id'], runId),
  kind: row['kind'] as ClaimedDelivery['kind'],
  line: row['line'] as string,
  targetId: row['target_id'] as TargetId | null,
  url: row['url'] as string | null,
  target: row['has_target'] === true ? claimedTargetOf(row) : null,
  isDigest: row['is_digest'] as boolean,
  why: row['why'] as Why,
  number: row['number'] as number,
  output: row['output'] ?? undefined,
  body: row['body'] as string | null,
})

const claimedTargetOf = (row: Row): ClaimedTarget => ({
  name: row['target_name'] as string,
  kind: row['target_kind'] as ClaimedTarget['kind'],
  url: row['target_url'] as string,
  sealedUrl: row['sealed_url'] as string | null,
  settings: row['target_settings'] as ClaimedTarget['settings'],
  quietHours: row['quiet_hours'] as ClaimedTarget['quietHours'],
})

/** Gives claims back that nothing was sent under. */
export async function releaseDeliveries(connection: Connection, claim: string, ids: readonly string[]): Promise<void> {
  await connection.query(
    'update delivery set claim = null, claimed_until = null where claim = $1 and id = any($2::text[])',
    [claim, ids],
  )
}

/** What a decision about a try looks at, of a delivery whose claim still stands. */
export interface TriedFacts {
  readonly id: string
  readonly runId: RunId | null
  readonly isDigest: boolean
  readonly kind: DeliveryKind
  readonly targetId: TargetId | null
  readonly url: string | null
  readonly tries: number
  readonly triesInAll: number
}

/** The deliveries among these whose claim is still the one they were sent under. */
export async function loadTried(
  tx: Transaction,
  tried: { readonly orgId: OrgId; readonly ids: readonly string[]; readonly claims: readonly string[] },
): Promise<readonly TriedFacts[]> {
  const rows = await tx.query(
    `select d.id, d.run_id, d.kind, d.target_id, d.url, d.tries, d.tries_in_all, d.is_digest
       from unnest($2::text[], $3::text[]) as i (id, claim)
       join delivery d on d.org_id = $1 and d.id = i.id and d.claim = i.claim
      for update of d`,
    [tried.orgId, tried.ids, tried.claims],
  )
  return rows.map((row) => ({
    id: row['id'] as string,
    runId: brandOrNull(row['run_id'], runId),
    isDigest: row['is_digest'] as boolean,
    kind: row['kind'] as TriedFacts['kind'],
    targetId: row['target_id'] as TargetId | null,
    url: row['url'] as string | null,
    tries: row['tries'] as number,
    triesInAll: row['tries_in_all'] as number,
  }))
}

/** Where a delivery stands after a try. */
export interface AfterTry {
  readonly id: string
  readonly state: DeliveryState
  readonly tries: number
  readonly triesInAll: number
  readonly nextTryAt: Instant | null
  readonly why: Why
  readonly body: string | null
  readonly finishedAt: Instant | null
}

/** Writes where deliveries stand after a try, and lets go of their claims. */
export function saveTried(tx: Transaction, org: OrgId, after: readonly AfterTry[]): void {
  tx.send(
    `update delivery d set state = i.state, tries = i.tries, tries_in_all = i.tries_in_all, next_try_at = i.next_try_at,
       why = i.why, body = coalesce(i.body, d.body), finished_at = i.finished_at, claim = null, claimed_until = null
     from unnest($2::text[], $3::text[], $4::int[], $5::int[], $6::timestamptz[], $7::jsonb[], $8::text[],
                 $9::timestamptz[])
       as i (id, state, tries, tries_in_all, next_try_at, why, body, finished_at)
     where d.org_id = $1 and d.id = i.id`,
    [
      org,
      ...columnsOf(
        after,
        (row) => row.id,
        (row) => row.state,
        (row) => row.tries,
        (row) => row.triesInAll,
        (row) => timestampOrNull(row.nextTryAt),
        (row) => jsonOrNull(row.why),
        (row) => row.body,
        (row) => timestampOrNull(row.finishedAt),
      ),
    ],
  )
}

/** One try to send a message. */
export interface TryRow {
  readonly deliveryId: string
  readonly number: number
  readonly nodeId: string
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly ok: boolean
  readonly statusCode: number | null
  readonly errorCode: string | null
  readonly message: string | null
}

/** Puts tries on record. */
export function insertTries(tx: Transaction, org: OrgId, tries: readonly TryRow[]): void {
  tx.send(
    `insert into delivery_try (org_id, delivery_id, number, node_id, started_at, finished_at, ok, status_code, error_code,
       message)
     select $1, * from unnest($2::text[], $3::int[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::boolean[],
                              $8::int[], $9::text[], $10::text[])`,
    [
      org,
      ...columnsOf(
        tries,
        (row) => row.deliveryId,
        (row) => row.number,
        (row) => row.nodeId,
        (row) => toTimestamp(row.startedAt),
        (row) => toTimestamp(row.finishedAt),
        (row) => row.ok,
        (row) => row.statusCode,
        (row) => row.errorCode,
        (row) => row.message,
      ),
    ],
  )
}
