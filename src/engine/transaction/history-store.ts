import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { EndedCounts, TaskCounts, TimelineCount } from '../../domain/run/ended-counts.ts'
import { LOCK_SPACE, lockNumber } from '../../platform/db/advisory-locks.ts'
import { PRESENT } from '../../platform/db/clock.ts'
import type { Connection, Database, Transaction } from '../../platform/db/database.ts'
import { column, columns, jsonOrNull, type RowOf, toTimestamp } from '../../platform/db/table.ts'

/**
 * The history of an org: one row per transaction that changed it, numbered without gaps under the org's lock. The
 * newest number is the org's version and stands in `org_version`. Any number but the next one is refused, so even a
 * writer that lost its lock cannot write history twice.
 */
export interface TransactionRow {
  readonly no: number
  readonly at: Instant
  readonly nodeId: string
  readonly events: readonly StoredEvent[]
}

/** Kind, subject, data: a list of lists is a third smaller than a list of objects, and there is one per change. */
export type StoredEvent = readonly [kind: string, subject: string, data: Readonly<Record<string, unknown>>]

/** The stored form: consecutive events with equal kind and data share one entry. */
type PackedEvent = readonly [kind: string, subjects: string | readonly string[], data: StoredEvent[2]]

/** The text form of events. Equal data of consecutive events is the same object, so comparing references is enough. */
export function packEvents(events: readonly StoredEvent[]): string {
  const packed: [string, string | string[], StoredEvent[2]][] = []
  for (const [kind, subject, data] of events) {
    const last = packed.at(-1)
    if (last?.[2] !== data || last[0] !== kind) packed.push([kind, subject, data])
    else if (typeof last[1] === 'string') last[1] = [last[1], subject]
    else last[1].push(subject)
  }
  return JSON.stringify(packed)
}

/** Parses the stored form of events. */
export function unpackEvents(packed: unknown): readonly StoredEvent[] {
  const events: StoredEvent[] = []
  for (const [kind, subjects, data] of packed as readonly PackedEvent[])
    if (typeof subjects === 'string') events.push([kind, subjects, data])
    else for (const subject of subjects) events.push([kind, subject, data])
  return events
}

/** The state cannot be updated and must be loaded again. */
export class StateTooOld extends Error {
  constructor(orgId: OrgId) {
    super(`the history of ${orgId} does not reach back to its loaded state`)
    this.name = 'StateTooOld'
  }
}

/** The org's lock. It is taken when the transaction starts, so that everything read afterwards is current. */
export const orgLock = (orgId: OrgId): readonly [number, number] => [LOCK_SPACE.org, lockNumber(orgId)]

/** The org's version, the database's time, and the lease of the asking node. */
export interface VersionAndLease {
  readonly now: Instant
  /** The number of the newest transaction; 0 before the first. */
  readonly version: number
  /** The time of the newest transaction; null before the first. */
  readonly at: Instant | null
  /** The node that wrote the newest transaction; null before the first. */
  readonly writer: string | null
  readonly leaseUntil: Instant | null
}

const newestColumns = columns({
  no: column.bigint<number | null>(),
  at: column.instant<Instant | null>(),
  node_id: column.text<string | null>(),
})
/** The same for many orgs. */
export const newestOfOrgsColumns = columns({ org_id: column.text<OrgId>(), ...newestColumns.definitions })
const versionAndLeaseColumns = columns({
  now: column.instant(PRESENT),
  ...newestColumns.definitions,
  lease_until: column.instant<Instant | null>('(select lease_until from node where id = $2)'),
})

const LOAD_VERSION_AND_LEASE = `select ${versionAndLeaseColumns.of('v')}
  from (select) one left join org_version v on v.org_id = $1`

/** Reads the org's version and the database's time, under the lock. */
export async function loadVersionAndLease(
  tx: Transaction,
  query: { readonly orgId: OrgId; readonly nodeId: string },
): Promise<VersionAndLease> {
  const row = versionAndLeaseColumns.only(await tx.query(LOAD_VERSION_AND_LEASE, [query.orgId, query.nodeId]))
  return { now: row.now, ...versionOf(row), leaseUntil: row.lease_until }
}

/**
 * Identifies the newest transaction of an org. The number alone may be written twice, after a failover that lost the
 * last transactions.
 */
