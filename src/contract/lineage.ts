import type { RunState } from '../core/run/run-machine.ts'
import type { Trigger } from '../core/run/run.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'

/** A run, or a schedule that a run made, in the tree of what woke what. */
export interface LineageNode {
  readonly kind: 'run' | 'schedule'
  readonly id: string
  /** The run above it. */
  readonly parent_run_id: string | null
  readonly agent_id: string
  /** Of a run: the schedule it is of. */
  readonly schedule_id: string | null
  /** Of a schedule: what it is called. */
  readonly name: string | null
  readonly status: RunState | ScheduleState
  readonly trigger: Trigger | null
  readonly created_at: string
}

/** Where a run comes from and what came of it. */
export interface LineageView {
  readonly run_id: string
  /** The first of the runs above; the run itself when there is none. */
  readonly root_run_id: string
  /** How many runs are above it. */
  readonly depth: number
  /** The runs above it that are still on record and may be seen, the first one first. */
  readonly ancestors: readonly LineageNode[]
  readonly self: LineageNode
  /** What it made and woke itself, oldest first; ask each run again for what is below it. */
  readonly children: readonly LineageNode[]
  readonly next_cursor: string | null
}
