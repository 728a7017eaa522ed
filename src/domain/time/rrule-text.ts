import { addAll } from '../long-lists.ts'
import type { Flaw } from '../input.ts'

/**
 * The parts of a recurrence rule (RFC 5545 §3.3.10). Every part is validated: a part that is ignored, such as
 * `BYHOUR=25` or `FOO=1`, would make the rule fire at unintended times.
 */
export interface RuleParts {
  readonly frequency: Frequency
  readonly interval: number
  readonly count: number | null
  /** The other parts by name, in upper case. */
  readonly other: ReadonlyMap<string, string>
}

export type Frequency = (typeof FREQUENCIES)[number]

const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const

/** The maximum COUNT. UNTIL needs no counting and suits longer rules. */
const MAX_COUNT = 10_000
const MAX_INTERVAL = 100_000

/** The maximum INTERVAL of long frequencies. A longer one would step over all years in which a rule can fire. */
const MAX_INTERVAL_BY_FREQUENCY: Readonly<Partial<Record<Frequency, number>>> = {
  YEARLY: 230,
  MONTHLY: 2_760,
  WEEKLY: 12_000,
}

interface PartRule {
  readonly allowed: string
  readonly accepts: (text: string) => boolean
}

const wholeNumber = (text: string): number => (/^\d{1,6}$/.test(text) ? Number(text) : Number.NaN)

const numberList = (min: number, max: number): PartRule => ({
  allowed: `numbers from ${min} to ${max}`,
  accepts: (text) => text.split(',').every((item) => wholeNumber(item) >= min && wholeNumber(item) <= max),
})

const signedNumberList = (max: number): PartRule => ({
  allowed: `numbers from 1 to ${max} or from -${max} to -1`,
  accepts: (text) =>
    text.split(',').every((item) => {
      const value = wholeNumber(item.replace(/^[+-]/, ''))
      return value >= 1 && value <= max
    }),
})

const numberBetween = (min: number, max: number): PartRule => ({
  allowed: `a number from ${min} to ${max}`,
  accepts: (text) => wholeNumber(text) >= min && wholeNumber(text) <= max,
})

const PART_RULES: Readonly<Record<string, PartRule>> = {
  FREQ: { allowed: FREQUENCIES.join(', '), accepts: (text) => FREQUENCIES.some((word) => word === text) },
  INTERVAL: numberBetween(1, MAX_INTERVAL),
  COUNT: numberBetween(1, MAX_COUNT),
  UNTIL: { allowed: 'YYYYMMDD or YYYYMMDDTHHMMSSZ', accepts: (text) => /^\d{8}(T\d{6}Z?)?$/.test(text) },
  BYSECOND: numberList(0, 59),
  BYMINUTE: numberList(0, 59),
  BYHOUR: numberList(0, 23),
  BYDAY: {
    allowed: 'MO TU WE TH FR SA SU, with a number such as 2MO or -1FR where the rule is monthly or yearly',
    accepts: (text) =>
      text.split(',').every((item) => /^([+-]?([1-9]|[1-4]\d|5[0-3]))?(MO|TU|WE|TH|FR|SA|SU)$/.test(item)),
  },
  BYMONTHDAY: signedNumberList(31),
  BYYEARDAY: signedNumberList(366),
  BYWEEKNO: signedNumberList(53),
  BYMONTH: numberList(1, 12),
  BYSETPOS: signedNumberList(366),
  WKST: { allowed: 'MO TU WE TH FR SA SU', accepts: (text) => /^(MO|TU|WE|TH|FR|SA|SU)$/.test(text) },
}

type RuleProblem = Pick<Flaw, 'message' | 'allowed' | 'position'>

