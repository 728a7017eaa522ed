import type { AgentId, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { audits, type AuditRow } from '../audit/store.ts'
import type { Connection } from '../../platform/db/database.ts'
import { type DecisionRow, decisions, type OccurrenceRow, occurrences } from '../schedules/occurrences-store.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

/** Queries used only by explanations. Each uses an index and has a limit. */

interface OccurrencesQuery {
  readonly orgId: OrgId
  readonly from: Instant
  readonly to: Instant
}

const scheduledOccurrenceColumns = occurrences.pick('scheduleId', 'nominal', 'runId')

/** The entries of scheduled occurrences between two times. */
export async function loadOccurrencesBetween(
  connection: Connection,
  wanted: OccurrencesQuery & { readonly scheduleIds: readonly ScheduleId[]; readonly limit: number },
): Promise<readonly Pick<OccurrenceRow, 'scheduleId' | 'nominal' | 'runId'>[]> {
  const rows = await connection.query(
    `select ${scheduledOccurrenceColumns.of('o')} from unnest($2::text[]) as w (id)
      cross join lateral (
        select * from occurrence
         where org_id = $1 and schedule_id = w.id and nominal_at between $3::timestamptz and $4::timestamptz
           and kind = 'occurrence' and discriminator = ''
         order by nominal_at limit $5) o`,
    [wanted.orgId, wanted.scheduleIds, toTimestamp(wanted.from), toTimestamp(wanted.to), wanted.limit],
  )
  return scheduledOccurrenceColumns.read(rows)
}

const rangeColumns = decisions.omit('orgId')

/** Decided ranges of some schedules that overlap a period, latest start first. */
export async function loadDecisionsBetween(
  connection: Connection,
  wanted: OccurrencesQuery & { readonly scheduleIds: readonly ScheduleId[]; readonly limit: number },
): Promise<readonly Omit<DecisionRow, 'orgId'>[]> {
  const rows = await connection.query(
    `select ${rangeColumns.of('d')} from unnest($2::text[]) as w (id)
      cross join lateral (
        select * from decision
         where org_id = $1 and schedule_id = w.id and first_at <= $4::timestamptz and last_at >= $3::timestamptz
         order by first_at desc limit $5) d`,
    [wanted.orgId, wanted.scheduleIds, toTimestamp(wanted.from), toTimestamp(wanted.to), wanted.limit],
  )
  return rangeColumns.read(rows)
}

/** The newest audit entries of some objects of a kind, at most `limit` of each, newest first. */
export async function loadAuditsOf(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly kind: string; readonly ids: readonly string[]; readonly limit: number },
): Promise<readonly AuditRow[]> {
  const rows = await connection.query(
    `select ${audits.of('a')} from unnest($3::text[]) as w (id)
      cross join lateral (
        select * from audit where org_id = $1 and object_kind = $2 and object_id = w.id
         order by no desc limit $4) a
      order by a.no desc`,
    [wanted.orgId, wanted.kind, wanted.ids, wanted.limit],
  )
  return audits.read(rows)
}

/** Deletions of schedules since a time, newest first, among the newest `looks` audit entries of the org. */
export async function loadDeletions(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly since: Instant; readonly looks: number; readonly limit: number },
): Promise<readonly AuditRow[]> {
  const rows = await connection.query(
    `select ${audits.list} from audit
      where org_id = $1 and no > (select coalesce(max(no), 0) from audit_head where org_id = $1) - $3::bigint
        and action = 'schedule.delete' and at >= $2::timestamptz
      order by no desc limit $4`,
    [wanted.orgId, toTimestamp(wanted.since), wanted.looks, wanted.limit],
  )
  return audits.read(rows)
}

const runIdColumn = columns({ id: column.text<RunId>() })

/** The run that contains a message, among the newest `looks` runs created before a time. */
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
  const rows = await connection.query(
    `select ${runIdColumn.list} from (
       select id, payload from run
        where org_id = $1 and created_at <= $3::timestamptz ${session === null ? '' : 'and session_key = $5'}
        order by created_at desc, id desc limit $4) newest
      where payload->'messageIds' ? $2 limit 1`,
    [
      ...[wanted.orgId, wanted.messageId, toTimestamp(wanted.before), wanted.looks],
      ...(session === null ? [] : [session]),
    ],
  )
  return runIdColumn.first(rows)?.id
}

/** The run of an attempt: a pending run, or one among the newest `looks` runs created before a time. */
export async function findRunOfAttempt(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly attemptId: string; readonly before: Instant; readonly looks: number },
): Promise<RunId | undefined> {
  const rows = await connection.query(
    `select ${runIdColumn.list} from pending where org_id = $1 and attempt_id = $2
     union all
     select n.id from (
       select id, attempt_id from run where org_id = $1 and created_at <= $3::timestamptz
        order by created_at desc, id desc limit $4) n
      where n.attempt_id = $2
         or exists (select 1 from attempt a where a.org_id = $1 and a.run_id = n.id and a.id = $2)
     limit 1`,
    [wanted.orgId, wanted.attemptId, toTimestamp(wanted.before), wanted.looks],
  )
  return runIdColumn.first(rows)?.id
}

const createdAtColumn = columns({ createdAt: column.instant() })

/** When the oldest stored run of a schedule was created. */
export async function loadOldestRunAt(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly scheduleId: ScheduleId },
): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${createdAtColumn.list} from run where org_id = $1 and schedule_id = $2 order by created_at, id limit 1`,
    [query.orgId, query.scheduleId],
  )
  return createdAtColumn.first(rows)?.createdAt ?? null
}

const heartbeatColumns = columns({
  agentId: column.text(),
  nextAt: column.instant<Instant | null>(),
  enabled: column.boolean(),
})

/** Agents with a heartbeat, with the time of the next one. */
export async function loadHeartbeatAgents(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentId: AgentId | null; readonly limit: number },
): Promise<readonly RowOf<typeof heartbeatColumns>[]> {
  const rows = await connection.query(
    `select ${heartbeatColumns.list} from heartbeat where org_id = $1 and ($2::text is null or agent_id = $2)
      order by next_at nulls last limit $3`,
    [wanted.orgId, wanted.agentId, wanted.limit],
  )
  return heartbeatColumns.read(rows)
}
