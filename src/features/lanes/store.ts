import type { LaneName } from '../../domain/ids.ts'
import type { Connection } from '../../store/database.ts'
import { column, columns, table, type RowOf } from '../../platform/db/table.ts'

const lanes = table('lane', {
  name: column.text<LaneName>(),
  concurrency: column.int(),
  updatedAt: column.instant(),
})

/** A row of `lane`: a size that was set for every node. Lanes belong to the deployment, not to an org. */
export type LaneRow = RowOf<typeof lanes>

/** The sizes that were set, by name. */
export async function loadLanes(connection: Connection): Promise<readonly LaneRow[]> {
  return lanes.read(await connection.query(`select ${lanes.list} from lane order by name`, []))
}

const lanesAndOrgs = columns({
  ...lanes.definitions,
  name: column.text<LaneName | null>('l.name'),
  orgs: column.int('o.found'),
})

/** The sizes that were set, by name, and whether the deployment has more than one org: one statement for every look. */
export async function loadLanesAndOrgs(
  connection: Connection,
): Promise<{ readonly lanes: readonly LaneRow[]; readonly hasManyOrgs: boolean }> {
  const rows = await connection.query(
    `select ${lanesAndOrgs.list}
       from (select count(*)::int as found from (select 1 from org where deleted_at is null limit 2) as few) as o
       left join lane l on true order by l.name`,
    [],
  )
  const found = lanesAndOrgs.read(rows)
  return {
    lanes: found.flatMap(({ orgs: _, name, ...lane }) => (name === null ? [] : [{ name, ...lane }])),
    hasManyOrgs: (found[0]?.orgs ?? 0) > 1,
  }
}

/** Sets a lane's size for every node. */
export async function saveLane(connection: Connection, lane: LaneRow): Promise<void> {
  await connection.query(
    `${lanes.insert}
     on conflict (name) do update set concurrency = excluded.concurrency, updated_at = excluded.updated_at`,
    lanes.values(lane),
  )
}

/** Sets a lane's size unless one was set: an existing lane wins. True when it was set. */
export async function insertLane(connection: Connection, lane: LaneRow): Promise<boolean> {
  const rows = await connection.query(
    `${lanes.insert} on conflict (name) do nothing returning name`,
    lanes.values(lane),
  )
  return rows.length > 0
}

/** Takes back the sizes that were set for every node. */
export async function deleteLanes(connection: Connection, names: readonly string[]): Promise<void> {
  await connection.query('delete from lane where name = any($1::text[])', [names])
}