/** Parses `FREQ=…;…`, which starts at `position` of the input. */
export function parseRuleParts(text: string, position: number): RuleParts | readonly RuleProblem[] {
  const found = new Map<string, string>()
  const problems: RuleProblem[] = []
  let at = position
  for (const part of text.split(';')) {
    const [name = '', value, ...more] = part.toUpperCase().split('=')
    const problem = more.length > 0 || value === undefined ? notAPart(part) : checkPart(name, value, found)
    if (problem === null && value !== undefined) found.set(name, value)
    else if (problem !== null) problems.push({ ...problem, position: at })
    at += part.length + 1
  }
  if (problems.length === 0)
    addAll(
      problems,
      contradictions(found).map((problem) => ({ ...problem, position })),
    )
  const frequency = FREQUENCIES.find((word) => word === found.get('FREQ'))
  if (problems.length > 0 || frequency === undefined) return problems
  const count = found.get('COUNT')
  const other = new Map([...found].filter(([name]) => name !== 'FREQ' && name !== 'INTERVAL' && name !== 'COUNT'))
  const interval = Number(found.get('INTERVAL') ?? '1')
  return { frequency, interval, count: count === undefined ? null : Number(count), other }
}

const notAPart = (part: string): RuleProblem => ({
  message: part === '' ? 'has an empty part' : `${part} is not a part of a rule`,
  allowed: 'NAME=VALUE parts separated by semicolons',
})

function checkPart(name: string, value: string, found: ReadonlyMap<string, string>): RuleProblem | null {
  const rule = PART_RULES[name]
  if (rule === undefined) return { message: `${name} is not a known part`, allowed: Object.keys(PART_RULES).join(', ') }
  if (found.has(name)) return { message: `${name} is given twice`, allowed: 'each part once' }
  return rule.accepts(value) ? null : { message: `${name}=${value} is not valid`, allowed: rule.allowed }
}

/** Combinations of valid parts that RFC 5545 forbids. */
function contradictions(found: ReadonlyMap<string, string>): readonly RuleProblem[] {
  const frequency = found.get('FREQ')
  if (frequency === undefined) return [{ message: 'is missing FREQ', allowed: FREQUENCIES.join(', ') }]
  const has = (name: string): boolean => found.has(name)
  const maxInterval =
    MAX_INTERVAL_BY_FREQUENCY[FREQUENCIES.find((word) => word === frequency) ?? 'SECONDLY'] ?? MAX_INTERVAL
  const hasNoByPart = [...found.keys()].every((name) => !name.startsWith('BY') || name === 'BYSETPOS')
  const numbered = /\d/.test(found.get('BYDAY') ?? '')
  const isMonthlyOrYearly = frequency === 'YEARLY' || frequency === 'MONTHLY'
  const rows: readonly (readonly [boolean, string, string])[] = [
    [has('COUNT') && has('UNTIL'), 'has both COUNT and UNTIL', 'one of the two'],
    [
      Number(found.get('INTERVAL') ?? '1') > maxInterval,
      'has an INTERVAL longer than the supported range of years',
      `an INTERVAL of 1 to ${maxInterval}`,
    ],
    [has('BYWEEKNO') && frequency !== 'YEARLY', 'has BYWEEKNO in a rule that is not yearly', 'FREQ=YEARLY'],
    [has('BYMONTHDAY') && frequency === 'WEEKLY', 'has BYMONTHDAY in a weekly rule', 'another FREQ'],
    [
      has('BYYEARDAY') && (frequency === 'DAILY' || frequency === 'WEEKLY' || frequency === 'MONTHLY'),
      'has BYYEARDAY in a daily, weekly or monthly rule',
      'another FREQ',
    ],
    [
      numbered && (!isMonthlyOrYearly || has('BYWEEKNO')),
      'has a numbered BYDAY, which requires a monthly or yearly rule without BYWEEKNO',
      'FREQ=MONTHLY or FREQ=YEARLY without BYWEEKNO',
    ],
    [has('BYSETPOS') && hasNoByPart, 'has BYSETPOS without another BY part', 'BYSETPOS with another BY part'],
  ]
  return rows.filter(([wrong]) => wrong).map(([, message, allowed]) => ({ message, allowed }))
}

/** The rule as one line of text, as it is stored and shown. */
export function ruleText(parts: RuleParts, withCount = true): string {
  const rest = [...parts.other].map(([name, value]) => `${name}=${value}`)
  return [
    `FREQ=${parts.frequency}`,
    ...(parts.interval === 1 ? [] : [`INTERVAL=${parts.interval}`]),
    ...(parts.count === null || !withCount ? [] : [`COUNT=${parts.count}`]),
    ...rest,
  ].join(';')
}
