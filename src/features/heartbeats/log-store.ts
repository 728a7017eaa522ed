import type { DeliveryState } from '../../domain/delivery/delivery.ts'
import type { RecordedHeartbeatOutcome } from '../../domain/heartbeat/heartbeat-ending.ts'
import type { AgentId, OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Connection, SqlValue, Transaction } from '../../platform/db/database.ts'
import { type ListedRows, readPage } from '../../platform/db/page.ts'
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

const logColumns = table('heartbeat_log', {
  id: column.text(),
  agentId: column.text<AgentId>(),
  /** When it was due; null for a heartbeat that was requested. */
  dueAt: column.instant<Instant | null>(),
  at: column.instant(),
  outcome: column.text<RecordedHeartbeatOutcome>(),
  why: column.json<Why>(),
  target: column.text(),
  runId: column.text<RunId | null>(),
  content: column.text<string | null>(),
  deliveryId: column.text<string | null>(),
  finishedAt: column.instant<Instant | null>(),
  /** The session that the content was added to. */
  sessionKey: column.text<SessionKey | null>(),
})

/** An entry of `heartbeat_log`. */
export type HeartbeatLogRow = RowOf<typeof logColumns>

/**
 * Writes the outcomes of heartbeats. If the agent is still busy, the entry of the same due time counts one more look.
 * If a run has ended, the entry written at its start is completed.
 */
export function writeHeartbeatLog(tx: Transaction, org: OrgId, rows: readonly HeartbeatLogRow[]): void {
  tx.send(
    `with given as (select * from unnest(${logColumns.arrays(2)}) as i (${logColumns.names})),
     again as (
       update heartbeat_log l set looks = l.looks + 1, last_at = g.at, why = g.why
         from given g
        where l.org_id = $1 and l.agent_id = g.agent_id and l.due_at = g.due_at and l.outcome = 'busy'
          and g.outcome = 'busy'
        returning g.id)
     insert into heartbeat_log (org_id, last_at, ${logColumns.names})
     select $1, g.at, g.* from given g where g.id not in (select id from again)
     on conflict (org_id, id) do update set outcome = excluded.outcome, why = excluded.why, last_at = excluded.last_at,
       content = excluded.content, delivery_id = excluded.delivery_id, finished_at = excluded.finished_at,
       session_key = excluded.session_key`,
    [org, ...logColumns.lists(rows)],
  )
}

const deliveredColumns = columns({
  agentId: column.text<AgentId>('i.agent_id'),
  /** The recipient in its normalized form, as the outbox stores it. */
  line: column.text('i.line'),
  content: column.text('s.content'),
  at: column.instant('s.finished_at'),
})

/** The last delivered content of an agent at one recipient. */
export type DeliveredHeartbeat = RowOf<typeof deliveredColumns>

/** Loads the newest delivered content per recipient. Deliveries that are pending, held or given up do not count. */
export async function loadLastDelivered(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly agentIds: readonly AgentId[]; readonly lines: readonly string[] },
): Promise<readonly DeliveredHeartbeat[]> {
  const rows = await connection.query(
    `select ${deliveredColumns.list}
       from (select distinct * from unnest($2::text[], $3::text[]) as w (agent_id, line)) i
       cross join lateral (
         select l.content, d.finished_at from heartbeat_log l
           join delivery d on d.org_id = l.org_id and d.id = l.delivery_id
          where l.org_id = $1 and l.agent_id = i.agent_id and l.delivery_id is not null
            and d.line = i.line and d.state = 'delivered'
          order by d.finished_at desc, l.at desc limit 1) s`,
    [filter.orgId, filter.agentIds, filter.lines],
  )
  return deliveredColumns.read(rows)
}

const logRecordColumns = columns({
  ...logColumns.definitions,
  orgId: column.text<OrgId>(),
  looks: column.int(),
  lastAt: column.instant(),
  /** The state of its delivery; null when there is none or it was deleted. */
  deliveryState: column.text<DeliveryState | null>('d.state'),
})

/** An entry of `heartbeat_log` as it is read. */
export type HeartbeatLogRecord = RowOf<typeof logRecordColumns>

const LOG_RECORD_SQL = `${logRecordColumns.of('l')}
  from heartbeat_log l left join delivery d on d.org_id = l.org_id and d.id = l.delivery_id`

interface HeartbeatLogPage {
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly outcomes: readonly RecordedHeartbeatOutcome[] | null
  readonly after: { readonly at: Instant; readonly id: string } | null
  readonly limit: number
}

