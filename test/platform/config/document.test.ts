import { describe, expect, it } from 'vitest'
import { readDocument } from '../../../src/platform/config/file.ts'

describe('a file of schedules', () => {
  it('is one document of JSON or YAML', () => {
    expect(readDocument('{"a": [1]}')).toEqual({ ok: true, value: { a: [1] } })
    expect(readDocument('a:\n  - 1\n')).toEqual({ ok: true, value: { a: [1] } })
  })

  it.each([
    ['a name that is there twice', 'a: 1\nb: 2\na: 3\n', 'duplicate name "a" at line 3, column 1'],
    ['a bracket too much', 'a: 1\nb: ]\n', 'Unexpected flow-seq-end token in YAML stream: "]" at line 2, column 4'],
    ['too many levels', '['.repeat(200_000), 'it is nested deeper than 100 levels'],
    ['too many words', ']'.repeat(200_000), 'it has more than 150000 tokens'],
  ])('is refused with the reason: %s', (_, text, message) => {
    expect(readDocument(text)).toEqual({ ok: false, message })
  })

  it('takes no long time for all the mistakes and names that it may have', () => {
    const names = Array.from({ length: 45_000 }, (_, index) => `a${index}`).join(',')
    const begin = process.cpuUsage()
    expect(readDocument(`{${names}}`)).toMatchObject({ ok: true })
    expect(readDocument(']'.repeat(149_000))).toMatchObject({ ok: false })
    const { user, system } = process.cpuUsage(begin)
    // It took half a minute to compare each name with each and to quote the line of each mistake.
    expect((user + system) / 1_000).toBeLessThan(6_000)
  })
})
