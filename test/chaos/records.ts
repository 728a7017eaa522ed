import type { Trigger } from '../../src/domain/run/run.ts'
import type { TerminalState } from '../../src/domain/run/run-machine.ts'
import type { FaultRecord } from './faults.ts'

// What is known after the load, from three sides: what submitters wrote down, what handlers wrote down, what the
// database holds. All times are milliseconds of the machine's clock, which processes and server share.

/** A line of a submitter's journal. `sent` stands there before the call, `accepted` before anybody counts on it. */
export type SubmissionLine =
  | { readonly kind: 'sent'; readonly id: string; readonly at: number; readonly to: string }
  | {
      readonly kind: 'accepted'
      readonly id: string
      readonly at: number
      readonly run: string
      readonly dropped: string | null
    }
  | {
      readonly kind: 'refused'
      readonly id: string
      readonly at: number
      readonly code: string
      readonly run: string | null
    }
  | { readonly kind: 'failed'; readonly id: string; readonly at: number; readonly error: string }

/** A submission with what became of it. `unknown`: it failed, or its process died before the answer. */
export interface Submission {
  readonly id: string
  /** The session or the agent. */
  readonly to: string
  readonly sentAt: number
  readonly answeredAt: number | null
  readonly outcome: 'accepted' | 'refused' | 'unknown'
  /** The run it was told about. */
  readonly run: string | null
  /** The refusal's code or the failure's words. */
  readonly code: string | null
}

/** A line of a handlers' journal. */
export type HandlerLine =
  | {
      readonly kind: 'start'
      readonly at: number
      /** Monotonic, of this process alone. */
      readonly mono: number
      readonly attempt: string
      readonly number: number
      readonly run: string
      readonly org: string
      /** The id of the node at this time; a node that was declared lost goes on under another. */
      readonly node: string
      readonly agent: string
      readonly session: string | null
      readonly schedule: string | null
      readonly nominal: number | null
      readonly trigger: Trigger
    }
  | {
      readonly kind: 'end'
      readonly at: number
      readonly mono: number
      readonly attempt: string
      readonly how: 'ok' | 'failed' | 'aborted'
      readonly reason: string | null
    }

/** An attempt as its handler saw it. */
export interface HandledAttempt {
  readonly id: string
  readonly number: number
  readonly run: string
  readonly org: string
  readonly agent: string
  readonly session: string | null
  readonly schedule: string | null
  readonly trigger: Trigger
  /** The process that worked on it, and the id of its node when it began. */
  readonly process: string
  readonly node: string
  readonly startedAt: number
  /** Null when no end was written: the process died, or the handler never came back. */
  readonly endedAt: number | null
  readonly how: 'ok' | 'failed' | 'aborted' | null
}

/** A node process, from its start to its end. */
export interface ProcessRecord {
  readonly name: string
  readonly readyAt: number | null
  readonly diedAt: number | null
}

/** An attempt as the database has it. */
export interface StoredAttempt {
  readonly id: string
  readonly number: number
  readonly node: string | null
  readonly startedAt: number
  readonly finishedAt: number | null
  readonly errorCode: string | null
}

/** A run as the database has it. */
export interface StoredRun {
  readonly id: string
  readonly org: string
  readonly trigger: Trigger
  readonly agent: string
  readonly session: string | null
  readonly schedule: string | null
  readonly nominal: number | null
  readonly lane: string
  readonly createdAt: number
  readonly finishedAt: number | null
  /** Null while it is pending. */
  readonly ending: TerminalState | null
  readonly reason: string | null
  readonly superseded: boolean
  /** The submissions whose words are in its payload. */
  readonly submissions: readonly string[]
  readonly attempts: readonly StoredAttempt[]
  /** How often the history says that it ended. */
  readonly endings: number
}

/** Missed occurrences that were put on record together. */
export interface MissedRange {
  readonly schedule: string
  readonly first: number
  readonly last: number
  readonly count: number
}

/** A look at a node's lease: at this time it ran until then. */
export interface LeaseSample {
  readonly node: string
  readonly at: number
  readonly until: number
}

/** An every-second schedule, as it was set up. */
export interface TickingSchedule {
  readonly id: string
  readonly name: string
  readonly intervalMs: number
  /** Up to here its occurrences had to be decided. */
  readonly until: number
  /** How many of its runs may be active at a time; null when its policies set no bound. */
  readonly limit: number | null
}

/** Every limit that was set. A key that is missing has none. */
export interface Limits {
  readonly sessions: ReadonlyMap<string, number>
  /** By org and agent, with a space between them. */
  readonly agents: ReadonlyMap<string, number>
  readonly orgs: ReadonlyMap<string, number>
  /** Per org. */
  readonly tasks: number
  readonly tasksPerAgent: number
  /** Per node. */
  readonly lanes: ReadonlyMap<string, number>
  /** Per node. */
  readonly catchups: number
}

/** Everything the audit looks at. */
export interface Records {
  readonly submissions: readonly Submission[]
  readonly handled: readonly HandledAttempt[]
  readonly processes: readonly ProcessRecord[]
  readonly runs: readonly StoredRun[]
  readonly ranges: readonly MissedRange[]
  readonly leases: readonly LeaseSample[]
  readonly leaseMs: number
  readonly faults: readonly FaultRecord[]
  readonly schedules: readonly TickingSchedule[]
  readonly limits: Limits
  /** Sessions whose runs start in the order in which they were sent; merging and delays are not for them. */
  readonly orderedSessions: ReadonlySet<string>
  readonly load: { readonly from: number; readonly until: number }
}
