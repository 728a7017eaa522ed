import type { OrgId, RunId } from '../core/ids.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Why } from '../core/reasons.ts'

/** What this node knows of pending runs without asking the database. */
export interface Live {
  /** Undefined: not pending, as far as this node knows. */
  readonly stateOf: (orgId: OrgId, id: RunId) => RunState | undefined
  /** Place among the queued runs of the same agent. */
  readonly positionOf: (orgId: OrgId, id: RunId) => number | null
  /** Why a queued run has not started. */
  readonly explain: (orgId: OrgId, id: RunId) => Why | null
}
