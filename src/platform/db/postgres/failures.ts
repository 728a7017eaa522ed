import { DatabaseError as DriverError } from 'pg'
import { DatabaseError, type DatabaseErrorCode } from '../database-error.ts'

/** When an error happened, which determines what is known about the outcome. */
export type FailurePhase = 'connect' | 'statement' | 'in_transaction' | 'commit'

/** Converts a driver error to a database error, by SQLSTATE and severity, never by message. */
export function toDatabaseError(error: unknown, phase: FailurePhase): DatabaseError {
  if (error instanceof DatabaseError) return error
  if (error instanceof DriverError) return fromServer(error, phase)
  // No response from the server: the socket failed, or the response timed out.
  return connectionError(error, phase)
}

function fromServer(error: DriverError, phase: FailurePhase): DatabaseError {
  const sqlState = error.code ?? ''
  const facts = { detail: error.message, cause: error, sqlState, constraint: error.constraint }
  if (phase === 'connect') return new DatabaseError(codeWhileConnecting(sqlState), facts)
  if (endsSession(error)) return connectionError(error, phase)
  return new DatabaseError(codeOf(sqlState), facts)
}

/** Whether the error ended the session. */
const endsSession = (error: DriverError): boolean =>
  error.severity === 'FATAL' || error.severity === 'PANIC' || /^(?:08|57P0)/.test(error.code ?? '')

function connectionError(error: unknown, phase: FailurePhase): DatabaseError {
  const detail = error instanceof Error ? error.message : String(error)
  const sqlState = error instanceof DriverError ? error.code : undefined
  const facts = { detail, cause: error, sqlState }
  switch (phase) {
    case 'connect':
      return new DatabaseError(isTlsRefusal(error) ? 'database_refused' : 'database_unreachable', facts)
    case 'statement':
      return new DatabaseError('connection_lost', { ...facts, mayHaveCommitted: true })
    case 'in_transaction':
      return new DatabaseError('connection_lost', facts)
    case 'commit':
      // The server ended the session for idling in a transaction, so it cannot have read COMMIT.
      return new DatabaseError(sqlState === '25P03' ? 'connection_lost' : 'commit_unknown', facts)
  }
}

/** Whether TLS failed for an untrusted certificate (Node error codes), which retrying does not fix. */
const isTlsRefusal = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /CERT|SELF_SIGNED|TLS|UNABLE_TO_/.test(String(error.code))

/** A server that starts, stops or is out of connections recovers by itself; a wrong password does not. */
function codeWhileConnecting(sqlState: string): DatabaseErrorCode {
  if (/^(?:08|53|57P0)/.test(sqlState)) return 'database_unreachable'
  return 'database_refused'
}

const CODES: Readonly<Record<string, DatabaseErrorCode>> = {
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'timed_out',
  '57014': 'timed_out',
  '53100': 'disk_full',
  '25006': 'database_read_only',
  ESC01: 'record_differs',
}

const codeOf = (sqlState: string): DatabaseErrorCode =>
  CODES[sqlState] ?? (sqlState.startsWith('23') ? 'constraint_violated' : 'statement_failed')
