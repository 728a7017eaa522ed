import type { AgentId, AttemptId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../../src/core/ids.ts'
import type { Instant } from '../../src/core/instant.ts'
import type { Reason, Why } from '../../src/core/reasons.ts'
import type { RetryPolicy } from '../../src/core/run/retry-policy.ts'
import type { Trigger } from '../../src/core/run/run.ts'
import type { RunState } from '../../src/core/run/run-machine.ts'
import type { PolicyDecision } from '../../src/core/schedule/occurrences.ts'
import type { ScheduleRules } from '../../src/core/schedule/schedule-rules.ts'
import type { SessionRules } from '../../src/core/session/session-rules.ts'
import type { ContextUse } from '../../src/core/session/throttle.ts'
import type { Timing } from '../../src/core/time/timing.ts'
import type { Core } from './core.ts'
import type { Random } from './random.ts'

/**
 * A control plane in memory: rows where the store will have rows, and nothing decided here. Every decision is asked of
 * the core, so that a wrong core makes a wrong world, which the observer must notice.
 */
export interface World {
  readonly core: Core
  readonly random: Random
  readonly observer: Observer
  readonly settings: Settings
  readonly nodes: readonly Node[]
  readonly orgs: readonly Org[]
  readonly agents: readonly Agent[]
  readonly sessions: readonly Session[]
  readonly schedules: readonly Schedule[]
  readonly runs: Map<RunId, Run>
  readonly pending: Map<RunId, Run>
  readonly executions: Execution[]
  now: Instant
  counters: {
    run: number
    attempt: number
    seq: number
    served: number
    submission: number
    ended: number
    decided: number
  }
}

export interface Settings {
  readonly stopGraceMs: number
  readonly leaseMs: number
  readonly catchupMaxActive: number
  readonly maxQueue: number
  readonly maxPerAgent: number
  readonly maxInflight: number
  readonly maxPerAgentInflight: number
  /** Work takes up to so many times six seconds, and may take up to so many times eight. */
  readonly pace: number
}

export interface Node {
  readonly name: string
  readonly lanes: Map<LaneName, number>
  /** Null while it lives; otherwise when it was last heard of. */
  diedAt: Instant | null
  draining: boolean
}

export interface Org {
  readonly id: OrgId
  maxConcurrent: number | null
}

export interface Agent {
  readonly orgId: OrgId
  readonly id: AgentId
  maxConcurrent: number | null
  online: boolean
}

export interface Session {
  readonly orgId: OrgId
  readonly key: SessionKey
  rules: SessionRules
  cutoff: Instant | null
  generation: number
  context: ContextUse | null
}

export interface Schedule {
  readonly id: ScheduleId
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly timing: Timing
  /** Its rows, by an index of their own, and those of them that are pending. */
  readonly runs: Set<Run>
  readonly pending: Set<Run>
  rules: ScheduleRules
  enabled: boolean
  watermark: Instant
  failureStreak: number
  skippedFor: RunId | null
  fires: number
  /** Its next occurrence as it was last worked out, and after which watermark. */
  next: { readonly after: Instant; readonly at: Instant | null } | null
}

export interface Run {
  readonly id: RunId
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly scheduleId: ScheduleId | null
  readonly nominal: Instant | null
  readonly trigger: Trigger
  readonly lane: LaneName
  readonly priority: number
  readonly createdAt: Instant
  readonly sender: string | null
  /** When a message was sent, by its own word or by ours. */
  readonly stamp: Instant | null
  readonly interrupts: boolean
  readonly generation: number
  firstAttempt: number
  readonly retryPolicy: RetryPolicy
  readonly failureActionRetries: boolean
  readonly deadline: Instant | null
  /** Accepted submissions that this run answers for. */
  readonly submissions: number[]
  /** What was decided about it, and why it is where it is: only of held occurrences anybody asks. */
  decision: Why
  heldDecision: Why | null
  readonly why: null
  /** Order of decisions, for whoever asks which was decided last. */
  decidedAs: number
  state: RunState
  attempt: number
  seq: number | null
  notBefore: Instant | null
  debouncing: boolean
  slot: 'held' | 'parked' | null
  superseded: boolean
  attemptId: AttemptId | null
  node: Node | null
  startedAt: Instant | null
  endsBy: Instant | null
  graceUntil: Instant | null
  finishedAt: Instant | null
  /** Order of ending, for whoever asks which ended last. */
  endedAs: number | null
}

/** A process really at work, whatever the rows say about it. */
export interface Execution {
  readonly run: Run
  readonly attemptId: AttemptId
  readonly node: Node
  reportsAt: Instant
  report: 'succeed' | 'fail' | 'refuse' | 'accept' | 'stop' | 'nothing'
}

/** What one pass over a schedule decided. */
export interface Firing {
  readonly after: Instant
  readonly upTo: Instant
  /** The occurrences with a row of their own, in the order they were decided. */
  readonly nominals: readonly Instant[]
  /** The occurrences that one record stands for. */
  readonly ranged: number
  /** Why those were skipped that have a row of their own. */
  readonly skips: readonly Reason[]
  /** How many were decided to run at once. */
  readonly runs: number
}

/** Whatever happens in the world is told here, as it happens. */
export interface Observer {
  readonly submitted: (submission: number, accepted: boolean) => void
  readonly created: (world: World, run: Run) => void
  readonly fired: (schedule: Schedule, firing: Firing) => void
  /** The policies were asked about a held occurrence, and nothing has been done about it yet. */
  readonly released: (world: World, run: Run, decision: PolicyDecision) => void
  readonly moved: (world: World, run: Run, from: RunState) => void
  readonly started: (world: World, run: Run) => void
  /** Everything in the session was told to end. */
  readonly cleared: (session: Session) => void
  /** Retention takes the row: nobody will ask about it any more. */
  readonly forgotten: (run: Run) => void
  /** After every event, when everything that follows from it is done. */
  readonly settledDown: (world: World) => void
  /** Traffic has ended and time has passed: nothing may be left. */
  readonly finished: (world: World) => void
}

export const pendingOf = (world: World, wanted: (run: Run) => boolean): readonly Run[] => {
  const found: Run[] = []
  for (const run of world.pending.values()) if (wanted(run)) found.push(run)
  return found
}

export const sessionOf = (world: World, orgId: OrgId, key: SessionKey | null): Session | null =>
  world.sessions.find((session) => session.orgId === orgId && session.key === key) ?? null

export const scheduleOf = (world: World, id: ScheduleId | null): Schedule | null =>
  world.schedules.find((schedule) => schedule.id === id) ?? null

export const isAlive = (node: Node): boolean => node.diedAt === null
