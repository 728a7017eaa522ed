import { decideAdmission } from '../../src/core/admission.ts'
import { decideCancel, isAbandoned } from '../../src/core/run/cancellation.ts'
import { grantSlots } from '../../src/core/schedule/concurrency.ts'
import { cancelSuperseded } from '../../src/core/schedule/overlap.ts'
import { isHeld } from '../../src/core/schedule/held.ts'
import { decideRelease, planOccurrences } from '../../src/core/schedule/occurrences.ts'
import { settle } from '../../src/core/run/outcome.ts'
import { pickRuns } from '../core/picking/oracle/pick-runs.ts'
import { decideReport } from '../../src/core/run/reports.ts'
import { nextState } from '../../src/core/run/run-machine.ts'
import { decideRunNow } from '../../src/core/schedule/run-now.ts'
import { planReset, planStop, planStopAll } from '../../src/core/session/stop.ts'
import { attemptEndsBy, isExpired } from '../../src/core/run/timeouts.ts'

/** The decisions the world asks for. A mutant is this object with one of them done wrong. */
export const REAL_CORE = {
  decideAdmission,
  decideCancel,
  cancelSuperseded,
  isAbandoned,
  grantSlots,
  planOccurrences,
  decideRelease,
  /** Asked about every pending run of a schedule when its history is looked at. */
  isHeld,
  settle,
  pickRuns,
  decideReport,
  nextState,
  decideRunNow,
  planReset,
  planStop,
  planStopAll,
  attemptEndsBy,
  isExpired,
}

export type Core = typeof REAL_CORE
