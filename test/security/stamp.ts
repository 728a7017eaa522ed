import { randomBytes } from 'node:crypto'

/** Values that stand nowhere by chance, all with the same stamp: where the stamp is, something has come from there. */
export interface Stamp {
  /** A new value with the stamp in it, remembered under its word. */
  readonly mark: (word: string) => string
  readonly marks: ReadonlyMap<string, string>
  /** Whether a text holds the stamp: as it is, in Base64, or in hexadecimal digits. */
  readonly isIn: (text: string) => boolean
  /** The words of the values that a text holds as they are. */
  readonly wordsIn: (text: string) => readonly string[]
}

export function createStamp(): Stamp {
  const stamp = randomBytes(12).toString('hex')
  const marks = new Map<string, string>()
  const forms = formsOf(stamp)
  return {
    mark: (word) => {
      const value = `${word}-${stamp}-${marks.size}-z`
      marks.set(`${word} ${marks.size}`, value)
      return value
    },
    marks,
    isIn: (text) => forms.some((form) => text.includes(form)),
    wordsIn: (text) => [...marks].filter(([, value]) => text.includes(value)).map(([word]) => word),
  }
}

function formsOf(stamp: string): readonly string[] {
  const bytes = Buffer.from(stamp)
  // Without the first and the last digits: what stands before and after in the same text changes them.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [stamp.slice(0, 12), stamp.slice(12), bytes.toString('hex').slice(0, 24), ...base64]
}
