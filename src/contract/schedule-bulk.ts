import type { ScheduleState } from '../core/schedule/schedule-life.ts'

/** What can be done to many schedules at once. */
export const BULK_ACTIONS = ['enable', 'disable', 'delete'] as const
export type BulkAction = (typeof BULK_ACTIONS)[number]

/** One thing done to many schedules. */
export interface BulkInput {
  readonly action: BulkAction
  readonly ids: readonly string[]
}

/** What became of each of them, in the order in which they were named. */
export interface BulkAnswer {
  readonly items: readonly {
    readonly id: string
    readonly ok: boolean
    /** Where the schedule stands now; left out when it is gone or nothing was done. */
    readonly state?: ScheduleState | undefined
    readonly code?: string | undefined
    readonly message?: string | undefined
  }[]
  readonly done: number
  readonly refused: number
}
