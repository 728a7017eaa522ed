import { guardRailsInput } from '../../features/access/restrictions-schema.ts'
import { keyInput } from '../../contract/key.ts'
import { json, namesOf, type FieldOption, type FieldValues, type ReadText } from '../remote/fields.ts'
import type { FieldNames } from '../remote/refused.ts'
import { only, optionsOf } from '../remote/schema-options.ts'
import { UsageError } from '../remote/usage.ts'

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

/** Each restriction of a key. */
const RAILS = optionsOf(guardRailsInput, {
  budget: { flags: '--rail-budget <budget>', read: budget, hint: 'as in "5000 tokens/day"' },
  own_schedules_only: {
    flags: '--all-schedules',
    stands: false,
    about: 'let it see and change everything in the org, not only what it created',
  },
})

/** What restricts a key. */
export const RAIL_FIELDS: readonly FieldOption[] = [
  ...only(
    optionsOf(keyInput, {
      guard_rails: {
        flags: '--guard-rails <on|json>',
        read: onOffOrJson,
        hint: 'as on for the default limits, or JSON; each of the options below restricts it too',
      },
    }),
    'guard_rails',
  ),
  ...RAILS,
]

/** The field of an agent that lets its attempts create things on their own. */
export const SELF_SERVICE = {
  flags: '--self-service <on|off|json>',
  read: onOffOrJson,
  hint: 'as on for the default limits, off, or JSON',
} as const

/** Puts restrictions that were given one by one under the field that holds all of them. */
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

/** What the server calls the restrictions, under what they are called here. */
export const RAIL_NAMES: FieldNames = namesOf(
  RAILS.map((option) => ({ ...option, field: `guard_rails/${option.field}` })),
)
