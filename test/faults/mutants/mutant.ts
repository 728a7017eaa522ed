import type { Connection, Database, Row } from '../../../src/platform/db/database.ts'
import type { ServerFault } from '../faults.ts'
import type { Invariant } from '../checks/invariants.ts'
import { transactionThrough, type Statement } from '../sending.ts'

/** A store or a service with one thing done wrong, as somebody might do it on a bad day. Some seed must notice. */
export interface Mutant {
  readonly name: string
  /** Any of these may be what notices it first. */
  readonly breaks: readonly Invariant[]
  /** The world that noticed it last time, asked first; the first one unless given. When it no longer does, others are. */
  readonly seed?: number
  /** Only worlds in which this happens can notice it. */
  readonly needs?: ServerFault
  readonly mutate: (database: Database) => Database
}

/** A database whose statements go through somebody else's hands, inside transactions and outside. */
export function withStatements(database: Database, carryOut: (real: Statement) => Statement): Database {
  const through = (connection: Connection): Statement => carryOut((text, params) => connection.query(text, params))
  return {
    ...database,
    query: through(database),
    transaction: (work, options) =>
      database.transaction(async (real) => {
        const { tx, sent } = transactionThrough(through(real))
        const result = await work(tx)
        await sent()
        return result
      }, options),
  }
}

/** Statements that begin like this are not carried out. */
export const forgetting =
  (beginning: string) =>
  (database: Database): Database =>
    withStatements(database, (real) => (text, params) => {
      return normal(text).startsWith(beginning) ? Promise.resolve([]) : real(text, params)
    })

/** The rows of statements that begin like this are not what they were. */
export const misreading =
  (beginning: string, misread: (row: Row) => Row | null) =>
  (database: Database): Database =>
    withStatements(database, (real) => async (text, params) => {
      const rows = await real(text, params)
      if (!normal(text).startsWith(beginning)) return rows
      return rows.map(misread).filter((row) => row !== null)
    })

/** Whether as many rows were written as should have been is not looked at. */
export const uncounted = (database: Database): Database =>
  withStatements(
    database,
    (real) => (text, params) =>
      real(
        text.replace('select 1 / ((select count(*) from written)', 'select 1 + ((select count(*) from written)'),
        params,
      ),
  )

const normal = (text: string): string => text.replace(/\s+/g, ' ').trim()
