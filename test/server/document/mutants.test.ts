import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fieldsRule, rule, text, integerBetween } from '../../../src/api/fields.ts'
import { openApiOf } from '../../../src/operations/openapi.ts'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { flawed, parsed } from '../../../src/domain/input.ts'
import { compare, type Comparison } from './compare.ts'
import { bodiesIn } from './document.ts'

const withBody = (body: z.ZodType): OperationSpec => ({
  ...{ method: 'POST', path: '/things', tag: 'things', summary: 'Create a thing', permission: 'any' },
  ...{ body, answers: { 204: null } },
})

/** What is found where the document describes one body and the server reads another. */
function comparing(described: z.ZodType, read: OperationSpec): Comparison {
  const document = openApiOf({ 'things.create': withBody(described) }, '0.0.0-test')
  return compare(read, bodiesIn(document)(read), { seed: 1, count: 300 })
}

const thing = z.strictObject({
  name: text(1, 20),
  size: integerBetween(0, 10).nullish(),
  color: z.enum(['red', 'GREEN']).optional(),
  tags: z.array(text(1, 5)).max(3).optional(),
  inner: z.strictObject({ at: z.iso.datetime(), share: z.number().min(0).max(1).optional() }).optional(),
})

const notBlue = rule<string>((field, value) =>
  value === 'blue' ? flawed([{ field, value, message: 'must not be blue' }]) : parsed(value),
)

const inner = thing.shape.inner.unwrap()

/** Schemas that differ from what the document says in one thing. */
const MUTANTS: readonly (readonly [string, z.ZodType])[] = [
  ['an upper bound is one higher', thing.extend({ size: integerBetween(0, 11).nullish() })],
  ['an upper bound is one lower', thing.extend({ size: integerBetween(0, 9).nullish() })],
  ['a lower bound is one higher', thing.extend({ size: integerBetween(1, 10).nullish() })],
  ['a fraction is accepted', thing.extend({ size: z.number().min(0).max(10).nullish() })],
  ['null is refused', thing.extend({ size: integerBetween(0, 10).optional() })],
  ['a field is no longer required', thing.extend({ name: text(1, 20).optional() })],
  ['a field is required', thing.extend({ color: z.enum(['red', 'GREEN']) })],
  ['an empty text is accepted', thing.extend({ name: text(0, 20) })],
  ['a text may be one character longer', thing.extend({ name: text(1, 21) })],
  ['a word is missing', thing.extend({ color: z.enum(['red']).optional() })],
  ['there is one more word', thing.extend({ color: z.string().optional() })],
  ['a list may be one entry longer', thing.extend({ tags: z.array(text(1, 5)).max(4).optional() })],
  ['an entry of a list may be longer', thing.extend({ tags: z.array(text(1, 6)).max(3).optional() })],
  ['other fields are accepted', z.looseObject(thing.shape)],
  ['other fields of an inner object are passed over', thing.extend({ inner: z.object(inner.shape).optional() })],
  [
    'an inner bound differs',
    thing.extend({ inner: inner.extend({ share: z.number().min(0).max(2).optional() }).optional() }),
  ],
  [
    'another time is accepted',
    thing.extend({ inner: inner.extend({ at: z.iso.datetime({ offset: true }) }).optional() }),
  ],
]

describe('a comparison of the document with the server', () => {
  it('finds nothing where both are the same', () => {
    const { disagreements, bodies } = comparing(thing, withBody(thing))
    expect(disagreements).toEqual([])
    expect(bodies).toBeGreaterThanOrEqual(300)
  })

  it.each(MUTANTS)('finds that %s', (_what, mutant) => {
    expect(comparing(thing, withBody(mutant)).disagreements).not.toEqual([])
  })

  it('finds that a schema is not asked', () => {
    expect(comparing(thing, withBody(z.looseObject({}))).disagreements).not.toEqual([])
  })

  it('lets rules refuse what the document allows, and counts what is left', () => {
    const ruled = thing.extend({
      name: text(1, 20).check(rule((field, value) => flawed([{ field, value, message: 'no' }]))),
    })
    expect(comparing(thing, withBody(ruled))).toMatchObject({ disagreements: [], accepted: 0 })
    const between = thing.check(
      fieldsRule(({ size, color }) =>
        size === 1 && color !== undefined ? [{ field: 'size', value: size, message: 'no' }] : [],
      ),
    )
    expect(comparing(thing, withBody(between)).disagreements).toEqual([])
    expect(comparing(thing, withBody(thing.extend({ name: text(1, 20).check(notBlue) }))).disagreements).toEqual([])
  })
})
