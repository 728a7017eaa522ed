import type { DeliveryState } from '../../core/delivery/delivery-states.ts'
import type { BeatOutcome } from '../../domain/heartbeat/heartbeat-ending.ts'
import type { AgentId, OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Connection, SqlValue, Transaction } from '../../store/database.ts'
import { type Listed, readPage } from '../../platform/db/page.ts'
import {
  column,
  columns,
  counted,
  countRemoved,
  type OldRows,
  type RowOf,
  table,
  timestampOrNull,
  toTimestamp,
} from '../../platform/db/table.ts'

const beats = table('heartbeat_log', {
  id: column.text(),
  agentId: column.text<AgentId>(),
  /** The moment of the plan; null when somebody wanted to see it. */
  dueAt: column.instant<Instant | null>(),
  at: column.instant(),
  outcome: column.text<BeatOutcome>(),
  why: column.json<Why>(),
  target: column.text(),
  runId: column.text<RunId | null>(),
  content: column.text<string | null>(),
  deliveryId: column.text<string | null>(),
  finishedAt: column.instant<Instant | null>(),
  /** The conversation that the content was added to. */
  sessionKey: column.text<SessionKey | null>(),
})

/** An entry of `heartbeat_log`. */
export type BeatRow = RowOf<typeof beats>

/**
 * Puts what became of heartbeats on record. An agent that is still busy adds a look to the entry of the same moment, and
 * a run that has ended completes the entry it began.
 */
export function writeBeats(tx: Transaction, org: OrgId, rows: readonly BeatRow[]): void {
  tx.send(
    `with given as (select * from unnest(${beats.arrays(2)}) as i (${beats.names})),
     again as (
       update heartbeat_log l set looks = l.looks + 1, last_at = g.at, why = g.why
         from given g
        where l.org_id = $1 and l.agent_id = g.agent_id and l.due_at = g.due_at and l.outcome = 'busy'
          and g.outcome = 'busy'
        returning g.id)
     insert into heartbeat_log (org_id, last_at, ${beats.names})
     select $1, g.at, g.* from given g where g.id not in (select id from again)
     on conflict (org_id, id) do update set outcome = excluded.outcome, why = excluded.why, last_at = excluded.last_at,
       content = excluded.content, delivery_id = excluded.delivery_id, finished_at = excluded.finished_at,
       session_key = excluded.session_key`,
    [org, ...beats.lists(rows)],
  )
}

const delivered = columns({
  agentId: column.text<AgentId>('i.agent_id'),
  /** The receiver, however it was written: its line in the outbox. */
  line: column.text('i.line'),
  content: column.text('s.content'),
  at: column.instant('s.finished_at'),
})

/** What arrived last, by agent and receiver. */
export type DeliveredBeat = RowOf<typeof delivered>

/** The newest content that has arrived at each of these receivers. What is on its way, held or given up does not count. */
export async function loadLastDelivered(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentIds: readonly AgentId[]; readonly lines: readonly string[] },
): Promise<readonly DeliveredBeat[]> {
  const rows = await connection.query(
    `select ${delivered.list}
       from (select distinct * from unnest($2::text[], $3::text[]) as w (agent_id, line)) i
       cross join lateral (
         select l.content, d.finished_at from heartbeat_log l
           join delivery d on d.org_id = l.org_id and d.id = l.delivery_id
          where l.org_id = $1 and l.agent_id = i.agent_id and l.delivery_id is not null
            and d.line = i.line and d.state = 'delivered'
          order by d.finished_at desc, l.at desc limit 1) s`,
    [wanted.orgId, wanted.agentIds, wanted.lines],
  )
  return delivered.read(rows)
}

const records = columns({
  ...beats.definitions,
  orgId: column.text<OrgId>(),
  looks: column.int(),
  lastAt: column.instant(),
  /** How its delivery stands; null when there is none any more. */
  deliveryState: column.text<DeliveryState | null>('d.state'),
})

/** An entry as it is read. */
export type BeatRecord = RowOf<typeof records>

const BEAT = `${records.of('l')}
  from heartbeat_log l left join delivery d on d.org_id = l.org_id and d.id = l.delivery_id`

interface BeatPage {
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly outcomes: readonly BeatOutcome[] | null
  readonly after: { readonly at: Instant; readonly id: string } | null
  readonly limit: number
}

const LIST = `select ${BEAT}
  where l.org_id = $1 and l.agent_id = $2 and ($3::text[] is null or l.outcome = any($3::text[]))
    and ($4::timestamptz is null or (l.at, l.id) < ($4::timestamptz, $5::text))
  order by l.at desc, l.id desc limit $6`

const listValues = ({ orgId, agentId: agent, outcomes, after, limit }: BeatPage): readonly SqlValue[] => [
  ...[orgId, agent, outcomes, timestampOrNull(after?.at ?? null), after?.id ?? '', limit],
]

