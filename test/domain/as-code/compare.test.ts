import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changedNames, differences, withoutDefaults } from '../../../src/domain/as-code/compare.ts'
import { isJsonFields, isSameJson, type JsonFields } from '../../../src/domain/json.ts'

describe('what differs', () => {
  it('is told where it is, inside of what both sides have', () => {
    const before = { cron: 'a', retry: { max: 1, base: 2 }, gone: true, list: [1] }
    const after = { cron: 'b', retry: { base: 2, max: 3 }, list: [1, 2], new: { x: 1 } }
    expect(differences(before, after)).toEqual([
      { field: 'cron', before: 'a', after: 'b' },
      { field: 'retry.max', before: 1, after: 3 },
      { field: 'gone', before: true, after: null },
      { field: 'list', before: [1], after: [1, 2] },
      { field: 'new', before: null, after: { x: 1 } },
    ])
    expect(changedNames(before, after)).toEqual(['cron', 'retry', 'gone', 'list', 'new'])
  })

  it('is nothing where only the order of names does, or something is not there and null', () => {
    expect(differences({ a: { x: 1, y: [{ b: 1, c: 2 }] }, n: null }, { a: { y: [{ c: 2, b: 1 }], x: 1 } })).toEqual([])
  })

  it('is nothing exactly when both are the same', () => {
    const fields = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.jsonValue({ maxDepth: 2 }),
    ) as fc.Arbitrary<JsonFields>
    fc.assert(
      fc.property(fields, fields, (one, other) => {
        expect(differences(one, other).length === 0).toBe(isSameJson(withoutNull(one), withoutNull(other)))
        expect(differences(one, JSON.parse(JSON.stringify(one)) as JsonFields)).toEqual([])
      }),
    )
  })
})

/** What is null is not there. */
const withoutNull = (fields: JsonFields): JsonFields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, isJsonFields(value) ? withoutNull(value) : value]),
  )

describe('what is unusual', () => {
  it('is what cannot be left out', () => {
    const usual = { policy: 'SKIP', limit: 1, options: { a: 1, b: 2 }, none: null }
    expect(withoutDefaults({ policy: 'SKIP', limit: 2, options: { a: 1, b: 3 }, none: null, more: 1 }, usual)).toEqual({
      ...{ limit: 2, options: { b: 3 }, more: 1 },
    })
  })
})
