import type { GuardRailsView } from '../../contract/guard-rails.ts'
import type { GuardRails } from '../../core/rails/guard-rails.ts'

/** Guard rails in the names of the wire. */
export const viewGuardRails = (rails: GuardRails): GuardRailsView => ({
  own_schedules_only: rails.ownSchedulesOnly,
  max_schedules: rails.maxSchedules,
  min_interval_seconds: rails.minIntervalSeconds,
  max_runs_per_hour: rails.maxRunsPerHour,
  max_lifetime_seconds: rails.maxLifetimeSeconds,
  budget: rails.budget,
  approval: rails.approval,
})

/** The same where there may be none. */
export const viewRailsOrNull = (rails: GuardRails | null): GuardRailsView | null =>
  rails === null ? null : viewGuardRails(rails)
