import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { PRESENT } from '../../platform/db/clock.ts'
import type { Connection } from '../../store/database.ts'
import { column, columns, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const nodes = table('node', {
  id: column.text(),
  startedAt: column.instant(),
  leaseUntil: column.instant(),
  draining: column.boolean(),
  /** What it can execute: `echo`, `in-process:<name>`, … */
  executors: column.texts(),
  /** Its lanes and their sizes. */
  lanes: column.json<Readonly<Record<string, number>>>(),
  /** What it is: name and version of the program. */
  program: column.text(),
  /** Another node has declared it lost. */
  lost: column.boolean(),
  keyIds: column.texts(),
  scannedAt: column.instant<Instant | null>(),
})

/** A row of `node`: a server process and the lease that covers every attempt it holds. Nodes belong to no org. */
export interface NodeRow extends Omit<RowOf<typeof nodes>, 'keyIds' | 'scannedAt'> {
  /** When it last looked at what is due; null when it does not say. */
  readonly scannedAt?: Instant | null
  /** The keys it opens sealed texts with; left out: none. */
  readonly keyIds?: readonly string[] | undefined
}

const CREATED = nodes.omit('scannedAt')

/** Makes a node known, with its first lease. */
export async function insertNode(connection: Connection, node: NodeRow): Promise<void> {
  await connection.query(CREATED.insert, CREATED.values({ ...node, keyIds: node.keyIds ?? [] }))
}

const RENEWED = nodes.pick('leaseUntil', 'draining', 'executors', 'lanes', 'keyIds')

export type NodeRenewal = Pick<NodeRow, 'id' | 'leaseUntil' | 'executors' | 'lanes' | 'draining' | 'keyIds'>

/**
 * Extends a lease, also one that has lapsed while the database was away, and after the server's clock was set back: a
 * lease that does not change is taken for one that nobody renews. False when the row is gone or another node has
 * declared this one lost: others may have been given what it held, so it must believe that it holds nothing.
 */
export async function renewNode(connection: Connection, renewal: NodeRenewal): Promise<boolean> {
  const rows = await connection.query(
    `update node set ${RENEWED.assigned(2)} where id = $1 and not lost returning id`,
    [renewal.id, ...RENEWED.values({ ...renewal, keyIds: renewal.keyIds ?? [] })],
  )
  return rows.length > 0
}

const named = nodes.pick('id')

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
  return named.read(rows).map(({ id }) => id)
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
  return new Set(named.read(rows).map(({ id }) => id))
}

/** All nodes on record, alive or not, oldest first. */
export async function loadNodes(connection: Connection): Promise<readonly NodeRow[]> {
  return nodes.read(await connection.query(`select ${nodes.list} from node order by started_at, id`, []))
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
  return named.read(rows).map(({ id }) => id)
}

const scans = columns({
  nodeId: column.text('coalesce(n.id, a.subject_id)'),
  /** Whether the node is on record. */
  known: column.boolean('n.id is not null'),
  /** Null: it does not say, as nodes of an earlier release do not. */
  scannedAt: column.instant<Instant | null>('n.scanned_at'),
  draining: column.boolean('coalesce(n.draining, false)'),
  lost: column.boolean('coalesce(n.lost, false)'),
  alertId: column.text<string | null>('a.id'),
})
const scansNow = columns({ ...scans.definitions, now: column.instant(PRESENT) })

/** When a node last looked at what is due, and the open alert that it does not. */
export type ScanRow = RowOf<typeof scans>

/**
 * Says when this node last looked, and reads when the others did, in one statement. Also answers with the present by the
 * clock of the database, and with open alerts about nodes that are gone.
 */
export async function exchangeScans(
  connection: Connection,
  mine: { readonly nodeId: string; readonly scannedAt: Instant | null; readonly orgId: OrgId },
): Promise<{ readonly now: Instant | null; readonly rows: readonly ScanRow[] }> {
  const rows = await connection.query(
    `with mine as (update node set scanned_at = $2::timestamptz where id = $1 and $2::timestamptz is not null)
     select ${scansNow.list}
     from node n full join (
       select id, subject_id from alert where org_id = $3 and kind = 'engine_stalled' and cleared_at is null) a
       on a.subject_id = n.id`,
    [mine.nodeId, timestampOrNull(mine.scannedAt), mine.orgId],
  )
  const found = scansNow.read(rows)
  return { now: found[0]?.now ?? null, rows: found.map(({ now: _, ...scan }) => scan) }
}
