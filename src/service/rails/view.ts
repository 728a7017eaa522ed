import type { GuardRailsInput, GuardRailsView } from '../../features/access/restrictions-schema.ts'
import { RAIL_DEFAULTS, type GuardRails } from '../../core/rails/guard-rails.ts'

/** Guard rails as they are given. What is left out has its default. */
export const railsFrom = (given: GuardRailsInput): GuardRails => ({
  ownSchedulesOnly: given.own_schedules_only ?? RAIL_DEFAULTS.ownSchedulesOnly,
  maxSchedules: given.max_schedules ?? RAIL_DEFAULTS.maxSchedules,
  minIntervalSeconds: given.min_interval_seconds ?? RAIL_DEFAULTS.minIntervalSeconds,
  maxRunsPerHour: given.max_runs_per_hour ?? RAIL_DEFAULTS.maxRunsPerHour,
  maxLifetimeSeconds: given.max_lifetime_seconds ?? RAIL_DEFAULTS.maxLifetimeSeconds,
  budget: given.budget ? { ...given.budget, period: given.budget.period ?? 'day' } : RAIL_DEFAULTS.budget,
  approval: given.approval ?? RAIL_DEFAULTS.approval,
})

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
