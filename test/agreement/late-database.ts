import type { Connection, Database } from '../../src/platform/db/database.ts'
import type { Random } from '../simulation/random.ts'

/** A database that answers late, and how much was asked of it. */
export interface LateDatabase {
  readonly database: Database
  readonly transactions: () => number
}

/** Answers come up to this many turns of the event loop late: more than what follows from an answer takes. */
const MAX_TURNS = 12

/** With `random`, every answer of the database comes late by chance. Without, none does. */
export function createLateDatabase(real: Database, random: Random | null): LateDatabase {
  let transactions = 0
  const late = async <Answer>(answer: Answer): Promise<Answer> => {
    for (let turns = random?.int(0, MAX_TURNS) ?? 0; turns > 0; turns -= 1)
      await new Promise((resolve) => setImmediate(resolve))
    return answer
  }
  const through =
    (connection: Connection): Connection['query'] =>
    async (text, params) =>
      late(await connection.query(text, params))
  const database: Database = {
    ...real,
    query: through(real),
    transaction: async (work, options) => {
      transactions += 1
      return late(await real.transaction((tx) => work({ ...tx, query: through(tx) }), options))
    },
  }
  return { database, transactions: () => transactions }
}