export type OrgVersion = Pick<VersionAndLease, 'version' | 'at' | 'writer'>

export const versionOf = (row: RowOf<typeof newestColumns> | undefined): OrgVersion => ({
  version: row?.no ?? 0,
  at: row?.at ?? null,
  writer: row?.node_id ?? null,
})

/** The parameters of the history row in a statement that writes it. */
interface HistoryParameters {
  readonly org: string
  readonly no: string
  readonly at: string
  readonly node: string
}

/**
 * The first words of a statement that writes a history row: they advance the org's version to this number. The trigger
 * of `turn` recognizes them and then leaves the version alone.
 */
export const versionStep = ({ org, no, at, node }: HistoryParameters): string =>
  `with version as (update org_version set no = ${no}::bigint, at = ${at}::timestamptz, node_id = ${node}
     where org_id = ${org} and no = ${no}::bigint - 1 returning 1)`

/** Whether the row may be written. When its number is not the next one, the statement fails on `turn_pkey`. */
export const isNextTransaction = ({ org, no, at, node }: HistoryParameters): string =>
  `case when exists (select from version) then true
        else begin_history(${org}, ${no}::bigint, ${at}::timestamptz, ${node}) end`

const HISTORY_PARAMETERS = { org: '$1', no: '$2', at: '$3', node: '$4' }

const INSERT_HISTORY = `${versionStep(HISTORY_PARAMETERS)}
  insert into turn (org_id, no, at, node_id, events, ended, tasks, timeline)
  select $1, $2::bigint, $3::timestamptz, $4, $5::json, $6::jsonb, $7::jsonb, $8::jsonb
   where ${isNextTransaction(HISTORY_PARAMETERS)}`

/** Writes the present transaction into the org's history, with the counts of runs that ended in it. */
export function insertTransaction(
  tx: Transaction,
  orgId: OrgId,
  transaction: TransactionRow & {
    readonly ended?: EndedCounts | null
    readonly tasks?: TaskCounts | null
    readonly timeline?: readonly TimelineCount[] | null
  },
): void {
  const { ended, tasks, timeline } = transaction
  tx.send(INSERT_HISTORY, [
    orgId,
    transaction.no,
    toTimestamp(transaction.at),
    transaction.nodeId,
    packEvents(transaction.events),
    jsonOrNull(ended),
    jsonOrNull(tasks),
    jsonOrNull(timeline),
  ])
}

const historyColumns = columns({
  no: column.bigint(),
  at: column.instant(),
  node_id: column.text(),
  events: column.json(),
})

/**
 * The transactions of an org after a number, oldest first. `since` is the time of that transaction, or earlier; it
 * limits the partitions that are read.
 */
export async function loadTransactionsAfter(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly after: number; readonly limit: number; readonly since?: Instant | null },
): Promise<readonly TransactionRow[]> {
  const since = query.since ?? null
  const rows = await connection.query(
    `select ${historyColumns.list} from turn where org_id = $1 and no > $2
       ${since === null ? '' : 'and at >= $4::timestamptz'} order by no limit $3`,
    [query.orgId, query.after, query.limit, ...(since === null ? [] : [toTimestamp(since)])],
  )
  return historyColumns
    .read(rows)
    .map(({ no, at, node_id: nodeId, events }) => ({ no, at, nodeId, events: unpackEvents(events) }))
}

const writerColumns = columns({ nodeId: column.text(), at: column.instant() })

/** The writer of the transaction with this number, or null. Under the lock the answer is final. */
export async function loadTransactionWriter(
  tx: Transaction,
  query: { readonly orgId: OrgId; readonly no: number },
): Promise<RowOf<typeof writerColumns> | null> {
  const rows = await tx.query(`select ${writerColumns.list} from turn where org_id = $1 and no = $2`, [
    query.orgId,
    query.no,
  ])
  return writerColumns.first(rows) ?? null
}

/** The version of an org: its newest transaction. */
export async function loadVersion(connection: Connection, orgId: OrgId): Promise<OrgVersion> {
  return versionOf(
    newestColumns.first(
      await connection.query(`select ${newestColumns.list} from org_version where org_id = $1`, [orgId]),
    ),
  )
}

const versionColumns = columns({ id: column.text<OrgId>('o.id'), version: column.bigint('coalesce(v.no, 0)') })

