/**
 * All database errors. The list is closed: callers switch on `code`, never on a text. `says` is the error, `way` is how to
 * fix it; docs/concepts/database.md prints both.
 */
export const DATABASE_ERRORS = {
  database_unreachable: {
    says: 'The database cannot be reached',
    way: 'Check that the server is running, and check the host and port of the database URL and the network',
  },
  database_refused: {
    says: 'The database server refuses the connection',
    way: 'Check the user, password, database name and TLS settings of the database URL',
  },
  database_too_old: {
    says: 'The database server is too old',
    way: 'Use PostgreSQL 15 or newer',
  },
  pooler_unsupported: {
    says: 'The connection goes through a pooler in transaction mode, which is not supported',
    way: 'Connect to PostgreSQL directly, or set the pooler to session mode (pool_mode = session)',
  },
  database_read_only: {
    says: 'The database is read-only',
    way: 'Use the address of the primary server instead of a standby',
  },
  url_invalid: {
    says: 'The database URL is invalid',
    way: 'Write it as postgres://user:password@host:5432/database',
  },
  schema_name_invalid: {
    says: 'The schema name is invalid',
    way: 'Use at most 63 lower-case letters, digits and underscores, not starting with a digit or "pg_"',
  },
  channel_name_invalid: {
    says: 'The channel name is invalid',
    way: 'Use at most 63 lower-case letters, digits and underscores',
  },
  no_free_connection: {
    says: 'All connections of the pool were busy for too long',
    way: 'Increase database.pool, or find out what keeps the connections busy',
  },
  connection_lost: {
    says: 'The connection to the database was lost',
    way: 'Try again; outside a transaction, first check whether the statement was executed',
  },
  commit_unknown: {
    says: 'The connection was lost during COMMIT, so it is unknown whether the changes were saved',
    way: 'Check whether the objects exist before trying again',
  },
  rolled_back: {
    says: 'The transaction was rolled back because one of its statements failed',
    way: 'Do not continue a transaction after a failed statement',
  },
  conflict: {
    says: 'The transaction conflicts with another one',
    way: 'Repeat the whole transaction',
  },
  timed_out: {
    says: 'The statement took too long, or waited too long for a lock',
    way: 'Try again later; if it happens again, find out what holds the lock',
  },
  constraint_violated: {
    says: 'The change violates a database constraint',
    way: 'See the name of the constraint',
  },
  record_differs: {
    says: 'The rows in the database differ from the state of this node',
    way: 'Nothing was saved; the node reloads its state and retries automatically',
  },
  statement_failed: {
    says: 'The database rejected the statement',
    way: 'See the cause',
  },
  disk_full: {
    says: 'The disk is full',
    way: 'Free some space and restart; acknowledged work is not lost',
  },
  migrations_unreadable: {
    says: 'The migration files cannot be read',
    way: 'Reinstall Escapement',
  },
  migration_failed: {
    says: 'A migration failed and was rolled back',
    way: 'See the cause; the database is unchanged',
  },
  migration_edited: {
    says: 'A migration file was changed after it had been applied',
    way: 'Restore the original file; put changes into a new migration',
  },
  migration_missing: {
    says: 'The database is missing a migration although it has later ones',
    way: 'Restore the database from a backup; its migration records were modified',
  },
  database_newer: {
    says: 'The database was migrated by a newer version of Escapement',
    way: 'Start that version',
  },
  platform_unsupported: {
    says: 'The embedded PostgreSQL does not support this platform',
    way: 'Set ESCAPEMENT_DATABASE_URL to a PostgreSQL server (15 or newer)',
  },
  binaries_missing: {
    says: 'The embedded PostgreSQL is not installed',
    way: 'Install again without --omit=optional, or set ESCAPEMENT_DATABASE_URL',
  },
  account_unknown: {
    says: 'The user id of the embedded server has no user name on this machine',
    way: 'Run as a user with an entry in /etc/passwd, or set ESCAPEMENT_DATABASE_URL',
  },
  directory_unusable: {
    says: 'The data directory cannot be used',
    way: 'Give it to the user that runs Escapement, or choose another directory with --data',
  },
  directory_damaged: {
    says: 'The data directory contains an incomplete or damaged database',
    way: 'Restore it from a backup, or move it away to start with an empty one; nothing was changed',
  },
  directory_moved: {
    says: 'The data directory was moved or copied without the files of its database server',
    way: 'Move it back to its former path, or move the server files to the path named here',
  },
  other_major_version: {
    says: 'The data directory belongs to another major version of PostgreSQL',
    way: 'Export the data with the version of Escapement that wrote it and import it here, or set ESCAPEMENT_DATABASE_URL',
  },
  password_missing: {
    says: 'The password of the embedded server is missing',
    way: 'Restore the password file from a backup',
  },
  server_foreign: {
    says: 'Another database server answers on the socket of the embedded one',
    way: 'Stop that server, or choose another data directory with --data',
  },
  socket_unusable: {
    says: 'The socket of the embedded server cannot be used',
    way: 'Remove the file or directory in its place, or choose a data directory with a shorter path',
  },
  server_failed: {
    says: 'The embedded server did not start',
    way: 'See its log; the data directory is unchanged',
  },
} as const

export type DatabaseErrorCode = keyof typeof DATABASE_ERRORS

export interface DatabaseErrorFacts {
  /** The path, version or name that the error is about. */
  readonly detail?: string
  readonly cause?: unknown
  readonly sqlState?: string | undefined
  readonly constraint?: string | undefined
  /** Whether the changes may have been committed despite the error. */
  readonly mayHaveCommitted?: boolean
}

/** The only error type of the database layer. */
export class DatabaseError extends Error {
  readonly code: DatabaseErrorCode
  readonly sqlState: string | undefined
  readonly constraint: string | undefined
  readonly mayHaveCommitted: boolean

  constructor(code: DatabaseErrorCode, facts: DatabaseErrorFacts = {}) {
    const { says, way } = DATABASE_ERRORS[code]
    const detail = facts.detail === undefined ? '' : `: ${facts.detail}`
    super(`${says}${detail}. ${way}.`, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'DatabaseError'
    this.code = code
    this.sqlState = facts.sqlState
    this.constraint = facts.constraint
    this.mayHaveCommitted = facts.mayHaveCommitted ?? code === 'commit_unknown'
  }
}

/** Whether the database is temporarily unavailable, so that the engine pauses and reconnects with backoff. */
export const isDatabaseAway = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && UNAVAILABLE_CODES.has(error.code)

/** Whether the whole transaction should be repeated. */
export const isConflict = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && error.code === 'conflict'

const UNAVAILABLE_CODES: ReadonlySet<DatabaseErrorCode> = new Set([
  'database_unreachable',
  'connection_lost',
  'commit_unknown',
])

/** Whether the connection ended during COMMIT, so that only the tables show whether it was applied. */
export const isCommitUnknown = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && error.code === 'commit_unknown'
