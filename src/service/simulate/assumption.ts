import { ASSUMED_OUTCOMES, type AssumedDuration, type AssumptionInput } from '../../contract/simulation.ts'
import { flawed, integerField, orNull, parsed, parseFields, wordField, type Parsed } from '../../core/input.ts'
import { ERROR_CODES, type ErrorCode } from '../../core/run/error-codes.ts'
import { listOf } from './list-field.ts'

const YEAR_MS = 366 * 86_400_000
const MOST_OBSERVED = 1_000
const MOST_OUTCOMES = 10_000

const milliseconds = integerField({ min: 0, max: YEAR_MS })
const observed = listOf(milliseconds, { min: 1, max: MOST_OBSERVED })

const number =
  (max: number) =>
  (field: string, value: unknown): Parsed<number> =>
    typeof value === 'number' && value >= 0 && value <= max
      ? parsed(value)
      : flawed({ field, value, message: 'is out of range', allowed: `a number from 0 to ${max}` })

function parseDuration(field: string, value: unknown): Parsed<AssumedDuration> {
  if (Array.isArray(value)) return observed(field, value)
  if (typeof value !== 'object' || value === null) return milliseconds(field, value)
  const read = parseFields(field, value, { min: milliseconds, max: milliseconds })
  if (!read.ok) return read
  const { min, max } = read.value
  if (min === undefined || max === undefined)
    return flawed({ field, value, message: 'needs both of its bounds', allowed: 'min and max, in milliseconds' })
  return min > max ? flawed({ field: `${field}.min`, value: min, message: 'is more than max' }) : parsed({ min, max })
}

const share = number(1)

const FIELDS = {
  duration_ms: parseDuration,
  failure_rate: share,
  timeout_rate: share,
  outcomes: listOf(wordField(ASSUMED_OUTCOMES), { min: 1, max: MOST_OUTCOMES }),
  error_code: wordField(Object.keys(ERROR_CODES) as readonly ErrorCode[]),
  stops_in_ms: orNull(milliseconds),
  tokens: integerField({ min: 0, max: 1_000_000_000 }),
  cost: number(1_000_000),
  quiet_rate: share,
  next_check_seconds: integerField({ min: 0, max: YEAR_MS / 1_000 }),
} satisfies Record<keyof AssumptionInput, unknown>

/** Reads what is assumed of attempts. */
export function parseAssumption(field: string, value: unknown): Parsed<AssumptionInput> {
  const read = parseFields(field, value, FIELDS)
  if (!read.ok) return read
  const { failure_rate: fails = 0, timeout_rate: hangs = 0, outcomes } = read.value
  if (outcomes !== undefined && fails + hangs > 0)
    return flawed({ field: `${field}.outcomes`, value: outcomes, message: 'cannot be given together with rates' })
  return fails + hangs > 1
    ? flawed({ field: `${field}.timeout_rate`, value: hangs, message: 'is, with failure_rate, more than 1' })
    : read
}
