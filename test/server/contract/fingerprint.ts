import type { Database } from '../../../src/platform/db/database.ts'

/**
 * Looks at everything that is kept: the answer is another text as soon as any row of any table was made, written again or
 * deleted. Every row knows the transaction that wrote it (`xmin`), so nobody has to read what is in it.
 */
export type Look = () => Promise<string>

/** Prepares to look at every table there is. */
export async function createLook(database: Database): Promise<Look> {
  const tables = await database.query(
    `select table_name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE' order by table_name`,
    [],
  )
  const looks = tables.map(({ table_name: name }) => {
    const table = String(name)
    return `select '${table}' as name, count(*) as rows, coalesce(sum(t.xmin::text::bigint), 0) as sum from "${table}" t`
  })
  if (looks.length < 10) throw new Error(`only ${looks.length} tables are looked at`)
  const statement = looks.join(' union all ')
  return async () => {
    const rows = await database.query(statement, [])
    return rows.map((row) => `${String(row['name'])} ${String(row['rows'])} ${String(row['sum'])}`).join('\n')
  }
}
