/**
 * How every parser of the core answers. A flaw says which field is wrong, what was given and what would have been
 * right, so that each surface (HTTP problem, CLI message, field in the editor) can show it without knowing the rule.
 */
export interface Flaw {
  /** The field as the user wrote it, nested with dots: `retry_policy.base_ms`. */
  readonly field: string
  readonly value: unknown
  /** Reads on after the field's name: "must be at least 1". */
  readonly message: string
  /** What would be accepted, as a phrase or as the list of words. */
  readonly allowed?: string
  /** Character offset of the fault inside a text value, counted from 0. */
  readonly position?: number
}

export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly flaws: readonly Flaw[] }

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value })

export const flawed = (...flaws: readonly Flaw[]): Parsed<never> => ({ ok: false, flaws })

/** One line for people: `cron "61 * * * *": minute 61 is above 59 (allowed: 0-59)`. */
export function describeFlaw(flaw: Flaw): string {
  const given = flaw.value === undefined ? '' : ` ${JSON.stringify(flaw.value)}`
  const at = flaw.position === undefined ? '' : ` at position ${flaw.position + 1}`
  const allowed = flaw.allowed === undefined ? '' : ` (allowed: ${flaw.allowed})`
  return `${flaw.field}${given}: ${flaw.message}${at}${allowed}`
}

/** Reads a whole number inside bounds. */
export function parseInteger(
  field: string,
  value: unknown,
  bounds: { readonly min: number; readonly max?: number },
): Parsed<number> {
  const { min, max = Number.MAX_SAFE_INTEGER } = bounds
  const allowed = bounds.max === undefined ? `a whole number from ${min} on` : `a whole number from ${min} to ${max}`
  if (typeof value !== 'number' || !Number.isSafeInteger(value))
    return flawed({ field, value, message: 'must be a whole number', allowed })
  if (value < min || value > max) return flawed({ field, value, message: 'is out of range', allowed })
  return parsed(value)
}

/** Reads one of a closed list of words, in any case, and answers with the word as we spell it. */
export function parseWord<W extends string>(field: string, value: unknown, words: readonly W[]): Parsed<W> {
  const allowed = words.join(', ')
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a word', allowed })
  const word = words.find((candidate) => candidate.toLowerCase() === value.toLowerCase())
  return word === undefined ? flawed({ field, value, message: 'is not a known value', allowed }) : parsed(word)
}
