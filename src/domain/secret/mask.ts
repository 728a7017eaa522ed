import { MASK } from '../../core/executor/masked.ts'

/** Hides values wherever they would appear. */
export interface Mask {
  readonly text: (text: string) => string
  /** Any JSON; names of fields are looked at too. What holds nothing to hide is answered as it is. */
  readonly value: (value: unknown) => unknown
}

/** A value shorter than this could be part of anything, so it cannot be hidden without spoiling what is around it. */
export const SHORTEST_SECRET = 8

/** Hides values, and the forms in which others write them: escaped in JSON, in an address, in Base64. */
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

/** Longest first: a form that holds another one must not be left with its ends. */
function formsOf(values: Iterable<string>): readonly string[] {
  const forms = new Set<string>()
  for (const value of values) {
    for (const piece of [value, ...linesOf(value)]) {
      if (piece.length < SHORTEST_SECRET) continue
      const encoded = encodeURIComponent(piece.replaceAll(HALF_CHARACTER, '\uFFFD'))
      for (const form of [piece, JSON.stringify(piece).slice(1, -1), encoded, encoded.replaceAll('%20', '+')])
        forms.add(form)
      for (const form of base64FormsOf(piece)) forms.add(form).add(form.replaceAll('+', '-').replaceAll('/', '_'))
    }
  }
  return [...forms].toSorted((a, b) => b.length - a.length)
}

/** Nobody could encode one. */
const HALF_CHARACTER = /\p{Surrogate}/gu

/** Of several lines, a certificate say, each is as good as the whole, and may come alone. */
const linesOf = (value: string): readonly string[] =>
  /[\r\n]/.test(value) ? value.split(/\r?\n/).filter((line) => !/^-+[A-Z ]+-+$/.test(line)) : []

/** Alone, and behind something else, as a password is behind its user: then only digits that are the value's alone. */
function base64FormsOf(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text)
  const whole = toBase64(bytes)
  const inside = [0, 1, 2].map((shift) => {
    const shifted = toBase64(new Uint8Array([...Array.from({ length: shift }, () => 0), ...bytes])).replace(/=+$/, '')
    const isWhole = (shift + bytes.length) % 3 === 0
    return shifted.slice(Math.ceil((shift * 8) / 6), isWhole ? undefined : -1)
  })
  return [whole, ...inside.filter((form) => form.length >= SHORTEST_SECRET)]
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

/** Hides values in a text that comes in pieces, between which a value may be cut. */
export interface StreamMask {
  /** What can be shown of it by now. */
  readonly push: (piece: string) => string
  /** What was held back. */
  readonly end: () => string
}

/** Holds back the end of what has come for as long as it could be the beginning of a value. */
export function createStreamMask(values: Iterable<string>): StreamMask {
  const all = [...values]
  const forms = formsOf(all)
  const mask = createMask(all)
  let held = ''
  return {
    push: (piece) => {
      if (forms.length === 0) return piece
      const text = mask.text(held + piece)
      const keep = longestBeginning(text, forms)
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

/** How much of the end of a text is the beginning of one of the forms. */
function longestBeginning(text: string, forms: readonly string[]): number {
  let longest = 0
  for (const form of forms)
    for (let length = Math.min(form.length - 1, text.length); length > longest; length -= 1)
      if (text.endsWith(form.slice(0, length))) {
        longest = length
        break
      }
  return longest
}