const LIST_LOG_SQL = `select ${LOG_RECORD_SQL}
  where l.org_id = $1 and l.agent_id = $2 and ($3::text[] is null or l.outcome = any($3::text[]))
    and ($4::timestamptz is null or (l.at, l.id) < ($4::timestamptz, $5::text))
  order by l.at desc, l.id desc limit $6`

const listLogValues = ({ orgId, agentId: agent, outcomes, after, limit }: HeartbeatLogPage): readonly SqlValue[] => [
  ...[orgId, agent, outcomes, timestampOrNull(after?.at ?? null), after?.id ?? '', limit],
]

/** Lists entries of an agent, newest first. */
export async function listHeartbeatLog(
  connection: Connection,
  page: HeartbeatLogPage,
): Promise<readonly HeartbeatLogRecord[]> {
  const rows = await connection.query(LIST_LOG_SQL, listLogValues(page))
  return logRecordColumns.read(rows)
}

/** Lists a page of entries, which is also limited by size in bytes. */
export const listHeartbeatLogPage = (
  connection: Connection,
  page: HeartbeatLogPage,
): Promise<ListedRows<HeartbeatLogRecord>> =>
  readPage(
    connection,
    {
      text: LIST_LOG_SQL,
      values: listLogValues({ ...page, limit: page.limit + 1 }),
      large: ['content'],
      limit: page.limit,
    },
    logRecordColumns,
  )

const addedReplyColumns = columns({
  runId: column.text<RunId>(),
  content: column.text(),
  createdAt: column.instant('finished_at'),
})

/** The content of a heartbeat that was added to a session. */
export type AddedReply = RowOf<typeof addedReplyColumns>

/** Lists a page of the contents that heartbeats have added to a session, newest first. */
export const listAddedReplies = (
  connection: Connection,
  page: {
    readonly orgId: OrgId
    readonly sessionKey: SessionKey
    readonly after: { readonly createdAt: Instant; readonly id: RunId } | null
    readonly limit: number
  },
): Promise<ListedRows<AddedReply>> =>
  readPage(
    connection,
    {
      text: `select ${addedReplyColumns.list} from heartbeat_log
        where org_id = $1 and session_key = $2
          and ($3::timestamptz is null or (finished_at, run_id) < ($3::timestamptz, $4::text))
        order by finished_at desc, run_id desc limit $5`,
      values: [
        ...[page.orgId, page.sessionKey, timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? ''],
        page.limit + 1,
      ],
      ...{ large: ['content'], limit: page.limit },
    },
    addedReplyColumns,
  )

/** Loads an entry by id. */
export async function loadHeartbeatLogRecord(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly id: string },
): Promise<HeartbeatLogRecord | undefined> {
  return logRecordColumns.first(
    await connection.query(`select ${LOG_RECORD_SQL} where l.org_id = $1 and l.id = $2`, [filter.orgId, filter.id]),
  )
}

/** Loads the entries of one agent or of all whose looks fall between two times, ordered by the last look. */
export async function loadHeartbeatLogBetween(
  connection: Connection,
  filter: {
    readonly orgId: OrgId
    readonly agentId: AgentId | null
    readonly from: Instant
    readonly to: Instant
    readonly limit: number
  },
): Promise<readonly HeartbeatLogRecord[]> {
  const rows = await connection.query(
    `select ${LOG_RECORD_SQL}
      where l.org_id = $1 and l.last_at >= $3::timestamptz and l.at <= $4::timestamptz
        and ($2::text is null or l.agent_id = $2)
      order by l.last_at limit $5`,
    [filter.orgId, filter.agentId, toTimestamp(filter.from), toTimestamp(filter.to), filter.limit],
  )
  return logRecordColumns.read(rows)
}

/** Counts the entries of an agent. */
export async function countHeartbeatLog(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly agentId: AgentId },
): Promise<number> {
  const rows = await connection.query(`select ${counted.list} from heartbeat_log where org_id = $1 and agent_id = $2`, [
    filter.orgId,
    filter.agentId,
  ])
  return counted.only(rows).count
}

/**
 * Deletes entries whose last look was before a time, except those with a running run or an unfinished delivery. Returns
 * how many were deleted.
 */
export function deleteOldHeartbeatLog(connection: Connection, old: OldRows): Promise<number> {
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

/** Deletes the entries of each agent beyond the newest `keep`, except those with a delivery. Returns the number. */
export function deleteSurplusHeartbeatLog(
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
