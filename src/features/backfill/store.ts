import type {
  BackfillCounts,
  BackfillState,
  BackfillSettings,
  OccurrenceResultCounts,
} from '../../domain/schedule/backfill.ts'
import type { OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { durationOf } from '../../domain/run/run.ts'
import type { RunState, TerminalState } from '../../domain/run/run-machine.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { type ListedRows, type OrgPage, readPage } from '../../platform/db/page.ts'
import { firstStartSql } from '../runs/store.ts'
import {
  column,
  columns,
  countRemoved,
  type OldRows,
  type RowOf,
  table,
  timestampOrNull,
  toTimestamp,
} from '../../platform/db/table.ts'

/** Estimates and notes from the start of a backfill. */
export interface BackfillEstimate {
  readonly leftOut: OccurrenceResultCounts
  readonly first: Instant | null
  readonly last: Instant | null
  /** Concurrent runs, as far as the schedule allows. */
  readonly atOnce: number
  readonly durationMs: number | null
  readonly tokens: number | null
  readonly cost: number | null
  readonly notes: readonly string[]
}

const backfills = table('backfill', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  scheduleId: column.text<ScheduleId>(),
  state: column.text<BackfillState>(),
  why: column.json<Why | null>(),
  terms: column.json<BackfillSettings>(),
  total: column.int(),
  taken: column.int(),
  inFlight: column.texts<readonly RunId[]>(),
  counts: column.json<BackfillCounts>(),
  failuresInRow: column.int(),
  nextAt: column.instant<Instant | null>(),
  outlook: column.json<BackfillEstimate>(),
  createdBy: column.text(),
  createdAt: column.instant(),
  finishedAt: column.instant<Instant | null>(),
})

/** A row of `backfill`, without the list of its occurrences. */
export type BackfillRow = RowOf<typeof backfills>

interface BackfillRef {
  readonly orgId: OrgId
  readonly id: string
}

/** Inserts a backfill with its occurrences. */
export async function insertBackfill(
  tx: Transaction,
  row: BackfillRow,
  occurrences: readonly Instant[],
): Promise<void> {
  await tx.query(
    `insert into backfill (moments, ${backfills.names}) values ($1::timestamptz[], ${backfills.params(2)})`,
    [occurrences.map(toTimestamp), ...backfills.values(row)],
  )
}

const PROGRESS = backfills.pick('state', 'why', 'taken', 'inFlight', 'counts', 'failuresInRow', 'nextAt', 'finishedAt')

/** Saves the progress of a backfill. */
export async function saveBackfill(tx: Transaction, row: BackfillRow): Promise<void> {
  await tx.query(`update backfill set ${PROGRESS.assigned(3)} where org_id = $1 and id = $2`, [
    row.orgId,
    row.id,
    ...PROGRESS.values(row),
  ])
}

/** The backfill, or undefined. */
export async function loadBackfill(connection: Connection, wanted: BackfillRef): Promise<BackfillRow | undefined> {
  return backfills.first(
    await connection.query(`select ${backfills.list} from backfill where org_id = $1 and id = $2`, [
      ...[wanted.orgId, wanted.id],
    ]),
  )
}

const nextOccurrenceColumns = columns({
  moments: column.json<readonly Instant[]>('moments[taken + 1 : taken + $3::int]'),
})

/** The next occurrences of a backfill, at most `limit`. */
export async function loadNextOccurrences(
  connection: Connection,
  wanted: BackfillRef & { readonly limit: number },
): Promise<readonly Instant[]> {
  const rows = await connection.query(
    `select ${nextOccurrenceColumns.list} from backfill where org_id = $1 and id = $2`,
    [wanted.orgId, wanted.id, wanted.limit],
  )
  return nextOccurrenceColumns.first(rows)?.moments ?? []
}

/** The running backfill of a schedule, if any. */
export async function loadRunningBackfill(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly scheduleId: ScheduleId },
): Promise<BackfillRow | undefined> {
  return backfills.first(
    await connection.query(
      `select ${backfills.list} from backfill where org_id = $1 and schedule_id = $2 and state = 'running'`,
      [query.orgId, query.scheduleId],
    ),
  )
}

/** Backfills of the org, newest first. */
export function listBackfills(
  connection: Connection,
  page: OrgPage & { readonly scheduleId: ScheduleId | null; readonly state: BackfillState | null },
): Promise<ListedRows<BackfillRow>> {
  const text = `select ${backfills.list} from backfill
      where org_id = $1 and ($2::text is null or schedule_id = $2) and ($3::text is null or state = $3)
        and ($4::timestamptz is null or (created_at, id) < ($4::timestamptz, $5::text))
      order by created_at desc, id desc limit $6`
  const values = [
    ...[page.orgId, page.scheduleId, page.state],
    ...[timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? '', page.limit + 1],
  ]
  return readPage(connection, { text, values, large: ['outlook', 'inFlight', 'why'], limit: page.limit }, backfills)
}

const openColumns = columns({
  ...backfills.pick('orgId', 'id', 'scheduleId', 'inFlight', 'nextAt').definitions,
  /** Whether it can advance: one of its runs has ended, or another may start. */
  isReady: column.boolean(`exists (select 1 from unnest(b.in_flight) as f (id)
      where not exists (select 1 from pending p where p.org_id = b.org_id and p.id = f.id))
    or (b.state = 'running' and (b.next_at is null or b.next_at <= $1::timestamptz)
        and (b.in_flight = '{}'
             or (b.taken < b.total and cardinality(b.in_flight) < (b.terms->>'maxActive')::int)))`),
})

