import { addAll } from '../long-lists.ts'
import type { Flaw } from '../input.ts'

/**
 * The text of a recurrence rule, RFC 5545 §3.3.10, checked part by part. The library behind `rrule.ts` drops what it
 * does not understand (`BYHOUR=25`, `FOO=1`) and would fire at times nobody asked for; so nothing reaches it unread.
 */
export interface RuleParts {
  readonly frequency: Frequency
  readonly interval: number
  readonly count: number | null
  /** The other parts by name, as upper-case text. */
  readonly other: ReadonlyMap<string, string>
}

export type Frequency = (typeof FREQUENCIES)[number]

const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const

/** A rule may count its occurrences up to this; more are better said with UNTIL, which needs no counting. */
const MOST_COUNTED = 10_000
const LARGEST_INTERVAL = 100_000

/**
 * No step is longer than all the years in which anything can fire: it would lead nowhere, and to find that out the library
 * would look up what clocks do in thousands of years.
 */
const LARGEST_STEP: Readonly<Partial<Record<Frequency, number>>> = { YEARLY: 230, MONTHLY: 2_760, WEEKLY: 12_000 }

interface PartRule {
  readonly allowed: string
  readonly accepts: (text: string) => boolean
}

const wholeNumber = (text: string): number => (/^\d{1,6}$/.test(text) ? Number(text) : Number.NaN)

const numbers = (min: number, max: number): PartRule => ({
  allowed: `numbers from ${min} to ${max}`,
  accepts: (text) => text.split(',').every((item) => wholeNumber(item) >= min && wholeNumber(item) <= max),
})

const signed = (max: number): PartRule => ({
  allowed: `numbers from 1 to ${max} or from -${max} to -1`,
  accepts: (text) =>
    text.split(',').every((item) => {
      const value = wholeNumber(item.replace(/^[+-]/, ''))
      return value >= 1 && value <= max
    }),
})

const one = (min: number, max: number): PartRule => ({
  allowed: `a number from ${min} to ${max}`,
  accepts: (text) => wholeNumber(text) >= min && wholeNumber(text) <= max,
})

const PARTS: Readonly<Record<string, PartRule>> = {
  FREQ: { allowed: FREQUENCIES.join(', '), accepts: (text) => FREQUENCIES.some((word) => word === text) },
  INTERVAL: one(1, LARGEST_INTERVAL),
  COUNT: one(1, MOST_COUNTED),
  UNTIL: { allowed: 'YYYYMMDD or YYYYMMDDTHHMMSSZ', accepts: (text) => /^\d{8}(T\d{6}Z?)?$/.test(text) },
  BYSECOND: numbers(0, 59),
  BYMINUTE: numbers(0, 59),
  BYHOUR: numbers(0, 23),
  BYDAY: {
    allowed: 'MO TU WE TH FR SA SU, with a number such as 2MO or -1FR where the rule is monthly or yearly',
    accepts: (text) =>
      text.split(',').every((item) => /^([+-]?([1-9]|[1-4]\d|5[0-3]))?(MO|TU|WE|TH|FR|SA|SU)$/.test(item)),
  },
  BYMONTHDAY: signed(31),
  BYYEARDAY: signed(366),
  BYWEEKNO: signed(53),
  BYMONTH: numbers(1, 12),
  BYSETPOS: signed(366),
  WKST: { allowed: 'MO TU WE TH FR SA SU', accepts: (text) => /^(MO|TU|WE|TH|FR|SA|SU)$/.test(text) },
}

type Problem = Pick<Flaw, 'message' | 'allowed' | 'position'>

/** Reads `FREQ=…;…`, which starts at `position` of what the user sent. */
export function parseRuleParts(text: string, position: number): RuleParts | readonly Problem[] {
  const found = new Map<string, string>()
  const problems: Problem[] = []
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

const notAPart = (part: string): Problem => ({
  message: part === '' ? 'has an empty part' : `${part} is not a part of a rule`,
  allowed: 'NAME=VALUE parts separated by semicolons',
})

function checkPart(name: string, value: string, found: ReadonlyMap<string, string>): Problem | null {
  const rule = PARTS[name]
  if (rule === undefined) return { message: `${name} is not a known part`, allowed: Object.keys(PARTS).join(', ') }
  if (found.has(name)) return { message: `${name} is given twice`, allowed: 'each part once' }
  return rule.accepts(value) ? null : { message: `${name} ${value} is not possible`, allowed: rule.allowed }
}

/** What RFC 5545 forbids although each part by itself is right. */
function contradictions(found: ReadonlyMap<string, string>): readonly Problem[] {
  const frequency = found.get('FREQ')
  if (frequency === undefined) return [{ message: 'lacks FREQ', allowed: FREQUENCIES.join(', ') }]
  const has = (name: string): boolean => found.has(name)
  const longest = LARGEST_STEP[FREQUENCIES.find((word) => word === frequency) ?? 'SECONDLY'] ?? LARGEST_INTERVAL
  const bare = [...found.keys()].every((name) => !name.startsWith('BY') || name === 'BYSETPOS')
  const numbered = /\d/.test(found.get('BYDAY') ?? '')
  const calendar = frequency === 'YEARLY' || frequency === 'MONTHLY'
  const rows: readonly (readonly [boolean, string, string])[] = [
    [has('COUNT') && has('UNTIL'), 'has both COUNT and UNTIL', 'one of the two'],
    [
      Number(found.get('INTERVAL') ?? '1') > longest,
      'has an INTERVAL that leads beyond every year in which it could fire',
      `an INTERVAL of 1 to ${longest}`,
    ],
    [has('BYWEEKNO') && frequency !== 'YEARLY', 'has BYWEEKNO in a rule that is not yearly', 'FREQ=YEARLY'],
    [has('BYMONTHDAY') && frequency === 'WEEKLY', 'has BYMONTHDAY in a weekly rule', 'another FREQ'],
    [
      has('BYYEARDAY') && (frequency === 'DAILY' || frequency === 'WEEKLY' || frequency === 'MONTHLY'),
      'has BYYEARDAY in a daily, weekly or monthly rule',
      'another FREQ',
    ],
    [
      numbered && (!calendar || has('BYWEEKNO')),
      'has a numbered BYDAY where no month or year is counted in',
      'FREQ=MONTHLY or FREQ=YEARLY without BYWEEKNO',
    ],
    [has('BYSETPOS') && bare, 'has BYSETPOS without another BY part', 'BYSETPOS with another BY part'],
  ]
  return rows.filter(([wrong]) => wrong).map(([, message, allowed]) => ({ message, allowed }))
}

/** The rule in one line, as it is stored and shown. */
export function ruleText(parts: RuleParts, withCount = true): string {
  const rest = [...parts.other].map(([name, value]) => `${name}=${value}`)
  return [
    `FREQ=${parts.frequency}`,
    ...(parts.interval === 1 ? [] : [`INTERVAL=${parts.interval}`]),
    ...(parts.count === null || !withCount ? [] : [`COUNT=${parts.count}`]),
    ...rest,
  ].join(';')
}
