import type { AttemptId, OrgId, RunId } from '../../src/core/ids.ts'
import type { Instant } from '../../src/core/instant.ts'

/** What was asked of a node, and what came of it as far as the asker knows. */
export interface Request {
  readonly kind: string
  readonly orgId: OrgId
  readonly node: string
  readonly at: Instant
  /** What the message or the task is known by; it is in the payload of the run that answers for it. */
  readonly mark: string | null
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
  /** Which node waited for the answer to a commit from when on. */
  readonly lateAnswers: Set<string>
  /** Numbers of the turns a node has heard of, by node and org. */
  readonly heard: Map<string, number[]>
}

export const emptyJournal = (): Journal => ({
  requests: [],
  performances: new Map(),
  mishaps: [],
  lateAnswers: new Set(),
  heard: new Map(),
})
