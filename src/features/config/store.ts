import type { Instant } from '../../domain/instant.ts'
import type { Connection } from '../../platform/db/database.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

const settings = columns({
  path: column.text(),
  value: column.json(),
  updatedAt: column.instant(),
  updatedBy: column.text<string | null>(),
})

/** A row of `setting`: a value for all nodes. */
export type SettingRow = RowOf<typeof settings>

/** All stored settings, by path. */
export async function loadSettings(connection: Connection): Promise<readonly SettingRow[]> {
  return settings.read(await connection.query(`select ${settings.list} from setting order by path`, []))
}

/** Saves values for all nodes. */
export async function saveSettings(
  connection: Connection,
  set: { readonly values: ReadonlyMap<string, unknown>; readonly at: Instant; readonly by: string | null },
): Promise<void> {
  await connection.query(
    `insert into setting (path, value, updated_at, updated_by)
     select path, value::jsonb, $3::timestamptz, $4
       from unnest($1::text[], $2::text[]) as given (path, value)
     on conflict (path) do update
       set value = excluded.value, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
    [
      [...set.values.keys()],
      [...set.values.values()].map((value) => JSON.stringify(value)),
      toTimestamp(set.at),
      set.by,
    ],
  )
}

/** Deletes values that were saved for all nodes. */
export async function deleteSettings(connection: Connection, paths: readonly string[]): Promise<void> {
  await connection.query('delete from setting where path = any($1::text[])', [paths])
}
