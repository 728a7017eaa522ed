import { z } from 'zod'
import { rule, integerBetween } from '../../api/fields.ts'
import { readShape } from '../../api/read-input.ts'
import { firstFlaws, type Flaw, flawed, parsed, type Parsed } from '../../domain/input.ts'
import { parseDuration, type DurationUnit } from '../../domain/duration.ts'

/** One setting: its type, its allowed values, and when a change takes effect. */
export interface Key<T> {
  readonly is: 'key'
  readonly default: T
  /** One sentence for the reference. */
  readonly summary: string
  /** The accepted values, as a phrase. */
  readonly allowed: string
  /** A change takes effect while running; otherwise at the next start. */
  readonly hot: boolean
  /** 0 keeps the previous value, because it makes no sense for this size, limit or time to live. */
  readonly zeroKeeps: boolean
  /** The unit of a duration, which also accepts texts such as `30m`; null: not a duration. */
  readonly unit: DurationUnit | null
  /** Masks the value where the configuration is shown; null: shown unchanged. */
  readonly mask: ((value: unknown) => unknown) | null
  readonly schema: z.ZodType
  readonly parse: (field: string, value: unknown) => Parsed<T>
  /** Converts the text of an environment variable or flag before it is parsed. */
  readonly fromText: (text: string) => unknown
}

/** A group whose entry names the user chooses, such as lanes; one key reads all entries. */
export interface OpenGroup<T> {
  readonly is: 'open'
  readonly entry: Key<T>
  readonly defaults: Readonly<Record<string, T>>
  /** Normalizes the name of an entry. */
  readonly nameOf: (name: string) => string
  /** Settings of the group as a whole, whose names no entry can have. */
  readonly own: Readonly<Record<string, Key<T>>>
}

/** Settings by name, in groups. */
export interface KeyTree {
  readonly [name: string]: Key<unknown> | OpenGroup<unknown> | KeyTree
}

/** The values of a tree of keys. */
export type ValuesOf<Tree> = {
  readonly [Name in keyof Tree]: Tree[Name] extends Key<infer T>
    ? T
    : Tree[Name] extends OpenGroup<infer T>
      ? Readonly<Record<string, T>>
      : ValuesOf<Tree[Name]>
}

interface KeyDeclaration<T> {
  readonly default: T
  readonly summary: string
  readonly hot?: boolean
}

type KeyParser<T> = Pick<Key<T>, 'schema' | 'allowed' | 'parse'>

/** Parses a setting with a zod schema. */
export const parseWith = <T>(schema: z.ZodType<T>, allowed: string): KeyParser<T> => ({
  schema,
  allowed,
  parse: (field, value) => {
    const read = readShape(schema, value, field)
    return read.ok ? read : flawed(read.flaws.map((flaw) => ({ ...flaw, allowed })))
  },
})

function key<T>(options: KeyDeclaration<T>, parser: KeyParser<T> & Pick<Key<T>, 'fromText'> & Partial<Key<T>>): Key<T> {
  const { default: defaultValue, summary, hot = false } = options
  return { is: 'key', default: defaultValue, summary, hot, zeroKeeps: false, unit: null, mask: null, ...parser }
}

const numberFromText = (text: string): unknown => (/^[+-]?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text)

/** A whole number. With `zero: 'keeps'`, 0 keeps the previous value; with a `unit`, it is a duration. */
export function integer(
  options: KeyDeclaration<number> & {
    readonly min?: number
    readonly max: number
    readonly zero?: 'keeps'
    readonly unit?: DurationUnit
  },
): Key<number> {
  const { min = 0, max, unit = null, zero } = options
  return key(options, {
    unit,
    zeroKeeps: zero === 'keeps',
    ...parseWith(
      integerBetween(min, max),
      `a whole number from ${min} to ${max}${unit === null ? '' : ', or a duration such as 30m'}`,
    ),
    fromText: (text) => (unit === null ? numberFromText(text) : (parseDuration(text, unit) ?? numberFromText(text))),
  })
}

/** A number that may have a fraction. */
export function fraction(
  options: KeyDeclaration<number> & { readonly min: number; readonly max: number },
): Key<number> {
  return key(options, {
    ...parseWith(z.number().min(options.min).max(options.max), `a number from ${options.min} to ${options.max}`),
    fromText: numberFromText,
  })
}

