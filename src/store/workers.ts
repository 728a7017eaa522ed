import type { OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Connection } from './database.ts'
import { column, columns, type RowOf, table, toTimestamp } from '../platform/db/table.ts'

const workers = table('worker', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  name: column.text(),
  /** The agents whose work it takes. */
  agents: column.texts(),
  /** Attempts it takes at a time. */
  capacity: column.int(),
  /** The key it came with. */
  principal: column.text<string | null>(),
  connectedAt: column.instant(),
  leaseUntil: column.instant(),
  draining: column.boolean(),
  /** A node has declared it lost. */
  lost: column.boolean(),
})

/** A row of `worker`: a program elsewhere and the lease that covers every attempt it holds. */
export type WorkerRow = RowOf<typeof workers>

/** Makes a worker known, with its first lease. */
export async function insertWorker(connection: Connection, worker: WorkerRow): Promise<void> {
  await connection.query(workers.insert, workers.values(worker))
}

const CARD = workers.pick('agents', 'capacity', 'draining', 'leaseUntil')

/** What a worker says of itself with every claim. */
export type WorkerCard = Pick<WorkerRow, 'orgId' | 'id' | 'agents' | 'capacity' | 'draining' | 'leaseUntil'>

/** Extends a lease and takes in what has changed. False: there is no such worker, or it was declared lost. */
export async function saveWorker(connection: Connection, card: WorkerCard): Promise<boolean> {
  const rows = await connection.query(
    `update worker set ${CARD.assigned(3)} where org_id = $1 and id = $2 and not lost returning id`,
    [card.orgId, card.id, ...CARD.values(card)],
  )
  return rows.length > 0
}

const ids = workers.pick('id')

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
  return ids.read(rows).map(({ id }) => id)
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
  return ids.read(rows).map(({ id }) => id)
}

/** All workers on record, of every org. */
export async function loadWorkers(connection: Connection): Promise<readonly WorkerRow[]> {
  return workers.read(await connection.query(`select ${workers.list} from worker`, []))
}

/** The workers of an org that are not lost, those that came first before the others. */
export async function listWorkers(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly limit: number },
): Promise<readonly WorkerRow[]> {
  return workers.read(
    await connection.query(
      `select ${workers.list} from worker where org_id = $1 and not lost order by connected_at, id limit $2`,
      [asked.orgId, asked.limit],
    ),
  )
}

const held = columns({ id: column.text('w.id'), count: column.bigint('count(p.id)') })

/** How many attempts each of the org's workers holds. */
export async function countHeld(connection: Connection, asked: OrgId): Promise<ReadonlyMap<string, number>> {
  const rows = await connection.query(
    `select ${held.list} from worker w join pending p on p.org_id = w.org_id and p.node_id = w.id
      where w.org_id = $1 group by w.id`,
    [asked],
  )
  return new Map(held.read(rows).map(({ id, count }) => [id, count]))
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
