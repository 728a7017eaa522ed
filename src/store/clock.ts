import { type Instant } from '../core/instant.ts'
import { type Connection } from './database.ts'

/** How the database is asked for the present. For `readClock`, and for the first statement of a turn, which asks more. */
export const PRESENT = 'clock_timestamp()'

/**
 * The present, by the database's clock: the same for all nodes. Only this statement and the first one of a turn ask
 * for it; every other one takes the present as a parameter. The real time of the statement, not of the transaction's beginning,
 * because a transaction may have waited for a lock in between.
 */
export async function readClock(connection: Connection): Promise<Instant> {
  const [row] = await connection.query(`select ${PRESENT} as at`, [])
  return row?.['at'] as Instant
}
