import type { FieldSpec, FormValues } from './field.ts'

/** Under which name a form has guard rails: those of a key, or what an agent may do by itself. */
export type RailsName = 'guard_rails' | 'self_service'

/** The switch that shows the fields; it is no field of anything. */
const switchOf = (name: RailsName): string => `${name}_on`

const LABELS = {
  guard_rails: { label: 'rails.on', hint: 'rails.onHint' },
  self_service: { label: 'rails.selfService', hint: 'rails.selfServiceHint' },
} as const

const fieldsOf = (name: RailsName): readonly FieldSpec[] => [
  { path: `${name}.own_schedules_only`, label: 'rails.own', kind: 'flag', hint: 'rails.ownHint' },
  { path: `${name}.max_schedules`, label: 'rails.maxSchedules', kind: 'number', example: '10' },
  {
    ...{ path: `${name}.min_interval_seconds`, label: 'rails.minInterval', kind: 'number', example: '60' },
    hint: 'rails.minIntervalHint',
  },
  {
    ...{ path: `${name}.max_runs_per_hour`, label: 'rails.maxRuns', kind: 'number', example: '60' },
    hint: 'rails.maxRunsHint',
  },
  {
    ...{ path: `${name}.max_lifetime_seconds`, label: 'rails.maxLifetime', kind: 'number', whenEmpty: 'null' },
    ...{ hint: 'rails.maxLifetimeHint', example: '604800' },
  },
  { path: `${name}.budget.amount`, label: 'rails.budget', kind: 'number', hint: 'rails.budgetHint' },
]

const budgetFields = (name: RailsName): readonly FieldSpec[] => [
  {
    ...{ path: `${name}.budget.unit`, label: 'rails.budgetUnit', kind: 'choice', isRequired: true },
    choices: (['tokens', 'money'] as const).map((value) => ({ value, label: `rails.unit.${value}` as const })),
  },
  {
    ...{ path: `${name}.budget.period`, label: 'rails.budgetPeriod', kind: 'choice', isRequired: true },
    choices: (['day', 'month'] as const).map((value) => ({ value, label: `rails.period.${value}` as const })),
  },
]

/** The fields of guard rails: a switch, and, where it is on, what they say. */
export function railFields(name: RailsName, values: FormValues): readonly FieldSpec[] {
  const path = switchOf(name)
  const first: FieldSpec = { path, kind: 'flag', ...LABELS[name] }
  if (values[path] !== true) return [first]
  const hasBudget = ![undefined, ''].includes(values[`${name}.budget.amount`] as string | undefined)
  return [
    first,
    ...fieldsOf(name),
    ...(hasBudget ? budgetFields(name) : []),
    { path: `${name}.approval`, label: 'rails.approval', kind: 'flag', hint: 'rails.approvalHint' },
  ]
}

type Json = Readonly<Record<string, unknown>>

/** What a form with guard rails begins with. */
export const withRails = (name: RailsName, thing: object): Json => {
  const known = thing as Json
  const rails = known[name] as Json | null | undefined
  const budget = (rails?.['budget'] ?? null) as Json | null
  return {
    ...known,
    [switchOf(name)]: rails != null,
    [name]: { own_schedules_only: true, ...rails, budget: budget ?? { unit: 'tokens', period: 'day' } },
  }
}

const ORDER = [
  ...['own_schedules_only', 'max_schedules', 'min_interval_seconds', 'max_runs_per_hour', 'max_lifetime_seconds'],
  ...['budget', 'approval'],
]

/** What is sent of a form with guard rails: none where the switch is off. In the order of the server, to be compared. */
export function railsOf(name: RailsName, body: Json): Json {
  const { [switchOf(name)]: isOn, [name]: given, ...rest } = body
  if (isOn !== true) return { ...rest, [name]: null }
  const rails = (given ?? {}) as Json
  const { unit, amount, period } = (rails['budget'] ?? {}) as Json
  const whole: Json = { ...rails, budget: amount === undefined ? null : { unit, amount, period } }
  const ordered = ORDER.filter((field) => whole[field] !== undefined).map((field) => [field, whole[field]])
  return { ...rest, [name]: Object.fromEntries(ordered) as Json }
}
