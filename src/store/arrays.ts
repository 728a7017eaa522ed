/**
 * Lists as PostgreSQL reads them. The driver writes them too, but looks at every element twice; with thousands of
 * elements per statement that is felt.
 */
type Element = string | number | boolean | null

/** A list of what needs no quotes: numbers, booleans, timestamps, ids and words of ours. */
export function plainArray(values: readonly Element[]): string {
  let text = '{'
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? null
    if (index > 0) text += ','
    text += value === null ? 'NULL' : String(value)
  }
  return `${text}}`
}

const SPECIAL = /["\\]/
const EVERY_SPECIAL = /["\\]/g

/** A list of any texts. */
export function textArray(values: readonly (string | null)[]): string {
  let text = '{'
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? null
    if (index > 0) text += ','
    text += value === null ? 'NULL' : `"${SPECIAL.test(value) ? value.replace(EVERY_SPECIAL, '\\$&') : value}"`
  }
  return `${text}}`
}
