import type { TransactionResult } from './transaction/transaction.ts'
import type { Attempt, AttemptReport } from '../executors/executor.ts'

/** The outcome of one try to deliver a message. */
export const DELIVERY_OUTCOMES = ['delivered', 'retry', 'given_up', 'held'] as const
type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

/** Counts what this node does. It is called on the hot path, so implementations only add numbers. */
export interface Meter {
  /** A transaction of this node was committed, with its changes. */
  readonly transaction: (kept: Pick<TransactionResult, 'changes' | 'claims'>) => void
  /** A pass over due schedules is over; it took this long. */
  readonly scanned: (ms: number) => void
  /** A try to deliver a message is recorded. */
  readonly delivered: (outcome: DeliveryOutcome) => void
}

/** Records what a node does as spans. While tracing is off, only `isOn` is called. */
export interface EngineTracing {
  readonly isOn: () => boolean
  /** The trace of a run the engine itself triggers, started here. Null: tracing is off. */
  readonly begin: (trigger: string) => string | null
  /** Executes an attempt in a span of its own; `work` gets the attempt with that span as its trace. */
  readonly perform: (attempt: Attempt, work: (traced: Attempt) => Promise<AttemptReport>) => Promise<AttemptReport>
  /** Sends a message in a span of its own. */
  readonly deliver: <Outcome extends { readonly ok: boolean } | null>(
    about: {
      readonly orgId: string
      readonly runId: string
      readonly deliveryId: string
      readonly trace: string | null
    },
    work: () => Promise<Outcome>,
  ) => Promise<Outcome>
}
