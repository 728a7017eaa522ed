import {
  runId,
  scheduleId,
  type AgentId,
  type OrgId,
  type RunId,
  type ScheduleId,
  type SessionKey,
} from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import { AUDIT_COLUMNS, auditOf, type AuditRow } from './audit.ts'
import type { Connection } from './database.ts'
import type { DecisionRow } from './decisions.ts'
import type { OccurrenceRow } from './occurrences.ts'
import { toTimestamp } from './timestamp.ts'

/** Reads that explanations need and nobody else: each follows an index, and each is bounded. */

interface Between {
  readonly orgId: OrgId
  readonly from: Instant
  readonly to: Instant
}

/** What the plans of some schedules made of the moments between two. */
export async function loadOccurrencesBetween(
  connection: Connection,
  wanted: Between & { readonly scheduleIds: readonly ScheduleId[]; readonly limit: number },
): Promise<readonly Pick<OccurrenceRow, 'scheduleId' | 'nominal' | 'runId'>[]> {
  const rows = await connection.query(
    `select o.schedule_id, o.nominal_at, o.run_id from unnest($2::text[]) as w (id)
      cross join lateral (
        select schedule_id, nominal_at, run_id from occurrence
         where org_id = $1 and schedule_id = w.id and nominal_at between $3::timestamptz and $4::timestamptz
           and kind = 'occurrence' and discriminator = ''
         order by nominal_at limit $5) o`,
    [wanted.orgId, wanted.scheduleIds, toTimestamp(wanted.from), toTimestamp(wanted.to), wanted.limit],
  )
  return rows.map((row) => ({
    scheduleId: scheduleId(row['schedule_id'] as string),
    nominal: row['nominal_at'] as Instant,
    runId: runId(row['run_id'] as string),
  }))
}

/** Ranges of decisions of some schedules that reach between two moments, those that begin last first. */
export async function loadDecisionsBetween(
  connection: Connection,
  wanted: Between & { readonly scheduleIds: readonly ScheduleId[]; readonly limit: number },
): Promise<readonly Omit<DecisionRow, 'orgId'>[]> {
  const rows = await connection.query(
    `select d.* from unnest($2::text[]) as w (id)
      cross join lateral (
        select schedule_id, first_at, last_at, count, why, decided_at from decision
         where org_id = $1 and schedule_id = w.id and first_at <= $4::timestamptz and last_at >= $3::timestamptz
         order by first_at desc limit $5) d`,
    [wanted.orgId, wanted.scheduleIds, toTimestamp(wanted.from), toTimestamp(wanted.to), wanted.limit],
  )
  return rows.map((row) => ({
    scheduleId: scheduleId(row['schedule_id'] as string),
    first: row['first_at'] as Instant,
    last: row['last_at'] as Instant,
    count: row['count'] as number,
    why: row['why'] as Why,
    decidedAt: row['decided_at'] as Instant,
  }))
}

/** The newest records about some objects of a kind, of each at most so many, newest first. */
export async function loadAuditsOf(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly kind: string; readonly ids: readonly string[]; readonly limit: number },
): Promise<readonly AuditRow[]> {
  const rows = await connection.query(
    `select a.* from unnest($3::text[]) as w (id)
      cross join lateral (
        select ${AUDIT_COLUMNS} from audit where org_id = $1 and object_kind = $2 and object_id = w.id
         order by no desc limit $4) a
      order by a.no desc`,
    [wanted.orgId, wanted.kind, wanted.ids, wanted.limit],
  )
  return rows.map(auditOf)
}

/** Deletions of schedules since a moment, newest first; looks at the newest records of the org and not further. */
export async function loadDeletions(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly since: Instant; readonly looks: number; readonly limit: number },
): Promise<readonly AuditRow[]> {
  const rows = await connection.query(
    `select ${AUDIT_COLUMNS} from audit
      where org_id = $1 and no > (select coalesce(max(no), 0) from audit_head where org_id = $1) - $3::bigint
        and action = 'schedule.delete' and at >= $2::timestamptz
      order by no desc limit $4`,
    [wanted.orgId, toTimestamp(wanted.since), wanted.looks, wanted.limit],
  )
  return rows.map(auditOf)
}

/** The run that carries a message, among the newest so many that were made before a moment. */
export async function findRunOfMessage(
  connection: Connection,
  wanted: {
    readonly orgId: OrgId
    readonly messageId: string
    readonly session: SessionKey | null
    readonly before: Instant
    readonly looks: number
  },
): Promise<RunId | undefined> {
  const { session } = wanted
  const [row] = await connection.query(
    `select id from (
       select id, payload from run
        where org_id = $1 and created_at <= $3::timestamptz ${session === null ? '' : 'and session_key = $5'}
        order by created_at desc, id desc limit $4) newest
      where payload->'messageIds' ? $2 limit 1`,
    [
      ...[wanted.orgId, wanted.messageId, toTimestamp(wanted.before), wanted.looks],
      ...(session === null ? [] : [session]),
    ],
  )
  return row === undefined ? undefined : runId(row['id'] as string)
}

/** The run that an attempt is of: one that is under way, or among the newest so many that were made before a moment. */
export async function findRunOfAttempt(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly attemptId: string; readonly before: Instant; readonly looks: number },
): Promise<RunId | undefined> {
  const [row] = await connection.query(
    `select id from pending where org_id = $1 and attempt_id = $2
     union all
     select n.id from (
       select id, attempt_id from run where org_id = $1 and created_at <= $3::timestamptz
        order by created_at desc, id desc limit $4) n
      where n.attempt_id = $2
         or exists (select 1 from attempt a where a.org_id = $1 and a.run_id = n.id and a.id = $2)
     limit 1`,
    [wanted.orgId, wanted.attemptId, toTimestamp(wanted.before), wanted.looks],
  )
  return row === undefined ? undefined : runId(row['id'] as string)
}

/** When the oldest run of a schedule that is still kept was made. */
export async function loadOldestRunAt(
  connection: Connection,
  of: { readonly orgId: OrgId; readonly scheduleId: ScheduleId },
): Promise<Instant | null> {
  const [row] = await connection.query(
    'select created_at from run where org_id = $1 and schedule_id = $2 order by created_at, id limit 1',
    [of.orgId, of.scheduleId],
  )
  return (row?.['created_at'] as Instant | undefined) ?? null
}

/** Agents whose heart beats, with when it beats next. */
export async function loadBeatingAgents(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentId: AgentId | null; readonly limit: number },
): Promise<readonly { readonly agentId: string; readonly nextAt: Instant | null; readonly enabled: boolean }[]> {
  const rows = await connection.query(
    `select agent_id, next_at, enabled from heartbeat where org_id = $1 and ($2::text is null or agent_id = $2)
      order by next_at nulls last limit $3`,
    [wanted.orgId, wanted.agentId, wanted.limit],
  )
  return rows.map((row) => ({
    agentId: row['agent_id'] as string,
    nextAt: row['next_at'] as Instant | null,
    enabled: row['enabled'] as boolean,
  }))
}
