/** What stands in place of a value that is not shown. */
export const MASK = '***'

const PRIVATE_HEADER = /auth|cookie|key|token|secret|password|credential/i

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** What names a secret is no secret, and whoever reads wants to see which one it is. */
const isHidden = (name: string, value: unknown): boolean =>
  PRIVATE_HEADER.test(name) && !(typeof value === 'string' && ONLY_REFERENCE.test(value))

/** A reference, and before it at most the word that says what kind of credential follows. */
const ONLY_REFERENCE = /^(?:(?:bearer|basic|token|apikey|key) +)?\{\{\s*secret:[A-Za-z0-9_-]+\s*\}\}$/i

/** The values of headers that look like credentials. */
export const privateHeaders = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) => (isHidden(name, value) ? [value] : []))

/** An executor as it is shown: headers and variables that look like credentials are hidden from whoever may only read. */
export function maskedExecutor<T extends Fields>(executor: T): T {
  const { headers, env } = executor
  const shown = (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, isHidden(name, value) ? MASK : value]))
  if (isObject(env)) return { ...executor, env: shown(env) }
  return isObject(headers) ? { ...executor, headers: shown(headers) } : executor
}

/**
 * What somebody sends back of what they were shown, with the values that were hidden. Only while it goes to the same
 * place: else whoever may change an agent could have its credentials sent to themselves.
 */
export function unmaskedExecutor(given: unknown, before: unknown): unknown {
  if (!isObject(given) || !isObject(before) || originOf(given) === null || originOf(given) !== originOf(before))
    return given
  const { headers } = given
  const { headers: known } = before
  if (!isObject(headers) || !isObject(known)) return given
  const values = new Map(Object.entries(known).map(([name, value]) => [name.toLowerCase(), value]))
  const full = Object.entries(headers).map(([name, value]) => [
    name,
    value === MASK ? (values.get(name.toLowerCase()) ?? value) : value,
  ])
  return { ...given, headers: Object.fromEntries(full) as unknown }
}

function originOf({ url: called, base_url: base }: Fields): string | null {
  const url = called ?? base
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : null
}
