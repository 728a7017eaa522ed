import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BACKFILL_CHOICES,
  BACKFILL_ORDERS,
  selectOccurrences,
  backfillDuration,
  isBackfilled,
  occurrenceResult,
  throughputOf,
} from '../../../../src/domain/schedule/backfill.ts'
import { instant } from '../../../../src/domain/instant.ts'
import type { RunState } from '../../../../src/domain/run/run-machine.ts'

const STATES: readonly RunState[] = [
  'queued',
  'running',
  'success',
  'failed',
  'timeout',
  'cancelled',
  'skipped',
  'expired',
]

describe('what has become of a moment', () => {
  it.each([
    [[], 'not_run'],
    [['skipped'], 'not_run'],
    [['expired'], 'not_run'],
    [['cancelled'], 'cancelled'],
    [['cancelled', 'failed'], 'failed'],
    [['timeout'], 'failed'],
    [['failed', 'success'], 'succeeded'],
    [['success', 'queued'], 'pending'],
  ] as const)('of runs that are %j is %s', (states, standing) => {
    expect(occurrenceResult(states)).toBe(standing)
  })
})

describe('choosing moments', () => {
  const moments = [1, 2, 3, 4, 5, 6].map((at) => instant(at))
  const runs = new Map<(typeof moments)[number], readonly RunState[]>([
    [instant(1), ['skipped']],
    [instant(2), ['failed']],
    [instant(3), ['cancelled']],
    [instant(4), ['success']],
    [instant(5), ['running']],
  ])
  it.each([
    ['missing', [1, 2, 3, 6]],
    ['failed', [2]],
    ['all', [1, 2, 3, 4, 6]],
  ] as const)('takes for %s %j, never what is on its way', (which, taken) => {
    expect(selectOccurrences(moments, { runs, undecided: null }, { which, order: 'oldest' }).selected).toEqual(taken)
  })

  it('leaves to the schedule what it has still to decide, and begins at the end if asked to', () => {
    const chosen = selectOccurrences(moments, { runs, undecided: instant(6) }, { which: 'missing', order: 'newest' })
    expect(chosen.selected).toEqual([3, 2, 1])
    expect(chosen.leftOut).toEqual({ not_run: 0, failed: 0, cancelled: 0, succeeded: 1, pending: 2 })
  })

  it('takes or leaves out every moment once, whatever has become of it', () => {
    const fates = fc.array(fc.array(fc.constantFrom(...STATES), { maxLength: 3 }), { maxLength: 20 })
    fc.assert(
      fc.property(
        fates,
        fc.constantFrom(...BACKFILL_CHOICES),
        fc.constantFrom(...BACKFILL_ORDERS),
        (all, which, order) => {
          const range = all.map((_, index) => instant(index))
          const known = new Map(all.map((states, index) => [instant(index), states]))
          const { selected: taken, leftOut } = selectOccurrences(
            range,
            { runs: known, undecided: null },
            { which, order },
          )
          expect(taken.length + Object.values(leftOut).reduce((sum, one) => sum + one, 0)).toBe(range.length)
          expect(new Set(taken).size).toBe(taken.length)
          for (const at of taken) expect(occurrenceResult(known.get(at) ?? [])).not.toBe('pending')
        },
      ),
    )
  })
})

describe('a backfilled run', () => {
  it('is known by its moment', () => {
    expect(isBackfilled({ trigger: 'manual', nominal: instant(1) })).toBe(true)
    expect(isBackfilled({ trigger: 'manual', nominal: null })).toBe(false)
    expect(isBackfilled({ trigger: 'catchup', nominal: instant(1) })).toBe(false)
  })
})

describe('a pace', () => {
  it('says how long it takes where that is known', () => {
    expect(backfillDuration(10, 1_000, { atOnce: 3, spacingMs: 0 })).toBe(4_000)
    expect(backfillDuration(10, 1_000, { atOnce: 3, spacingMs: 2_000 })).toBe(19_000)
    expect(backfillDuration(10, null, { atOnce: 1, spacingMs: 0 })).toBeNull()
    expect(backfillDuration(0, null, { atOnce: 1, spacingMs: 0 })).toBe(0)
  })

  it('is told from what has ended', () => {
    expect(throughputOf({ ended: 0, left: 5, since: instant(0) }, instant(9))).toEqual({ perMinute: null, eta: null })
    expect(throughputOf({ ended: 2, left: 3, since: instant(0) }, instant(60_000))).toEqual({
      ...{ perMinute: 2, eta: instant(150_000) },
    })
  })
})
