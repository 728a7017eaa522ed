/** Names stand in templates and in paths: nothing in them means anything there. */
export const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/
export const SECRET_NAME_ALLOWED = '1 to 100 letters, digits, _ and -, a letter first'

/** How a text names a secret. */
const REFERENCE = /\{\{\s*secret:([^{}]*)\}\}/g

/** Whether a text can be the name of a secret. */
export const isSecretName = (text: string): boolean => SECRET_NAME.test(text)

/** Every secret that a text, or any text inside a JSON value, names as `{{secret:NAME}}`; each once. */
export function secretNamesIn(value: unknown): readonly string[] {
  const names = new Set<string>()
  collect(value, names)
  return [...names]
}

function collect(value: unknown, into: Set<string>): void {
  if (typeof value === 'string') {
    if (!value.includes('secret:')) return
    for (const found of value.matchAll(REFERENCE)) into.add((found[1] ?? '').trim())
  } else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) collect(inner, into)
}
