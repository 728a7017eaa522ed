import { UsageError } from '../../cli/remote/call.ts'
import { type FieldOption, type FieldValues, json, namesOf, type OptionReader } from '../../cli/remote/fields.ts'
import type { FieldNames } from '../../cli/remote/refused.ts'
import { only, optionsOf } from '../../cli/remote/schema-options.ts'
import { guardRailsInput, type GuardRailsView } from './restrictions-schema.ts'
import { keyInput } from './schema.ts'

const BUDGET = /^([\d.]+)\s*(tokens|money)(?:\s*\/\s*(day|month))?$/i

/** `5000 tokens/day`, `2.50 money/month`. */
const readBudgetRestriction: OptionReader = (text, { option }) => {
  const [, amount, unit = '', period = 'day'] = BUDGET.exec(text.trim()) ?? []
  if (amount === undefined)
    throw new UsageError(`Invalid ${option} "${text}". Allowed: 5000 tokens/day, 2.50 money/month`)
  return { unit: unit.toLowerCase(), amount: Number(amount), period: period.toLowerCase() }
}

/** `on` for the defaults, `off` for none, or JSON. */
const onOffOrJson: OptionReader = (text, about) => {
  if (text === 'on') return {}
  return text === 'off' ? null : json(text, about)
}

/** An option per restriction of a key. */
const RESTRICTION_OPTIONS = optionsOf(guardRailsInput, {
  budget: { flags: '--rail-budget <budget>', read: readBudgetRestriction, hint: 'as in "5000 tokens/day"' },
  own_schedules_only: {
    flags: '--all-schedules',
    stands: false,
    about: 'allow access to the whole org, not only to what the key created',
  },
})

/** All options that restrict a key. */
export const RESTRICTION_FIELDS: readonly FieldOption[] = [
  ...only(
    optionsOf(keyInput, {
      guard_rails: {
        flags: '--guard-rails <on|json>',
        read: onOffOrJson,
        hint: 'on for the default limits, or JSON; implied by any option below',
      },
    }),
    'guard_rails',
  ),
  ...RESTRICTION_OPTIONS,
]

/** The option of an agent that lets its attempts create schedules and tasks. */
export const SELF_SERVICE = {
  flags: '--self-service <on|off|json>',
  read: onOffOrJson,
  hint: 'on for the default limits, off, or JSON',
} as const

/** Moves single restrictions into the field `guard_rails`. */
export function restrictionsIn(values: FieldValues): FieldValues {
  const names = new Set(RESTRICTION_OPTIONS.map(({ field }) => field))
  const entries = Object.entries(values)
  const single = entries.filter(([name]) => names.has(name))
  if (single.length === 0) return values
  const others = entries.filter(([name]) => !names.has(name))
  const whole = values['guard_rails']
  return {
    ...Object.fromEntries(others),
    guard_rails: { ...(typeof whole === 'object' ? whole : {}), ...Object.fromEntries(single) },
  }
}

/** Option names by JSON pointer of the restriction. */
export const RESTRICTION_NAMES: FieldNames = namesOf(
  RESTRICTION_OPTIONS.map((option) => ({ ...option, field: `guard_rails/${option.field}` })),
)

/** The restrictions in one line; null: there are none. */
export function restrictionsText(restrictions: GuardRailsView | null): string | null {
  if (restrictions === null) return null
  const { budget, max_lifetime_seconds: lifetime } = restrictions
  return [
    restrictions.own_schedules_only ? 'own schedules only' : 'access to the whole org',
    `at most ${restrictions.max_schedules} schedules`,
    `at least ${restrictions.min_interval_seconds} s between runs`,
    `at most ${restrictions.max_runs_per_hour} operations per hour`,
    ...(lifetime === null ? [] : [`created objects expire after ${lifetime} s`]),
    ...(budget === null ? [] : [`${budget.amount} ${budget.unit} per ${budget.period}`]),
    ...(restrictions.approval ? ['approval required'] : []),
  ].join(', ')
}
