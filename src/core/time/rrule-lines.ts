import type { Flaw } from '../../domain/input.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Zone } from './zone.ts'

export interface RuleContext {
  /** The zone of the schedule, null if none was given. */
  readonly zone: Zone | null
  readonly defaultZone: Zone
  /** DTSTART if the text has none. */
  readonly start: Instant
  /** Whether `start` is the time of creation, because no start was given: then nothing happens at the start itself. */
  readonly isNew?: boolean | undefined
  /** Whether it was accepted before: then it is read even if it is more than is accepted today. */
  readonly isStored?: boolean | undefined
}

export type Problem = Pick<Flaw, 'message' | 'allowed' | 'position'>

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
