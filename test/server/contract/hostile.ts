import fc from 'fast-check'
import type { OperationSpec } from '../../../src/api/operation.ts'
import type { Shape } from './arbitrary.ts'

/** A request before it has an address: everything that is drawn about it. */
export interface Drawn {
  /** What was done to it; `meant` when nothing was. */
  readonly kind: string
  /** True when nobody may answer it with success. */
  readonly refused: boolean
  /** Which of the things there are. */
  readonly pick: number
  /** Instead of one of the things there are; as it stands in the address. */
  readonly param?: string
  readonly query: readonly (readonly [string, string])[]
  readonly body?: unknown
  /** Instead of the body as JSON. */
  readonly raw?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

/** What can be done to a request of an operation, and to which. */
interface Harm {
  readonly kind: string
  readonly weight?: number
  readonly of: (spec: OperationSpec, shapes: Shapes) => boolean
  readonly harm: (drawn: Drawn, shapes: Shapes) => fc.Arbitrary<Partial<Drawn>>
}

export interface Shapes {
  readonly body: Shape | null
  readonly query: Shape
}

const hasBody = ({ body }: OperationSpec): boolean => body !== undefined
const bodyOf = ({ body }: Drawn): Record<string, unknown> => ({ ...(body as Record<string, unknown>) })
const jsonOf = (drawn: Drawn): string => JSON.stringify(drawn.body ?? {})

const oddName = fc.constantFrom('nmae', 'x', '', 'Name', 'constructor', 'toString', 'ünknown', 'a.b', 'a/b~c', '$ref')
/** Values of every type of JSON. */
const SAMPLES: readonly (readonly [string, unknown])[] = [
  ...([
    ['string', 'no such word'],
    ['integer', -7],
    ['number', 0.5],
    ['boolean', true],
  ] as const),
  ...([
    ['array', [[]]],
    ['object', { odd: {} }],
  ] as const),
]

/** The types a shape lets through; null when it lets everything through. */
function typesOf(shape: Shape): readonly string[] | null {
  if (shape.anyOf !== undefined) {
    const all = shape.anyOf.map(typesOf)
    return all.includes(null) ? null : all.flatMap((one) => one ?? [])
  }
  if (shape.type !== undefined)
    return [shape.type].flat().flatMap((type) => (type === 'number' ? ['number', 'integer'] : type))
  return shape.enum === undefined && shape.const === undefined ? null : ['string']
}

/** Fields with values of a type that they do not have. */
function wrongTypes({ body }: Shapes): readonly (readonly [string, unknown])[] {
  return Object.entries(body?.properties ?? {}).flatMap(([name, shape]) => {
    const types = typesOf(shape)
    return types === null
      ? []
      : SAMPLES.filter(([type]) => !types.includes(type)).map(([, value]) => [name, value] as const)
  })
}

const numbersOf = ({ body }: Shapes): readonly string[] =>
  Object.entries(body?.properties ?? {}).flatMap(([name, shape]) =>
    typesOf(shape)?.includes('integer') === true ? [name] : [],
  )

/** The text without halves of characters, which no address can hold. */
const wellFormed = (text: string): string => Buffer.from(text).toString()

const refusing = (change: Partial<Drawn>): Partial<Drawn> => ({ refused: true, ...change })

/** Everything bad that is done to requests. */
const HARMS: readonly Harm[] = [
  {
    kind: 'unknown field',
    weight: 3,
    of: (spec) => spec.method !== 'GET',
    harm: (drawn) =>
      fc.tuple(oddName, fc.jsonValue()).map(([name, value]) => refusing({ body: { ...bodyOf(drawn), [name]: value } })),
  },
  {
    kind: 'wrong type',
    weight: 5,
    of: (_, shapes) => wrongTypes(shapes).length > 0,
    harm: (drawn, shapes) =>
      fc
        .constantFrom(...wrongTypes(shapes))
        .map(([name, value]) => refusing({ body: { ...bodyOf(drawn), [name]: value } })),
  },
  {
    kind: 'anything at all',
    weight: 2,
    of: hasBody,
    harm: (_, { body }) => {
      const value = fc.oneof(
        fc.jsonValue(),
        fc.constantFrom(-1, 0, 1e15, 2 ** 53, '', ' ', '\u200b', null, 'null', '-0'),
      )
      return fc
        .dictionary(fc.constantFrom(...Object.keys(body?.properties ?? { x: 1 })), value, { maxKeys: 4 })
        .map((made) => ({ body: made }))
    },
  },
  {
    kind: 'NUL',
    of: hasBody,
    harm: (drawn, { body }) =>
      fc
        .constantFrom(...Object.keys(body?.properties ?? { x: 1 }))
        .map((name) => refusing({ body: { ...bodyOf(drawn), [name]: 'a\u0000b' } })),
  },
  {
    kind: 'half a character',
    of: hasBody,
    harm: (drawn, { body }) =>
      fc.constantFrom(...Object.keys(body?.properties ?? { x: 1 })).map((name) => {
        const rest = jsonOf({ ...drawn, body: { ...bodyOf(drawn), [name]: 'HALF' } })
        return refusing({ raw: rest.replace('"HALF"', String.raw`"\ud83d"`) })
      }),
  },
  {
    kind: 'huge number',
    weight: 2,
    of: (_, shapes) => numbersOf(shapes).length > 0,
    harm: (drawn, shapes) =>
      fc
        .tuple(
          fc.constantFrom(...numbersOf(shapes)),
          fc.constantFrom('1e999', '-1e999', '1e308', '1e-320', '9007199254740993.5'),
        )
        .map(([name, text]) => {
          const raw = jsonOf({ ...drawn, body: { ...bodyOf(drawn), [name]: 'HUGE' } }).replace('"HUGE"', text)
          // A field that takes fractions may take a tiny one.
          return text === '1e-320' ? { raw } : refusing({ raw })
        }),
  },
  {
    kind: 'deep nesting',
    of: hasBody,
    harm: (drawn, { body }) =>
      fc
        .tuple(fc.constantFrom(...Object.keys(body?.properties ?? { x: 1 })), fc.constantFrom(100, 5_000))
        .map(([name, depth]) =>
          refusing({
            raw: jsonOf({ ...drawn, body: { ...bodyOf(drawn), [name]: 'DEEP' } }).replace(
              '"DEEP"',
              '['.repeat(depth) + ']'.repeat(depth),
            ),
          }),
        ),
  },
  {
    kind: '__proto__',
    of: ({ method }) => method !== 'GET',
    harm: (drawn) =>
      fc.constant(
        refusing({
          raw: jsonOf(drawn).replace('{', `{"__proto__":{"admin":true}${jsonOf(drawn) === '{}' ? '' : ','}`),
        }),
      ),
  },
  {
    kind: 'malformed JSON',
    weight: 2,
    of: ({ method }) => method !== 'GET',
    harm: (drawn) =>
      fc
        .constantFrom(
          jsonOf(drawn).slice(0, -1),
          `${jsonOf(drawn)}}`,
          '{',
          '{"a":}',
          "{'a':1}",
          '\u0000',
          'NaN',
          '{"a":01}',
        )
        .map((raw) => refusing({ raw })),
  },
  {
    kind: 'no UTF-8',
    of: hasBody,
    harm: () => fc.constant(refusing({ raw: Uint8Array.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]) })),
  },
  {
    kind: 'oversized',
    of: ({ method }) => method !== 'GET',
    harm: (drawn) => fc.constant(refusing({ raw: jsonOf(drawn) + ' '.repeat(1_048_577) })),
  },
  {
    kind: 'no object',
    of: hasBody,
    harm: () => fc.constantFrom('[]', '"text"', '5', 'null', 'true', '[{}]').map((raw) => refusing({ raw })),
  },
  {
    kind: 'no JSON',
    of: hasBody,
    harm: (drawn) =>
      fc
        .constantFrom(
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data; boundary=x',

          'x',
        )
        .map((type) => refusing({ raw: jsonOf(drawn), headers: { 'content-type': type } })),
  },
  {
    kind: 'unknown query',
    weight: 2,
    of: () => true,
    harm: (drawn) =>
      fc
        .tuple(oddName, fc.string())
        .map(([name, value]) => refusing({ query: [...drawn.query, [name === '' ? 'no' : name, value]] })),
  },
  {
    kind: 'query twice',
    of: (_, { query }) => Object.keys(query.properties ?? {}).length > 0,
    harm: (drawn, { query }) =>
      fc
        .constantFrom(...Object.keys(query.properties ?? {}))
        .map((name) => refusing({ query: [...drawn.query, [name, '1'], [name, '2']] })),
  },
  {
    kind: 'odd query',
    weight: 3,
    of: (_, { query }) => Object.keys(query.properties ?? {}).length > 0,
    harm: (drawn, { query }) => {
      const value = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', '-1', '0', '1e9', '99999999999999999999', 'NaN', '2026-02-30T00:00:00Z', 'x'.repeat(5_000)),
      )
      return fc.tuple(fc.constantFrom(...Object.keys(query.properties ?? {})), value).map(([name, text]) => ({
        query: [...drawn.query.filter(([other]) => other !== name), [name, wellFormed(text)] as const],
      }))
    },
  },
  {
    kind: 'bad cursor',
    weight: 3,
    of: (_, { query }) => query.properties?.['cursor'] !== undefined,
    harm: (drawn) => {
      const made = fc.oneof(
        fc.string({ minLength: 1 }).map((text) => wellFormed(text)),
        fc
          .array(fc.oneof(fc.string(), fc.integer(), fc.constant(1e300), fc.constant(null)), { maxLength: 4 })
          .map((parts) => Buffer.from(JSON.stringify(parts)).toString('base64url')),
      )
      return made.map((cursor) => ({
        query: [...drawn.query.filter(([name]) => name !== 'cursor'), ['cursor', cursor] as const],
      }))
    },
  },
  {
    kind: 'odd parameter',
    weight: 3,
    of: ({ path }) => path.includes(':'),
    harm: () =>
      fc
        .oneof(
          fc.constantFrom(
            '%00',
            '%',
            '%zz',
            '%C3%28',
            '..',
            '%2e%2e',
            'x'.repeat(600),
            '%20',
            'nobody',
            '%F0%9F%91%8B',
            '*',
            "'%3B--",
            '%2F',
          ),
          fc.string({ minLength: 1, unit: 'binary' }).map((text) => encodeURIComponent(wellFormed(text))),
        )
        .map((param) => ({ param })),
  },
  {
    kind: 'stale version',
    weight: 2,
    of: ({ etag, method, creates }) => etag === true && method !== 'GET' && creates !== true,
    harm: () =>
      fc
        .constantFrom('"999999"', '"x"', 'W/"1"', '1', '"-1"', '""', '"1", "2"x')
        .map((tag) => refusing({ headers: { 'if-match': tag } })),
  },
  {
    kind: 'bad idempotency key',
    of: ({ creates }) => creates === true,
    harm: () => fc.constantFrom('', 'x'.repeat(513)).map((key) => refusing({ headers: { 'idempotency-key': key } })),
  },
]

