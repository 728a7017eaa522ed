import { describe, expect, it } from 'vitest'
import { createStyle } from '../../src/cli/output/style.ts'
import { renderFacts, renderTable, type Column } from '../../src/cli/output/table.ts'
import { truncateText, manyLines, oneLine, valueText, widthOfText } from '../../src/cli/output/text.ts'
import { relativeTimeText, durationText } from '../../src/cli/output/times.ts'
import { instant } from '../../src/domain/instant.ts'

const NOW = instant(Date.UTC(2026, 10, 15, 12))
const plain = { style: createStyle(false), width: null }

describe('texts of somebody else', () => {
  it('cannot command the terminal', () => {
    expect(oneLine('a\u001b]0;title\u0007b\r\nc\u202ed')).toBe('a ]0;title b c d')
    expect(manyLines('a\u001b[2J\r\nb')).toBe('a [2J\nb')
  })

  it('are as wide as they look', () => {
    expect(['abc', 'ü', 'u\u0308', '漢字', '👩‍🚀', ''].map(widthOfText)).toEqual([3, 1, 1, 4, 2, 0])
  })

  it('are cut between characters, never inside one', () => {
    expect(truncateText('漢字漢字', 5)).toBe('漢字…')
    expect(truncateText('abcdef', 6)).toBe('abcdef')
    expect(truncateText('abc def', 5)).toBe('abc…')
  })

  it('are shown as what they are', () => {
    expect([null, '', 'x', 0, { a: 1 }].map(valueText)).toEqual(['-', '-', 'x', '0', '{"a":1}'])
  })
})

describe('a table', () => {
  interface Row {
    readonly name: string
    readonly count: number
  }
  const columns: readonly Column<Row>[] = [
    { title: 'NAME', value: ({ name }) => name, flexible: true },
    { title: 'COUNT', value: ({ count }) => String(count), right: true },
  ]
  const rows = [
    { name: '漢字', count: 5 },
    { name: 'a name that is rather long', count: 1_000_000 },
  ]

  it('has its columns below each other', () => {
    expect(renderTable(columns, rows, plain)).toBe(
      [
        'NAME                          COUNT',
        '漢字                              5',
        'a name that is rather long  1000000',
        '',
      ].join('\n'),
    )
  })

  it('takes what is missing from what can give, and never from the rest', () => {
    expect(renderTable(columns, rows, { ...plain, width: 20 })).toContain('a name tha…  1000000\n')
    expect(renderTable(columns, rows, { ...plain, width: 5 })).toContain('a name…   1000000\n')
  })
})

describe('facts', () => {
  it('stand below each other, without those that are not', () => {
    const facts = [
      ['a', '1'],
      ['long', 'x\ny'],
      ['gone', null],
    ] as const
    expect(renderFacts(facts, plain)).toBe('a     1\nlong  x\n      y\n')
  })
})

describe('times', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_500, '1.5 s'],
    [45_000, '45 s'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [5_400_000, '1 h 30 min'],
    [90 * 86_400_000 - 1, '90 d'],
  ])('%i ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })

  it('are told from now', () => {
    expect(relativeTimeText('2026-11-15T12:05:00Z', NOW)).toBe('in 5 min')
    expect(relativeTimeText('2026-11-15T09:00:00Z', NOW)).toBe('3 h ago')
    expect(relativeTimeText('2026-11-15T12:00:00.500Z', NOW)).toBe('now')
    expect(relativeTimeText(null, NOW)).toBe('-')
  })
})
