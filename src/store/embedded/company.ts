import { LOCK_SPACE } from '../advisory-locks.ts'
import type { Connection } from '../database.ts'

/** How many processes use the embedded server: each holds one share of it. */
export async function countUsers(connection: Connection): Promise<number> {
  const [row] = await connection.query(
    `select count(*) as users from pg_locks where locktype = 'advisory' and classid = $1::bigint::oid and granted`,
    [LOCK_SPACE.embeddedReference],
  )
  return row?.['users'] as number
}
