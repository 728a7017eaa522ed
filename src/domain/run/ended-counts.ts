import { amountsUsed } from '../budget/amounts.ts'
import type { AgentId, ScheduleId } from '../ids.ts'
import { type Instant, MINUTE_MS } from '../instant.ts'
import { isTerminal, type RunState } from './run-machine.ts'
import { durationOf, type Trigger } from './run.ts'
import { isBackfilled } from '../schedule/backfill.ts'

/** The counters of tasks. */
export const TASK_COUNTS = [
  ...(['completed', 'failed', 'cancelled', 'rejected', 'expired', 'dispatched', 'dispatch_ms'] as const),
] as const
export type TaskCount = (typeof TASK_COUNTS)[number]

/** The counters by agent; zero counters are omitted. */
export type TaskCounts = Readonly<Record<string, Readonly<Partial<Record<TaskCount, number>>>>>

/** What counting looks at. */
export interface CountedTask {
  readonly agentId: AgentId
  readonly trigger: Trigger
  readonly state: RunState
  readonly createdAt: Instant
  readonly startedAt: Instant | null
  readonly attempt: number
  readonly firstAttempt: number
}

/** Each task is counted once, by its ending: an expired task does not count as failed, a timed-out one does. */
const TASK_COUNT_OF_STATE: Readonly<Partial<Record<RunState, TaskCount>>> = {
  success: 'completed',
  failed: 'failed',
  timeout: 'failed',
  cancelled: 'cancelled',
  rejected: 'rejected',
  expired: 'expired',
}

/** The start of a first attempt that was retried, which its run no longer stores. */
export interface FirstStart {
  readonly task: Pick<CountedTask, 'agentId' | 'createdAt'>
  readonly startedAt: Instant
}

type MutableTaskCounts = Record<string, Partial<Record<TaskCount, number>>>

/** Counts ended tasks and first starts; null when there are none. */
export function countTasks(runs: Iterable<CountedTask>, starts: readonly FirstStart[]): TaskCounts | null {
  let counts: MutableTaskCounts | null = null
  for (const run of runs) {
    if (run.trigger !== 'task' || !isTerminal(run.state)) continue
    // Without a prototype, `__proto__` is an agent id like any other.
    counts ??= Object.create(null) as MutableTaskCounts
    const ending = TASK_COUNT_OF_STATE[run.state]
    if (ending !== undefined) addTaskCounts(counts, run.agentId, { [ending]: 1 })
    if (run.startedAt !== null && run.attempt === run.firstAttempt) addStart(counts, run, run.startedAt)
  }
  for (const { task, startedAt } of starts)
    addStart((counts ??= Object.create(null) as MutableTaskCounts), task, startedAt)
  return counts
}

function addStart(counts: MutableTaskCounts, task: FirstStart['task'], startedAt: Instant): void {
  addTaskCounts(counts, task.agentId, { dispatched: 1, dispatch_ms: Math.max(0, startedAt - task.createdAt) })
}

function addTaskCounts(
  counts: MutableTaskCounts,
  agent: AgentId,
  more: Readonly<Partial<Record<TaskCount, number>>>,
): void {
  const known = (counts[agent] ??= {})
  for (const name of Object.keys(more) as readonly TaskCount[]) known[name] = (known[name] ?? 0) + (more[name] ?? 0)
}

/** Counts by key. */
export type CountsByKey = Readonly<Record<string, number>>

/**
 * Statistics of ended runs: counts by state, and by step of `stepOf` their durations and their lateness. `usage` sums
 * `tokens` and `money` (in millionths) if there is any; `probe` counts the answers of probes where it is read.
 */
export interface EndedCounts {
  readonly status: CountsByKey
  readonly duration: CountsByKey
  readonly lateness: CountsByKey
  readonly usage?: CountsByKey
  readonly probe?: CountsByKey
}

