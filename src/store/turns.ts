import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { EndedCounts } from '../core/run/ended-counts.ts'
import type { TaskCounts } from '../core/run/task-counts.ts'
import { PRESENT } from './clock.ts'
import { LOCK_SPACE, lockNumber } from './advisory-locks.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/**
 * The history of an org: one row per transaction that changed it, numbered without gaps under the org's lock. The
 * newest number is the org's version. The primary key refuses a second row of the same number, so even a writer that
 * lost its lock cannot write history twice.
 */
export interface TurnRow {
  readonly no: number
  readonly at: Instant
  readonly nodeId: string
  readonly events: readonly StoredEvent[]
}

/** Kind, subject, data: a list of lists is a third smaller than a list of objects, and there is one per change. */
export type StoredEvent = readonly [kind: string, subject: string, data: Readonly<Record<string, unknown>>]

/** As they are written: those of one kind that follow each other and say the same share one entry. */
type PackedEvent = readonly [kind: string, subjects: string | readonly string[], data: StoredEvent[2]]

/** The text form of events. Whoever says the same of many says it with the same object, so only that is looked at. */
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

/** Events as they were before they were packed. */
export function unpackEvents(packed: unknown): readonly StoredEvent[] {
  const events: StoredEvent[] = []
  for (const [kind, subjects, data] of packed as readonly PackedEvent[])
    if (typeof subjects === 'string') events.push([kind, subjects, data])
    else for (const subject of subjects) events.push([kind, subject, data])
  return events
}

/** The org's lock. It is taken with the beginning of a transaction, so that whatever is looked at afterwards is newer. */
export const orgLock = (orgId: OrgId): readonly [number, number] => [LOCK_SPACE.org, lockNumber(orgId)]

/**
 * The newest turn of an org, by more than its number: after a failover that lost the last transactions another turn may
 * have the same number, but not the same time and writer too.
 */
export interface Version {
  /** The number of the newest turn; 0 before the first. */
  readonly version: number
  readonly at: Instant | null
  readonly writer: string | null
}

/** Where an org stands, and until when the node that asks is believed to be alive. */
export interface Standing extends Version {
  readonly now: Instant
  readonly leaseUntil: Instant | null
}

/** Reads the newest turn of an org by the end of its index, which no amount of dead rows makes slower. */
const NEWEST = `left join lateral (select no, at, node_id from turn where org_id = $1 order by no desc limit 1) t on true`

const versionOf = (row: Row | undefined): Version => ({
  version: (row?.['version'] as number | null | undefined) ?? 0,
  at: (row?.['at'] as Instant | null | undefined) ?? null,
  writer: (row?.['writer'] as string | null | undefined) ?? null,
})

/** The org's version and the present, under the lock. */
export async function loadStanding(
  tx: Transaction,
  asked: { readonly orgId: OrgId; readonly nodeId: string },
): Promise<Standing> {
  const [row] = await tx.query(
    `select ${PRESENT} as now, t.no as version, t.at, t.node_id as writer,
       (select lease_until from node where id = $2) as lease_until
     from (values (1)) as one ${NEWEST}`,
    [asked.orgId, asked.nodeId],
  )
  return {
    ...versionOf(row),
    now: row?.['now'] as Instant,
    leaseUntil: (row?.['lease_until'] as Instant | null | undefined) ?? null,
  }
}

const INSERT_TURN = `insert into turn (org_id, no, at, node_id, events, ended, tasks)
  values ($1, $2, $3, $4, $5::json, $6::jsonb, $7::jsonb)`

/** Writes the present turn into the org's history, with how the runs ended that ended in it. */
export function insertTurn(
  tx: Transaction,
  orgId: OrgId,
  turn: TurnRow & { readonly ended?: EndedCounts | null; readonly tasks?: TaskCounts | null },
): void {
  const { ended = null, tasks = null } = turn
  tx.send(INSERT_TURN, [
    orgId,
    turn.no,
    toTimestamp(turn.at),
    turn.nodeId,
    packEvents(turn.events),
    ended === null ? null : JSON.stringify(ended),
    tasks === null ? null : JSON.stringify(tasks),
  ])
}

/** Tells every node that something has changed, when this transaction commits. */
export function notifyNodes(tx: Transaction, channels: readonly string[]): void {
  tx.send("select pg_notify(channel, '') from unnest($1::text[]) as channel", [channels])
}

/** The turns of an org after a number, oldest first. */
export async function loadTurnsAfter(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly after: number; readonly limit: number },
): Promise<readonly TurnRow[]> {
  const rows = await connection.query(
    'select no, at, node_id, events from turn where org_id = $1 and no > $2 order by no limit $3',
    [asked.orgId, asked.after, asked.limit],
  )
  return rows.map((row) => ({
    no: row['no'] as number,
    at: row['at'] as Instant,
    nodeId: row['node_id'] as string,
    events: unpackEvents(row['events']),
  }))
}

/** Who wrote the turn of this number, or null when nobody has. Ask under the lock: then the answer is final. */
export async function loadTurnWriter(
  tx: Transaction,
  asked: { readonly orgId: OrgId; readonly no: number },
): Promise<{ readonly nodeId: string; readonly at: Instant } | null> {
  const [row] = await tx.query('select node_id, at from turn where org_id = $1 and no = $2', [asked.orgId, asked.no])
  return row === undefined ? null : { nodeId: row['node_id'] as string, at: row['at'] as Instant }
}

/** The version of an org. */
export async function loadVersion(connection: Connection, orgId: OrgId): Promise<Version> {
  const [row] = await connection.query(
    `select t.no as version, t.at, t.node_id as writer from (values (1)) as one ${NEWEST}`,
    [orgId],
  )
  return versionOf(row)
}

/** The version of every org. */
export async function loadVersions(connection: Connection): Promise<ReadonlyMap<OrgId, number>> {
  const rows = await connection.query(
    `select o.id, coalesce((select no from turn t where t.org_id = o.id order by no desc limit 1), 0) as version
       from org o`,
    [],
  )
  return new Map(rows.map((row) => [row['id'] as OrgId, row['version'] as number]))
}
