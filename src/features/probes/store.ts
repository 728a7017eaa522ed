import type { OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ProbeRecord } from '../../core/probe/asked.ts'
import type { ProbeAnswer } from '../../core/probe/verdict.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { column, columns, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const probes = columns({
  subject: column.text(),
  asked: column.bigint(),
  saved: column.bigint(),
  errors: column.bigint(),
  lastAnswer: column.text<ProbeAnswer>(),
  lastSentence: column.text(),
  lastAt: column.instant(),
  lastRunId: column.text<RunId>(),
})

/** A row of `probe`: how often was asked, and what was seen last. */
export type ProbeRow = RowOf<typeof probes>

const answers = table('probe_answer', {
  at: column.instant(),
  answer: column.text<ProbeAnswer>(),
  asked: column.text(),
  sentence: column.text(),
  seen: column.text(),
})

/** A row of `probe_answer`: what was seen for a run. */
export type ProbeAnswerRow = RowOf<typeof answers>

const standing = columns({
  /** What was said for this very run before, null: it was not asked for. */
  said: column.text<ProbeAnswer | null>('(select a.answer from probe_answer a where a.org_id = $1 and a.run_id = $3)'),
  seenMark: column.text<string | null>(),
  wokenMark: column.text<string | null>(),
  wokenRunId: column.text<RunId | null>(),
  /** Whether the run that was woken last has succeeded. */
  wokenSucceeded: column.boolean(
    "exists (select 1 from run r where r.org_id = $1 and r.id = p.woken_run_id and r.state = 'success')",
  ),
})

/** What asking for a run depends on. */
export type ProbeStanding = RowOf<typeof standing>

/** What was seen before, and whether this very run was asked for already. */
export async function loadProbeStanding(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly subject: string; readonly runId: RunId },
): Promise<ProbeStanding> {
  const rows = await connection.query(
    `select ${standing.of('p')}
       from (select 1) one left join probe p on p.org_id = $1 and p.subject = $2`,
    [asked.orgId, asked.subject, asked.runId],
  )
  return standing.only(rows)
}

/** One asking, and when and for which run it was. */
export interface AskedProbe extends ProbeRecord {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly at: Instant
}

/** Puts one asking on record and counts it. What is not known to have succeeded stays to be woken for again. */
export function writeProbe(tx: Transaction, asked: AskedProbe): void {
  const { orgId, subject, runId: run, answer, sentence } = asked
  const at = toTimestamp(asked.at)
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
    [orgId, subject, answer, sentence, at, run, asked.seenMark, asked.wokenMark],
  )
  tx.send(
    `insert into probe_answer (org_id, run_id, ${answers.names}) values ($1, $2, ${answers.params(3)})
     on conflict (org_id, run_id) do update set ${answers.assignedFrom('excluded')}`,
    [orgId, run, ...answers.values(asked)],
  )
  tx.send(
    `insert into run_count (org_id, hour, kind, key, count)
     values ($1, date_trunc('hour', $2::timestamptz, 'UTC'), 'probe', $3, 1)
     on conflict (org_id, hour, kind, key) do update set count = run_count.count + 1`,
    [orgId, at, answer],
  )
}

/** What was counted for those among the subjects that were ever asked. */
export async function loadProbes(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly subjects: readonly string[] },
): Promise<ReadonlyMap<string, ProbeRow>> {
  const rows = await connection.query(
    `select ${probes.list} from probe
      where org_id = $1 and subject = any($2::text[])`,
    [wanted.orgId, wanted.subjects],
  )
  return new Map(probes.read(rows).map((row) => [row.subject, row]))
}

/** What was seen for a run; undefined: nobody asked. */
export async function loadProbeAnswer(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<ProbeAnswerRow | undefined> {
  const rows = await connection.query(`select ${answers.list} from probe_answer where org_id = $1 and run_id = $2`, [
    wanted.orgId,
    wanted.runId,
  ])
  return answers.first(rows)
}

/** Removes what was counted for schedules that are gone. */
export async function deleteOrphanedProbes(connection: Connection, orgId: OrgId): Promise<void> {
  await connection.query(
    `delete from probe p where p.org_id = $1 and p.subject not like 'heartbeat:%'
        and not exists (select 1 from schedule s where s.org_id = $1 and s.id = p.subject)`,
    [orgId],
  )
}

const ended = columns({
  id: column.text(),
  status: column.text('state'),
  reason: column.text<string | null>("coalesce(why ->> 'reason', 'completed')"),
  errorCode: column.text<string | null>(),
  output: column.json(),
  summary: column.text<string | null>(),
  createdAt: column.instant(),
  finishedAt: column.instant(),
})

/** A run that has ended, as far as a probe can look at it. */
export type EndedRun = RowOf<typeof ended>

/** The newest run of a schedule that was executed and has ended; those that a probe has saved say nothing. */
export async function loadLastExecuted(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly without: RunId | null },
): Promise<EndedRun | null> {
  const rows = await connection.query(
    `select ${ended.list} from run
      where org_id = $1 and schedule_id = $2 and state in ('success', 'failed', 'timeout', 'cancelled')
        and (why is null or why ->> 'reason' <> 'probe_no') and ($3::text is null or id <> $3)
      order by created_at desc, id desc limit 1`,
    [asked.orgId, asked.scheduleId, asked.without],
  )
  return ended.first(rows) ?? null
}

const sights = columns({
  waiting: column.bigint(`(select count(*) from run r join pending p on p.org_id = r.org_id and p.id = r.id
      where r.org_id = $1 and r.session_key = $2 and ($4::text is null or r.id <> $4))`),
  messages: column.bigint('count(*)'),
  lastMessageAt: column.instant<Instant | null>('max(m.created_at)'),
})

/** A session, as far as a probe can look at it. */
type SessionSight = RowOf<typeof sights>

/** What waits in a session, and how many messages came since a moment; null: ever. */
export async function loadSessionSight(
  connection: Connection,
  asked: {
    readonly orgId: OrgId
    readonly key: SessionKey
    readonly since: Instant | null
    readonly without: RunId | null
  },
): Promise<SessionSight> {
  const rows = await connection.query(
    `select ${sights.list}
       from run m where m.org_id = $1 and m.session_key = $2 and m.trigger = 'message'
        and ($3::timestamptz is null or m.created_at > $3::timestamptz)`,
    [asked.orgId, asked.key, timestampOrNull(asked.since), asked.without],
  )
  return sights.only(rows)
}
