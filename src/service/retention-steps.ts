import { runId, type OrgId } from '../core/ids.ts'
import { DAY_MS, instant, type Instant } from '../core/instant.ts'
import type { Connection } from '../store/database.ts'
import type { WalkPosition, WalkStep } from '../store/retention.ts'
import type { EngineSettings } from './settings.ts'
import type { Turns } from './turn-port.ts'

/** How many rows of each kind a pass has removed. */
export interface Pruned {
  tasks: number
  runs: number
  folded: number
  /** Turns that were removed by row, and partitions of history that were dropped. */
  turns: number
  deliveries: number
  alerts: number
  backfills: number
  /** Entries of the logs of heartbeats. */
  heartbeats: number
  sessions: number
  /** Counts of tasks, by agent. */
  taskCounts: number
  callbacks: number
  keys: number
  nodes: number
  workers: number
  signIns: number
  consoleSessions: number
  /** What guard rails have counted. */
  railActs: number
  orgs: number
}

export const noneRemoved = (): Pruned => ({
  ...{ tasks: 0, runs: 0, folded: 0, turns: 0, deliveries: 0, alerts: 0, backfills: 0, heartbeats: 0, sessions: 0 },
  ...{ taskCounts: 0, callbacks: 0, keys: 0, nodes: 0, workers: 0, signIns: 0, consoleSessions: 0, railActs: 0 },
  orgs: 0,
})

/** Events, idempotency keys and tokens are kept this long. */
export const KEPT_MS = DAY_MS

export interface PassContext {
  readonly connection: Connection
  readonly turns: Turns
  readonly now: Instant
  readonly settings: EngineSettings
  /** Rows per statement. */
  readonly batch: number
  /** Skipped runs up to here have been folded: each is looked at once per process. */
  readonly folded: Map<OrgId, WalkPosition>
  readonly found: Pruned
}

/** Work in small statements: after each of them it can be interrupted. */
export type Steps<Answer = void> = AsyncGenerator<undefined, Answer, undefined>

/** Repeats a statement until it finds less than it may take. */
export async function* repeat({ batch }: Pick<PassContext, 'batch'>, statement: () => Promise<number>): Steps<number> {
  for (let removed = 0; ;) {
    const found = await statement()
    removed += found
    yield
    if (found < batch) return removed
  }
}

export const BEGINNING: WalkPosition = { createdAt: instant(-Infinity), id: runId('') }

/** Walks through rows of an org, a statement at a time, and removes some. */
export async function* walk(
  step: (after: WalkPosition) => Promise<WalkStep>,
  from: WalkPosition = BEGINNING,
): Steps<number> {
  let removed = 0
  for (let after: WalkPosition | null = from; after !== null;) {
    const done: WalkStep = await step(after)
    removed += done.removed
    after = done.next
    yield
  }
  return removed
}
