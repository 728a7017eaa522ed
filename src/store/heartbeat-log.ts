import {
  agentId,
  orgId,
  runId,
  sessionKey,
  type AgentId,
  type OrgId,
  type RunId,
  type SessionKey,
} from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { BeatOutcome } from '../core/heartbeat/beat-ending.ts'
import type { DeliveryState } from '../core/delivery/delivery-states.ts'
import type { Why } from '../core/reasons.ts'
import type { Connection, Row, SqlValue, Transaction } from './database.ts'
import { readPage, type Listed } from './page.ts'
import { countRemoved, type OldRows } from './removal.ts'
import { brandOrNull, columnsOf, timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** An entry of `heartbeat_log`. */
export interface BeatRow {
  readonly id: string
  readonly agentId: AgentId
  /** The moment of the plan; null when somebody wanted to see it. */
  readonly dueAt: Instant | null
  readonly at: Instant
  readonly outcome: BeatOutcome
  readonly why: Why
  readonly target: string
  readonly runId: RunId | null
  readonly content: string | null
  readonly deliveryId: string | null
  readonly finishedAt: Instant | null
  /** The conversation that the content was added to. */
  readonly sessionKey: SessionKey | null
}

/**
 * Puts what became of heartbeats on record. An agent that is still busy adds a look to the entry of the same moment, and
 * a run that has ended completes the entry it began.
 */
export function writeBeats(tx: Transaction, org: OrgId, beats: readonly BeatRow[]): void {
  tx.send(
    `with given as (
       select * from unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::text[], $7::jsonb[],
         $8::text[], $9::text[], $10::text[], $11::text[], $12::timestamptz[], $13::text[])
         as i (id, agent_id, due_at, at, outcome, why, target, run_id, content, delivery_id, finished_at,
           session_key)),
     again as (
       update heartbeat_log l set looks = l.looks + 1, last_at = g.at, why = g.why
         from given g
        where l.org_id = $1 and l.agent_id = g.agent_id and l.due_at = g.due_at and l.outcome = 'busy'
          and g.outcome = 'busy'
        returning g.id)
     insert into heartbeat_log (org_id, id, agent_id, due_at, at, last_at, outcome, why, target, run_id, content,
       delivery_id, finished_at, session_key)
     select $1, g.id, g.agent_id, g.due_at, g.at, g.at, g.outcome, g.why, g.target, g.run_id, g.content, g.delivery_id,
       g.finished_at, g.session_key from given g where g.id not in (select id from again)
     on conflict (org_id, id) do update set outcome = excluded.outcome, why = excluded.why, last_at = excluded.last_at,
       content = excluded.content, delivery_id = excluded.delivery_id, finished_at = excluded.finished_at,
       session_key = excluded.session_key`,
    [
      org,
      ...columnsOf(
        beats,
        (beat) => beat.id,
        (beat) => beat.agentId,
        (beat) => timestampOrNull(beat.dueAt),
        (beat) => toTimestamp(beat.at),
        (beat) => beat.outcome,
        (beat) => JSON.stringify(beat.why),
        (beat) => beat.target,
        (beat) => beat.runId,
        (beat) => beat.content,
        (beat) => beat.deliveryId,
        (beat) => timestampOrNull(beat.finishedAt),
        (beat) => beat.sessionKey,
      ),
    ],
  )
}

/** What arrived last, by agent and receiver. */
export interface DeliveredBeat {
  readonly agentId: AgentId
  /** The receiver, however it was written: its line in the outbox. */
  readonly line: string
  readonly content: string
  readonly at: Instant
}

/** The newest content that has arrived at each of these receivers. What is on its way, held or given up does not count. */
export async function loadLastDelivered(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentIds: readonly AgentId[]; readonly lines: readonly string[] },
): Promise<readonly DeliveredBeat[]> {
  const rows = await connection.query(
    `select i.agent_id, i.line, s.content, s.finished_at
       from (select distinct * from unnest($2::text[], $3::text[]) as w (agent_id, line)) i
       cross join lateral (
         select l.content, d.finished_at from heartbeat_log l
           join delivery d on d.org_id = l.org_id and d.id = l.delivery_id
          where l.org_id = $1 and l.agent_id = i.agent_id and l.delivery_id is not null
            and d.line = i.line and d.state = 'delivered'
          order by d.finished_at desc, l.at desc limit 1) s`,
    [wanted.orgId, wanted.agentIds, wanted.lines],
  )
  return rows.map((row) => ({
    agentId: agentId(row['agent_id'] as string),
    line: row['line'] as string,
    content: row['content'] as string,
    at: row['finished_at'] as Instant,
  }))
}

