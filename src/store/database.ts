/**
 * The database port: the one seam between this program and PostgreSQL. Every statement of the store takes one of these
 * as its first argument; only the composition root knows what stands behind it.
 */

/** A row as it arrives: instants and safe BIGINTs are numbers, JSON is parsed, dates and decimals stay text. */
export type Row = Readonly<Record<string, unknown>>

/** What may be a parameter. Instants go through `toTimestamp`, JSON through `JSON.stringify`. */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array | readonly SqlValue[]

/** Somebody a statement can be given to: a transaction, or the database itself for a single statement. */
export interface Connection {
  /**
   * Runs one statement. With parameters its text is prepared once per connection, so texts are constants; without, it
   * may consist of several statements.
   */
  readonly query: (text: string, params?: readonly SqlValue[]) => Promise<readonly Row[]>
}

/** A connection inside a transaction. What locks or has to be atomic asks for this type. */
export interface Transaction extends Connection {
  readonly inTransaction: true
  /**
   * Runs one statement whose answer nobody waits for, so that others and COMMIT can follow it in the same trip to the
   * server. If it fails, the transaction does.
   */
  readonly send: (text: string, params: readonly SqlValue[]) => void
}

export interface TransactionOptions {
  /** Other than the usual limits, for work that is known to be long. 0 is no limit. */
  readonly statementMs?: number
  readonly lockMs?: number
  /** An advisory lock of this schema, taken before the work begins and kept until the end. */
  readonly lock?: readonly [space: number, number: number]
  /** Called when COMMIT has been sent: whoever has other things to do does them while the server works. */
  readonly committing?: () => void
}

/** What a listener hears. After `was_away` notifications may have been missed: look, do not wait. */
export type Heard = { readonly kind: 'notified'; readonly payload: string } | { readonly kind: 'was_away' }

export interface Listening {
  readonly stop: () => Promise<void>
}

/** Connections of a pool, and statements that wait for one. */
export interface PoolUse {
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

export interface Database extends Connection {
  /**
   * Runs the work in one transaction and commits it. Throws what the work threw, after rolling back; `commit_unknown`
   * when the connection ended during COMMIT.
   */
  readonly transaction: <T>(work: (tx: Transaction) => T | Promise<T>, options?: TransactionOptions) => Promise<T>
  /** Hears a channel until stopped, through interruptions. Resolves once the server listens. */
  readonly listen: (channel: string, hear: (heard: Heard) => void) => Promise<Listening>
  /** How its connections are used; left out by what has none. */
  readonly use?: () => PoolUse
  /** Waits for what is under way and closes every connection. */
  readonly close: () => Promise<void>
}
