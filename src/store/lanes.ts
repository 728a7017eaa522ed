import { laneName, type LaneName } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `lane`: a size that was set for every node. Lanes belong to the deployment, not to an org. */
export interface LaneRow {
  readonly name: LaneName
  readonly concurrency: number
  readonly updatedAt: Instant
}

const COLUMNS = 'name, concurrency, updated_at'

/** The sizes that were set, by name. */
export async function loadLanes(connection: Connection): Promise<readonly LaneRow[]> {
  const rows = await connection.query(`select ${COLUMNS} from lane order by name`, [])
  return rows.map(laneOf)
}

/** The sizes that were set, by name, and whether the deployment has more than one org: one statement for every look. */
export async function loadLanesAndOrgs(
  connection: Connection,
): Promise<{ readonly lanes: readonly LaneRow[]; readonly hasManyOrgs: boolean }> {
  const rows = await connection.query(
    `select l.name, l.concurrency, l.updated_at, o.found
       from (select count(*)::int as found from (select 1 from org where deleted_at is null limit 2) as few) as o
       left join lane l on true order by l.name`,
    [],
  )
  return {
    lanes: rows.flatMap((row) => (row['name'] === null ? [] : [laneOf(row)])),
    hasManyOrgs: ((rows[0]?.['found'] ?? 0) as number) > 1,
  }
}

/** Sets a lane's size for every node. */
export async function saveLane(connection: Connection, lane: LaneRow): Promise<void> {
  await connection.query(
    `insert into lane (${COLUMNS}) values ($1, $2, $3::timestamptz)
     on conflict (name) do update set concurrency = excluded.concurrency, updated_at = excluded.updated_at`,
    [lane.name, lane.concurrency, toTimestamp(lane.updatedAt)],
  )
}

/** Sets a lane's size unless one was set: an existing lane wins. True when it was set. */
export async function insertLane(connection: Connection, lane: LaneRow): Promise<boolean> {
  const rows = await connection.query(
    `insert into lane (${COLUMNS}) values ($1, $2, $3::timestamptz) on conflict (name) do nothing returning name`,
    [lane.name, lane.concurrency, toTimestamp(lane.updatedAt)],
  )
  return rows.length > 0
}

/** Takes back the sizes that were set for every node. */
export async function deleteLanes(connection: Connection, names: readonly string[]): Promise<void> {
  await connection.query('delete from lane where name = any($1::text[])', [names])
}

const laneOf = (row: Row): LaneRow => ({
  name: laneName(row['name'] as string),
  concurrency: row['concurrency'] as number,
  updatedAt: row['updated_at'] as Instant,
})
