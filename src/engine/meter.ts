import type { TurnResult } from '../service/turn/turn.ts'

/** What became of one try to deliver a message. */
export const DELIVERY_OUTCOMES = ['delivered', 'retry', 'given_up', 'held'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

/** Somebody who counts what this node does. Called on the hot path: whoever it is only adds numbers. */
export interface Meter {
  /** A turn of this node was kept, with everything it has changed. */
  readonly turn: (kept: Pick<TurnResult, 'changes' | 'claims'>) => void
  /** What was due has been looked for and decided; it took so long. */
  readonly scanned: (ms: number) => void
  /** A try to deliver a message is on record. */
  readonly delivered: (outcome: DeliveryOutcome) => void
}
