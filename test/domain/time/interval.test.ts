import { describe, expect, it } from 'vitest'
import { durationMs, instant } from '../../../src/domain/instant.ts'
import { countTicks, nextTick, previousTick } from '../../../src/domain/time/interval.ts'

const plan = { intervalMs: durationMs(5000), anchor: instant(1000) }

describe('every 5000 ms anchored at 1000', () => {
  it.each([
    [1000, 6000],
    [5999, 6000],
    [6000, 11_000],
    [6500, 11_000],
    [22_000, 26_000],
    [999, 1000],
    [-100_000, 1000],
  ])('after %i comes %i', (after, next) => {
    expect(nextTick(plan, instant(after))).toBe(next)
  })

  it.each([
    [1000, null],
    [1001, 1000],
    [6000, 1000],
    [6001, 6000],
    [22_000, 21_000],
    [-5, null],
  ])('before %i came %s', (before, previous) => {
    expect(previousTick(plan, instant(before))).toBe(previous)
  })

  it.each([
    [1000, 6000, 0],
    [999, 6000, 1],
    [999, 6001, 2],
    [-100_000, 11_001, 3],
    [5000, 5001, 0],
    [9000, 2000, 0],
  ])('between %i and %i there are %i', (after, before, count) => {
    expect(countTicks(plan, instant(after), instant(before))).toBe(count)
  })
})
