import {
  type DeliveryKind,
  type DeliveryState,
  deliveryKindOf,
  type RunDelivery,
} from '../../domain/delivery/delivery.ts'
import type { OrgId, RunId, TargetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import type { TargetRow } from '../targets/store.ts'
import { column, columns, type RowOf, table, toTimestamp, writes } from '../../platform/db/table.ts'

const NEW_DELIVERY = writes<NewDelivery>([
  ['id', 'text', ({ id }) => id],
  ['run_id', 'text', ({ runId }) => runId],
  ['target_id', 'text', ({ to }) => ('target' in to ? to.target : null)],
  ['url', 'text', ({ to }) => ('callback' in to ? to.callback : null)],
  ['line', 'text', ({ line }) => line],
  // The output is JSON text already.
  ['output', 'text', ({ output }) => output],
  ['state', 'text', ({ state }) => state],
  ['why', 'json', ({ why }) => JSON.stringify(why)],
  ['kind', 'text', ({ to }) => deliveryKindOf(to)],
])

/** The delivery of a result. */
export interface NewDelivery {
  readonly id: string
  readonly runId: RunId
  readonly to: RunDelivery
  readonly line: string
  readonly state: 'pending' | 'kept'
  readonly why: Why
  /** The full output as JSON, if the run stores only its beginning. */
  readonly output: string | null
}

/**
 * Inserts deliveries in the transaction that ends their runs. A delivery to a disabled target is held; a delivery to a
 * deleted target fails at once.
 */
export function insertDeliveries(
  tx: Transaction,
  org: OrgId,
  batch: { readonly deliveries: readonly NewDelivery[]; readonly now: Instant },
): void {
  tx.send(
    `insert into delivery (org_id, id, run_id, kind, target_id, url, line, output, state, why, next_try_at, created_at,
       finished_at)
     select $1, i.id, i.run_id, i.kind, i.target_id, i.url, i.line,
       i.output::json, s.state,
       case when s.state = i.state then i.why
            when s.state = 'held' then coalesce(t.disabled_why, jsonb_build_object('reason', 'target_off',
              'rule', 'target.enabled', 'evidence', jsonb_build_object('target', t.name)))
            else jsonb_build_object('reason', 'target_gone', 'rule', 'delivery.target',
              'evidence', jsonb_build_object('target', i.target_id)) end,
       case when s.state = 'pending' then $2::timestamptz end, $2::timestamptz,
       case when s.state in ('failed', 'kept') then $2::timestamptz end
     from unnest(${NEW_DELIVERY.arrays(3)}) as i (${NEW_DELIVERY.names})
       left join target t on t.org_id = $1 and t.id = i.target_id
       cross join lateral (select case
         when i.state <> 'pending' or i.kind <> 'saved' then i.state
         when t.id is null then 'failed'
         when t.disabled_at is not null then 'held'
         else 'pending' end as state) s`,
    [org, toTimestamp(batch.now), ...NEW_DELIVERY.lists(batch.deliveries)],
  )
}

/** A delivery that a node has claimed to send it. */
export interface ClaimedDelivery {
  readonly orgId: OrgId
  readonly id: string
  /** Null for alerts and digests, which have no run. */
  readonly runId: RunId | null
  readonly kind: DeliveryKind
  /** The recipient if it is neither a target nor a callback; see `lineOf`. */
  readonly line: string
  readonly targetId: TargetId | null
  /** The URL of a callback. */
  readonly url: string | null
  /** Null for a callback, and if the target was deleted. */
  readonly target: ClaimedTarget | null
  readonly isDigest: boolean
  /** Why it is sent. */
  readonly why: Why
  /** The number of this try, from 1. */
  readonly number: number
  readonly output: unknown
  /** The body that was sent before it was given up. */
  readonly body: string | null
}

/** The columns of a target that sending depends on. */
export type ClaimedTarget = Pick<TargetRow, 'name' | 'kind' | 'url' | 'sealedUrl' | 'settings' | 'quietHours'>

/** The number of rows at the head of a line that are checked for claims; claimed rows are always at the head. */
const HEAD = 64

/**
 * Claims due deliveries, those due longest first, with at most `perLine` concurrent claims per line over all nodes.
 * Rows locked by other nodes are skipped. The query goes from line to line in the index, so that a line with a million
 * deliveries does not block others.
 */
export async function claimDeliveries(
  connection: Connection,
  query: {
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
     returning ${claimed.list}`,
    [toTimestamp(query.now), query.perLine, query.limit, query.claim, toTimestamp(query.until)],
  )
  return claimed.read(rows).map(claimedOf)
}

const claimed = columns({
  orgId: column.text<OrgId>('d.org_id'),
  id: column.text('d.id'),
  runId: column.text<RunId | null>('d.run_id'),
  kind: column.text<DeliveryKind>('d.kind'),
  line: column.text('d.line'),
  targetId: column.text<TargetId | null>('d.target_id'),
  url: column.text<string | null>('d.url'),
  isDigest: column.boolean('d.is_digest'),
  why: column.json<Why>('d.why'),
  number: column.int('d.tries_in_all + 1'),
  output: column.json('d.output'),
  body: column.text<string | null>('d.body'),
  hasTarget: column.boolean('t.id is not null'),
  targetName: column.text('t.name'),
  targetKind: column.text<ClaimedTarget['kind']>('t.kind'),
  targetUrl: column.text('t.url'),
  sealedUrl: column.text<string | null>('t.sealed_url'),
  settings: column.json<ClaimedTarget['settings']>('t.settings'),
  quietHours: column.json<ClaimedTarget['quietHours']>('t.quiet_hours'),
})

function claimedOf({
  hasTarget,
  targetName: name,
  targetKind: kind,
  targetUrl: url,
  sealedUrl,
  settings,
  quietHours,
  ...delivery
}: RowOf<typeof claimed>): ClaimedDelivery {
  const target = hasTarget ? { name, kind, url, sealedUrl, settings, quietHours } : null
  return { ...delivery, output: delivery.output ?? undefined, target }
}

/** Releases claims under which nothing was sent. */
export async function releaseDeliveries(connection: Connection, claim: string, ids: readonly string[]): Promise<void> {
  await connection.query(
    'update delivery set claim = null, claimed_until = null where claim = $1 and id = any($2::text[])',
    [claim, ids],
  )
}

const triedColumns = columns({
  id: column.text(),
  runId: column.text<RunId | null>(),
  isDigest: column.boolean(),
  kind: column.text<DeliveryKind>(),
  targetId: column.text<TargetId | null>(),
  url: column.text<string | null>(),
  tries: column.int(),
  triesInAll: column.int(),
})

/** A delivery whose claim is still valid, as input for the decision after a try. */
export type TriedDelivery = RowOf<typeof triedColumns>

/** The deliveries whose claim is still the one they were sent under. */
export async function loadTried(
  tx: Transaction,
  sent: { readonly orgId: OrgId; readonly ids: readonly string[]; readonly claims: readonly string[] },
): Promise<readonly TriedDelivery[]> {
  const rows = await tx.query(
    `select ${triedColumns.of('d')}
       from unnest($2::text[], $3::text[]) as i (id, claim)
       join delivery d on d.org_id = $1 and d.id = i.id and d.claim = i.claim
      for update of d`,
    [sent.orgId, sent.ids, sent.claims],
  )
  return triedColumns.read(rows)
}

const triedUpdateColumns = table('delivery', {
  id: column.text(),
  state: column.text<DeliveryState>(),
  tries: column.int(),
  triesInAll: column.int(),
  nextTryAt: column.instant<Instant | null>(),
  why: column.json<Why>(),
  body: column.text<string | null>(),
  finishedAt: column.instant<Instant | null>(),
})
const TRIED_UPDATE = triedUpdateColumns.omit('id', 'body')

/** The state of a delivery after a try. */
export type AfterTry = RowOf<typeof triedUpdateColumns>

/** Saves deliveries after a try and releases their claims. */
export function saveTried(tx: Transaction, org: OrgId, rows: readonly AfterTry[]): void {
  tx.send(
    `update delivery d set ${TRIED_UPDATE.assignedFrom('i')}, body = coalesce(i.body, d.body), claim = null, claimed_until = null
     from unnest(${triedUpdateColumns.arrays(2)}) as i (${triedUpdateColumns.names})
     where d.org_id = $1 and d.id = i.id`,
    [org, ...triedUpdateColumns.lists(rows)],
  )
}

export const tries = table('delivery_try', {
  deliveryId: column.text(),
  number: column.int(),
  nodeId: column.text(),
  startedAt: column.instant(),
  finishedAt: column.instant(),
  ok: column.boolean(),
  statusCode: column.int<number | null>(),
  errorCode: column.text<string | null>(),
  message: column.text<string | null>(),
})

/** One try to send a message. */
export type TryRow = RowOf<typeof tries>

/** Inserts tries. */
export function insertTries(tx: Transaction, org: OrgId, rows: readonly TryRow[]): void {
  tx.send(`insert into delivery_try (org_id, ${tries.names}) select $1, * from unnest(${tries.arrays(2)})`, [
    org,
    ...tries.lists(rows),
  ])
}