/** An entry as it is read. */
export interface BeatRecord extends BeatRow {
  readonly orgId: OrgId
  readonly looks: number
  readonly lastAt: Instant
  /** How its delivery stands; null when there is none any more. */
  readonly deliveryState: DeliveryState | null
}

const BEAT = `l.org_id, l.id, l.agent_id, l.due_at, l.at, l.looks, l.last_at, l.outcome, l.why, l.target, l.run_id, l.content,
  l.delivery_id, l.finished_at, l.session_key, d.state as delivery_state
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
  return rows.map(beatOf)
}

/** A page of them, which ends by bytes too. */
export const listBeatPage = (connection: Connection, page: BeatPage): Promise<Listed<BeatRecord>> =>
  readPage(
    connection,
    { text: LIST, values: listValues({ ...page, limit: page.limit + 1 }), large: ['content'], limit: page.limit },
    beatOf,
  )

/** News of a heartbeat that was added to a conversation. */
export interface AddedReply {
  readonly runId: RunId
  readonly content: string
  readonly createdAt: Instant
}

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
      text: `select run_id, content, finished_at from heartbeat_log
        where org_id = $1 and session_key = $2
          and ($3::timestamptz is null or (finished_at, run_id) < ($3::timestamptz, $4::text))
        order by finished_at desc, run_id desc limit $5`,
      values: [
        ...[page.orgId, page.sessionKey, timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? ''],
        page.limit + 1,
      ],
      ...{ large: ['content'], limit: page.limit },
    },
    (row) => ({
      runId: runId(row['run_id'] as string),
      content: row['content'] as string,
      createdAt: row['finished_at'] as Instant,
    }),
  )

/** The entry, or undefined. */
export async function loadBeat(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<BeatRecord | undefined> {
  const [row] = await connection.query(`select ${BEAT} where l.org_id = $1 and l.id = $2`, [wanted.orgId, wanted.id])
  return row === undefined ? undefined : beatOf(row)
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
  return rows.map(beatOf)
}

/** How many entries an agent has. */
export async function countBeats(
  connection: Connection,
  of: { readonly orgId: OrgId; readonly agentId: AgentId },
): Promise<number> {
  const [row] = await connection.query(
    'select count(*) as entries from heartbeat_log where org_id = $1 and agent_id = $2',
    [of.orgId, of.agentId],
  )
  return row?.['entries'] as number
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

const beatOf = (row: Row): BeatRecord => ({
  orgId: orgId(row['org_id'] as string),
  id: row['id'] as string,
  agentId: agentId(row['agent_id'] as string),
  dueAt: row['due_at'] as Instant | null,
  at: row['at'] as Instant,
  looks: row['looks'] as number,
  lastAt: row['last_at'] as Instant,
  outcome: row['outcome'] as BeatOutcome,
  why: row['why'] as Why,
  target: row['target'] as string,
  runId: brandOrNull(row['run_id'], runId),
  content: row['content'] as string | null,
  deliveryId: row['delivery_id'] as string | null,
  deliveryState: row['delivery_state'] as DeliveryState | null,
  finishedAt: row['finished_at'] as Instant | null,
  sessionKey: brandOrNull(row['session_key'], sessionKey),
})