/** What counting looks at. */
export interface CountedRun {
  readonly state: RunState
  readonly startedAt: Instant | null
  readonly firstStartedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly trigger: Trigger
  readonly nominal: Instant | null
  readonly attempt: number
  readonly firstAttempt: number
  readonly usage: unknown
}

/** Steps per doubling: a duration is accurate to 5 %, and a week has 240 steps. */
const STEPS_PER_DOUBLING = 8

/** The step of a duration in milliseconds; 0 is a step of its own. */
export const durationStep = (ms: number): number => (ms < 1 ? 0 : 1 + Math.round(STEPS_PER_DOUBLING * Math.log2(ms)))

/** The duration that a step stands for. */
export const stepDuration = (step: number): number =>
  step <= 0 ? 0 : Math.round(2 ** ((step - 1) / STEPS_PER_DOUBLING))

/** Counts ended runs; null when there are none. */
export function countEndedRuns(runs: Iterable<CountedRun>): EndedCounts | null {
  let counts: MutableEndedCounts | null = null
  for (const run of runs) {
    if (!isTerminal(run.state)) continue
    counts ??= { status: {}, duration: {}, lateness: {} }
    addToCounts(counts.status, run.state)
    if (run.usage !== null) addUsageCounts((counts.usage ??= {}), run.usage)
    const { startedAt, nominal } = run
    const duration = durationOf(run)
    if (startedAt === null || duration === null) continue
    addToCounts(counts.duration, String(durationStep(duration)))
    // Only the first attempt shows how late a run started; a retry waits on purpose. A backfill is late on purpose.
    if (nominal !== null && run.attempt === run.firstAttempt && !isBackfilled(run))
      addToCounts(counts.lateness, String(durationStep(startedAt - nominal)))
  }
  return counts
}

/** Ended runs of one schedule and agent, created in one minute (counted from 1970), in one state. */
export type TimelineCount = readonly [
  schedule: ScheduleId | null,
  agent: AgentId,
  minute: number,
  state: RunState,
  count: number,
]

/** What counting for the timeline looks at. */
interface TimelineRun {
  readonly scheduleId: ScheduleId | null
  readonly agentId: AgentId
  readonly createdAt: Instant
  readonly state: RunState
}

/**
 * Counts ended runs for the timeline; null when there are none. A run counts for the minute of its creation, so that a
 * range of the timeline and the same range of the list have the same runs.
 */
export function countForTimeline(runs: Iterable<TimelineRun>): readonly TimelineCount[] | null {
  let counts: Map<string, [...TimelineCount]> | null = null
  for (const { scheduleId, agentId, createdAt, state } of runs) {
    if (!isTerminal(state)) continue
    const minute = Math.floor(createdAt / MINUTE_MS)
    const key = `${state} ${minute} ${scheduleId ?? ''} ${agentId}`
    counts ??= new Map()
    const known = counts.get(key)
    if (known === undefined) counts.set(key, [scheduleId, agentId, minute, state, 1])
    else known[4] += 1
  }
  return counts === null ? null : [...counts.values()]
}

type Sums = Record<string, number>
type MutableEndedCounts = Record<'status' | 'duration' | 'lateness', Sums> & { usage?: Sums }

function addToCounts(sums: Sums, key: string, count = 1): void {
  sums[key] = (sums[key] ?? 0) + count
}

function addUsageCounts(sums: Sums, usage: unknown): void {
  for (const [unit, amount] of Object.entries(amountsUsed(usage)))
    if (amount !== null && amount > 0) addToCounts(sums, unit, amount)
}

/** The duration that a fraction of the counted runs does not exceed; null when there are none. */
export function percentile(steps: CountsByKey, fraction: number): number | null {
  const sorted = Object.entries(steps)
    .map(([step, count]) => ({ step: Number(step), count }))
    .sort((a, b) => a.step - b.step)
  const all = sorted.reduce((sum, { count }) => sum + count, 0)
  let seen = 0
  for (const { step, count } of sorted) {
    seen += count
    if (seen >= fraction * all) return stepDuration(step)
  }
  return null
}
