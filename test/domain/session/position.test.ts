import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { later } from '../../../src/domain/instant.ts'
import { inSessionOrder, sessionPosition } from '../../../src/domain/session/session.ts'
import { aSessionRun, NOW } from '../../support/builders.ts'

const MANY_TURNS = 4_000_000_000
/** Turns of an org that has taken 1,000 a second for forty years. */
const turn = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }),
  fc.integer({ min: MANY_TURNS - 3, max: MANY_TURNS + 3 }),
  fc.integer({ min: 1, max: 1_200_000_000_000 }),
)
const given = fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 5_000_000 }))

describe('places in a session', () => {
  it('are those of version 0.1.0 as long as that version could go on', () => {
    expect([sessionPosition(1, 1), sessionPosition(7, 999_999), sessionPosition(MANY_TURNS, 3)]).toEqual([
      1_000_001,
      7_999_999,
      MANY_TURNS * 1_000_000 + 3,
    ])
  })

  it('are higher in a later turn, and in the order in which a turn gives them', () => {
    fc.assert(
      fc.property(turn, given, given, (no, one, two) => {
        expect(sessionPosition(no + 1, one)).toBeGreaterThan(sessionPosition(no, two))
        if (one <= two) expect(sessionPosition(no, one)).toBeLessThanOrEqual(sessionPosition(no, two))
        if (one < two && two < 4_096) expect(sessionPosition(no, one)).toBeLessThan(sessionPosition(no, two))
      }),
    )
  })

  it('are exact numbers after decades', () => {
    fc.assert(
      fc.property(turn, given, (no, one) => {
        expect(sessionPosition(no, one)).toSatisfy(Number.isSafeInteger)
      }),
    )
  })
})

describe('the order of a session', () => {
  const run = (id: string, seq: unknown, ageMs = 0): ReturnType<typeof aSessionRun> =>
    aSessionRun(id, { seq: seq as number | null, createdAt: later(NOW, -ageMs) })

  it('holds between places that are numbers and places that are read as bigint', () => {
    const runs = [run('d', null), run('c', 2n ** 53n + 3n), run('b', 2n ** 53n + 1n), run('a', 5)]
    expect(runs.toSorted(inSessionOrder).map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('is by age between those who share a place', () => {
    const runs = [run('b', 9), run('a', 9), run('c', 9, 1)]
    expect(runs.toSorted(inSessionOrder).map(({ id }) => id)).toEqual(['c', 'a', 'b'])
  })
})