/** A boolean. */
export function flag(options: KeyDeclaration<boolean>): Key<boolean> {
  return key(options, {
    ...parseWith(z.boolean(), 'true, false'),
    fromText: (text) => ({ true: true, false: false })[text.trim().toLowerCase()] ?? text,
  })
}

/** One of a fixed list of words. */
export function word<W extends string>(options: KeyDeclaration<W> & { readonly words: readonly W[] }): Key<W> {
  return key(options, {
    ...parseWith<W>(z.enum(options.words), options.words.join(', ')),
    fromText: (text) => text.trim(),
  })
}

/** The format of a text: a description, and a check that returns an error. */
export interface TextShape {
  readonly allowed: string
  /** Null: valid. */
  readonly check: (text: string) => string | null
}

const MAX_TEXT_LENGTH = 4_096

function parseText(field: string, value: unknown, { allowed, check }: TextShape): Parsed<string> {
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a string', allowed })
  if (value.trim() === '') return flawed({ field, value, message: 'must not be empty', allowed })
  if (value.length > MAX_TEXT_LENGTH || value.includes('\u0000'))
    return flawed({ field, value: undefined, message: 'is too long or contains NUL', allowed })
  const message = check(value)
  return message === null ? parsed(value) : flawed({ field, value, message, allowed })
}

const textOf = (shape: TextShape): z.ZodString =>
  z
    .string()
    .min(1)
    .max(MAX_TEXT_LENGTH)
    .check(rule((field, value) => parseText(field, value, shape)))

/** A text of a given format. */
export function text(options: KeyDeclaration<string> & { readonly shape: TextShape }): Key<string> {
  return key(options, {
    ...parseWith(textOf(options.shape), options.shape.allowed),
    fromText: (given) => given,
  })
}

/** A list of texts of a given format; comma-separated in environment variables. */
export function texts(
  options: KeyDeclaration<readonly string[]> & { readonly shape: TextShape },
): Key<readonly string[]> {
  const allowed = `a list; each ${options.shape.allowed}`
  const parse = (field: string, value: unknown): Parsed<readonly string[]> =>
    Array.isArray(value)
      ? collectParsed(
          field,
          value.map((entry, index) => parseText(`${field}.${index}`, entry, options.shape)),
        )
      : flawed({ field, value, message: 'must be a list', allowed })
  return key<readonly string[]>(options, {
    ...parseWith(z.array(z.string().min(1).max(MAX_TEXT_LENGTH)).check(rule(parse)), allowed),
    fromText: (given) =>
      given
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
  })
}

/** Texts of a given format by name; comma-separated `name=text` in environment variables. */
export function textsByName(
  options: KeyDeclaration<Readonly<Record<string, string>>> & { readonly shape: TextShape },
): Key<Readonly<Record<string, string>>> {
  const allowed = `names, each with ${options.shape.allowed}`
  const parse = (field: string, value: unknown): Parsed<unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? collectParsed(
          field,
          Object.entries(value).map(([name, entry]) => parseText(`${field}.${name}`, entry, options.shape)),
        )
      : flawed({ field, value, message: 'must be an object', allowed })
  return key<Readonly<Record<string, string>>>(options, {
    ...parseWith(z.record(z.string(), z.string().min(1).max(MAX_TEXT_LENGTH)).check(rule(parse)), allowed),
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

/** A key that also allows null; in environment variables, `null` or an empty text. */
export function nullable<T>(of: Key<T>, defaultValue: T | null): Key<T | null> {
  const { mask } = of
  return {
    ...of,
    default: defaultValue,
    allowed: `${of.allowed}, or null`,
    schema: of.schema.nullable(),
    mask: mask === null ? null : (value) => (value === null ? null : mask(value)),
    parse: (field, value) => (value === null ? parsed(null) : of.parse(field, value)),
    fromText: (given) => (['', 'null'].includes(given.trim()) ? null : of.fromText(given)),
  }
}

/** A key whose value is always masked, also in errors. */
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

/** The parsed entries of a list, or the flaws of its first invalid entries. */
function collectParsed<T>(field: string, all: readonly Parsed<T>[]): Parsed<readonly T[]> {
  const flaws = all.flatMap((one) => (one.ok ? [] : one.flaws))
  if (flaws.length === 0) return parsed(all.flatMap((one) => (one.ok ? [one.value] : [])))
  return flawed(firstFlaws(field, flaws))
}
