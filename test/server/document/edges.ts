import type { DescribedBody, JsonSchema } from './document.ts'
import { choicesOf, merged, textOf, type Step, type Wanted } from './draw.ts'

type Resolve = DescribedBody['resolve']

const DEEPEST = 8

/** A place in a body, and what the document says of it. */
export interface Place {
  readonly way: readonly Step[]
  readonly schema: JsonSchema
}

/** Every place of a body that the document describes. A schema with a name is entered where it stands first. */
export function placesIn(
  given: JsonSchema,
  resolve: Resolve,
  { way, entered }: { readonly way: readonly Step[]; readonly entered: Set<string> } = { way: [], entered: new Set() },
): readonly Place[] {
  const schema = merged(resolve(given), resolve)
  if (given.$ref !== undefined && entered.has(given.$ref)) return [{ way, schema }]
  if (given.$ref !== undefined) entered.add(given.$ref)
  const inside = (part: JsonSchema, step: Step): readonly Place[] =>
    way.length >= DEEPEST ? [] : placesIn(part, resolve, { way: [...way, step], entered })
  const { properties = {}, additionalProperties: others, items } = schema
  return [
    { way, schema },
    ...choicesOf(schema).flatMap((choice, at) => inside(choice, { choice: at })),
    ...Object.entries(properties).flatMap(([field, part]) => inside(part, { field })),
    ...(typeof others === 'object' ? inside(others, { field: nameFor(schema, resolve) }) : []),
    ...(items === undefined ? [] : inside(items, { entry: true })),
  ]
}

function nameFor({ propertyNames }: JsonSchema, resolve: Resolve): string {
  const words = propertyNames === undefined ? [] : (resolve(propertyNames).enum ?? [])
  return words.find((word) => typeof word === 'string') ?? 'abc'
}

/** Values of every type. */
const OF_EVERY_TYPE: readonly unknown[] = [null, true, 0, -1, 1.5, '', 'x', [], {}, ['x'], { x: 1 }, [null], [{}]]

const ODD_TEXTS = ['', ' ', 'x\u0000y', '\ud83d', '😀', 'ß', '5', 'null', '-']

const ODD_TIMES = [
  ...['2026-05-01T09:00:00+02:00', '2026-05-01T09:00:00-00:00', '2026-05-01T09:00:00.5Z'],
  ...['2026-05-01', '2026-05-01T09:00:00', '2026-05-01T09:00Z', '2026-05-01 09:00:00Z', '2026-02-30T09:00:00Z'],
  ...['2026-05-01T24:00:00Z', '2026-05-01T09:00:60Z', '2026-05-01t09:00:00z', '0000-01-01T00:00:00Z', '1777626000'],
  ...['2026-05-01T09:00:00+24:00', '2026-05-01T09:00:00.1234567890Z', '2026-05-01T09:00:00+0200', '20260501T090000Z'],
]

/** More would only be slow: a list of a million entries tells nothing that one of ten thousand does not. */
const LONGEST_LIST = 10_001
const LONGEST_TEXT = 1_100_001

/** Values at a place that are nearly right: off by one at each bound, of another type, in another spelling. */
export function edgesOf(schema: JsonSchema, fitting: (part: JsonSchema) => unknown): readonly unknown[] {
  return [...OF_EVERY_TYPE, ...textEdges(schema), ...numberEdges(schema), ...listEdges(schema, fitting)]
}

const around = (bound: number | undefined): readonly number[] =>
  bound === undefined ? [] : [bound - 1, bound, bound + 1]

function textEdges({
  type,
  enum: words,
  const: only,
  minLength,
  maxLength,
  format,
  pattern,
}: JsonSchema): readonly unknown[] {
  const spelled = [...(words ?? []), only].filter((word) => typeof word === 'string')
  const spellings = spelled.flatMap((word) => [
    word.toUpperCase(),
    word.toLowerCase(),
    mixed(word),
    `${word}x`,
    ` ${word}`,
  ])
  if (type !== 'string') return spellings
  const lengths = [...around(minLength), ...around(maxLength)].filter((length) => length >= 0 && length <= LONGEST_TEXT)
  const pairs =
    maxLength === undefined || maxLength > 100_000 ? [] : ['😀'.repeat(maxLength), '😀'.repeat(maxLength / 2)]
  return [
    ...spellings,
    ...ODD_TEXTS,
    ...lengths.map(textOf),
    ...pairs,
    ...(format === 'date-time' ? ODD_TIMES : []),
    ...(pattern === undefined
      ? []
      : ['a', 'A', '0', '00:00', '99:99', '24:00', '5m', '5M', '1h30m', 'a b', 'ä', 'a\n']),
  ]
}

const mixed = (word: string): string =>
  Array.from(word, (letter, at) => (at % 2 === 0 ? letter.toUpperCase() : letter.toLowerCase())).join('')

function numberEdges(schema: JsonSchema): readonly unknown[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const bounds = [minimum, maximum, exclusiveMinimum, exclusiveMaximum]
  const numbers = bounds.flatMap(around)
  if (schema.type !== 'integer' && schema.type !== 'number') return numbers
  const halves = bounds.flatMap((bound) => (bound === undefined ? [] : [bound - 0.5, bound + 0.5]))
  const texts = bounds.flatMap((bound) => (bound === undefined ? [] : [String(bound)]))
  return [...numbers, ...halves, ...texts, 2 ** 53, -(2 ** 53), 1e300, -0, 1e-7]
}

function listEdges(
  { type, items, minItems, maxItems }: JsonSchema,
  fitting: (part: JsonSchema) => unknown,
): readonly unknown[] {
  if (type !== 'array') return []
  const lengths = [...around(minItems), ...around(maxItems), 1].filter(
    (length) => length >= 0 && length <= LONGEST_LIST,
  )
  const entry = fitting(items ?? {})
  return lengths.map((length) => Array.from({ length }, () => entry))
}

/** Another field, a missing field, a field that is spelled in another way; of the object at a place. */
export function fieldEdges({ properties = {} }: JsonSchema, fitting: () => unknown): readonly unknown[] {
  const object = (): Record<string, unknown> => {
    const drawn = fitting()
    return typeof drawn === 'object' && drawn !== null && !Array.isArray(drawn) ? { ...drawn } : {}
  }
  const without = Object.keys(properties).map((name) => {
    const { [name]: _left, ...rest } = object()
    return rest
  })
  const [first = 'field'] = Object.keys(properties)
  const extra = ['extra', first.toUpperCase(), `${first}_`, 'constructor', ''].map((name) => ({
    ...object(),
    [name]: 1,
  }))
  const nulls = Object.keys(properties).map((name) => ({ ...object(), [name]: null }))
  return [...without, ...extra, { ...object(), extra: null }, ...nulls]
}

/** Everything that is nearly right, wherever in a body. */
export function nearlyRight(
  schema: JsonSchema,
  resolve: Resolve,
  fitting: (part: JsonSchema) => unknown,
): readonly Wanted[] {
  return placesIn(schema, resolve).flatMap(({ way, schema: at }) => {
    const isObject = at.type === 'object' || at.properties !== undefined
    const values = [...edgesOf(at, fitting), ...(isObject ? fieldEdges(at, () => fitting(at)) : [])]
    return values.map((value) => ({ way, value }))
  })
}
