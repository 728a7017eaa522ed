import type { Attempt, AttemptReport } from '../executors/executor.ts'

/** Somebody who records what a node does as spans. While nobody listens, nothing but `isOn` is called. */
export interface EngineTracing {
  readonly isOn: () => boolean
  /** The trace of work that comes by itself, begun here and now. Null: nobody listens. */
  readonly begin: (trigger: string) => string | null
  /** Performs an attempt in a span of its own. What it is handed belongs to that span. */
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
