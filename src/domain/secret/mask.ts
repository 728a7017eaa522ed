/** Shown instead of a hidden value. */
export const MASK = '***'

const PRIVATE_HEADER = /auth|cookie|key|token|secret|password|credential/i

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** A reference to a secret is not confidential, and readers need to see which secret it names. */
const isCredential = (name: string, value: unknown): boolean =>
  PRIVATE_HEADER.test(name) && !(typeof value === 'string' && ONLY_REFERENCE.test(value))

/** A reference, optionally preceded by the scheme of the credential. */
const ONLY_REFERENCE = /^(?:(?:bearer|basic|token|apikey|key) +)?\{\{\s*secret:[A-Za-z0-9_-]+\s*\}\}$/i

/** The values of headers that look like credentials. */
export const privateHeaders = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) => (isCredential(name, value) ? [value] : []))

/** The executor fields whose values may be credentials, for every kind. */
const PRIVATE_FIELDS = ['headers', 'env'] as const

const maskedFields = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, isCredential(name, value) ? MASK : value]))

/** An executor for display: headers and variables that look like credentials are masked. */
export function maskExecutor<T extends Fields>(executor: T): T {
  const hidden = PRIVATE_FIELDS.flatMap((field) => {
    const fields: unknown = executor[field]
    return isObject(fields) ? [[field, maskedFields(fields)] as const] : []
  })
  return hidden.length === 0 ? executor : { ...executor, ...Object.fromEntries(hidden) }
}

/** Where a masked value may be restored: for the same URL, or for any URL of the same origin. */
export type RestoreScope = 'address' | 'origin'

/**
 * Restores masked values in an executor that a client sends back. Only while the same kind calls the same URL:
 * otherwise a user who may change it could have its credentials sent elsewhere. Another path of the host could echo
 * them, so only users who administer agents may keep a credential for another path.
 */
export function restoreMaskedExecutor(given: unknown, before: unknown, reach: RestoreScope = 'address'): unknown {
  if (!isObject(given) || !isObject(before) || given['kind'] !== before['kind']) return given
  const scope = restoreScopeOf(given, reach)
  if (scope === null || scope !== restoreScopeOf(before, reach)) return given
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

/** Removes masked headers, whose values come from the stored executor. */
export function withoutMasked(given: unknown): unknown {
  if (!isObject(given) || !isObject(given['headers']) || Array.isArray(given['headers'])) return given
  const headers = Object.entries(given['headers']).filter(([, value]) => value !== MASK)
  return { ...given, headers: Object.fromEntries(headers) as unknown }
}

function restoreScopeOf({ url: called, base_url: base }: Fields, reach: RestoreScope): string | null {
  const url = called ?? base
  if (typeof url !== 'string' || !URL.canParse(url)) return null
  const { origin, href } = new URL(url)
  return reach === 'origin' ? origin : href
}

/** Masks values in texts and JSON. */
export interface Mask {
  readonly text: (text: string) => string
  /** Masks values in JSON, including field names; a value without anything to mask is returned unchanged. */
  readonly value: (value: unknown) => unknown
}

/** A shorter value could be part of any word, so masking it would damage other text. */
export const MIN_SECRET_LENGTH = 8

/** Masks values and their encoded forms: escaped in JSON, URL-encoded, Base64. */
export function createMask(values: Iterable<string>): Mask {
  const forms = formsOf(values)
  const text = (given: string): string => {
    let masked = given
    for (const form of forms) if (masked.includes(form)) masked = masked.replaceAll(form, MASK)
    return masked
  }
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given)
    if (typeof given !== 'object' || given === null) return given
    if (Array.isArray(given)) return given.map(value)
    return Object.fromEntries(Object.entries(given).map(([name, inner]) => [text(name), value(inner)]))
  }
  return { text, value: forms.length === 0 ? (given) => given : value }
}

/** Longest first: masking a shorter form first would leave the ends of a longer one. */
function formsOf(values: Iterable<string>): readonly string[] {
  const forms = new Set<string>()
  for (const value of values) {
    for (const piece of [value, ...linesOf(value)]) {
      if (piece.length < MIN_SECRET_LENGTH) continue
      const encoded = encodeURIComponent(piece.replaceAll(HALF_CHARACTER, '\uFFFD'))
      for (const form of [piece, JSON.stringify(piece).slice(1, -1), encoded, encoded.replaceAll('%20', '+')])
        forms.add(form)
      for (const form of base64FormsOf(piece)) forms.add(form).add(form.replaceAll('+', '-').replaceAll('/', '_'))
    }
  }
  return [...forms].toSorted((a, b) => b.length - a.length)
}

/** Unpaired surrogates, which cannot be encoded. */
const HALF_CHARACTER = /\p{Surrogate}/gu

/** The lines of a multi-line value such as a certificate, each of which may appear alone. */
const linesOf = (value: string): readonly string[] =>
  /[\r\n]/.test(value) ? value.split(/\r?\n/).filter((line) => !/^-+[A-Z ]+-+$/.test(line)) : []

/**
 * The Base64 of a value alone and after a prefix, such as a user name before a password: then only the digits that
 * depend on the value alone.
 */
function base64FormsOf(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text)
  const whole = toBase64(bytes)
  const inside = [0, 1, 2].map((shift) => {
    const shifted = toBase64(new Uint8Array([...Array.from({ length: shift }, () => 0), ...bytes])).replace(/=+$/, '')
    const isWhole = (shift + bytes.length) % 3 === 0
    return shifted.slice(Math.ceil((shift * 8) / 6), isWhole ? undefined : -1)
  })
  return [whole, ...inside.filter((form) => form.length >= MIN_SECRET_LENGTH)]
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

function toBase64(bytes: Uint8Array): string {
  let written = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3)
    const bits = (a << 16) | (b << 8) | c
    const digits = [18, 12, 6, 0].map((shift) => DIGITS.charAt((bits >> shift) & 63)).join('')
    const missing = Math.max(0, at + 3 - bytes.length)
    written += digits.slice(0, 4 - missing) + '='.repeat(missing)
  }
  return written
}

/** Masks values in a stream, where a value may be split between two pieces. */
interface StreamMask {
  /** The part of the stream that can be shown so far. */
  readonly push: (piece: string) => string
  /** The rest that was held back. */
  readonly end: () => string
}

/** Holds back the end of the stream while it could be the start of a value. */
export function createStreamMask(values: Iterable<string>): StreamMask {
  const all = [...values]
  const forms = formsOf(all)
  const mask = createMask(all)
  let held = ''
  return {
    push: (piece) => {
      if (forms.length === 0) return piece
      const text = mask.text(held + piece)
      const keep = partialMatchLength(text, forms)
      held = text.slice(text.length - keep)
      return text.slice(0, text.length - keep)
    },
    end: () => {
      const rest = held
      held = ''
      return rest
    },
  }
}

/** The length of the longest end of a text that is the start of one of the forms. */
function partialMatchLength(text: string, forms: readonly string[]): number {
  let longest = 0
  for (const form of forms)
    for (let length = Math.min(form.length - 1, text.length); length > longest; length -= 1)
      if (text.endsWith(form.slice(0, length))) {
        longest = length
        break
      }
  return longest
}
