import { describe, expect, it } from 'vitest'
import { instant } from '../../../src/domain/instant.ts'
import { createLeaseWatch, type LeaseWatch } from '../../../src/features/nodes/lease.ts'

const LEASE_MS = 15_000

/** A look that takes no time. */
const look = (watch: LeaseWatch, counter: number, until: number): readonly string[] => [
  ...watch.observe([{ id: 'nod_1', leaseUntil: instant(until) }], {
    ...{ askedAt: counter, answeredAt: counter, leaseMs: LEASE_MS, everyMs: 1_000 },
  }),
]

/** Looks once a second until the counter stands there, and answers with what the last look found. */
function lookUntil(watch: LeaseWatch, to: number, until: (counter: number) => number, from = 0): readonly string[] {
  let found: readonly string[] = []
  for (let counter = from; counter <= to; counter += 1_000) found = look(watch, counter, until(counter))
  return found
}

describe('a lease', () => {
  it('has lapsed when it was seen unchanged for its whole length', () => {
    expect(lookUntil(createLeaseWatch(), 14_000, () => 99)).toEqual([])
    expect(lookUntil(createLeaseWatch(), 15_000, () => 99)).toEqual(['nod_1'])
  })

  it('is never judged by the time written in it, which changes with every clock that is set', () => {
    const renewed = (counter: number): number => Math.floor(counter / 5_000)
    expect(lookUntil(createLeaseWatch(), 60_000, renewed)).toEqual([])
    expect(lookUntil(createLeaseWatch(), 60_000, (counter) => -7_200_000 - renewed(counter))).toEqual([])
  })

  it('is watched anew after a look that came late', () => {
    const watch = createLeaseWatch()
    lookUntil(watch, 14_000, () => 99)
    expect(look(watch, 34_000, 99)).toEqual([])
    expect(lookUntil(watch, 48_000, () => 99, 35_000)).toEqual([])
    expect(look(watch, 49_000, 99)).toEqual(['nod_1'])
  })

  it('lapses in the end also when every look comes late', () => {
    const watch = createLeaseWatch()
    const lapsedAt = Array.from({ length: 20 }, (_, n) => n * 8_000).find((at) => look(watch, at, 99).length > 0)
    expect(lapsedAt).toBe(72_000)
  })
})
