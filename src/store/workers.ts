import { orgId, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `worker`: a program elsewhere and the lease that covers every attempt it holds. */
export interface WorkerRow {
  readonly orgId: OrgId
  readonly id: string
  readonly name: string
  /** The agents whose work it takes. */
  readonly agents: readonly string[]
  /** Attempts it takes at a time. */
  readonly capacity: number
  /** The key it came with. */
  readonly principal: string | null
  readonly connectedAt: Instant
  readonly leaseUntil: Instant
  readonly draining: boolean
  /** A node has declared it lost. */
  readonly lost: boolean
}

const COLUMNS = 'org_id, id, name, agents, capacity, principal, connected_at, lease_until, draining, lost'

/** Makes a worker known, with its first lease. */
export async function insertWorker(connection: Connection, worker: WorkerRow): Promise<void> {
  await connection.query(
    `insert into worker (${COLUMNS})
     values ($1, $2, $3, $4::text[], $5, $6, $7::timestamptz, $8::timestamptz, $9, $10)`,
    [
      ...[worker.orgId, worker.id, worker.name, worker.agents, worker.capacity, worker.principal],
      ...[toTimestamp(worker.connectedAt), toTimestamp(worker.leaseUntil), worker.draining, worker.lost],
    ],
  )
}

/** What a worker says of itself with every claim. */
export type WorkerCard = Pick<WorkerRow, 'orgId' | 'id' | 'agents' | 'capacity' | 'draining' | 'leaseUntil'>

/** Extends a lease and takes in what has changed. False: there is no such worker, or it was declared lost. */
export async function saveWorker(connection: Connection, card: WorkerCard): Promise<boolean> {
  const rows = await connection.query(
    `update worker set agents = $3::text[], capacity = $4, draining = $5,
       lease_until = $6::timestamptz
     where org_id = $1 and id = $2 and not lost returning id`,
    [card.orgId, card.id, card.agents, card.capacity, card.draining, toTimestamp(card.leaseUntil)],
  )
  return rows.length > 0
}

/** Extends leases, also those that have lapsed and nobody has declared lost. Answers with those that hold now. */
export async function renewWorkers(
  connection: Connection,
  renewal: { readonly ids: readonly string[]; readonly leaseUntil: Instant },
): Promise<readonly string[]> {
  const rows = await connection.query(
    `update worker set lease_until = $2::timestamptz
      where id = any($1::text[]) and not lost returning id`,
    [renewal.ids, toTimestamp(renewal.leaseUntil)],
  )
  return rows.map((row) => row['id'] as string)
}

/**
 * Declares workers lost, each only if its lease is still the one that was seen; from then on they cannot renew it.
 * Answers with those that now are.
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
  return rows.map((row) => row['id'] as string)
}

/** All workers on record, of every org. */
export async function loadWorkers(connection: Connection): Promise<readonly WorkerRow[]> {
  const rows = await connection.query(`select ${COLUMNS} from worker`, [])
  return rows.map(workerOf)
}

/** The workers of an org that are not lost, those that came first before the others. */
export async function listWorkers(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly limit: number },
): Promise<readonly WorkerRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from worker where org_id = $1 and not lost order by connected_at, id limit $2`,
    [asked.orgId, asked.limit],
  )
  return rows.map(workerOf)
}

/** How many attempts each of the org's workers holds. */
export async function countHeld(connection: Connection, asked: OrgId): Promise<ReadonlyMap<string, number>> {
  const rows = await connection.query(
    `select w.id, count(p.id) as held from worker w join pending p on p.org_id = w.org_id and p.node_id = w.id
      where w.org_id = $1 group by w.id`,
    [asked],
  )
  return new Map(rows.map((row) => [row['id'] as string, row['held'] as number]))
}

/** Forgets workers whose lease lapsed long ago and that hold nothing. */
export async function deleteOldWorkers(connection: Connection, before: Instant): Promise<number> {
  const rows = await connection.query(
    `delete from worker w where w.lease_until < $1::timestamptz
        and not exists (select 1 from pending p where p.org_id = w.org_id and p.node_id = w.id)
     returning w.id`,
    [toTimestamp(before)],
  )
  return rows.length
}

const workerOf = (row: Row): WorkerRow => ({
  orgId: orgId(row['org_id'] as string),
  id: row['id'] as string,
  name: row['name'] as string,
  agents: row['agents'] as readonly string[],
  capacity: row['capacity'] as number,
  principal: row['principal'] as string | null,
  connectedAt: row['connected_at'] as Instant,
  leaseUntil: row['lease_until'] as Instant,
  draining: row['draining'] as boolean,
  lost: row['lost'] as boolean,
})
