import { DatabaseError as DriverError } from 'pg'
import { DatabaseError, type RefusalCode } from '../database-error.ts'

/** During what something failed: it decides what is known about the outcome. */
export type Phase = 'connect' | 'statement' | 'in_transaction' | 'commit'

/** Turns what the driver threw into a row of our table. By SQLSTATE and severity, never by message. */
export function translate(error: unknown, phase: Phase): DatabaseError {
  if (error instanceof DatabaseError) return error
  if (error instanceof DriverError) return fromServer(error, phase)
  // No answer from the server: the socket failed, or the answer did not come in time.
  return lost(error, phase)
}

function fromServer(error: DriverError, phase: Phase): DatabaseError {
  const sqlState = error.code ?? ''
  const facts = { detail: error.message, cause: error, sqlState, constraint: error.constraint }
  if (phase === 'connect') return new DatabaseError(codeWhileConnecting(sqlState), facts)
  if (endsSession(error)) return lost(error, phase)
  return new DatabaseError(codeOf(sqlState), facts)
}

/** The server said goodbye: whatever was under way, the session is over. */
const endsSession = (error: DriverError): boolean =>
  error.severity === 'FATAL' || error.severity === 'PANIC' || /^(?:08|57P0)/.test(error.code ?? '')

function lost(error: unknown, phase: Phase): DatabaseError {
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
      // A session ended for idling in its transaction never read our COMMIT: it certainly did not happen.
      return new DatabaseError(sqlState === '25P03' ? 'connection_lost' : 'commit_unknown', facts)
  }
}

/** A certificate we do not trust: waiting does not mend it. These are codes of Node's TLS. */
const isTlsRefusal = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /CERT|SELF_SIGNED|TLS|UNABLE_TO_/.test(String(error.code))

/** Starting up, shutting down, or full of connections passes by itself; a wrong password does not. */
function codeWhileConnecting(sqlState: string): RefusalCode {
  if (/^(?:08|53|57P0)/.test(sqlState)) return 'database_unreachable'
  return 'database_refused'
}

const CODES: Readonly<Record<string, RefusalCode>> = {
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'timed_out',
  '57014': 'timed_out',
  '53100': 'disk_full',
  '25006': 'database_read_only',
  ESC01: 'record_differs',
}

const codeOf = (sqlState: string): RefusalCode =>
  CODES[sqlState] ?? (sqlState.startsWith('23') ? 'constraint_violated' : 'statement_failed')
