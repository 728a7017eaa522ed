/** What stands in place of a value that is not shown. */
export const MASK = '***'

const PRIVATE_HEADER = /auth|cookie|key|token|secret|password|credential/i

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** An executor as it is shown: headers that look like credentials are hidden from whoever may only read. */
export function maskedExecutor<T extends Fields>(executor: T): T {
  const { headers } = executor
  if (!isObject(headers)) return executor
  const shown = Object.entries(headers).map(([name, value]) => [name, PRIVATE_HEADER.test(name) ? MASK : value])
  return { ...executor, headers: Object.fromEntries(shown) as unknown }
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

function originOf({ url }: Fields): string | null {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : null
}