/** A backfill that the loop has to advance. */
export type OpenBackfill = RowOf<typeof openColumns>

/** The open backfills of all orgs that are not deleted. They are few, and a partial index contains only them. */
export async function loadOpenBackfills(
  connection: Connection,
  at: { readonly now: Instant; readonly limit: number },
): Promise<readonly OpenBackfill[]> {
  return openColumns.read(
    await connection.query(
      `select ${openColumns.of('b')}
       from backfill b join org o on o.id = b.org_id and o.deleted_at is null
      where b.state = 'running' or b.in_flight <> '{}' order by b.org_id, b.id limit $2`,
      [toTimestamp(at.now), at.limit],
    ),
  )
}

const endedColumns = columns({
  id: column.text<RunId>('i.id'),
  state: column.text<TerminalState>("coalesce(r.state, 'expired')"),
})

/** An ended run with its final state. */
export type EndedBackfillRun = RowOf<typeof endedColumns>

/** The ended ones among the runs, in the order they ended. A run deleted by retention counts as expired. */
export async function loadEndedRuns(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly EndedBackfillRun[]> {
  return endedColumns.read(
    await connection.query(
      `select ${endedColumns.list} from unnest($2::text[]) as i (id)
       left join run r on r.org_id = $1 and r.id = i.id
      where r.id is null or r.state is not null order by r.finished_at nulls first, i.id`,
      [wanted.orgId, wanted.ids],
    ),
  )
}

/** Deletes backfills that ended before a time. Returns how many. */
export function deleteOldBackfills(connection: Connection, old: OldRows): Promise<number> {
  return countRemoved(
    connection,
    `with doomed as (
       select id from backfill where org_id = $1 and created_at < $2::timestamptz and finished_at < $2::timestamptz
          and in_flight = '{}' order by created_at, id limit $3 for update skip locked),
     gone as (delete from backfill b using doomed d where b.org_id = $1 and b.id = d.id returning 1)
     select count(*) as removed from gone`,
    [old.orgId, toTimestamp(old.before), old.limit],
  )
}

const occurrenceRunColumns = columns({
  nominal: column.instant('e.nominal_at'),
  runId: column.text<RunId>('e.run_id'),
  state: column.text<RunState>('coalesce(r.state, p.state)'),
})

/** A run of an occurrence: a scheduled run, a backfilled one, or a retry of either. */
type OccurrenceRun = RowOf<typeof occurrenceRunColumns>

/** All runs of the occurrences of a range. Manual runs are not among them, because they have no occurrence. */
export async function loadRunsOfOccurrences(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly from: Instant; readonly to: Instant },
): Promise<readonly OccurrenceRun[]> {
  const rows = await connection.query(
    `with recursive made as (
       select o.nominal_at, o.run_id from occurrence o
        where o.org_id = $1 and o.schedule_id = $2 and o.nominal_at >= $3::timestamptz and o.nominal_at < $4::timestamptz
          and o.kind in ('occurrence', 'backfill')),
     repeated as materialized (
       select r.id, r.retry_of from run r
        where r.org_id = $1 and r.trigger = 'retry' and r.created_at >= $3::timestamptz and r.schedule_id = $2),
     every_run as (
       select nominal_at, run_id from made
       union
       select e.nominal_at, r.id from every_run e join repeated r on r.retry_of = e.run_id)
     select ${occurrenceRunColumns.list}
       from every_run e join run r on r.org_id = $1 and r.id = e.run_id
       left join pending p on p.org_id = $1 and p.id = e.run_id`,
    [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.from), toTimestamp(wanted.to)],
  )
  return occurrenceRunColumns.read(rows)
}

const backfilledColumns = columns({
  backfillId: column.text('o.discriminator'),
  runId: column.text<RunId>('r.id'),
  state: column.text<RunState>('coalesce(r.state, p.state)'),
  decision: column.json<Why>('r.decision'),
})

/** The backfilled runs of one occurrence, newest last. */
export async function loadBackfilledRuns(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly nominal: Instant; readonly limit: number },
): Promise<readonly RowOf<typeof backfilledColumns>[]> {
  const rows = await connection.query(
    `select ${backfilledColumns.list}
       from occurrence o join run r on r.org_id = o.org_id and r.id = o.run_id
       left join pending p on p.org_id = r.org_id and p.id = r.id
      where o.org_id = $1 and o.schedule_id = $2 and o.nominal_at = $3::timestamptz and o.kind = 'backfill'
      order by r.created_at, r.id limit $4`,
    [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.nominal), wanted.limit],
  )
  return backfilledColumns.read(rows)
}

const durationColumns = columns({
  startedAt: column.instant<Instant | null>('r.started_at'),
  firstStartedAt: column.instant<Instant | null>(firstStartSql('r', 'r.attempt')),
  finishedAt: column.instant<Instant | null>('r.finished_at'),
  state: column.text<RunState | null>('r.state'),
})

/** The durations of the last successful runs of a schedule, in milliseconds. */
export async function loadRunDurations(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await connection.query(
    `select ${durationColumns.list} from run r
      where r.org_id = $1 and r.schedule_id = $2 order by r.created_at desc, r.id desc limit $3`,
    [wanted.orgId, wanted.scheduleId, wanted.limit],
  )
  return durationColumns.read(rows).flatMap((row) => {
    const duration = durationOf(row)
    return row.state === 'success' && duration !== null ? [duration] : []
  })
}
