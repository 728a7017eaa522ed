import type { PreviewView, ScheduleInput } from './schedule.ts'

/** When something is to happen, as a person says it. */
export interface WordsInput {
  readonly text: string
  /** Where the clock hangs if the text names no place; the org's zone unless given. */
  readonly timezone?: string | null | undefined
}

/** What a sentence means: fields for a schedule, and the same again in other words and in dates. */
export interface WordsView extends PreviewView {
  readonly fields: ScheduleInput
  /** Everything that was decided because the text left it open. */
  readonly notes: readonly string[]
  /** What stands behind a colon: what there is to do. Null: nothing does. */
  readonly rest: string | null
}