/** Entries of an agent, newest first. */
export async function listBeats(connection: Connection, page: BeatPage): Promise<readonly BeatRecord[]> {
  const rows = await connection.query(LIST, listValues(page))
  return records.read(rows)
}

/** A page of them, which ends by bytes too. */
export const listBeatPage = (connection: Connection, page: BeatPage): Promise<Listed<BeatRecord>> =>
  readPage(
    connection,
    { text: LIST, values: listValues({ ...page, limit: page.limit + 1 }), large: ['content'], limit: page.limit },
    records,
  )

const replies = columns({
  runId: column.text<RunId>(),
  content: column.text(),
  createdAt: column.instant('finished_at'),
})

/** News of a heartbeat that was added to a conversation. */
export type AddedReply = RowOf<typeof replies>

/** A page of the news that heartbeats have added to a conversation, newest first. */
export const listAddedReplies = (
  connection: Connection,
  page: {
    readonly orgId: OrgId
    readonly sessionKey: SessionKey
    readonly after: { readonly createdAt: Instant; readonly id: RunId } | null
    readonly limit: number
  },
): Promise<Listed<AddedReply>> =>
  readPage(
    connection,
    {
      text: `select ${replies.list} from heartbeat_log
        where org_id = $1 and session_key = $2
          and ($3::timestamptz is null or (finished_at, run_id) < ($3::timestamptz, $4::text))
        order by finished_at desc, run_id desc limit $5`,
      values: [
        ...[page.orgId, page.sessionKey, timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? ''],
        page.limit + 1,
      ],
      ...{ large: ['content'], limit: page.limit },
    },
    replies,
  )

/** The entry, or undefined. */
export async function loadBeat(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<BeatRecord | undefined> {
  return records.first(
    await connection.query(`select ${BEAT} where l.org_id = $1 and l.id = $2`, [wanted.orgId, wanted.id]),
  )
}

/** Entries of one agent or all whose looks were between two moments, newest first. */
export async function loadBeatsBetween(
  connection: Connection,
  wanted: {
    readonly orgId: OrgId
    readonly agentId: AgentId | null
    readonly from: Instant
    readonly to: Instant
    readonly limit: number
  },
): Promise<readonly BeatRecord[]> {
  const rows = await connection.query(
    `select ${BEAT}
      where l.org_id = $1 and l.last_at >= $3::timestamptz and l.at <= $4::timestamptz
        and ($2::text is null or l.agent_id = $2)
      order by l.last_at limit $5`,
    [wanted.orgId, wanted.agentId, toTimestamp(wanted.from), toTimestamp(wanted.to), wanted.limit],
  )
  return records.read(rows)
}

/** How many entries an agent has. */
export async function countBeats(
  connection: Connection,
  of: { readonly orgId: OrgId; readonly agentId: AgentId },
): Promise<number> {
  const rows = await connection.query(`select ${counted.list} from heartbeat_log where org_id = $1 and agent_id = $2`, [
    of.orgId,
    of.agentId,
  ])
  return counted.only(rows).count
}

/**
 * Removes entries whose last look was before a moment. Those of runs that are under way and of deliveries that have not
 * ended stay. Answers with how many.
 */
export function deleteOldBeats(connection: Connection, old: OldRows): Promise<number> {
  return countRemoved(
    connection,
    `with doomed as (
       select l.id from heartbeat_log l
        where l.org_id = $1 and l.last_at < $2::timestamptz and l.outcome <> 'running'
          and not exists (select 1 from delivery d
            where d.org_id = l.org_id and d.id = l.delivery_id and d.finished_at is null)
        order by l.last_at, l.id limit $3 for update skip locked),
     gone as (delete from heartbeat_log l using doomed d where l.org_id = $1 and l.id = d.id returning 1)
     select count(*) as removed from gone`,
    [old.orgId, toTimestamp(old.before), old.limit],
  )
}

/** Removes what agents have in their logs beyond the newest, except what was sent. Answers with how many. */
export function deleteSurplusBeats(
  connection: Connection,
  surplus: { readonly orgId: OrgId; readonly keep: number; readonly limit: number },
): Promise<number> {
  return countRemoved(
    connection,
    `with doomed as (
       select b.id from heartbeat h cross join lateral (
         select l.id, l.outcome, l.delivery_id from heartbeat_log l
          where l.org_id = h.org_id and l.agent_id = h.agent_id order by l.at desc, l.id desc offset $2 limit $3) b
        where h.org_id = $1 and b.outcome <> 'running' and b.delivery_id is null limit $3),
     gone as (delete from heartbeat_log l using doomed d where l.org_id = $1 and l.id = d.id returning 1)
     select count(*) as removed from gone`,
    [surplus.orgId, surplus.keep, surplus.limit],
  )
}
