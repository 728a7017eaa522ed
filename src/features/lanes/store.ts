import type { LaneName } from '../../domain/ids.ts'
import type { Connection } from '../../platform/db/database.ts'
import { column, columns, table, type RowOf } from '../../platform/db/table.ts'

const laneColumns = table('lane', {
  name: column.text<LaneName>(),
  concurrency: column.int(),
  updatedAt: column.instant(),
})

/** A row of `lane`: a size set for every node. Lanes belong to the deployment, not to an org. */
export type LaneRow = RowOf<typeof laneColumns>

/** Loads the stored lane sizes by name. */
export async function loadLanes(connection: Connection): Promise<readonly LaneRow[]> {
  return laneColumns.read(await connection.query(`select ${laneColumns.list} from lane order by name`, []))
}

const laneAndOrgColumns = columns({
  ...laneColumns.definitions,
  name: column.text<LaneName | null>('l.name'),
  orgs: column.int('o.found'),
})

/** Loads the stored lane sizes by name, and whether the deployment has more than one org, in one statement. */
export async function loadLanesAndOrgs(
  connection: Connection,
): Promise<{ readonly lanes: readonly LaneRow[]; readonly hasManyOrgs: boolean }> {
  const rows = await connection.query(
    `select ${laneAndOrgColumns.list}
       from (select count(*)::int as found from (select 1 from org where deleted_at is null limit 2) as few) as o
       left join lane l on true order by l.name`,
    [],
  )
  const found = laneAndOrgColumns.read(rows)
  return {
    lanes: found.flatMap(({ orgs: _, name, ...lane }) => (name === null ? [] : [{ name, ...lane }])),
    hasManyOrgs: (found[0]?.orgs ?? 0) > 1,
  }
}

/** Sets the size of a lane for every node. */
export async function saveLane(connection: Connection, lane: LaneRow): Promise<void> {
  await connection.query(
    `${laneColumns.insert}
     on conflict (name) do update set concurrency = excluded.concurrency, updated_at = excluded.updated_at`,
    laneColumns.values(lane),
  )
}

/** Sets the size of a lane unless one is stored. Returns whether it was set. */
export async function insertLane(connection: Connection, lane: LaneRow): Promise<boolean> {
  const rows = await connection.query(
    `${laneColumns.insert} on conflict (name) do nothing returning name`,
    laneColumns.values(lane),
  )
  return rows.length > 0
}

/** Deletes stored sizes, so that the configuration of each node applies again. */
export async function deleteLanes(connection: Connection, names: readonly string[]): Promise<void> {
  await connection.query('delete from lane where name = any($1::text[])', [names])
}
