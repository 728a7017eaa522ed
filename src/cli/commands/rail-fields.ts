import { UsageError } from '../remote/usage.ts'
import { json, number, seconds, type FieldOption, type FieldValues, type ReadText } from '../remote/fields.ts'

const BUDGET = /^([\d.]+)\s*(tokens|money)(?:\s*\/\s*(day|month))?$/i

/** `5000 tokens/day`, `2.50 money/month`. */
const budget: ReadText = (text, { option }) => {
  const [, amount, unit = '', period = 'day'] = BUDGET.exec(text.trim()) ?? []
  if (amount === undefined)
    throw new UsageError(`${option} "${text}" is not understood. Allowed: 5000 tokens/day, 2.50 money/month`)
  return { unit: unit.toLowerCase(), amount: Number(amount), period: period.toLowerCase() }
}

/** `on` for the defaults, `off` for none, or JSON. */
const onOffOrJson: ReadText = (text, about) => {
  if (text === 'on') return {}
  return text === 'off' ? null : json(text, about)
}

/** Each guard rail of a key. */
const RAILS: readonly FieldOption[] = [
  { flags: '--max-schedules <n>', field: 'max_schedules', read: number, about: 'schedules it may have (10)' },
  {
    flags: '--min-interval <duration>',
    field: 'min_interval_seconds',
    read: seconds,
    about: 'between two occurrences, and two runs asked for (1m)',
  },
  {
    flags: '--max-runs-per-hour <n>',
    field: 'max_runs_per_hour',
    read: number,
    about: 'runs asked for, tasks, messages and schedules made, together (60)',
  },
  {
    flags: '--max-lifetime <duration>',
    field: 'max_lifetime_seconds',
    read: seconds,
    about: 'how long what it makes lives',
  },
  { flags: '--rail-budget <budget>', field: 'budget', read: budget, about: 'as in "5000 tokens/day"' },
  { flags: '--approval', field: 'approval', about: 'somebody approves what it makes before any of it happens' },
  {
    flags: '--all-schedules',
    field: 'own_schedules_only',
    stands: false,
    about: 'it sees all of the org, not only what it has made',
  },
]

/** What a key may be fenced in with. */
export const RAIL_FIELDS: readonly FieldOption[] = [
  {
    flags: '--guard-rails <on|json>',
    field: 'guard_rails',
    read: onOffOrJson,
    about: 'fence it in: `on` for the usual rails, or JSON; each of the following does so, too',
  },
  ...RAILS,
]

/** The field of an agent that lets its attempts make things by themselves. */
export const SELF_SERVICE: FieldOption = {
  flags: '--self-service <on|off|json>',
  field: 'self_service',
  read: onOffOrJson,
  about: 'give its attempts keys of their own, fenced in: `on` for the usual guard rails, `off`, or JSON',
}

/** Puts rails that were given one by one under the field that holds all of them. */
export function gatherRails(values: FieldValues): FieldValues {
  const names = new Set(RAILS.map(({ field }) => field))
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

/** What the server calls the rails, under what they are called here. */
export const RAIL_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  RAILS.map(({ field, flags }) => [`/guard_rails/${field}`, flags.split(' ', 1)[0] ?? flags]),
)
