/** The rails by the names they are refused with. */
export type RailName =
  | 'operation'
  | 'own_schedules_only'
  | 'max_schedules'
  | 'min_interval_seconds'
  | 'max_runs_per_hour'
  | 'max_lifetime_seconds'
  | 'approval'
  | 'executor'
  | 'session'
  | 'lineage'

/** What somebody wants that their rails do not let them, and what to do instead. */
export interface RailBreach {
  readonly code: 'GUARD_RAIL' | 'GUARD_RAIL_RATE' | 'LINEAGE_DEPTH' | 'LINEAGE_LOOP'
  readonly rail: RailName
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
  /** When it may be tried again, where time is all that is missing. */
  readonly retryAfterMs: number | null
}

/** A wish that no waiting makes good. */
export const breach = (rail: RailName, message: string, facts: Readonly<Record<string, unknown>> = {}): RailBreach => ({
  code: 'GUARD_RAIL',
  rail,
  message,
  facts,
  retryAfterMs: null,
})

/** A wish that came too soon. */
export const tooSoon = (
  rail: RailName,
  message: string,
  wait: { readonly retryAfterMs: number; readonly facts?: Readonly<Record<string, unknown>> },
): RailBreach => ({
  ...{ code: 'GUARD_RAIL_RATE', rail, message, facts: wait.facts ?? {} },
  retryAfterMs: Math.max(1, wait.retryAfterMs),
})
