import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutText } from '../../../src/features/runs/view.ts'

const bytesOf = (text: string): number => new TextEncoder().encode(text).length
const MARK = / \[…cut: (\d+) of (\d+) bytes\]$/

describe('a text that is too long to be kept', () => {
  it('is left alone when it just fits', () => {
    expect(cutText('é'.repeat(50), 100)).toBe('é'.repeat(50))
    expect(cutText('', 0)).toBe('')
  })

  it('breaks no character, loses only its end, and says how much', () => {
    const text = fc
      .array(fc.constantFrom('a', 'é', '好', '📬', '👩‍👩‍👧', '\n'), { maxLength: 60 })
      .map((all) => all.join(''))
    fc.assert(
      fc.property(text, fc.nat(120), (output, bytes) => {
        const kept = cutText(output, bytes)
        if (bytesOf(output) <= bytes) {
          expect(kept).toBe(output)
          return
        }
        const [mark = '', lost, all] = MARK.exec(kept) ?? []
        const begin = kept.slice(0, kept.length - mark.length)
        expect(output.startsWith(begin)).toBe(true)
        expect(/\p{Surrogate}/u.test(begin)).toBe(false)
        // Nothing that would have fitted was cut.
        expect(bytes - bytesOf(begin)).toBeGreaterThanOrEqual(0)
        expect(bytes - bytesOf(begin)).toBeLessThan(4)
        expect([Number(lost), Number(all)]).toEqual([bytesOf(output) - bytesOf(begin), bytesOf(output)])
      }),
      { seed: 41, numRuns: 1_000 },
    )
  })
})
