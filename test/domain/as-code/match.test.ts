import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  unambiguousNames,
  matchItems,
  resolveReference,
  type NamedResource,
  type DocumentItem,
} from '../../../src/domain/as-code/compare.ts'

const stored: readonly NamedResource[] = [
  { id: 'a', name: 'One' },
  { id: 'b', name: 'Two' },
  { id: 'c', name: 'Two' },
]
const byName = (name: string): DocumentItem => ({ id: null, name })

describe('an item of a document', () => {
  it('means what is stored under its id, whatever its name', () => {
    expect(matchItems([{ id: 'a', name: 'Another' }], stored)).toEqual([{ kind: 'stored', id: 'a' }])
  })

  it('means the only thing of its name, and something new when there is none', () => {
    expect(matchItems([byName('One'), byName('Three')], stored)).toEqual([
      ...[{ kind: 'stored', id: 'a' }, { kind: 'new' }],
    ])
  })

  it('with an id that is not stored is new, so that documents with ids can be carried elsewhere', () => {
    expect(matchItems([{ id: 'z', name: 'One' }], stored)).toEqual([{ kind: 'new' }])
  })

  it('whose name several have is ambiguous until others are claimed by their ids', () => {
    expect(matchItems([byName('Two')], stored)).toEqual([{ kind: 'ambiguous', ids: ['b', 'c'] }])
    expect(matchItems([byName('Two'), { id: 'b', name: 'Two' }], stored)).toEqual([
      ...[
        { kind: 'stored', id: 'c' },
        { kind: 'stored', id: 'b' },
      ],
    ])
  })

  it('that stands there twice says where it stood first', () => {
    expect(matchItems([byName('One'), byName('One')], stored)[1]).toEqual({ kind: 'twice', by: 'name', index: 0 })
    const ids = [
      { id: 'a', name: 'x' },
      { id: 'a', name: 'y' },
    ]
    expect(matchItems(ids, stored)[1]).toEqual({ kind: 'twice', by: 'id', index: 0 })
  })

  it('never means what another item means, and finds everything that an export names', () => {
    const things = fc.uniqueArray(
      fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), name: fc.constantFrom('x', 'y', 'z') }),
      {
        selector: ({ id }) => id,
      },
    )
    const items = fc.array(
      fc.record({
        id: fc.option(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j')),
        name: fc.constantFrom('x', 'y', 'z', 'w'),
      }),
    )
    fc.assert(
      fc.property(things, items, (known, sought) => {
        const meant = matchItems(sought, known).flatMap((one) => (one.kind === 'stored' ? [one.id] : []))
        expect(new Set(meant).size).toBe(meant.length)
        const clear = unambiguousNames(known)
        const exported = known.map(({ id, name }) => ({ id: clear.has(id) ? null : id, name }))
        expect(matchItems(exported, known)).toEqual(known.map(({ id }) => ({ kind: 'stored', id })))
      }),
    )
  })
})

describe('a name in a document', () => {
  it('leads to what has it, and else to what has it as id', () => {
    expect(resolveReference('One', stored)).toEqual(['a'])
    expect(resolveReference('Two', stored)).toEqual(['b', 'c'])
    expect(resolveReference('c', stored)).toEqual(['c'])
    expect(resolveReference('d', stored)).toEqual([])
    expect(resolveReference('c', [...stored, { id: 'd', name: 'c' }])).toEqual(['d'])
  })

  it('is clear when nothing else has it', () => {
    expect([...unambiguousNames(stored)]).toEqual([['a', 'One']])
  })
})
