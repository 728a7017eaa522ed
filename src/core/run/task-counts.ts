import type { AgentId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import type { Trigger } from '../../domain/run/run.ts'

/** What is counted about tasks. */
export const TASK_COUNTS = [
  ...(['completed', 'failed', 'cancelled', 'rejected', 'expired', 'dispatched', 'dispatch_ms'] as const),
] as const
export type TaskCount = (typeof TASK_COUNTS)[number]

/** What became of the tasks of each agent; what did not happen is left out. */
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

/** A task has one ending, so it is counted once: what expired has not failed, and what timed out has. */
const ENDINGS: Readonly<Partial<Record<RunState, TaskCount>>> = {
  success: 'completed',
  failed: 'failed',
  timeout: 'failed',
  cancelled: 'cancelled',
  rejected: 'rejected',
  expired: 'expired',
}

/** A first attempt that another followed: its start is not to be seen in its task any more. */
export interface FirstStart {
  readonly task: Pick<CountedTask, 'agentId' | 'createdAt'>
  readonly startedAt: Instant
}

type Counting = Record<string, Partial<Record<TaskCount, number>>>

/** Counts those of the runs that are tasks and have ended, and first starts; null when there is nothing to count. */
export function countTasks(runs: Iterable<CountedTask>, starts: readonly FirstStart[]): TaskCounts | null {
  let counts: Counting | null = null
  for (const run of runs) {
    if (run.trigger !== 'task' || !isTerminal(run.state)) continue
    // Without a prototype, `__proto__` is an agent like any other.
    counts ??= Object.create(null) as Counting
    const ending = ENDINGS[run.state]
    if (ending !== undefined) add(counts, run.agentId, { [ending]: 1 })
    if (run.startedAt !== null && run.attempt === run.firstAttempt) addStart(counts, run, run.startedAt)
  }
  for (const { task, startedAt } of starts) addStart((counts ??= Object.create(null) as Counting), task, startedAt)
  return counts
}

function addStart(counts: Counting, task: FirstStart['task'], startedAt: Instant): void {
  add(counts, task.agentId, { dispatched: 1, dispatch_ms: Math.max(0, startedAt - task.createdAt) })
}

function add(counts: Counting, agent: AgentId, more: Readonly<Partial<Record<TaskCount, number>>>): void {
  const known = (counts[agent] ??= {})
  for (const name of Object.keys(more) as readonly TaskCount[]) known[name] = (known[name] ?? 0) + (more[name] ?? 0)
}
