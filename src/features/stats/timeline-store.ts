import type { AgentId, OrgId, ScheduleId } from '../../domain/ids.ts'
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../../domain/instant.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import type { ScheduleState } from '../../domain/schedule/lifecycle.ts'
import type { Connection } from '../../platform/db/database.ts'
import { column, columns, countRemoved, type OldRows, type RowOf, toTimestamp } from '../../platform/db/table.ts'
import { countPassColumns } from './store.ts'

/** The steps in which the timeline is stored, and for how long; finest first. */
export const TIMELINE_LEVELS = [
  { name: 'minute', ms: MINUTE_MS, keptMs: 2 * DAY_MS },
  { name: 'hour', ms: HOUR_MS, keptMs: 40 * DAY_MS },
  { name: 'day', ms: DAY_MS, keptMs: 400 * DAY_MS },
] as const

export type TimelineLevel = (typeof TIMELINE_LEVELS)[number]

/** A row of the timeline: `all`, `agent:<id>`, `schedule:<id>`, or `direct:<agent id>` for runs without a schedule. */
export type TimelineLine = string

export const ALL_RUNS: TimelineLine = 'all'
export const lineOfAgent = (id: AgentId): TimelineLine => `agent:${id}`
export const lineOfSchedule = (id: ScheduleId): TimelineLine => `schedule:${id}`
export const lineOfDirectRuns = (id: AgentId): TimelineLine => `direct:${id}`

/** The lines of a run: SQL over `schedule_id` and `agent_id` of a row. */
const linesSql = (row: string): string =>
  `(values ('${ALL_RUNS}'), ('agent:' || ${row}.agent_id),
           (coalesce('schedule:' || ${row}.schedule_id, 'direct:' || ${row}.agent_id))) as l (line)`

/**
 * Adds the next transactions of an org that are not in its timeline yet. Counts and position change in one statement,
 * and the counts of a transaction are in the history row that ended the runs: after a crash or a failover either both
 * are there or neither is. The statement locks the position, so that each transaction is counted once across all nodes;
 * nothing else waits for this lock. Returns the number of transactions. Null: the org has no position yet.
 */
export async function addUpTimeline(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly limit: number },
): Promise<number | null> {
  const rows = await connection.query(
    `with place as (select no from timeline_count_place where org_id = $1 for update),
     fresh as (select t.no, t.timeline from turn t, place p
                where t.org_id = $1 and t.no > p.no order by t.no limit $2),
     ended as (
       select e ->> 0 as schedule_id, e ->> 1 as agent_id, to_timestamp((e ->> 2)::bigint * 60) as minute,
              e ->> 3 as state, sum((e ->> 4)::bigint) as count
         from fresh f cross join lateral jsonb_array_elements(f.timeline) as e
        group by 1, 2, 3, 4),
     added as (
       insert into timeline_count (org_id, step, line, at, state, count)
       select $1, s.step, l.line, date_trunc(s.step, e.minute, 'UTC'), e.state, sum(e.count)
         from ended e cross join (values ('minute'), ('hour'), ('day')) as s (step)
        cross join lateral ${linesSql('e')}
        group by 2, 3, 4, 5
       on conflict (org_id, step, line, at, state) do update set count = timeline_count.count + excluded.count),
     moved as (
       update timeline_count_place set no = (select max(no) from fresh)
        where org_id = $1 and exists (select 1 from fresh))
     select ${countPassColumns.list}`,
    [query.orgId, query.limit],
  )
  const { places: positions, turns: transactions } = countPassColumns.only(rows)
  return positions === 0 ? null : transactions
}

/** Inserts the timeline position of an org, at the start of its history, if it has none. */
export async function insertTimelinePosition(connection: Connection, orgId: OrgId): Promise<void> {
  await connection.query(
    'insert into timeline_count_place (org_id, no) values ($1, 0) on conflict (org_id) do nothing',
    [orgId],
  )
}

/** Deletes counts of a step from before a time. Returns how many. */
export const deleteOldTimelineCounts = (
  connection: Connection,
  old: OldRows & { readonly step: TimelineLevel['name'] },
): Promise<number> =>
  countRemoved(
    connection,
    `with gone as (delete from timeline_count where ctid = any (array(
       select ctid from timeline_count where org_id = $1 and step = $2 and at < $3::timestamptz limit $4)) returning 1)
     select count(*) as removed from gone`,
    [old.orgId, old.step, toTimestamp(old.before), old.limit],
  )

/** A time range and the stored step that is read for it. */
export interface TimelineSpan {
  readonly orgId: OrgId
  readonly level: TimelineLevel
  readonly from: Instant
  readonly to: Instant
}

const lineColumns = columns({
  line: column.text<TimelineLine>('f.line'),
  name: column.text<string | null>('f.name'),
  scheduleState: column.text<ScheduleState | null>('f.state'),
  total: column.bigint('count(*) over ()'),
})
export type FoundLine = RowOf<typeof lineColumns>

const SCHEDULE_OF_LINE = `case when l.line like 'schedule:%' then substr(l.line, 10) end`
const AGENT_OF_LINE = `case when l.line like 'agent:%' then substr(l.line, 7)
  when l.line like 'direct:%' then substr(l.line, 8) end`

/** How many pending runs are looked at; there are more only when work has piled up. */
const MAX_PENDING = 10_000

/** Pending runs of an org with the columns that give their lines. */
const PENDING_RUNS = `(select p.state, r.schedule_id, r.agent_id, r.created_at
    from (select * from pending where org_id = $1 limit ${MAX_PENDING}) p
    join run r on r.org_id = $1 and r.id = p.id
   where r.created_at >= $3::timestamptz and r.created_at < $4::timestamptz)`

