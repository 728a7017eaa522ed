/** Something as JSON has it, with names. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether it is an object with names. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The one text of a value, whatever the order of its names: a database may keep them in another order than they came. */
export function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`
  if (!isFields(value)) return JSON.stringify(value ?? null)
  const names = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted()
  return `{${names.map((name) => `${JSON.stringify(name)}:${textOf(value[name])}`).join(',')}}`
}

/** Whether two values say the same; what is not there is null. */
export const isSame = (one: unknown, other: unknown): boolean => textOf(one) === textOf(other)

/** The named fields that are there, in the order of the names. */
export const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]))

/** Texts in one order on every machine: by their code units. */
export const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
