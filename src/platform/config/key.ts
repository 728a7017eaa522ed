import { z } from 'zod'
import { firstFlaws, flawed, parsed, type Flaw, type Parsed } from '../../domain/input.ts'
import { rule, whole } from '../../api/fields.ts'
import { readShape } from '../../contract/read-shape.ts'
import { parseDuration, type DurationUnit } from '../../domain/duration.ts'

/** One setting: what it is, what it may be, and when a change of it takes effect. */
export interface Key<T> {
  readonly is: 'key'
  readonly default: T
  /** One sentence for the reference. */
  readonly summary: string
  /** What would be accepted, as a phrase. */
  readonly allowed: string
  /** A change takes effect while running; otherwise with the next start. */
  readonly hot: boolean
  /** A size, a limit or a time to live: 0 would mean that nothing works, so it keeps what is there. */
  readonly zeroKeeps: boolean
  /** Where it is a length of time, texts such as `30m` are understood too. */
  readonly unit: DurationUnit | null
  /** How it is shown to whoever may read the configuration; null: as it is. */
  readonly mask: ((value: unknown) => unknown) | null
  readonly schema: z.ZodType
  readonly parse: (field: string, value: unknown) => Parsed<T>
  /** What a text, as variables of the environment are, stands for before it is parsed. */
  readonly fromText: (text: string) => unknown
}

/** A group whose names are the user's own, such as lanes: each entry is read by the same key. */
export interface OpenGroup<T> {
  readonly is: 'open'
  readonly entry: Key<T>
  readonly defaults: Readonly<Record<string, T>>
  /** The name an entry is kept under. */
  readonly nameOf: (name: string) => string
  /** Settings of the group as a whole; no entry can have the name of one. */
  readonly own: Readonly<Record<string, Key<T>>>
}

/** Settings by name, in groups. */
export interface KeyTree {
  readonly [name: string]: Key<unknown> | OpenGroup<unknown> | KeyTree
}

/** What a tree of keys reads. */
export type ValuesOf<Tree> = {
  readonly [Name in keyof Tree]: Tree[Name] extends Key<infer T>
    ? T
    : Tree[Name] extends OpenGroup<infer T>
      ? Readonly<Record<string, T>>
      : ValuesOf<Tree[Name]>
}

interface Said<T> {
  readonly default: T
  readonly summary: string
  readonly hot?: boolean
}

type Reading<T> = Pick<Key<T>, 'schema' | 'allowed' | 'parse'>

/** Reads a setting by its schema. */
export const readBy = <T>(schema: z.ZodType<T>, allowed: string): Reading<T> => ({
  schema,
  allowed,
  parse: (field, value) => {
    const read = readShape(schema, value, field)
    return read.ok ? read : flawed(read.flaws.map((flaw) => ({ ...flaw, allowed })))
  },
})

function key<T>(said: Said<T>, made: Reading<T> & Pick<Key<T>, 'fromText'> & Partial<Key<T>>): Key<T> {
  const { default: usual, summary, hot = false } = said
  return { is: 'key', default: usual, summary, hot, zeroKeeps: false, unit: null, mask: null, ...made }
}

const numberFromText = (text: string): unknown => (/^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text)

/** A whole number. `zero: 'keeps'` makes it a limit; a `unit` makes it a length of time. */
export function integer(
  said: Said<number> & {
    readonly min?: number
    readonly max: number
    readonly zero?: 'keeps'
    readonly unit?: DurationUnit
  },
): Key<number> {
  const { min = 0, max, unit = null, zero } = said
  return key(said, {
    unit,
    zeroKeeps: zero === 'keeps',
    ...readBy(
      whole(min, max),
      `a whole number from ${min} to ${max}${unit === null ? '' : ', or a duration such as 30m'}`,
    ),
    fromText: (text) => (unit === null ? numberFromText(text) : (parseDuration(text, unit) ?? numberFromText(text))),
  })
}

/** A number that may have a fraction. */
export function fraction(said: Said<number> & { readonly min: number; readonly max: number }): Key<number> {
  return key(said, {
    ...readBy(z.number().min(said.min).max(said.max), `a number from ${said.min} to ${said.max}`),
    fromText: numberFromText,
  })
}

/** True or false. */
export function flag(said: Said<boolean>): Key<boolean> {
  return key(said, {
    ...readBy(z.boolean(), 'true, false'),
    fromText: (text) => ({ true: true, false: false })[text.trim().toLowerCase()] ?? text,
  })
}

