import { type Instant } from '../core/instant.ts'
import { type Connection } from './database.ts'

/**
 * The present, by the database's clock: the same for all nodes. This is the only statement that asks for it; every
 * other one takes the present as a parameter. The real time of the statement, not of the transaction's beginning,
 * because a transaction may have waited for a lock in between.
 */
export async function readClock(connection: Connection): Promise<Instant> {
  const [row] = await connection.query('select clock_timestamp() as at', [])
  return row?.['at'] as Instant
}
