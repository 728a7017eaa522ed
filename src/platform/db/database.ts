import { DatabaseError } from './database-error.ts'

export const DEFAULT_SCHEMA = 'escapement'

// Allows only names that need no quoting, as a second line of defense.
const PLAIN = /^[a-z_][a-z0-9_]{0,62}$/

/** A schema name as an SQL identifier; validated, because it comes from the configuration. */
export function quoteSchema(name: string): string {
  if (!PLAIN.test(name) || name.startsWith('pg_') || name === 'information_schema')
    throw new DatabaseError('schema_name_invalid', { detail: JSON.stringify(name) })
  return `"${name}"`
}

/** A notification channel as an SQL identifier. */
export function quoteChannel(name: string): string {
  if (!PLAIN.test(name)) throw new DatabaseError('channel_name_invalid', { detail: JSON.stringify(name) })
  return `"${name}"`
}

/**
 * The database port, the only interface to PostgreSQL. Every statement takes one of these types as its first argument;
 * only the composition root knows the implementation.
 */

/** A result row: instants and safe BIGINTs are numbers, JSON is parsed, dates and decimals stay strings. */
export type Row = Readonly<Record<string, unknown>>

/** A query parameter. Convert instants with `toTimestamp`, JSON with `JSON.stringify`. */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array | readonly SqlValue[]

/** Runs statements: a transaction, or the database itself for single statements. */
export interface Connection {
  /**
   * Runs one statement. With parameters, its text is prepared once per connection, so texts must be constants; without, it
   * may contain several statements.
   */
  readonly query: (text: string, params?: readonly SqlValue[]) => Promise<readonly Row[]>
}

/** A connection inside a transaction. Functions that lock or must be atomic take this type. */
export interface Transaction extends Connection {
  readonly inTransaction: true
  /**
   * Sends one statement without waiting for its result, so that more statements and COMMIT share its round trip. If it
   * fails, the transaction fails.
   */
  readonly send: (text: string, params: readonly SqlValue[]) => void
}

export interface TransactionOptions {
  /** Override the default limits for long transactions. 0 is no limit. */
  readonly statementMs?: number
  readonly lockMs?: number
  /** An advisory lock of this schema, held for the whole transaction. */
  readonly lock?: readonly [space: number, number: number]
  /** Called when COMMIT has been sent, so that the caller can work while the server commits. */
  readonly committing?: () => void
}

/** A notification, or `was_away` after a reconnect: notifications may be lost, so read the tables again. */
export type ReceivedNotification =
  { readonly kind: 'notified'; readonly payload: string } | { readonly kind: 'was_away' }

export interface Subscription {
  readonly stop: () => Promise<void>
}

/** The connections of a pool, and the statements waiting for one. */
export interface PoolUse {
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

export interface Database extends Connection {
  /**
   * Runs the callback in one transaction and commits it. Rolls back and rethrows its error; throws `commit_unknown` if the
   * connection ends during COMMIT.
   */
  readonly transaction: <T>(work: (tx: Transaction) => T | Promise<T>, options?: TransactionOptions) => Promise<T>
  /** Listens on a channel until stopped, and reconnects after interruptions. Resolves once the server listens. */
  readonly listen: (channel: string, hear: (heard: ReceivedNotification) => void) => Promise<Subscription>
  /** Pool usage; absent in implementations without a pool. */
  readonly use?: () => PoolUse
  /** Waits for running statements and closes all connections. */
  readonly close: () => Promise<void>
}
