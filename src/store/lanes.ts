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
