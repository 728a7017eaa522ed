import { LOCK_SPACE } from '../advisory-locks.ts'
import type { Connection } from '../database.ts'
import { counted } from '../table.ts'

/** How many processes use the embedded server: each holds one share of it. */
export async function countUsers(connection: Connection): Promise<number> {
  const rows = await connection.query(
    `select ${counted.list} from pg_locks where locktype = 'advisory' and classid = $1::bigint::oid and granted`,
    [LOCK_SPACE.embeddedReference],
  )
  return counted.only(rows).count
}
