import type { GuardRailsView } from '../../features/access/restrictions-schema.ts'

/** Guard rails in one line; null: there are none. */
export function railsText(rails: GuardRailsView | null): string | null {
  if (rails === null) return null
  const { budget, max_lifetime_seconds: lifetime } = rails
  return [
    rails.own_schedules_only ? 'own schedules only' : 'sees the whole org',
    `at most ${rails.max_schedules} schedules`,
    `${rails.min_interval_seconds} s between two runs`,
    `${rails.max_runs_per_hour} things an hour`,
    ...(lifetime === null ? [] : [`what it makes lives ${lifetime} s`]),
    ...(budget === null ? [] : [`${budget.amount} ${budget.unit} per ${budget.period}`]),
    ...(rails.approval ? ['with approval'] : []),
  ].join(', ')
}
