import { attemptId, orgId, runId, type AttemptId, type OrgId, type RunId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Reason } from '../core/reasons.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Connection, Transaction } from './database.ts'
import { countRemoved } from './removal.ts'
import { columnsOf } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `worker_attempt`: an attempt that was handed to a worker, and the run it is of. */
export interface WorkerAttemptRow {
  readonly orgId: OrgId
  readonly id: AttemptId
  readonly runId: RunId
  readonly workerId: string
  readonly assignedAt: Instant
}

/** Puts on record which attempts were handed to whom. */
export function insertWorkerAttempts(tx: Transaction, attempts: readonly WorkerAttemptRow[]): void {
  tx.send(
    `insert into worker_attempt (org_id, id, run_id, worker_id, assigned_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])`,
    columnsOf(
      attempts,
      (attempt) => attempt.orgId,
      (attempt) => attempt.id,
      (attempt) => attempt.runId,
      (attempt) => attempt.workerId,
      (attempt) => toTimestamp(attempt.assignedAt),
    ),
  )
}

/** The attempt, if a worker of the org has ever been handed it. */
export async function loadWorkerAttempt(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: AttemptId },
): Promise<WorkerAttemptRow | undefined> {
  const [row] = await connection.query(
    'select org_id, id, run_id, worker_id, assigned_at from worker_attempt where org_id = $1 and id = $2',
    [asked.orgId, asked.id],
  )
  if (row === undefined) return undefined
  return {
    orgId: orgId(row['org_id'] as string),
    id: attemptId(row['id'] as string),
    runId: runId(row['run_id'] as string),
    workerId: row['worker_id'] as string,
    assignedAt: row['assigned_at'] as Instant,
  }
}

/** Where a run stands, as far as whoever holds an attempt of it has to know. */
export interface HeldRun {
  readonly state: RunState
  readonly attemptId: AttemptId | null
  readonly endsBy: Instant | null
  /** The reason on record, while it is pending. */
  readonly reason: Reason | null
}

/** Where the run of an attempt stands. Undefined: it is not kept any more. */
export async function loadHeldRun(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: RunId },
): Promise<HeldRun | undefined> {
  const [row] = await connection.query(
    `select coalesce(p.state, r.state) as state, p.attempt_id, p.ends_by, p.why ->> 'reason' as reason
       from run r left join pending p on p.org_id = r.org_id and p.id = r.id
      where r.org_id = $1 and r.id = $2`,
    [asked.orgId, asked.id],
  )
  if (row === undefined) return undefined
  return {
    state: row['state'] as RunState,
    attemptId: row['attempt_id'] as AttemptId | null,
    endsBy: row['ends_by'] as Instant | null,
    reason: row['reason'] as Reason | null,
  }
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
