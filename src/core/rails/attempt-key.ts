import { MASK } from '../executor/masked.ts'

/** What the texts of keys of attempts begin with. */
const ATTEMPT_KEY_PREFIX = 'esa_'

const ATTEMPT_KEY = /^esa_([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/
const ANYWHERE = /esa_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}/g

/** Whether a text can be the key of an attempt. */
export const isAttemptKey = (text: string): boolean => ATTEMPT_KEY.test(text)

/** The parts of such a key: what it says, and the proof that we said it. Null: it is none. */
export function readAttemptKey(text: string): { readonly said: string; readonly proof: string } | null {
  const [, said, proof] = ATTEMPT_KEY.exec(text) ?? []
  return said === undefined || proof === undefined ? null : { said, proof }
}

/** Hides keys of attempts in what those say who were given one. What holds none is answered as it is. */
export function hideAttemptKeys<Value>(value: Value): Value {
  return hide(value) as Value
}

function hide(value: unknown): unknown {
  if (typeof value === 'string') return value.includes(ATTEMPT_KEY_PREFIX) ? value.replaceAll(ANYWHERE, MASK) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const hidden = value.map(hide)
    return hidden.every((one, index) => one === value[index]) ? value : hidden
  }
  const entries = Object.entries(value)
  const hidden = entries.map(([name, inner]) => [hide(name) as string, hide(inner)] as const)
  const isSame = hidden.every(([name, inner], index) => {
    const [was, held] = entries[index] ?? []
    return name === was && inner === held
  })
  return isSame ? value : Object.fromEntries(hidden)
}
