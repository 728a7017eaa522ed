import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { PRESENT } from '../../platform/db/clock.ts'
import type { Connection } from '../../platform/db/database.ts'
import { column, columns, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const nodeRowColumns = table('node', {
  id: column.text(),
  startedAt: column.instant(),
  leaseUntil: column.instant(),
  draining: column.boolean(),
  /** Executor keys it can run: `echo`, `in-process:<name>`, … */
  executors: column.texts(),
  /** Its lane sizes by name. */
  lanes: column.json<Readonly<Record<string, number>>>(),
  /** Name and version of its program. */
  program: column.text(),
  /** Another node has declared it lost. */
  lost: column.boolean(),
  keyIds: column.texts(),
  scannedAt: column.instant<Instant | null>(),
  /** It reads the backlog; nodes of the release before do not. */
  backlog: column.boolean(),
})

/** A row of `node`: a server process and the lease that covers every attempt it holds. Nodes belong to no org. */
export interface NodeRow extends Omit<RowOf<typeof nodeRowColumns>, 'keyIds' | 'scannedAt' | 'backlog'> {
  /** When it last scanned for due work; null: unknown. */
  readonly scannedAt?: Instant | null
  /** Ids of the keys it can decrypt secrets with. Omitted: none. */
  readonly keyIds?: readonly string[] | undefined
}

const CREATED = nodeRowColumns.omit('scannedAt')

/** Creates a node with its first lease. */
export async function insertNode(connection: Connection, node: NodeRow): Promise<void> {
  await connection.query(CREATED.insert, CREATED.values({ ...node, keyIds: node.keyIds ?? [], backlog: true }))
}

const RENEWED = nodeRowColumns.pick('leaseUntil', 'draining', 'executors', 'lanes', 'keyIds')

export type NodeRenewal = Pick<NodeRow, 'id' | 'leaseUntil' | 'executors' | 'lanes' | 'draining' | 'keyIds'>

/**
 * Renews a lease, also one that lapsed while the database was unreachable, and also to an earlier time after the clock
 * was set back: other nodes take an unchanged lease as not renewed. False when the row is gone or another node has
 * declared this one lost: its attempts may run elsewhere by now, so it must assume that it holds none.
 */
export async function renewNode(connection: Connection, renewal: NodeRenewal): Promise<boolean> {
  const rows = await connection.query(
    `update node set ${RENEWED.assigned(2)} where id = $1 and not lost returning id`,
    [renewal.id, ...RENEWED.values({ ...renewal, keyIds: renewal.keyIds ?? [] })],
  )
  return rows.length > 0
}

/**
 * Whether every node reads the backlog. A lost node counts until its row is deleted, because it may still be deciding.
 */
export async function loadBacklogSupport(connection: Connection): Promise<boolean> {
  const rows = await connection.query('select 1 from node where not backlog limit 1', [])
  return rows.length === 0
}

const idColumn = nodeRowColumns.pick('id')

/**
 * Declares nodes lost, each only if its lease has not changed since it was read; a lost node cannot renew its lease.
 * Returns the ids of the nodes declared lost.
 */
export async function declareLost(connection: Connection, nodes: readonly ObservedNode[]): Promise<readonly string[]> {
  const rows = await connection.query(
    `update node n set lost = true from unnest($1::text[], $2::timestamptz[]) as seen (id, lease_until)
      where n.id = seen.id and n.lease_until = seen.lease_until returning n.id`,
    [nodes.map(({ id }) => id), nodes.map(({ leaseUntil }) => toTimestamp(leaseUntil))],
  )
  return idColumn.read(rows).map(({ id }) => id)
}

/** A node and its lease at the time of a read. */
export type ObservedNode = Pick<NodeRow, 'id' | 'leaseUntil'>

/** Returns which of these nodes and workers exist and are not lost. */
export async function loadHoldersNotLost(connection: Connection, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await connection.query(
    `select id from node where id = any($1::text[]) and not lost
     union all select id from worker where id = any($1::text[]) and not lost`,
    [ids],
  )
  return new Set(idColumn.read(rows).map(({ id }) => id))
}

/** Loads all nodes, alive or not, oldest first. */
export async function loadNodes(connection: Connection): Promise<readonly NodeRow[]> {
  return nodeRowColumns.read(
    await connection.query(`select ${nodeRowColumns.list} from node order by started_at, id`, []),
  )
}

/** Deletes a node whose attempts have been released, or settled by other nodes. */
export async function deleteNode(connection: Connection, id: string): Promise<void> {
  await connection.query('delete from node where id = $1', [id])
}

/**
 * Ends the leases of all nodes but `except` at once, at the start of an embedded server, because no process of an
 * earlier one can still run. Returns the ids of nodes whose lease was still valid.
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
  return idColumn.read(rows).map(({ id }) => id)
}

const scanColumns = columns({
  nodeId: column.text('coalesce(n.id, a.subject_id)'),
  /** Whether the node has a row. */
  known: column.boolean('n.id is not null'),
  /** Null: unknown, as for nodes of an earlier release. */
  scannedAt: column.instant<Instant | null>('n.scanned_at'),
  draining: column.boolean('coalesce(n.draining, false)'),
  lost: column.boolean('coalesce(n.lost, false)'),
  alertId: column.text<string | null>('a.id'),
})
const timedScanColumns = columns({ ...scanColumns.definitions, now: column.instant(PRESENT) })

/** When a node last scanned for due work, and the open alert about its stalled engine. */
export type ScanRow = RowOf<typeof scanColumns>

/**
 * Stores when this node last scanned for due work and reads the times of all nodes, in one statement. Also returns the
 * current time of the database, and open alerts about nodes that are gone.
 */
export async function exchangeScans(
  connection: Connection,
  own: { readonly nodeId: string; readonly scannedAt: Instant | null; readonly orgId: OrgId },
): Promise<{ readonly now: Instant | null; readonly rows: readonly ScanRow[] }> {
  const rows = await connection.query(
    `with mine as (update node set scanned_at = $2::timestamptz where id = $1 and $2::timestamptz is not null)
     select ${timedScanColumns.list}
     from node n full join (
       select id, subject_id from alert where org_id = $3 and kind = 'engine_stalled' and cleared_at is null) a
       on a.subject_id = n.id`,
    [own.nodeId, timestampOrNull(own.scannedAt), own.orgId],
  )
  const found = timedScanColumns.read(rows)
  return { now: found[0]?.now ?? null, rows: found.map(({ now: _, ...scan }) => scan) }
}
