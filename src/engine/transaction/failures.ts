import { DatabaseError, isDatabaseAway } from '../../platform/db/database-error.ts'
import { ErrGatewayBusy, type Refusal } from '../../api/refusals.ts'
import { StateTooOld } from './history-store.ts'
import { CommitUnknown } from './transaction.ts'

/** Too many commands wait in the org, or this one has waited too long. It was not executed. */
export const tooBusy = (): Refusal => new ErrGatewayBusy()

/** The consequence of a failed transaction for its commands. */
export type TransactionFailure =
  /** Nothing was committed; load again and retry. */
  | 'repeat'
  /** The database is away: wait and retry. */
  | 'away'
  /** The connection ended during COMMIT: check whether the transaction was committed. */
  | 'unknown'
  /** A command cannot be executed. Nothing was committed. */
  | 'broken'

/** Classifies the failure of a transaction. */
export function readFailure(error: unknown): TransactionFailure {
  if (error instanceof CommitUnknown) return 'unknown'
  if (error instanceof StateTooOld) return 'repeat'
  if (isDatabaseAway(error)) return 'away'
  if (!(error instanceof DatabaseError)) return 'broken'
  // Another node wrote history in between, because this one's lock was lost. Nothing was committed.
  if (error.constraint === 'turn_pkey' || error.constraint === 'audit_pkey') return 'repeat'
  if (RETRIED_CODES.has(error.code)) return 'repeat'
  return TEMPORARY_CODES.has(error.code) ? 'away' : 'broken'
}

const RETRIED_CODES: ReadonlySet<DatabaseError['code']> = new Set([
  'conflict',
  'timed_out',
  'rolled_back',
  'record_differs',
])

/** Failures that pass by themselves or need an operator: commands wait, and the engine logs the reason. */
const TEMPORARY_CODES: ReadonlySet<DatabaseError['code']> = new Set([
  'no_free_connection',
  'disk_full',
  'database_read_only',
])
