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

/** The fields whose values may be credentials. An executor may have both, whatever its kind does with them. */
const PRIVATE_FIELDS = ['headers', 'env'] as const

const shown = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, isHidden(name, value) ? MASK : value]))

/** An executor as it is shown: headers and variables that look like credentials are hidden from whoever may only read. */
export function maskedExecutor<T extends Fields>(executor: T): T {
  const hidden = PRIVATE_FIELDS.flatMap((field) => {
    const fields: unknown = executor[field]
    return isObject(fields) ? [[field, shown(fields)] as const] : []
  })
  return hidden.length === 0 ? executor : { ...executor, ...Object.fromEntries(hidden) }
}

/** How far a hidden value may go with what it belongs to: to the same address, or anywhere at the same origin. */
export type Reach = 'address' | 'origin'

/**
 * What somebody sends back of what they were shown, with the values that were hidden. Only while the same kind calls the
 * same place: else whoever may change it could have its credentials sent, or shown, elsewhere. Another path of a host may
 * show what it was sent, so only those who administer agents move a credential to one.
 */
export function unmaskedExecutor(given: unknown, before: unknown, reach: Reach = 'address'): unknown {
  if (!isObject(given) || !isObject(before) || given['kind'] !== before['kind']) return given
  const place = placeOf(given, reach)
  if (place === null || place !== placeOf(before, reach)) return given
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

/** What was sent without the headers that it shows hidden: their values come from what it replaces. */
export function withoutHidden(given: unknown): unknown {
  if (!isObject(given) || !isObject(given['headers']) || Array.isArray(given['headers'])) return given
  const headers = Object.entries(given['headers']).filter(([, value]) => value !== MASK)
  return { ...given, headers: Object.fromEntries(headers) as unknown }
}

function placeOf({ url: called, base_url: base }: Fields, reach: Reach): string | null {
  const url = called ?? base
  if (typeof url !== 'string' || !URL.canParse(url)) return null
  const { origin, href } = new URL(url)
  return reach === 'origin' ? origin : href
}
