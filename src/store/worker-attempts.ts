import type { AttemptId, OrgId, RunId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Reason } from '../domain/reasons.ts'
import type { RunState } from '../domain/run/run-machine.ts'
import type { Connection, Transaction } from './database.ts'
import { column, columns, countRemoved, type RowOf, table, toTimestamp } from '../platform/db/table.ts'

const attempts = table('worker_attempt', {
  orgId: column.text<OrgId>(),
  id: column.text<AttemptId>(),
  runId: column.text<RunId>(),
  workerId: column.text(),
  assignedAt: column.instant(),
})

/** A row of `worker_attempt`: an attempt that was handed to a worker, and the run it is of. */
export type WorkerAttemptRow = RowOf<typeof attempts>

/** Puts on record which attempts were handed to whom. */
export function insertWorkerAttempts(tx: Transaction, rows: readonly WorkerAttemptRow[]): void {
  tx.send(attempts.insertMany, attempts.lists(rows))
}

/** The attempt, if a worker of the org has ever been handed it. */
export async function loadWorkerAttempt(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: AttemptId },
): Promise<WorkerAttemptRow | undefined> {
  const rows = await connection.query(`select ${attempts.list} from worker_attempt where org_id = $1 and id = $2`, [
    asked.orgId,
    asked.id,
  ])
  return attempts.first(rows)
}

const held = columns({
  state: column.text<RunState>('coalesce(p.state, r.state)'),
  attemptId: column.text<AttemptId | null>('p.attempt_id'),
  endsBy: column.instant<Instant | null>('p.ends_by'),
  /** The reason on record, while it is pending. */
  reason: column.text<Reason | null>("p.why ->> 'reason'"),
})

/** Where a run stands, as far as whoever holds an attempt of it has to know. */
export type HeldRun = RowOf<typeof held>

/** Where the run of an attempt stands. Undefined: it is not kept any more. */
export async function loadHeldRun(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: RunId },
): Promise<HeldRun | undefined> {
  const rows = await connection.query(
    `select ${held.list}
       from run r left join pending p on p.org_id = r.org_id and p.id = r.id
      where r.org_id = $1 and r.id = $2`,
    [asked.orgId, asked.id],
  )
  return held.first(rows)
}

/** Forgets attempts of long ago whose run has gone on. Answers with how many; of all orgs. */
export function deleteOldWorkerAttempts(
  connection: Connection,
  old: { readonly before: Instant; readonly limit: number },
): Promise<number> {
  return countRemoved(
    connection,
    `with doomed as (
       select a.org_id, a.id from worker_attempt a
        where a.assigned_at < $1::timestamptz
          and not exists (select 1 from pending p where p.org_id = a.org_id and p.id = a.run_id and p.attempt_id = a.id)
        order by a.assigned_at limit $2 for update of a skip locked),
     gone as (delete from worker_attempt a using doomed d where a.org_id = d.org_id and a.id = d.id returning 1)
     select count(*) as removed from gone`,
    [toTimestamp(old.before), old.limit],
  )
}
