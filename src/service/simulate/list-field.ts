import { addAll } from '../../core/long-lists.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../core/input.ts'

/** A parser of lists, for a table of fields: everything that is wrong in them is told, each with its place. */
export const listOf =
  <T>(
    parse: (field: string, value: unknown) => Parsed<T>,
    { min, max }: { readonly min: number; readonly max: number },
  ) =>
  (field: string, value: unknown): Parsed<readonly T[]> => {
    const allowed = `a list of ${min} to ${max}`
    if (!Array.isArray(value)) return flawed({ field, value, message: 'must be a list', allowed })
    if (value.length < min || value.length > max)
      return flawed({ field, value: undefined, message: `has ${value.length} entries`, allowed })
    const found: T[] = []
    const flaws: Flaw[] = []
    for (const [index, one] of value.entries()) {
      const read = parse(`${field}.${index}`, one)
      if (read.ok) found.push(read.value)
      else addAll(flaws, read.flaws)
    }
    return flaws.length > 0 ? flawed(flaws) : parsed(found)
  }
