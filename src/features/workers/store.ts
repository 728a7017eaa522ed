import type { AttemptId, OrgId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Reason } from '../../domain/reasons.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, columns, countRemoved, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

const workers = table('worker', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  name: column.text(),
  /** The agents whose attempts it takes. */
  agents: column.texts(),
  /** Maximum attempts at a time. */
  capacity: column.int(),
  /** The principal that registered it. */
  principal: column.text<string | null>(),
  connectedAt: column.instant(),
  leaseUntil: column.instant(),
  draining: column.boolean(),
  /** Whether a node has declared it lost. */
  lost: column.boolean(),
})

/** A row of `worker`: a remote program, with the lease that covers all attempts it holds. */
export type WorkerRow = RowOf<typeof workers>

/** Inserts a worker with its first lease. */
export async function insertWorker(connection: Connection, worker: WorkerRow): Promise<void> {
  await connection.query(workers.insert, workers.values(worker))
}

const CLAIM_COLUMNS = workers.pick('agents', 'capacity', 'draining', 'leaseUntil')

/** The fields of a worker that every claim updates. */
export type WorkerClaim = Pick<WorkerRow, 'orgId' | 'id' | 'agents' | 'capacity' | 'draining' | 'leaseUntil'>

/** Updates a worker and extends its lease. False: the worker does not exist, or was declared lost. */
export async function saveWorker(connection: Connection, claim: WorkerClaim): Promise<boolean> {
  const rows = await connection.query(
    `update worker set ${CLAIM_COLUMNS.assigned(3)} where org_id = $1 and id = $2 and not lost returning id`,
    [claim.orgId, claim.id, ...CLAIM_COLUMNS.values(claim)],
  )
  return rows.length > 0
}

const workerIdColumns = workers.pick('id')

/** Extends leases, including lapsed ones of workers that were not declared lost. Returns the ids of renewed workers. */
export async function renewWorkers(
  connection: Connection,
  renewal: { readonly ids: readonly string[]; readonly leaseUntil: Instant },
): Promise<readonly string[]> {
  const rows = await connection.query(
    `update worker set lease_until = $2::timestamptz
      where id = any($1::text[]) and not lost returning id`,
    [renewal.ids, toTimestamp(renewal.leaseUntil)],
  )
  return workerIdColumns.read(rows).map(({ id }) => id)
}

/**
 * Declares workers lost, each only if its lease is still the one that was read; they can no longer renew it. Returns
 * the ids of the lost workers.
 */
export async function declareWorkersLost(
  connection: Connection,
  seen: readonly Pick<WorkerRow, 'id' | 'leaseUntil'>[],
): Promise<readonly string[]> {
  const rows = await connection.query(
    `update worker w set lost = true from unnest($1::text[], $2::timestamptz[]) as seen (id, lease_until)
      where w.id = seen.id and w.lease_until = seen.lease_until returning w.id`,
    [seen.map(({ id }) => id), seen.map(({ leaseUntil }) => toTimestamp(leaseUntil))],
  )
  return workerIdColumns.read(rows).map(({ id }) => id)
}

/** All registered workers of all orgs. */
export async function loadWorkers(connection: Connection): Promise<readonly WorkerRow[]> {
  return workers.read(await connection.query(`select ${workers.list} from worker`, []))
}

/** The workers of an org that are not lost, in the order of their registration. */
export async function listWorkers(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly limit: number },
): Promise<readonly WorkerRow[]> {
  return workers.read(
    await connection.query(
      `select ${workers.list} from worker where org_id = $1 and not lost order by connected_at, id limit $2`,
      [query.orgId, query.limit],
    ),
  )
}

const heldAttemptCounts = columns({ id: column.text('w.id'), count: column.bigint('count(p.id)') })

/** Number of attempts held by each worker of the org. */
export async function countHeldAttempts(connection: Connection, query: OrgId): Promise<ReadonlyMap<string, number>> {
  const rows = await connection.query(
    `select ${heldAttemptCounts.list} from worker w join pending p on p.org_id = w.org_id and p.node_id = w.id
      where w.org_id = $1 group by w.id`,
    [query],
  )
  return new Map(heldAttemptCounts.read(rows).map(({ id, count }) => [id, count]))
}

/** Deletes workers whose lease lapsed before a time and that hold no attempts. */
export async function deleteOldWorkers(connection: Connection, before: Instant): Promise<number> {
  const rows = await connection.query(
    `delete from worker w where w.lease_until < $1::timestamptz
        and not exists (select 1 from pending p where p.org_id = w.org_id and p.node_id = w.id)
     returning w.id`,
    [toTimestamp(before)],
  )
  return rows.length
}

const attempts = table('worker_attempt', {
  orgId: column.text<OrgId>(),
  id: column.text<AttemptId>(),
  runId: column.text<RunId>(),
  workerId: column.text(),
  assignedAt: column.instant(),
})

/** A row of `worker_attempt`: an attempt that was handed to a worker, and its run. */
export type WorkerAttemptRow = RowOf<typeof attempts>

/** Stores which attempts were handed to which workers. */
export function insertWorkerAttempts(tx: Transaction, rows: readonly WorkerAttemptRow[]): void {
  tx.send(attempts.insertMany, attempts.lists(rows))
}

/** The attempt. Undefined: it was never handed to a worker of the org. */
export async function loadWorkerAttempt(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: AttemptId },
): Promise<WorkerAttemptRow | undefined> {
  const rows = await connection.query(`select ${attempts.list} from worker_attempt where org_id = $1 and id = $2`, [
    query.orgId,
    query.id,
  ])
  return attempts.first(rows)
}

const heldRunColumns = columns({
  state: column.text<RunState>('coalesce(p.state, r.state)'),
  attemptId: column.text<AttemptId | null>('p.attempt_id'),
  endsBy: column.instant<Instant | null>('p.ends_by'),
  /** The stored reason of a pending run. */
  reason: column.text<Reason | null>("p.why ->> 'reason'"),
})

/** The state of a run that the holder of an attempt needs. */
export type HeldRun = RowOf<typeof heldRunColumns>

/** The state of the run of an attempt. Undefined: the run is no longer stored. */
export async function loadHeldRun(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: RunId },
): Promise<HeldRun | undefined> {
  const rows = await connection.query(
    `select ${heldRunColumns.list}
       from run r left join pending p on p.org_id = r.org_id and p.id = r.id
      where r.org_id = $1 and r.id = $2`,
    [query.orgId, query.id],
  )
  return heldRunColumns.first(rows)
}

/** Deletes old attempts of all orgs that are no longer the current attempt of a pending run. Returns their number. */
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
