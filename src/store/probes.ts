import { runId, type OrgId, type RunId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { ProbeRecord } from '../core/probe/asked.ts'
import type { ProbeAnswer } from '../core/probe/verdict.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { brandOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `probe`: how often was asked, and what was seen last. */
export interface ProbeRow {
  readonly subject: string
  readonly asked: number
  readonly saved: number
  readonly errors: number
  readonly lastAnswer: ProbeAnswer
  readonly lastSentence: string
  readonly lastAt: Instant
  readonly lastRunId: RunId
}

/** A row of `probe_answer`: what was seen for a run. */
export interface ProbeAnswerRow {
  readonly at: Instant
  readonly answer: ProbeAnswer
  readonly asked: string
  readonly sentence: string
  readonly seen: string
}

/** What asking for a run depends on. */
export interface ProbeStanding {
  /** What was said for this very run before, null: it was not asked for. */
  readonly said: ProbeAnswer | null
  readonly seenMark: string | null
  readonly wokenMark: string | null
  readonly wokenRunId: RunId | null
  /** Whether the run that was woken last has succeeded. */
  readonly wokenSucceeded: boolean
}

/** What was seen before, and whether this very run was asked for already. */
export async function loadProbeStanding(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly subject: string; readonly runId: RunId },
): Promise<ProbeStanding> {
  const [row] = await connection.query(
    `select p.seen_mark, p.woken_mark, p.woken_run_id,
            exists (select 1 from run r where r.org_id = $1 and r.id = p.woken_run_id and r.state = 'success') as done,
            (select a.answer from probe_answer a where a.org_id = $1 and a.run_id = $3) as said
       from (select 1) one left join probe p on p.org_id = $1 and p.subject = $2`,
    [asked.orgId, asked.subject, asked.runId],
  )
  return {
    said: (row?.['said'] as ProbeAnswer | null | undefined) ?? null,
    seenMark: (row?.['seen_mark'] as string | null | undefined) ?? null,
    wokenMark: (row?.['woken_mark'] as string | null | undefined) ?? null,
    wokenRunId: brandOrNull(row?.['woken_run_id'], runId),
    wokenSucceeded: row?.['done'] === true,
  }
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
    `insert into probe_answer (org_id, run_id, at, answer, asked, sentence, seen)
     values ($1, $2, $3::timestamptz, $4, $5, $6, $7)
     on conflict (org_id, run_id) do update set at = excluded.at, answer = excluded.answer, asked = excluded.asked,
       sentence = excluded.sentence, seen = excluded.seen`,
    [orgId, run, at, answer, asked.asked, sentence, asked.seen],
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
    `select subject, asked, saved, errors, last_answer, last_sentence, last_at, last_run_id from probe
      where org_id = $1 and subject = any($2::text[])`,
    [wanted.orgId, wanted.subjects],
  )
  return new Map(rows.map((row) => [row['subject'] as string, probeOf(row)]))
}

const probeOf = (row: Row): ProbeRow => ({
  subject: row['subject'] as string,
  asked: row['asked'] as number,
  saved: row['saved'] as number,
  errors: row['errors'] as number,
  lastAnswer: row['last_answer'] as ProbeAnswer,
  lastSentence: row['last_sentence'] as string,
  lastAt: row['last_at'] as Instant,
  lastRunId: runId(row['last_run_id'] as string),
})

/** What was seen for a run; undefined: nobody asked. */
export async function loadProbeAnswer(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<ProbeAnswerRow | undefined> {
  const [row] = await connection.query(
    'select at, answer, asked, sentence, seen from probe_answer where org_id = $1 and run_id = $2',
    [wanted.orgId, wanted.runId],
  )
  if (row === undefined) return undefined
  return {
    at: row['at'] as Instant,
    answer: row['answer'] as ProbeAnswer,
    asked: row['asked'] as string,
    sentence: row['sentence'] as string,
    seen: row['seen'] as string,
  }
}

/** Removes what was counted for schedules that are gone. */
export async function deleteOrphanedProbes(connection: Connection, orgId: OrgId): Promise<void> {
  await connection.query(
    `delete from probe p where p.org_id = $1 and p.subject not like 'heartbeat:%'
        and not exists (select 1 from schedule s where s.org_id = $1 and s.id = p.subject)`,
    [orgId],
  )
}
