import { Temporal } from 'temporal-polyfill'
import type { Flaw } from '../input.ts'
import { instant, type Instant } from '../instant.ts'
import { parseZone, type Zone } from './zone.ts'

export interface RuleContext {
  /** The zone of the schedule, null if none was given. */
  readonly zone: Zone | null
  readonly defaultZone: Zone
  /** DTSTART if the text has none. */
  readonly start: Instant
  /** Whether it was accepted before: then it is read even if it is more than is accepted today. */
  readonly isStored?: boolean | undefined
}

type Problem = Pick<Flaw, 'message' | 'allowed' | 'position'>

interface Lines {
  readonly rule: string
  readonly ruleAt: number
  readonly start: string | null
}

/** Tells the rule from its DTSTART line. */
export function splitLines(text: string): Lines | Problem {
  const lines = [...text.matchAll(/[^\r\n]+/g)].filter((match) => match[0].trim() !== '')
  const starts = lines.filter((line) => /^\s*DTSTART/i.test(line[0]))
  const rules = lines.filter((line) => !starts.includes(line))
  const [rule, second] = rules
  const wanted = 'one RRULE line and at most one DTSTART line; dates to leave out belong in exclude'
  if (rule === undefined) return { message: 'has no RRULE line', allowed: wanted, position: text.length }
  if (second !== undefined) return { message: 'has a line too many', allowed: wanted, position: second.index }
  if (starts.length > 1)
    return { message: 'has more than one DTSTART', allowed: wanted, position: starts[1]?.index ?? 0 }
  const prefix = /^\s*(RRULE:)?/i.exec(rule[0])?.[0] ?? ''
  const start = starts[0]?.[0].trim() ?? null
  return { rule: rule[0].slice(prefix.length).trimEnd(), ruleAt: rule.index + prefix.length, start }
}

export interface Begin {
  readonly zone: Zone
  readonly start: Instant
}

/** Where the rule begins, and on which clock. */
export function parseStart(line: string | null, context: RuleContext): Begin | Problem {
  const zone = context.zone ?? context.defaultZone
  if (line === null) return { zone, start: instant(Math.floor(context.start / 1000) * 1000) }
  const allowed = 'DTSTART:YYYYMMDDTHHMMSSZ, or DTSTART;TZID=<zone>:YYYYMMDDTHHMMSS'
  const match = /^DTSTART(?:;TZID=([^:;]+)|;VALUE=DATE(?:-TIME)?)?:(\d{8})(?:T(\d{6})(Z?))?$/i.exec(line)
  if (match === null) return { message: `${line} is not understood`, allowed }
  const [, zoneName, date = '', time = '000000', utc] = match
  const named = zoneName === undefined ? null : parseZone('TZID', zoneName)
  if (named !== null && !named.ok) return { message: `TZID ${zoneName ?? ''} is not a known time zone`, allowed }
  const ownZone = named?.value ?? null
  if (ownZone !== null && context.zone !== null && ownZone !== context.zone)
    return { message: `says TZID ${ownZone.name} and timezone says ${context.zone.name}`, allowed: 'one zone' }
  const used = ownZone ?? zone
  const local = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.replace(/(..)(..)(..)/, '$1:$2:$3')}`
  try {
    const clock = Temporal.PlainDateTime.from(local).toZonedDateTime(utc === 'Z' || utc === 'z' ? 'UTC' : used.name)
    return { zone: used, start: instant(clock.epochMilliseconds) }
  } catch {
    return { message: `${line} is a time that does not exist`, allowed }
  }
}
