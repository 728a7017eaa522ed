import type { Core } from '../core.ts'
import { REAL_CORE } from '../core.ts'
import type { Invariant } from '../invariants.ts'

/** A core with one decision done wrong, as somebody might do it on a bad day. The simulation must notice. */
export interface Mutant {
  readonly name: string
  /** The invariant that must catch it. */
  readonly breaks: Invariant
  readonly core: Core
  /** A world that shows it, if none of the first does: it is tried before all others. */
  readonly seed?: number
}

export const mutant = (name: string, breaks: Invariant, wrong: Partial<Core>): Mutant => ({
  name,
  breaks,
  core: { ...REAL_CORE, ...wrong },
})
