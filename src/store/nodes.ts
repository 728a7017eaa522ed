import type { Instant } from '../core/instant.ts'
import type { Connection, Row } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `node`: a server process and the lease that covers every attempt it holds. Nodes belong to no org. */
export interface NodeRow {
  readonly id: string
  readonly startedAt: Instant
  readonly leaseUntil: Instant
  readonly draining: boolean
  /** What it can execute: `echo`, `in-process:<name>`, … */
  readonly executors: readonly string[]
  /** Its lanes and their sizes. */
  readonly lanes: Readonly<Record<string, number>>
  /** What it is: name and version of the program. */
  readonly program: string
  /** Another node has declared it lost. */
  readonly lost: boolean
  /** When it last looked at what is due; null when it does not say. */
  readonly scannedAt?: Instant | null
  /** The keys it opens sealed texts with; left out: none. */
  readonly keyIds?: readonly string[] | undefined
}

const COLUMNS = 'id, started_at, lease_until, draining, executors, lanes, program, lost, key_ids'

/** Makes a node known, with its first lease. */
export async function insertNode(connection: Connection, node: NodeRow): Promise<void> {
  await connection.query(
    `insert into node (${COLUMNS}) values ($1, $2::timestamptz, $3::timestamptz, $4, $5::text[], $6::jsonb, $7, $8,
       $9::text[])`,
    [
      node.id,
      toTimestamp(node.startedAt),
      toTimestamp(node.leaseUntil),
      node.draining,
      node.executors,
      JSON.stringify(node.lanes),
      node.program,
      node.lost,
      node.keyIds ?? [],
    ],
  )
}

export type NodeRenewal = Pick<NodeRow, 'id' | 'leaseUntil' | 'executors' | 'lanes' | 'draining' | 'keyIds'>

/**
 * Extends a lease, also one that has lapsed while the database was away, and after the server's clock was set back: a
 * lease that does not change is taken for one that nobody renews. False when the row is gone or another node has
 * declared this one lost: others may have been given what it held, so it must believe that it holds nothing.
 */
export async function renewNode(connection: Connection, renewal: NodeRenewal): Promise<boolean> {
  const rows = await connection.query(
    `update node set lease_until = $2::timestamptz, executors = $3::text[], lanes = $4::jsonb,
       draining = $5, key_ids = $6::text[]
     where id = $1 and not lost returning id`,
    [
      ...[renewal.id, toTimestamp(renewal.leaseUntil), renewal.executors, JSON.stringify(renewal.lanes)],
      ...[renewal.draining, renewal.keyIds ?? []],
    ],
  )
  return rows.length > 0
}

/**
 * Declares nodes lost, each only if its lease is still the one that was seen; from then on they cannot renew it. Answers
 * with those that now are.
 */
export async function declareLost(connection: Connection, seen: readonly SeenNode[]): Promise<readonly string[]> {
  const rows = await connection.query(
    `update node n set lost = true from unnest($1::text[], $2::timestamptz[]) as seen (id, lease_until)
      where n.id = seen.id and n.lease_until = seen.lease_until returning n.id`,
    [seen.map(({ id }) => id), seen.map(({ leaseUntil }) => toTimestamp(leaseUntil))],
  )
  return rows.map((row) => row['id'] as string)
}

/** A node and its lease, as somebody saw it. */
export type SeenNode = Pick<NodeRow, 'id' | 'leaseUntil'>

/** Those of the nodes and workers that are on record and not lost. */
export async function loadUnlostHolders(connection: Connection, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await connection.query(
    `select id from node where id = any($1::text[]) and not lost
     union all select id from worker where id = any($1::text[]) and not lost`,
    [ids],
  )
  return new Set(rows.map((row) => row['id'] as string))
}

/** All nodes on record, alive or not, oldest first. */
export async function loadNodes(connection: Connection): Promise<readonly NodeRow[]> {
  const rows = await connection.query(`select ${COLUMNS}, scanned_at from node order by started_at, id`, [])
  return rows.map(nodeOf)
}

/** Forgets a node that has given back everything it held, or whose attempts have been settled for it. */
export async function deleteNode(connection: Connection, id: string): Promise<void> {
  await connection.query('delete from node where id = $1', [id])
}

/**
 * Ends the leases of all nodes but `except`, at once: for the start of an embedded server, which no process of an earlier
 * one can have survived. Answers with those whose lease was still good.
 */
export async function lapseNodes(
  connection: Connection,
  lapse: { readonly now: Instant; readonly except: readonly string[] },
): Promise<readonly string[]> {
  const rows = await connection.query(
    `update node set lease_until = $1::timestamptz where lease_until > $1::timestamptz and id <> all($2::text[])
     returning id`,
    [toTimestamp(lapse.now), lapse.except],
  )
  return rows.map((row) => row['id'] as string)
}

const nodeOf = (row: Row): NodeRow => ({
  id: row['id'] as string,
  startedAt: row['started_at'] as Instant,
  leaseUntil: row['lease_until'] as Instant,
  draining: row['draining'] as boolean,
  executors: row['executors'] as readonly string[],
  lanes: row['lanes'] as Readonly<Record<string, number>>,
  program: row['program'] as string,
  lost: row['lost'] as boolean,
  scannedAt: row['scanned_at'] as Instant | null,
  keyIds: row['key_ids'] as readonly string[],
})
