import { DatabaseError, isDatabaseAway } from '../../platform/db/database-error.ts'
import { ErrGatewayBusy, type Refusal } from '../../api/refusals.ts'
import { MemoryTooOld } from './catch-up.ts'
import { CommitUnknown } from './turn.ts'

/** Too much work waits in the org, or it has waited too long. Nothing of it was carried out. */
export const tooBusy = (): Refusal => new ErrGatewayBusy()

/** What a failed turn means for the work that was in it. */
export type TurnFailure =
  /** Nothing was kept; load again and repeat. */
  | 'repeat'
  /** The database is away: wait and repeat. */
  | 'away'
  /** The connection ended during COMMIT: ask what became of it. */
  | 'unknown'
  /** Something in it cannot be done. Nothing was kept. */
  | 'broken'

/** Reads a failure of a turn. */
export function readFailure(error: unknown): TurnFailure {
  if (error instanceof CommitUnknown) return 'unknown'
  if (error instanceof MemoryTooOld) return 'repeat'
  if (isDatabaseAway(error)) return 'away'
  if (!(error instanceof DatabaseError)) return 'broken'
  // Somebody else wrote history in between: our lock was lost. Nothing of ours was kept.
  if (error.constraint === 'turn_pkey' || error.constraint === 'audit_pkey') return 'repeat'
  if (REPEATED.has(error.code)) return 'repeat'
  return PASSING.has(error.code) ? 'away' : 'broken'
}

const REPEATED: ReadonlySet<DatabaseError['code']> = new Set(['conflict', 'timed_out', 'rolled_back', 'record_differs'])

/** What passes by itself, or when somebody sees to it: work waits, and the engine says why. */
const PASSING: ReadonlySet<DatabaseError['code']> = new Set(['no_free_connection', 'disk_full', 'database_read_only'])
