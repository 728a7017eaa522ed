import type { Instant } from '../../src/domain/instant.ts'
import { PRESENT } from '../../src/platform/db/clock.ts'
import type { Connection, Database } from '../../src/platform/db/database.ts'
import type { Quiet } from '../faults/quiet.ts'

/** The real database under a clock that is moved by hand. What the server may answer in any order comes in one. */
export function createHandDatabase(
  real: Database,
  { quiet, now }: { readonly quiet: Quiet; readonly now: () => Instant },
): Database {
  const through =
    (connection: Connection): Connection['query'] =>
    async (text, params) => {
      if (text === CLOCK) return [{ at: now() }]
      const rows = await connection.query(text.replace(UNORDERED, ORDERED), params)
      const [row] = rows
      if (rows.length === 1 && row !== undefined && 'now' in row) return [{ ...row, now: now() }]
      return rows
    }
  const query = through(real)
  return {
    query: (text, params) => (text === CLOCK ? query(text, params) : quiet.run(() => query(text, params))),
    transaction: (work, options) =>
      quiet.run(() =>
        real.transaction((tx) => work({ inTransaction: true, send: tx.send, query: through(tx) }), options),
      ),
    listen: () => new Promise(() => undefined),
    close: () => Promise.resolve(),
  }
}

const CLOCK = `select ${PRESENT} as at`

/** Schedules that are due at the same moment have no order. */
const UNORDERED = /order by next_run_at limit \$2/
const ORDERED = 'order by next_run_at, id limit $2'
