import type * as admission from '../../../src/domain/admission/admission.ts'
import type * as lineUps from '../../../src/domain/queue/ready-queue.ts'
import type * as cancellation from '../../../src/domain/run/cancellation.ts'
import type * as outcomes from '../../../src/domain/run/outcome.ts'
import type * as reports from '../../../src/domain/run/reports.ts'
import type * as machine from '../../../src/domain/run/run-machine.ts'
import type * as timeouts from '../../../src/domain/run/timeouts.ts'
import type * as concurrency from '../../../src/domain/schedule/concurrency.ts'
import type * as occurrences from '../../../src/domain/schedule/occurrences.ts'
import type * as overlap from '../../../src/domain/schedule/overlap.ts'
import type * as stops from '../../../src/domain/session/stop.ts'
import type * as backlogs from '../../../src/engine/org-state/backlog.ts'
import type * as cancels from '../../../src/engine/commands/cancel.ts'
import type * as held from '../../../src/engine/commands/held.ts'
import type * as nodeLanes from '../../../src/features/lanes/node-lanes.ts'
import type * as claims from '../../../src/engine/transaction/claim.ts'
import type { Invariant } from '../invariants.ts'

/** What the product decides by, as far as a mutant may do it wrong. */
type Product = typeof admission &
  typeof lineUps &
  typeof cancellation &
  typeof outcomes &
  typeof reports &
  typeof machine &
  typeof timeouts &
  typeof concurrency &
  typeof occurrences &
  typeof overlap &
  typeof stops &
  typeof held &
  typeof backlogs &
  typeof cancels &
  typeof nodeLanes &
  typeof claims

/** Functions of the product done wrong, each made from the right one. */
export type Mistakes = { readonly [Name in keyof Product]?: (right: Product[Name]) => Product[Name] }

/** One decision done wrong, as somebody might do it on a bad day. The simulation must notice. */
export interface Mutant {
  readonly name: string
  /** The invariant that must catch it. */
  readonly breaks: Invariant
  readonly mistakes: Mistakes
}

export const mutant = (name: string, breaks: Invariant, mistakes: Mistakes): Mutant => ({ name, breaks, mistakes })
