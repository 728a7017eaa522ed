import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  MAX_CONDITION_DEPTH,
  MAX_COMPARISONS,
  OPERATORS,
  parseCondition,
  type Condition,
} from '../../../src/domain/probe/condition.ts'
import { checkCondition, describeCondition } from '../../../src/domain/probe/verdict.ts'
import { valueAtPointer } from '../../../src/domain/json.ts'

const OF = {
  open: 3,
  name: 'Ada',
  none: null,
  list: [1, { a: 2 }],
  empty: [],
  text: '',
  deep: { 'a/b': { '~': true } },
}

const holds = (path: string, op: string, value?: unknown): boolean => {
  const read = parseCondition('when', { path, op, ...(value === undefined ? {} : { value }) })
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return checkCondition(read.value, OF).holds
}

describe('a condition', () => {
  it.each([
    ['/open', '=', 3, true],
    ['/open', '=', '3', false],
    ['/open', '!=', 4, true],
    ['/missing', '!=', 4, true],
    ['/open', '>', 2, true],
    ['/open', '>', 3, false],
    ['/open', '>=', 3, true],
    ['/open', '<', 4, true],
    ['/open', '<=', 2, false],
    ['/open', '>', '2', false],
    ['/name', '>', 'Aaron', true],
    ['/missing', '<', 1, false],
    ['/none', '<', 1, false],
    ['/list', '>', 1, false],
    ['/name', 'in', ['Ada', 'Bob'], true],
    ['/name', 'in', [], false],
    ['/name', 'contains', 'd', true],
    ['/name', 'contains', 1, false],
    ['/list', 'contains', { a: 2 }, true],
    ['/open', 'contains', 3, false],
    ['/name', 'starts_with', 'A', true],
    ['/open', 'starts_with', '3', false],
    ['/name', 'ends_with', 'a', true],
    ['/list/1/a', '=', 2, true],
    ['/list/length', 'exists', undefined, false],
    ['/list/01', 'exists', undefined, false],
    ['/none', 'exists', undefined, false],
    ['/none', 'missing', undefined, true],
    ['/open', 'missing', undefined, false],
    ['/empty', 'empty', undefined, true],
    ['/text', 'empty', undefined, true],
    ['/open', 'not_empty', undefined, true],
    ['/list', 'not_empty', undefined, true],
    ['/deep/a~1b/~0', '=', true, true],
    ['/__proto__', 'exists', undefined, false],
    ['', 'exists', undefined, true],
  ])('%s %s %j is %s', (path, op, value, expected) => {
    expect(holds(path, op, value)).toBe(expected)
  })

  it('has all, any and not', () => {
    const yes = { path: '/open', op: '=', value: 3 } as const
    const no = { path: '/open', op: '=', value: 4 } as const
    const judge = (condition: Condition) => checkCondition(condition, OF)
    expect(judge({ all: [yes, yes] }).holds).toBe(true)
    expect(judge({ all: [yes, no] })).toEqual({ holds: false, sentence: '/open is 3' })
    expect(judge({ any: [no, yes] }).holds).toBe(true)
    expect(judge({ any: [no, no] }).holds).toBe(false)
    expect(judge({ not: no }).holds).toBe(true)
    expect(describeCondition({ any: [yes, { all: [no, { not: yes }] }] })).toBe(
      '/open is 3 or (/open is 4 and (not (/open is 3)))',
    )
  })

  it.each([
    ['no object', 'x', 'when'],
    ['no operator', { path: '/a' }, 'when.op'],
    ['an unknown operator', { path: '/a', op: 'like', value: 1 }, 'when.op'],
    ['no pointer', { path: 'a', op: 'exists' }, 'when.path'],
    ['a wrong escape', { path: '/a~2', op: 'exists' }, 'when.path'],
    ['no value', { path: '/a', op: '=' }, 'when.value'],
    ['a value for nothing', { path: '/a', op: 'exists', value: 1 }, 'when.value'],
    ['an order of lists', { path: '/a', op: '<', value: [] }, 'when.value'],
    ['a list that is none', { path: '/a', op: 'in', value: 1 }, 'when.value'],
    ['an unknown field', { path: '/a', op: 'exists', not_a: 1 }, 'when.not_a'],
    ['all beside something', { all: [{ op: 'exists' }], any: [] }, 'when'],
    ['an empty list', { any: [] }, 'when.any'],
    [
      'a flaw inside',
      {
        all: [
          { path: '', op: 'exists' },
          { path: '', op: 'nope' },
        ],
      },
      'when.all.1.op',
    ],
  ])('refuses %s', (_, given, field) => {
    const read = parseCondition('when', given)
    expect(read.ok ? [] : read.flaws.map((flaw) => flaw.field)).toEqual([field])
  })

  it('refuses what is nested too deeply, or too much', () => {
    let deep: unknown = { path: '', op: 'exists' }
    for (let level = 0; level < MAX_CONDITION_DEPTH; level += 1) deep = { not: deep }
    expect(parseCondition('when', deep).ok).toBe(false)
    const many = {
      all: Array.from({ length: MAX_COMPARISONS }, () => ({ any: [{ op: 'exists' }, { op: 'missing' }] })),
    }
    expect(parseCondition('when', many).ok).toBe(false)
  })

  it('has an answer for every condition that can be read, whatever it looks at', () => {
    const clause = fc.record({
      path: fc.constantFrom('', '/a', '/a/0', '/b/c', '/~0'),
      op: fc.constantFrom(...OPERATORS),
      value: fc.jsonValue({ maxDepth: 2 }),
    })
    const { condition } = fc.letrec<{ condition: unknown }>((tie) => ({
      condition: fc.oneof(
        { depthSize: 'small' },
        clause,
        fc.record({ all: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ any: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }) }),
        fc.record({ not: tie('condition') }),
      ),
    }))
    let judged = 0
    fc.assert(
      fc.property(condition, fc.jsonValue(), (given, of) => {
        const read = parseCondition('when', given)
        if (!read.ok) {
          expect(read.flaws.length).toBeGreaterThan(0)
          return
        }
        judged += 1
        const { holds: yes, sentence } = checkCondition(read.value, of)
        expect(sentence.length).toBeLessThan(1_500)
        expect(checkCondition({ not: read.value }, of).holds).toBe(!yes)
        expect(describeCondition(read.value)).not.toBe('')
      }),
      { numRuns: 500 },
    )
    expect(judged).toBeGreaterThan(20)
  })

  it('finds by pointer what was put there', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 5 }), { maxLength: 4 }), fc.integer(), (names, leaf) => {
        const of = names.toReversed().reduce<unknown>((inner, name) => ({ ['x' + name]: inner }), leaf)
        const escaped = names.map((name) => `/x${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
        expect(valueAtPointer(of, escaped.join(''))).toBe(leaf)
      }),
      { numRuns: 100 },
    )
  })
})