/** The version of every org. */
export async function loadVersions(connection: Connection): Promise<ReadonlyMap<OrgId, number>> {
  const rows = await connection.query(
    `select ${versionColumns.list} from org o left join org_version v on v.org_id = o.id`,
    [],
  )
  return new Map(versionColumns.read(rows).map(({ id, version }) => [id, version]))
}

/** Maximum number of transactions read; an org that is missed is found by the next query or by the watch loop. */
const MAX_TRANSACTIONS_READ = 1_000_000

/**
 * The orgs that have transactions since this time, with their versions. The cost depends on those transactions alone.
 */
export async function loadChangedOrgs(connection: Connection, since: Instant): Promise<ReadonlyMap<OrgId, OrgVersion>> {
  const rows = await connection.query(
    // Ordered by time, so that the index on it is used whatever statistics say.
    `select ${newestOfOrgsColumns.of('v')}
       from (select distinct org_id
               from (select org_id from turn where at >= $1::timestamptz order by at limit $2) fresh) changed
       join org_version v on v.org_id = changed.org_id`,
    [toTimestamp(since), MAX_TRANSACTIONS_READ],
  )
  return new Map(newestOfOrgsColumns.read(rows).map((row) => [row.org_id, versionOf(row)]))
}

const orgColumns = columns({ orgId: column.text<OrgId>() })
const firstNumberColumns = columns({ no: column.bigint<number | null>('min(no)') })

/** SQL for the first org after another that has pending runs, in memory or in the backlog. */
const nextPendingOrgSql = (after: string): string =>
  `least((select p.org_id from pending p where p.org_id > ${after} order by p.org_id limit 1),
         (select l.org_id from backlog_line l where l.org_id > ${after} order by l.org_id limit 1))`

/** Orgs that have pending runs, by id, starting after `after`. Skips from org to org, however many runs each has. */
export async function loadPendingOrgs(
  connection: Connection,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly OrgId[]> {
  const rows = await connection.query(
    `with recursive found (org_id) as (
       select ${nextPendingOrgSql('$1')}
       union all
       select ${nextPendingOrgSql('f.org_id')} from found f where f.org_id is not null)
     select ${orgColumns.list} from found where org_id is not null limit $2`,
    [page.after, page.limit],
  )
  return orgColumns.read(rows).map(({ orgId }) => orgId)
}

/** The orgs of the list that have pending runs. */
export async function loadOrgsWithPending(connection: Connection, ids: readonly OrgId[]): Promise<ReadonlySet<OrgId>> {
  const rows = await connection.query(
    `select ${orgColumns.of('o')} from unnest($1::text[]) as o (org_id)
      where exists (select 1 from pending p where p.org_id = o.org_id)
         or exists (select 1 from backlog_line l where l.org_id = o.org_id)`,
    [ids],
  )
  return new Set(orgColumns.read(rows).map(({ orgId }) => orgId))
}

/** The versions of some orgs, also of those without a transaction. */
export async function loadVersionsOf(
  connection: Connection,
  ids: readonly OrgId[],
): Promise<ReadonlyMap<OrgId, OrgVersion>> {
  const rows = await connection.query(
    `select ${newestOfOrgsColumns.list} from org_version where org_id = any($1::text[])`,
    [ids],
  )
  const found = new Map(newestOfOrgsColumns.read(rows).map((row) => [row.org_id, row]))
  return new Map(ids.map((id) => [id, versionOf(found.get(id))]))
}

/** The number of an org's first transaction since a time, or null. */
export async function loadFirstTransactionSince(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly since: Instant },
): Promise<number | null> {
  const rows = await connection.query(
    `select ${firstNumberColumns.list} from turn where org_id = $1 and at >= $2::timestamptz`,
    [query.orgId, toTimestamp(query.since)],
  )
  return firstNumberColumns.only(rows).no
}

/** Notifies other nodes on a channel, outside of any transaction. */
export async function notifyAll(connection: Connection, channel: string, payloads: readonly string[]): Promise<void> {
  await connection.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [channel, payloads])
}

/** Reads in one snapshot: all rows are as of one time, whatever is written meanwhile. */
export const inSnapshot = <Answer>(
  database: Pick<Database, 'transaction'>,
  read: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> =>
  database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only')
    return read(tx)
  })
