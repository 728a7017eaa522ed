import { describe, expect, it } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import { jitterFor } from '../../../src/domain/time/jitter.ts'
import { NOW } from './world.ts'

describe('jitter', () => {
  it('is the same each time for the same schedule and occurrence', () => {
    expect(jitterFor('sch_1', NOW, 60_000)).toBe(jitterFor('sch_1', NOW, 60_000))
    // Pinned: another value after an upgrade would move the start of occurrences that are already planned.
    expect([jitterFor('sch_1', NOW, 60_000), jitterFor('sch_2', NOW, 60_000)]).toMatchInlineSnapshot(`
      [
        30358,
        49204,
      ]
    `)
  })

  it('is nothing where none is wanted', () => {
    expect(jitterFor('sch_1', NOW, 0)).toBe(0)
  })

  it.each(['by schedule', 'by occurrence'])('is spread evenly from 0 to the limit, %s', (by) => {
    const buckets = Array.from({ length: 10 }, () => 0)
    for (let index = 0; index < 10_000; index += 1) {
      const seed = by === 'by schedule' ? `sch_${index}` : 'sch_1'
      const nominal = by === 'by schedule' ? NOW : instant(NOW + index * 60_000)
      const jitter = jitterFor(seed, nominal, 9)
      buckets[jitter] = (buckets[jitter] ?? 0) + 1
    }
    expect(buckets).toHaveLength(10)
    for (const size of buckets) expect(Math.abs(size - 1000)).toBeLessThan(130)
  })

  it('is spread evenly within a long limit too', () => {
    const values = Array.from({ length: 5000 }, (_, index) => jitterFor(`sch_${index}`, NOW, 3_600_000))
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    expect(Math.abs(mean - 1_800_000)).toBeLessThan(60_000)
    expect(Math.max(...values)).toBeLessThanOrEqual(3_600_000)
    expect(values.every(Number.isInteger)).toBe(true)
  })
})
