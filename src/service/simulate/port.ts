import type { SimulationProgress } from '../../contract/simulate.ts'
import type { PolicyChange, SimulationDiff, SimulationView } from '../../contract/simulation.ts'
import type { SimulationTask } from '../simulation/task.ts'
import type { OrgId } from '../../core/ids.ts'

export type { SimulationProgress } from '../../contract/simulate.ts'

/** What is computed: a window, and perhaps the same again under other policies. */
export interface SimulationJob {
  readonly task: SimulationTask
  /** Null: nothing to compare with. */
  readonly against: readonly PolicyChange[] | null
}

/** What comes of it. */
export interface SimulationOutcome {
  readonly view: SimulationView
  readonly against: SimulationView | null
  readonly diff: SimulationDiff | null
}

/** What whoever waits for a simulation wants to hear, and how they say that they no longer do. */
export interface SimulationListening {
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((progress: SimulationProgress) => void) | undefined
}

/** Where simulations are computed: beside everything else, so that nothing waits for them. */
export interface SimulationPort {
  /** Rejects with the signal's reason when nobody waits any more, and with a refusal when there is no room for it. */
  readonly compute: (orgId: OrgId, job: SimulationJob, listening?: SimulationListening) => Promise<SimulationOutcome>
}
