import type { OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ProbeAnswer, ProbeRecord } from '../../domain/probe/verdict.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, columns, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const probeColumns = columns({
  subject: column.text(),
  asked: column.bigint(),
  saved: column.bigint(),
  errors: column.bigint(),
  lastAnswer: column.text<ProbeAnswer>(),
  lastSentence: column.text(),
  lastAt: column.instant(),
  lastRunId: column.text<RunId>(),
})

/** A row of `probe`: how often a probe ran, and its last result. */
export type ProbeRow = RowOf<typeof probeColumns>

const answerColumns = table('probe_answer', {
  at: column.instant(),
  answer: column.text<ProbeAnswer>(),
  asked: column.text(),
  sentence: column.text(),
  seen: column.text(),
})

/** A row of `probe_answer`: the result of the probe for a run. */
export type ProbeAnswerRow = RowOf<typeof answerColumns>

const probeHistoryColumns = columns({
  /** The earlier answer for the same run; null: the probe has not run for it. */
  earlierAnswer: column.text<ProbeAnswer | null>(
    '(select a.answer from probe_answer a where a.org_id = $1 and a.run_id = $3)',
  ),
  seenMark: column.text<string | null>(),
  wokenMark: column.text<string | null>(),
  wokenRunId: column.text<RunId | null>(),
  /** Whether the last run that was woken has succeeded. */
  wokenSucceeded: column.boolean(
    "exists (select 1 from run r where r.org_id = $1 and r.id = p.woken_run_id and r.state = 'success')",
  ),
})

/** The stored results that a run of the probe depends on. */
export type ProbeHistory = RowOf<typeof probeHistoryColumns>

/** Loads the earlier results of a probe, and whether it has already run for this run. */
export async function loadProbeHistory(
  connection: Connection,
  input: { readonly orgId: OrgId; readonly subject: string; readonly runId: RunId },
): Promise<ProbeHistory> {
  const rows = await connection.query(
    `select ${probeHistoryColumns.of('p')}
       from (select 1) one left join probe p on p.org_id = $1 and p.subject = $2`,
    [input.orgId, input.subject, input.runId],
  )
  return probeHistoryColumns.only(rows)
}

/** The result of a probe, with its time and run. */
export interface RunProbeRecord extends ProbeRecord {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly at: Instant
}

/** Stores and counts a result. An answer keeps waking the agent until a run that it woke has succeeded. */
export function writeProbe(tx: Transaction, input: RunProbeRecord): void {
  const { orgId, subject, runId: run, answer, sentence } = input
  const at = toTimestamp(input.at)
  tx.send(
    `insert into probe (org_id, subject, asked, saved, errors, last_answer, last_sentence, last_at, last_run_id,
       seen_mark, woken_mark, woken_run_id)
     values ($1, $2, 1, case $3::text when 'no' then 1 else 0 end, case $3::text when 'error' then 1 else 0 end, $3::text,
       $4, $5::timestamptz, $6, $7, $8, case when $8::text is null then null else $6::text end)
     on conflict (org_id, subject) do update set asked = probe.asked + 1, saved = probe.saved + excluded.saved,
       errors = probe.errors + excluded.errors, last_answer = excluded.last_answer,
       last_sentence = excluded.last_sentence, last_at = excluded.last_at, last_run_id = excluded.last_run_id,
       seen_mark = excluded.seen_mark, woken_mark = coalesce(excluded.woken_mark, probe.woken_mark),
       woken_run_id = coalesce(excluded.woken_run_id, probe.woken_run_id)`,
    [orgId, subject, answer, sentence, at, run, input.seenMark, input.wokenMark],
  )
  tx.send(
    `insert into probe_answer (org_id, run_id, ${answerColumns.names}) values ($1, $2, ${answerColumns.params(3)})
     on conflict (org_id, run_id) do update set ${answerColumns.assignedFrom('excluded')}`,
    [orgId, run, ...answerColumns.values(input)],
  )
  tx.send(
    `insert into run_count (org_id, hour, kind, key, count)
     values ($1, date_trunc('hour', $2::timestamptz, 'UTC'), 'probe', $3, 1)
     on conflict (org_id, hour, kind, key) do update set count = run_count.count + 1`,
    [orgId, at, answer],
  )
}

