/** What becomes of a line of a file that is imported. */
export const IMPORT_OUTCOMES = ['new', 'changed', 'unchanged', 'refused', 'taken', 'left_out'] as const
export type ImportOutcome = (typeof IMPORT_OUTCOMES)[number]

/** A jobs file of OpenClaw, and how it is to be taken over. */
export interface ImportInput {
  /** What stands in the file. */
  readonly text: string
  /** Says what would become of it, and changes nothing. */
  readonly plan?: boolean | undefined
  /** Where the clock hangs where the file says nothing; the org's zone unless given. */
  readonly timezone?: string | null | undefined
  /** The agent that gets all of it as prompts. */
  readonly agent_id?: string | null | undefined
  /** The target that results go to. */
  readonly target_id?: string | null | undefined
  /** Makes schedules that are switched off. */
  readonly disabled?: boolean | undefined
}

/** A crontab, and how it is to be taken over. */
export interface CrontabInput extends ImportInput {
  /** Whether lines have a field for the user, as /etc/crontab has. */
  readonly system?: boolean | undefined
}

/** A line, or a job, and what became of it or would. */
export interface ImportedLine {
  /** Of the file; of a file of jobs the how manieth job. */
  readonly line: number
  /** Where in the line it cannot be read, from 1 on; null: nowhere, or nobody can tell. */
  readonly column: number | null
  readonly text: string
  readonly outcome: ImportOutcome
  readonly name: string | null
  /** Null while there is none. */
  readonly schedule_id: string | null
  readonly agent_id: string | null
  readonly sentence: string | null
  readonly next_run_at: string | null
  /** What was not carried over, and why; of a refusal what to do. */
  readonly notes: readonly string[]
}

/** What became of a file, line by line, or would. */
export interface ImportReport {
  readonly source: 'crontab' | 'openclaw'
  readonly plan: boolean
  /** In which zone lines were read that name none. */
  readonly timezone: string
  readonly lines: readonly ImportedLine[]
  readonly counts: Readonly<Record<ImportOutcome, number>>
}