/** The lines between two texts that have counts in the range. Walks from line to line, which are few. */
const walkLines = (first: string, end: string): string => `
  (with recursive seen (line) as (
     (select line from timeline_count where org_id = $1 and step = $2 and line >= '${first}' and line < '${end}'
       order by line limit 1)
     union all
     select (select c.line from timeline_count c
              where c.org_id = $1 and c.step = $2 and c.line > s.line and c.line < '${end}' order by c.line limit 1)
       from seen s where s.line is not null)
   select line from seen where line is not null and exists (
     select from timeline_count c where c.org_id = $1 and c.step = $2 and c.line = seen.line
        and c.at >= $3::timestamptz and c.at < $4::timestamptz))`

/** The lines of schedules with counts in the range. Reads all counts of the range, so it must be short. */
const COUNTED_SCHEDULES = `
  select distinct line from timeline_count
   where org_id = $1 and step = $2 and at >= $3::timestamptz and at < $4::timestamptz
     and line >= 'schedule:' and line < 'schedule;'`

/** The same for a long range, as the schedules themselves know it. Of deleted ones only those that failed are found. */
const ACTIVE_SCHEDULES = `
  select 'schedule:' || id from schedule
   where org_id = $1 and created_at < $4::timestamptz and (state = 'active' or last_run_at >= $3::timestamptz)
  union select line from failed where line >= 'schedule:' and line < 'schedule;'`

const DUE_SCHEDULES = `
  select 'schedule:' || id from schedule where org_id = $1 and state = 'active' and next_run_at < $4::timestamptz`

const pendingLines = (first: string, end: string): string => `
  select l.line from ${PENDING_RUNS} p cross join lateral ${linesSql('p')} where l.line >= '${first}' and l.line < '${end}'`

function linesQuery(wanted: WantedLines, isLong: boolean): string {
  if (wanted === 'agent')
    return `select line from ${walkLines('agent:', 'agent;')} a union ${pendingLines('agent:', 'agent;')}`
  if (wanted !== 'schedule') return 'select unnest($8::text[]) as line'
  return `select line from ${walkLines('direct:', 'direct;')} d union ${isLong ? ACTIVE_SCHEDULES : COUNTED_SCHEDULES}
    union ${DUE_SCHEDULES} union ${pendingLines('direct:', 'schedule;')}`
}

/** Which lines are looked for: all of schedules and direct runs, all of agents, or the given ones. */
export type WantedLines = 'schedule' | 'agent' | readonly TimelineLine[]

/**
 * Finds a page of the lines with runs in the range, and of active schedules that are due in it: most failures first,
 * then by name. Given lines are all found.
 */
export async function findLines(
  connection: Connection,
  query: TimelineSpan & {
    readonly wanted: WantedLines
    readonly text: string | null
    readonly offset: number
    readonly limit: number
  },
): Promise<readonly FoundLine[]> {
  const { wanted, level } = query
  const rows = await connection.query(
    `with failed as (
       select line, sum(count) as count from timeline_count
        where org_id = $1 and step = $2 and at >= $3::timestamptz and at < $4::timestamptz
          and state in ('failed', 'timeout') group by line),
     lines as (${linesQuery(wanted, level.name === 'day')})
     select ${lineColumns.list} from (
       select l.line, coalesce(s.name, a.name) as name, s.state, coalesce(f.count, 0) as failures
         from lines l left join failed f on f.line = l.line
         left join schedule s on s.org_id = $1 and s.id = ${SCHEDULE_OF_LINE}
         left join agent a on a.org_id = $1 and a.id = ${AGENT_OF_LINE}) f
      where $5::text is null or strpos(lower(coalesce(f.name, f.line)), lower($5)) > 0
      order by f.failures desc, lower(coalesce(f.name, f.line)), f.line limit $6 offset $7`,
    [
      ...[query.orgId, query.level.name, toTimestamp(query.from), toTimestamp(query.to)],
      ...[query.text, query.limit, query.offset],
      ...(typeof wanted === 'string' ? [] : [wanted]),
    ],
  )
  return lineColumns.read(rows)
}

const bucketColumns = columns({
  line: column.text<TimelineLine>(),
  bucket: column.int('bucket::int'),
  state: column.text<RunState>(),
  count: column.bigint('sum(count)::bigint'),
})
export type BucketCount = RowOf<typeof bucketColumns>

/** The counts of some lines per bucket of `stepMs` from the start of the range, with runs that have not ended. */
export async function loadBuckets(
  connection: Connection,
  query: TimelineSpan & { readonly lines: readonly TimelineLine[]; readonly stepMs: number },
): Promise<readonly BucketCount[]> {
  const bucket = (at: string): string => `floor(extract(epoch from ${at} - $3::timestamptz) * 1000 / $6)`
  const rows = await connection.query(
    `select ${bucketColumns.list} from (
       select line, ${bucket('at')} as bucket, state, count from timeline_count
        where org_id = $1 and step = $2 and line = any($5::text[])
          and at >= $3::timestamptz and at < $4::timestamptz
       union all
       select l.line, ${bucket('p.created_at')}, p.state, 1 from ${PENDING_RUNS} p
        cross join lateral ${linesSql('p')} where l.line = any($5::text[])) found
      group by 1, 2, 3`,
    [
      ...[query.orgId, query.level.name, toTimestamp(query.from), toTimestamp(query.to)],
      ...[query.lines, query.stepMs],
    ],
  )
  return bucketColumns.read(rows)
}
