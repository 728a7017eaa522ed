import type { AttemptId, OrgId, RunId } from '../../src/domain/ids.ts'
import type { Instant } from '../../src/domain/instant.ts'
import type { Invariant } from './checks/invariants.ts'

/** What was asked of a node, and what came of it as far as the asker knows. */
export interface Request {
  readonly kind: string
  readonly orgId: OrgId
  readonly node: string
  readonly at: Instant
  /** What the message or the task is known by; it is in the payload of the run that answers for it. */
  readonly mark: string | null
  /** Null while no answer has come. */
  answeredAt: Instant | null
  /**
   * `acknowledged`: it was done. `refused`: it was not, for a reason; a run may keep the record. `failed`: it was not, the
   * database was away. `open`: no answer came.
   */
  outcome: 'open' | 'acknowledged' | 'refused' | 'failed'
  runId: RunId | null
  error: string | null
}

/** An executor at work, whatever the tables say about it. */
export interface Performance {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly attemptId: AttemptId
  readonly node: string
  readonly lane: string
  readonly startedAt: Instant
  endedAt: Instant | null
  /** What it said it used. */
  tokens: number
}

/** The world's own record, to compare the tables with. */
export interface Journal {
  readonly requests: Request[]
  readonly performances: Map<AttemptId, Performance>
  /** Attempts that were performed more than once, and whatever else must never happen. */
  readonly mishaps: string[]
  /** What was seen to be wrong while it happened. */
  readonly broken: { readonly invariant: Invariant; readonly message: string }[]
  /** Which node waited for the answer to a commit from when on. */
  readonly lateAnswers: Set<string>
  /** Numbers of the turns a node has heard of, by node and org. */
  readonly heard: Map<string, number[]>
  /** When leases were given or renewed, by the id of the node. */
  readonly leases: Map<string, Instant[]>
  /** Ids of nodes that left in order. */
  readonly left: Set<string>
  /** What happened between these times was lost with the server's last transactions. */
  readonly tails: { readonly from: Instant; readonly to: Instant }[]
}

export const emptyJournal = (): Journal => ({
  requests: [],
  performances: new Map(),
  mishaps: [],
  broken: [],
  lateAnswers: new Set(),
  heard: new Map(),
  leases: new Map(),
  left: new Set(),
  tails: [],
})
