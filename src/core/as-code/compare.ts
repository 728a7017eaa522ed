import { isFields, isSame, type Fields } from './same.ts'

/** One field before and after; null: it is not there. */
export interface Difference {
  /** Nested with dots. */
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** What differs, field by field. Where both sides have names inside, the names that differ are told. */
export function differences(before: Fields, after: Fields, prefix = ''): readonly Difference[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => {
    const [was, is] = [before[name] ?? null, after[name] ?? null]
    if (isSame(was, is)) return []
    const field = `${prefix}${name}`
    return isFields(was) && isFields(is) ? differences(was, is, `${field}.`) : [{ field, before: was, after: is }]
  })
}

/** The names of the fields that differ. */
export const changedNames = (before: Fields, after: Fields): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => !isSame(before[name], after[name]))

/** What of a thing is not as usual, also inside of what has names on both sides. What is usual can be left out. */
export function unusual(full: Fields, usual: Fields): Fields {
  const found = Object.entries(full).flatMap(([name, value]): [string, unknown][] => {
    const other = usual[name]
    if (isSame(value, other)) return []
    return [[name, isFields(value) && isFields(other) ? unusual(value, other) : value]]
  })
  return Object.fromEntries(found)
}
