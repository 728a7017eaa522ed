import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { EndedCounts } from '../../core/run/ended-counts.ts'
import type { TaskCounts } from '../../core/run/task-counts.ts'
import { LOCK_SPACE, lockNumber } from '../../store/advisory-locks.ts'
import { PRESENT } from '../../platform/db/clock.ts'
import type { Connection, Database, Transaction } from '../../store/database.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

/**
 * The history of an org: one row per transaction that changed it, numbered without gaps under the org's lock. The
 * newest number is the org's version and stands in `org_version`. Any number but the next one is refused, so even a
 * writer that lost its lock cannot write history twice.
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

/** Where an org stands, and until when the node that asks is believed to be alive. */
export interface Standing {
  readonly now: Instant
  /** The number of the newest turn; 0 before the first. */
  readonly version: number
  /** When the newest turn was written; null before the first. */
  readonly at: Instant | null
  /** The node that wrote the newest turn; null before the first. */
  readonly writer: string | null
  readonly leaseUntil: Instant | null
}

const newest = columns({
  no: column.bigint<number | null>(),
  at: column.instant<Instant | null>(),
  node_id: column.text<string | null>(),
})
/** The same for many orgs. */
export const newestOfOrgs = columns({ org_id: column.text<OrgId>(), ...newest.definitions })
const standings = columns({
  now: column.instant(PRESENT),
  ...newest.definitions,
  lease_until: column.instant<Instant | null>('(select lease_until from node where id = $2)'),
})

const LOAD_STANDING = `select ${standings.of('v')}
  from (select) one left join org_version v on v.org_id = $1`

/** The org's version and the present, under the lock. */
export async function loadStanding(
  tx: Transaction,
  asked: { readonly orgId: OrgId; readonly nodeId: string },
): Promise<Standing> {
  const row = standings.only(await tx.query(LOAD_STANDING, [asked.orgId, asked.nodeId]))
  return { now: row.now, ...versionOf(row), leaseUntil: row.lease_until }
}

/** Which turn of an org is the newest. The number alone may be written twice, after a failover that lost the last turns. */
export type OrgVersion = Pick<Standing, 'version' | 'at' | 'writer'>

export const versionOf = (row: RowOf<typeof newest> | undefined): OrgVersion => ({
  version: row?.no ?? 0,
  at: row?.at ?? null,
  writer: row?.node_id ?? null,
})

/** The parameters of a turn in a statement that writes it. */
interface TurnParameters {
  readonly org: string
  readonly no: string
  readonly at: string
  readonly node: string
}

/**
 * What a statement begins with that writes a turn: it takes the org from the version before to this one. The trigger of
 * `turn` knows it by its first words and leaves the version to it.
 */
export const versionStep = ({ org, no, at, node }: TurnParameters): string =>
  `with version as (update org_version set no = ${no}::bigint, at = ${at}::timestamptz, node_id = ${node}
     where org_id = ${org} and no = ${no}::bigint - 1 returning 1)`

/** Whether the turn may be written. When its number is not the next one, the statement fails on `turn_pkey`. */
export const isNextTurn = ({ org, no, at, node }: TurnParameters): string =>
  `case when exists (select from version) then true
        else begin_history(${org}, ${no}::bigint, ${at}::timestamptz, ${node}) end`

const TURN = { org: '$1', no: '$2', at: '$3', node: '$4' }

const INSERT_TURN = `${versionStep(TURN)}
  insert into turn (org_id, no, at, node_id, events, ended, tasks)
  select $1, $2::bigint, $3::timestamptz, $4, $5::json, $6::jsonb, $7::jsonb where ${isNextTurn(TURN)}`

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

const turns = columns({ no: column.bigint(), at: column.instant(), node_id: column.text(), events: column.json() })

/**
 * The turns of an org after a number, oldest first. With the time of the turn of that number, or an earlier one, as
 * `since` only the hours from there on are looked at.
 */
export async function loadTurnsAfter(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly after: number; readonly limit: number; readonly since?: Instant | null },
): Promise<readonly TurnRow[]> {
  const since = asked.since ?? null
  const rows = await connection.query(
    `select ${turns.list} from turn where org_id = $1 and no > $2
       ${since === null ? '' : 'and at >= $4::timestamptz'} order by no limit $3`,
    [asked.orgId, asked.after, asked.limit, ...(since === null ? [] : [toTimestamp(since)])],
  )
  return turns
    .read(rows)
    .map(({ no, at, node_id: nodeId, events }) => ({ no, at, nodeId, events: unpackEvents(events) }))
}

const writers = columns({ nodeId: column.text(), at: column.instant() })

