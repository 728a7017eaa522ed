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
import type { Connection, Row, Transaction } from './database.ts'
import { brandOrNull, columnsOf, timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `heartbeat`. */
export interface HeartbeatRow {
  readonly orgId: OrgId
  readonly agentId: AgentId
  /** As everybody reads them, with every default filled in. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly enabled: boolean
  readonly dueAt: Instant | null
  readonly nextAt: Instant | null
  readonly lastDueAt: Instant | null
  readonly okStreak: number
  readonly runId: RunId | null
  /** The newest conversation outside of channels in which the agent was sent a message. */
  readonly lastSession: { readonly key: SessionKey; readonly at: Instant } | null
  /** Runs up to here were looked at for it. */
  readonly lookedUntil: Instant | null
  /** Heartbeats in a row that failed or had no route. */
  readonly failingStreak: number
  /** The alert about them while it is open. */
  readonly alertId: string | null
  readonly version: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

const COLUMNS = `org_id, agent_id, settings, enabled, due_at, next_at, last_due_at, ok_streak, run_id, last_session,
  last_session_at, looked_until, failing_streak, alert_id, version, created_at, updated_at`

/** The heartbeats of the agents among the ids that have one. */
export async function loadHeartbeats(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentIds: readonly AgentId[] },
): Promise<readonly HeartbeatRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from heartbeat where org_id = $1 and agent_id = any($2::text[])`,
    [wanted.orgId, wanted.agentIds],
  )
  return rows.map(heartbeatOf)
}

/** The heartbeats of the org that are switched on. */
export async function loadEnabledHeartbeats(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly limit: number },
): Promise<readonly HeartbeatRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from heartbeat where org_id = $1 and enabled order by agent_id limit $2`,
    [wanted.orgId, wanted.limit],
  )
  return rows.map(heartbeatOf)
}

/** Heartbeats whose moment has come, longest overdue first, of all orgs but some. */
export async function loadDueHeartbeats(
  connection: Connection,
  due: { readonly now: Instant; readonly limit: number; readonly except: readonly OrgId[] },
): Promise<readonly HeartbeatRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from heartbeat h
      where next_at <= $1::timestamptz and exists (select 1 from org o where o.id = h.org_id and o.deleted_at is null)
        and org_id <> all($3::text[])
      order by next_at limit $2`,
    [toTimestamp(due.now), due.limit, due.except],
  )
  return rows.map(heartbeatOf)
}

/** The earliest moment after this one at which anybody has to look. */
export async function loadNextHeartbeat(connection: Connection, after: Instant): Promise<Instant | null> {
  const [row] = await connection.query(
    'select next_at from heartbeat where next_at > $1::timestamptz order by next_at limit 1',
    [toTimestamp(after)],
  )
  return (row?.['next_at'] as Instant | undefined) ?? null
}

/** Writes what somebody has set, one version on; the first time it is made. */
export function putHeartbeat(tx: Transaction, row: HeartbeatRow): void {
  tx.send(
    `insert into heartbeat (org_id, agent_id, settings, enabled, due_at, next_at, last_due_at, ok_streak, created_at,
       updated_at, failing_streak, alert_id)
     values ($1, $2, $3::jsonb, $4, $5::timestamptz, $6::timestamptz, $7::timestamptz, $8, $9::timestamptz,
       $10::timestamptz, $11, $12)
     on conflict (org_id, agent_id) do update set settings = excluded.settings, enabled = excluded.enabled,
       due_at = excluded.due_at, next_at = excluded.next_at, last_due_at = excluded.last_due_at,
       ok_streak = excluded.ok_streak, updated_at = excluded.updated_at, failing_streak = excluded.failing_streak,
       alert_id = excluded.alert_id, version = heartbeat.version + 1`,
    [
      ...[row.orgId, row.agentId, JSON.stringify(row.settings), row.enabled],
      ...[timestampOrNull(row.dueAt), timestampOrNull(row.nextAt), timestampOrNull(row.lastDueAt)],
      ...[row.okStreak, toTimestamp(row.createdAt), toTimestamp(row.updatedAt)],
      ...[row.failingStreak, row.alertId],
    ],
  )
}

/** Where heartbeats stand after they were looked at. What a person has set stays. */
export function saveHeartbeats(tx: Transaction, org: OrgId, rows: readonly HeartbeatRow[]): void {
  tx.send(
    `update heartbeat h set due_at = i.due_at, next_at = i.next_at, last_due_at = i.last_due_at,
       ok_streak = i.ok_streak, run_id = i.run_id, last_session = i.last_session, last_session_at = i.last_session_at,
       looked_until = i.looked_until, failing_streak = i.failing_streak, alert_id = i.alert_id
     from unnest($2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[], $6::int[], $7::text[], $8::text[],
         $9::timestamptz[], $10::timestamptz[], $11::int[], $12::text[])
       as i (agent_id, due_at, next_at, last_due_at, ok_streak, run_id, last_session, last_session_at, looked_until,
         failing_streak, alert_id)
     where h.org_id = $1 and h.agent_id = i.agent_id`,
    [
      org,
      ...columnsOf(
        rows,
        (row) => row.agentId,
        (row) => timestampOrNull(row.dueAt),
        (row) => timestampOrNull(row.nextAt),
        (row) => timestampOrNull(row.lastDueAt),
        (row) => row.okStreak,
        (row) => row.runId,
        (row) => row.lastSession?.key ?? null,
        (row) => timestampOrNull(row.lastSession?.at ?? null),
        (row) => timestampOrNull(row.lookedUntil),
        (row) => row.failingStreak,
        (row) => row.alertId,
      ),
    ],
  )
}

const heartbeatOf = (row: Row): HeartbeatRow => ({
  orgId: orgId(row['org_id'] as string),
  agentId: agentId(row['agent_id'] as string),
  settings: row['settings'] as HeartbeatRow['settings'],
  enabled: row['enabled'] as boolean,
  dueAt: row['due_at'] as Instant | null,
  nextAt: row['next_at'] as Instant | null,
  lastDueAt: row['last_due_at'] as Instant | null,
  okStreak: row['ok_streak'] as number,
  runId: brandOrNull(row['run_id'], runId),
  lastSession: lastSessionOf(row['last_session'], row['last_session_at']),
  lookedUntil: row['looked_until'] as Instant | null,
  failingStreak: row['failing_streak'] as number,
  alertId: row['alert_id'] as string | null,
  version: row['version'] as number,
  createdAt: row['created_at'] as Instant,
  updatedAt: row['updated_at'] as Instant,
})

const lastSessionOf = (key: unknown, at: unknown): HeartbeatRow['lastSession'] =>
  key === null ? null : { key: sessionKey(key as string), at: at as Instant }
