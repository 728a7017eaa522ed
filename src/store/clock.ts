import { type Instant } from '../core/instant.ts'
import { type Connection } from './database.ts'
import { column, columns } from './table.ts'

/** How the database is asked for the present. For `readClock`, and for statements that ask more with it. */
export const PRESENT = 'clock_timestamp()'

const clock = columns({ at: column.instant(PRESENT) })

/**
 * The present, by the database's clock: the same for all nodes. Only this statement, the first one of a turn and the one
 * by which nodes watch each other ask for it; every other one takes the present as a parameter. The real time of the statement, not of the transaction's beginning,
 * because a transaction may have waited for a lock in between.
 */
export async function readClock(connection: Connection): Promise<Instant> {
  return clock.only(await connection.query(`select ${clock.list}`, [])).at
}