/** A preview takes a form that is half filled in; only what says when is looked at. A hook takes whatever it is told. */
const EASY: Readonly<Record<string, readonly string[]>> = {
  'schedules.preview': ['wrong type', 'huge number'],
  'hooks.receive': ['unknown field'],
}

/** The façade passes over what it does not know, and does not ask what JSON is sent as. */
const EASY_FOR_FACADE: readonly string[] = ['unknown field', 'unknown query', 'no JSON']

const isEasy = (id: string, { facade }: OperationSpec, kind: string): boolean =>
  EASY[id]?.includes(kind) === true || (facade === true && EASY_FOR_FACADE.includes(kind))

/** A request that is meant, or one that something bad was done to. */
export function sometimesHostile(
  meant: fc.Arbitrary<Drawn>,
  [id, spec]: readonly [string, OperationSpec],
  shapes: Shapes,
): fc.Arbitrary<Drawn> {
  const harms = HARMS.filter(({ of }) => of(spec, shapes)).map(({ kind, weight = 1, harm }) => ({
    weight,
    arbitrary: meant.chain((drawn) =>
      harm(drawn, shapes).map((change): Drawn => ({
        ...{ ...drawn, kind, ...change },
        ...(isEasy(id, spec, kind) ? { refused: false } : {}),
      })),
    ),
  }))
  return fc.oneof({ weight: 1, arbitrary: meant }, { weight: 1, arbitrary: fc.oneof(...harms) })
}
