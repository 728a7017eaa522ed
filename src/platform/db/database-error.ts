/**
 * Everything the database side can refuse or fail with. The list is closed: callers switch on `code`, never on a text.
 * `says` is the fact, `way` is what a person can do about it; both are printed in docs/concepts/database.md.
 */
export const REFUSALS = {
  database_unreachable: {
    says: 'The database cannot be reached',
    way: 'Check that the server runs and that host, port and network of the database URL are right',
  },
  database_refused: {
    says: 'The database server refuses the connection',
    way: 'Check user, password, database name and TLS settings of the database URL',
  },
  database_too_old: {
    says: 'The database server is too old',
    way: 'Use PostgreSQL 15 or newer',
  },
  pooler_unsupported: {
    says: 'The connection goes through a pooler that gives each transaction another server connection',
    way: 'Connect to PostgreSQL directly, or set the pooler to session mode (pool_mode = session)',
  },
  database_read_only: {
    says: 'The database does not accept changes',
    way: 'Use the address of the primary server, not of a standby',
  },
  url_invalid: {
    says: 'The database URL cannot be read',
    way: 'Write it as postgres://user:password@host:5432/database',
  },
  schema_name_invalid: {
    says: 'The schema name cannot be used',
    way: 'Use lower-case letters, digits and underscores, at most 63, not beginning with a digit or "pg_"',
  },
  channel_name_invalid: {
    says: 'The channel name cannot be used',
    way: 'Use lower-case letters, digits and underscores, at most 63',
  },
  no_free_connection: {
    says: 'Every connection of the pool was busy for too long',
    way: 'Raise database.pool, or look for what holds the connections',
  },
  connection_lost: {
    says: 'The connection to the database was lost',
    way: 'Try again; outside a transaction, look first whether the statement was carried out',
  },
  commit_unknown: {
    says: 'The connection was lost during COMMIT, so it is unknown whether the changes were kept',
    way: 'Look the ids up before trying again',
  },
  rolled_back: {
    says: 'The transaction was rolled back, because one of its statements had failed',
    way: 'Do not go on in a transaction after a failed statement',
  },
  conflict: {
    says: 'The transaction collided with another one',
    way: 'Repeat it from its beginning',
  },
  timed_out: {
    says: 'The statement took too long, or waited too long for a lock',
    way: 'Try again later; if it repeats, look for what holds the lock',
  },
  constraint_violated: {
    says: 'The change breaks a rule of the database',
    way: 'See the name of the constraint',
  },
  record_differs: {
    says: 'The rows on record are not the ones this node remembers',
    way: 'Nothing was kept; the node loads the record and tries again by itself',
  },
  statement_failed: {
    says: 'The database refused the statement',
    way: 'See the cause',
  },
  disk_full: {
    says: 'The disk is full',
    way: 'Free some space and start again; nothing that was acknowledged is lost',
  },
  migrations_unreadable: {
    says: 'The migrations of this program cannot be read',
    way: 'Reinstall the program',
  },
  migration_failed: {
    says: 'A migration failed and was rolled back',
    way: 'See the cause; the database is as it was before',
  },
  migration_edited: {
    says: 'A migration was changed after it had been applied',
    way: 'Restore the file as it was; a change needs a new migration',
  },
  migration_missing: {
    says: 'The database lacks a migration that lies between others it has',
    way: 'Restore the database from a backup; its history was tampered with',
  },
  database_newer: {
    says: 'The database was prepared by a newer version of this program',
    way: 'Start the newer version',
  },
  platform_unsupported: {
    says: 'There is no embedded PostgreSQL for this platform',
    way: 'Set ESCAPEMENT_DATABASE_URL to a PostgreSQL server (15 or newer)',
  },
  binaries_missing: {
    says: 'The embedded PostgreSQL is not installed',
    way: 'Install again without --omit=optional, or set ESCAPEMENT_DATABASE_URL',
  },
  account_unknown: {
    says: 'The user that would run the embedded server has no name on this machine',
    way: 'Run as a user with an entry in /etc/passwd, or set ESCAPEMENT_DATABASE_URL',
  },
  directory_unusable: {
    says: 'The data directory cannot be used',
    way: 'Give it to the user that runs Escapement, or choose another with --data',
  },
  directory_damaged: {
    says: 'The data directory holds something that is not a complete database',
    way: 'Restore it from a backup, or move it away to begin with an empty one; nothing was changed',
  },
  directory_moved: {
    says: 'The data directory was moved or copied, and the files of its server did not come along',
    way: 'Put it back to its former place, or move the server files to the place that is named',
  },
  other_major_version: {
    says: 'The data directory belongs to another major version of PostgreSQL',
    way: 'Export with the version of Escapement that wrote it and import here, or set ESCAPEMENT_DATABASE_URL',
  },
  password_missing: {
    says: 'The password of the embedded server is missing',
    way: 'Restore the file from a backup; it lies beside the server files',
  },
  server_foreign: {
    says: 'Another server answers in the place of the embedded one',
    way: 'Stop it, or choose another data directory with --data',
  },
  socket_unusable: {
    says: 'The socket of the embedded server cannot be used',
    way: 'Remove what is in its place, or choose a data directory with a shorter path',
  },
  server_failed: {
    says: 'The embedded server did not start',
    way: 'See its log; the data directory was left as it is',
  },
} as const

export type RefusalCode = keyof typeof REFUSALS

export interface RefusalFacts {
  /** What exactly, here: the path, the version, the name. */
  readonly detail?: string
  readonly cause?: unknown
  readonly sqlState?: string | undefined
  readonly constraint?: string | undefined
  /** Whether the work may have been carried out although it ended in an error. */
  readonly mayHaveCommitted?: boolean
}

/** The only error that leaves the store. A class, because `instanceof` needs one. */
export class DatabaseError extends Error {
  readonly code: RefusalCode
  readonly sqlState: string | undefined
  readonly constraint: string | undefined
  readonly mayHaveCommitted: boolean

  constructor(code: RefusalCode, facts: RefusalFacts = {}) {
    const { says, way } = REFUSALS[code]
    const detail = facts.detail === undefined ? '' : `: ${facts.detail}`
    super(`${says}${detail}. ${way}.`, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'DatabaseError'
    this.code = code
    this.sqlState = facts.sqlState
    this.constraint = facts.constraint
    this.mayHaveCommitted = facts.mayHaveCommitted ?? code === 'commit_unknown'
  }
}

/** Whether the database is away for now: the engine pauses, says so and comes back with growing waits. */
export const isDatabaseAway = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && AWAY.has(error.code)

/** Whether repeating the whole transaction is the right answer. */
export const isConflict = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && error.code === 'conflict'

const AWAY: ReadonlySet<RefusalCode> = new Set(['database_unreachable', 'connection_lost', 'commit_unknown'])

/** Whether the connection ended during COMMIT, so that only the tables can say what became of it. */
export const isCommitUnknown = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && error.code === 'commit_unknown'