/** Who wrote the turn of this number, or null when nobody has. Ask under the lock: then the answer is final. */
export async function loadTurnWriter(
  tx: Transaction,
  asked: { readonly orgId: OrgId; readonly no: number },
): Promise<RowOf<typeof writers> | null> {
  const rows = await tx.query(`select ${writers.list} from turn where org_id = $1 and no = $2`, [asked.orgId, asked.no])
  return writers.first(rows) ?? null
}

/** The version of an org: its newest turn. */
export async function loadVersion(connection: Connection, orgId: OrgId): Promise<OrgVersion> {
  return versionOf(
    newest.first(await connection.query(`select ${newest.list} from org_version where org_id = $1`, [orgId])),
  )
}

const versions = columns({ id: column.text<OrgId>('o.id'), version: column.bigint('coalesce(v.no, 0)') })

/** The version of every org. */
export async function loadVersions(connection: Connection): Promise<ReadonlyMap<OrgId, number>> {
  const rows = await connection.query(
    `select ${versions.list} from org o left join org_version v on v.org_id = o.id`,
    [],
  )
  return new Map(versions.read(rows).map(({ id, version }) => [id, version]))
}

/** More turns than this are not looked at: an org that is missed is found in the next look, or by the watch. */
const MAX_CHANGES = 1_000_000

/** The orgs that have turns from this time on, with their versions. What it costs depends on those turns alone. */
export async function loadChangedOrgs(connection: Connection, since: Instant): Promise<ReadonlyMap<OrgId, OrgVersion>> {
  const rows = await connection.query(
    // In the order of time, so that the index on it is used whatever statistics say.
    `select ${newestOfOrgs.of('v')}
       from (select distinct org_id
               from (select org_id from turn where at >= $1::timestamptz order by at limit $2) fresh) changed
       join org_version v on v.org_id = changed.org_id`,
    [toTimestamp(since), MAX_CHANGES],
  )
  return new Map(newestOfOrgs.read(rows).map((row) => [row.org_id, versionOf(row)]))
}

const orgs = columns({ orgId: column.text<OrgId>() })
const firstTurns = columns({ no: column.bigint<number | null>('min(no)') })

/** Orgs that have pending runs, by id, from the one after `after` on. Skips from org to org, however many runs each has. */
export async function loadPendingOrgs(
  connection: Connection,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly OrgId[]> {
  const rows = await connection.query(
    `with recursive found (org_id) as (
       (select org_id from pending where org_id > $1 order by org_id limit 1)
       union all
       select (select p.org_id from pending p where p.org_id > f.org_id order by p.org_id limit 1)
         from found f where f.org_id is not null)
     select ${orgs.list} from found where org_id is not null limit $2`,
    [page.after, page.limit],
  )
  return orgs.read(rows).map(({ orgId }) => orgId)
}

/** Those of the orgs that have pending runs. */
export async function loadOrgsWithPending(connection: Connection, ids: readonly OrgId[]): Promise<ReadonlySet<OrgId>> {
  const rows = await connection.query(
    `select ${orgs.of('o')} from unnest($1::text[]) as o (org_id)
      where exists (select 1 from pending p where p.org_id = o.org_id)`,
    [ids],
  )
  return new Set(orgs.read(rows).map(({ orgId }) => orgId))
}

/** The versions of some orgs, also of those without a turn. */
export async function loadVersionsOf(
  connection: Connection,
  ids: readonly OrgId[],
): Promise<ReadonlyMap<OrgId, OrgVersion>> {
  const rows = await connection.query(`select ${newestOfOrgs.list} from org_version where org_id = any($1::text[])`, [
    ids,
  ])
  const found = new Map(newestOfOrgs.read(rows).map((row) => [row.org_id, row]))
  return new Map(ids.map((id) => [id, versionOf(found.get(id))]))
}

/** The number of an org's first turn from a time on, or null when there is none. */
export async function loadFirstTurnSince(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly since: Instant },
): Promise<number | null> {
  const rows = await connection.query(
    `select ${firstTurns.list} from turn where org_id = $1 and at >= $2::timestamptz`,
    [asked.orgId, toTimestamp(asked.since)],
  )
  return firstTurns.only(rows).no
}

/** Tells other nodes something on a channel, outside of any transaction. */
export async function notifyAll(connection: Connection, channel: string, payloads: readonly string[]): Promise<void> {
  await connection.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [channel, payloads])
}

/** Reads in one snapshot: all that is read is the record as it was at one time, whatever is written meanwhile. */
export const inSnapshot = <Answer>(
  database: Pick<Database, 'transaction'>,
  read: (tx: Transaction) => Promise<Answer>,
): Promise<Answer> =>
  database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only')
    return read(tx)
  })