/** One of a closed list of words. */
export function word<W extends string>(said: Said<W> & { readonly words: readonly W[] }): Key<W> {
  return key(said, {
    ...readBy<W>(z.enum(said.words), said.words.join(', ')),
    fromText: (text) => text.trim(),
  })
}

/** What a text has to look like, in words and as a check that answers with what is wrong. */
export interface TextShape {
  readonly allowed: string
  /** Null: nothing is wrong. */
  readonly check: (text: string) => string | null
}

const LONGEST_TEXT = 4_096

function parseText(field: string, value: unknown, { allowed, check }: TextShape): Parsed<string> {
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed })
  if (value.trim() === '') return flawed({ field, value, message: 'must not be empty', allowed })
  if (value.length > LONGEST_TEXT || value.includes('\u0000'))
    return flawed({ field, value: undefined, message: 'is too long or contains NUL', allowed })
  const message = check(value)
  return message === null ? parsed(value) : flawed({ field, value, message, allowed })
}

const textOf = (shape: TextShape): z.ZodString =>
  z
    .string()
    .min(1)
    .max(LONGEST_TEXT)
    .check(rule((field, value) => parseText(field, value, shape)))

/** A text of a certain shape. */
export function text(said: Said<string> & { readonly shape: TextShape }): Key<string> {
  return key(said, {
    ...readBy(textOf(said.shape), said.shape.allowed),
    fromText: (given) => given,
  })
}

/** A list of texts of a certain shape; as one text, they are separated by commas. */
export function texts(said: Said<readonly string[]> & { readonly shape: TextShape }): Key<readonly string[]> {
  const allowed = `a list; each ${said.shape.allowed}`
  const parse = (field: string, value: unknown): Parsed<readonly string[]> =>
    Array.isArray(value)
      ? gathered(
          field,
          value.map((entry, index) => parseText(`${field}.${index}`, entry, said.shape)),
        )
      : flawed({ field, value, message: 'must be a list', allowed })
  return key<readonly string[]>(said, {
    ...readBy(z.array(z.string().min(1).max(LONGEST_TEXT)).check(rule(parse)), allowed),
    fromText: (given) =>
      given
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
  })
}

/** Texts of a certain shape by name; as one text, `name=text` separated by commas. */
export function textsByName(
  said: Said<Readonly<Record<string, string>>> & { readonly shape: TextShape },
): Key<Readonly<Record<string, string>>> {
  const allowed = `names, each with ${said.shape.allowed}`
  const parse = (field: string, value: unknown): Parsed<unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? gathered(
          field,
          Object.entries(value).map(([name, entry]) => parseText(`${field}.${name}`, entry, said.shape)),
        )
      : flawed({ field, value, message: 'must be an object', allowed })
  return key<Readonly<Record<string, string>>>(said, {
    ...readBy(z.record(z.string(), z.string().min(1).max(LONGEST_TEXT)).check(rule(parse)), allowed),
    fromText: (given) =>
      Object.fromEntries(
        given
          .split(',')
          .filter((pair) => pair.trim() !== '')
          .map((pair) => {
            const at = pair.indexOf('=')
            return at === -1 ? [pair.trim(), null] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
          }),
      ),
  })
}

/** The key, or null for "none"; as a text, `null` or nothing. */
export function orNone<T>(of: Key<T>, usual: T | null): Key<T | null> {
  const { mask } = of
  return {
    ...of,
    default: usual,
    allowed: `${of.allowed}, or null`,
    schema: of.schema.nullable(),
    mask: mask === null ? null : (value) => (value === null ? null : mask(value)),
    parse: (field, value) => (value === null ? parsed(null) : of.parse(field, value)),
    fromText: (given) => (['', 'null'].includes(given.trim()) ? null : of.fromText(given)),
  }
}

/** The key, never shown as it is, not even when it is wrong. */
export function secret<T>(of: Key<T>, mask: (value: unknown) => unknown): Key<T> {
  return {
    ...of,
    mask,
    parse: (field, value) => {
      const read = of.parse(field, value)
      return read.ok ? read : flawed(read.flaws.map((flaw): Flaw => ({ ...flaw, value: '***' })))
    },
  }
}

/** All of a list, or what is wrong with the first of its entries. */
function gathered<T>(field: string, all: readonly Parsed<T>[]): Parsed<readonly T[]> {
  const flaws = all.flatMap((one) => (one.ok ? [] : one.flaws))
  if (flaws.length === 0) return parsed(all.flatMap((one) => (one.ok ? [one.value] : [])))
  return flawed(firstFlaws(field, flaws))
}