/** Loads the counts of these subjects; those whose probe never ran are left out. */
export async function loadProbes(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly subjects: readonly string[] },
): Promise<ReadonlyMap<string, ProbeRow>> {
  const rows = await connection.query(
    `select ${probeColumns.list} from probe
      where org_id = $1 and subject = any($2::text[])`,
    [filter.orgId, filter.subjects],
  )
  return new Map(probeColumns.read(rows).map((row) => [row.subject, row]))
}

/** Loads the result of the probe for a run; undefined: it had no probe. */
export async function loadProbeAnswer(
  connection: Connection,
  filter: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<ProbeAnswerRow | undefined> {
  const rows = await connection.query(
    `select ${answerColumns.list} from probe_answer where org_id = $1 and run_id = $2`,
    [filter.orgId, filter.runId],
  )
  return answerColumns.first(rows)
}

/** Deletes the counts of deleted schedules. */
export async function deleteOrphanedProbes(connection: Connection, orgId: OrgId): Promise<void> {
  await connection.query(
    `delete from probe p where p.org_id = $1 and p.subject not like 'heartbeat:%'
        and not exists (select 1 from schedule s where s.org_id = $1 and s.id = p.subject)`,
    [orgId],
  )
}

const executedColumns = columns({
  id: column.text(),
  status: column.text('state'),
  reason: column.text<string | null>("coalesce(why ->> 'reason', 'completed')"),
  errorCode: column.text<string | null>(),
  output: column.json(),
  summary: column.text<string | null>(),
  createdAt: column.instant(),
  finishedAt: column.instant(),
})

/** An ended run, in the fields that a probe can read. */
export type ExecutedRun = RowOf<typeof executedColumns>

/** Loads the newest ended run of a schedule that was executed, without runs that a probe ended. */
export async function loadLastExecutedRun(
  connection: Connection,
  input: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly without: RunId | null },
): Promise<ExecutedRun | null> {
  const rows = await connection.query(
    `select ${executedColumns.list} from run
      where org_id = $1 and schedule_id = $2 and state in ('success', 'failed', 'timeout', 'cancelled')
        and (why is null or why ->> 'reason' <> 'probe_no') and ($3::text is null or id <> $3)
      order by created_at desc, id desc limit 1`,
    [input.orgId, input.scheduleId, input.without],
  )
  return executedColumns.first(rows) ?? null
}

const activityColumns = columns({
  waiting: column.bigint(`(select count(*) from run r join pending p on p.org_id = r.org_id and p.id = r.id
      where r.org_id = $1 and r.session_key = $2 and ($4::text is null or r.id <> $4))
    + coalesce((select s.behind from session s where s.org_id = $1 and s.key = $2), 0)`),
  messages: column.bigint('count(*)'),
  lastMessageAt: column.instant<Instant | null>('max(m.created_at)'),
})

/** A session, in the fields that a probe can read. */
type SessionActivity = RowOf<typeof activityColumns>

/** Counts the pending runs of a session, and its messages since a time; null: since its beginning. */
export async function loadSessionActivity(
  connection: Connection,
  input: {
    readonly orgId: OrgId
    readonly key: SessionKey
    readonly since: Instant | null
    readonly without: RunId | null
  },
): Promise<SessionActivity> {
  const rows = await connection.query(
    `select ${activityColumns.list}
       from run m where m.org_id = $1 and m.session_key = $2 and m.trigger = 'message'
        and ($3::timestamptz is null or m.created_at > $3::timestamptz)`,
    [input.orgId, input.key, timestampOrNull(input.since), input.without],
  )
  return activityColumns.only(rows)
}
