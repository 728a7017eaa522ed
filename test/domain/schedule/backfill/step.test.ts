import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BACKFILL_DEFAULTS,
  type BackfillProgress,
  type BackfillSettings,
  countBackfilled,
  decideStep,
  type StepFacts,
} from '../../../../src/domain/schedule/backfill.ts'
import { scheduleId } from '../../../../src/domain/ids.ts'
import { instant } from '../../../../src/domain/instant.ts'
import { because } from '../../../../src/domain/reasons.ts'

const NOW = instant(1_000_000)
const TERMS: BackfillSettings = { ...BACKFILL_DEFAULTS, from: instant(0), to: NOW, lane: null, maxActive: 2 }
const PROGRESS: BackfillProgress = {
  ...{ state: 'running', total: 5, taken: 0, inFlight: [], counts: {}, failuresInRow: 0, nextAt: null },
}
const FACTS: StepFacts = {
  ...{ now: NOW, scheduleId: scheduleId('sch_1'), schedule: { others: 0, freeSlots: 9 }, closed: null },
}
const step = (
  progress: Partial<BackfillProgress> = {},
  facts: Partial<StepFacts> = {},
  terms: Partial<BackfillSettings> = {},
) => decideStep({ ...PROGRESS, ...progress }, { ...TERMS, ...terms }, { ...FACTS, ...facts })

describe('the next step of a backfill', () => {
  it('makes as many runs as may be pending, and no more than there are', () => {
    expect(step()).toEqual({ kind: 'make', count: 2, nextAt: null })
    expect(step({ taken: 1, inFlight: ['a'] })).toEqual({ kind: 'make', count: 1, nextAt: null })
    expect(step({ taken: 2, inFlight: ['a', 'b'] })).toEqual({ kind: 'rest' })
    expect(step({ taken: 4 })).toEqual({ kind: 'make', count: 1, nextAt: null })
  })

  it('keeps its spacing, one at a time', () => {
    expect(step({}, {}, { spacingMs: 500 })).toEqual({ kind: 'make', count: 1, nextAt: NOW + 500 })
    expect(step({ nextAt: instant(NOW + 1) })).toEqual({ kind: 'rest' })
    expect(step({ nextAt: NOW })).toMatchObject({ kind: 'make' })
  })

  it('waits for the own runs of the schedule, and beside them does not', () => {
    const schedule = { others: 1, freeSlots: 0 }
    expect(step({}, { schedule })).toMatchObject({
      kind: 'hold',
      why: { reason: 'backfill_waits' },
      nextAt: NOW + 1_000,
    })
    expect(step({}, { schedule }, { policy: 'beside' })).toMatchObject({ kind: 'make', count: 2 })
    expect(step({}, { schedule: { others: 0, freeSlots: 1 } })).toMatchObject({ kind: 'make', count: 1 })
  })

  it('loses no moment to a budget or a day that is used up: it waits, and looks again within a minute', () => {
    const why = because('runs_per_day', 'org.runs_per_day', { runs_today: 1, runs_per_day: 1 })
    expect(step({}, { closed: { why, until: null } })).toEqual({ kind: 'hold', why, nextAt: NOW + 1_000 })
    expect(step({}, { closed: { why, until: instant(NOW + 9_000_000) } })).toMatchObject({ nextAt: NOW + 60_000 })
  })

  it('ends when all is done, when too many failed in a row, and when its schedule is gone', () => {
    expect(step({ taken: 5, inFlight: ['a'] })).toEqual({ kind: 'rest' })
    expect(step({ taken: 5 })).toMatchObject({ kind: 'end', state: 'done' })
    expect(step({ failuresInRow: 5 })).toMatchObject({
      kind: 'end',
      state: 'failed',
      why: { evidence: { failures: 5 } },
    })
    expect(step({ failuresInRow: 50 }, {}, { stopOnFailures: null })).toMatchObject({ kind: 'make' })
    expect(step({}, { schedule: null })).toMatchObject({
      kind: 'end',
      state: 'cancelled',
      why: { reason: 'schedule_gone' },
    })
  })

  it('counts failures in a row in the order in which runs ended', () => {
    const counted = countBackfilled({ ...PROGRESS, inFlight: ['a', 'b', 'c', 'd'] }, [
      { id: 'a', state: 'success' },
      { id: 'b', state: 'failed' },
      { id: 'c', state: 'timeout' },
    ])
    expect(counted).toMatchObject({ counts: { success: 1, failed: 1, timeout: 1 }, failuresInRow: 2, inFlight: ['d'] })
  })

  it('never has more under way than it may, makes each moment once, and comes to its end', () => {
    const bounds = fc.record({ total: fc.integer({ min: 0, max: 40 }), maxActive: fc.integer({ min: 1, max: 6 }) })
    fc.assert(
      fc.property(bounds, fc.array(fc.nat({ max: 5 }), { minLength: 1 }), ({ total, maxActive }, ends) => {
        let progress: BackfillProgress = { ...PROGRESS, total }
        for (let round = 0; round < 500; round += 1) {
          const next = decideStep(progress, { ...TERMS, maxActive, stopOnFailures: null }, FACTS)
          if (next.kind === 'end') {
            expect(next.state).toBe('done')
            expect(progress.counts.success ?? 0).toBe(total)
            return
          }
          if (next.kind === 'make') {
            const made = Array.from({ length: next.count }, (_, index) => String(progress.taken + index))
            progress = { ...progress, taken: progress.taken + next.count, inFlight: [...progress.inFlight, ...made] }
          }
          expect(progress.inFlight.length).toBeLessThanOrEqual(maxActive)
          expect(progress.taken).toBeLessThanOrEqual(total)
          const some = progress.inFlight.slice(0, 1 + (ends[round % ends.length] ?? 0))
          progress = countBackfilled(
            progress,
            some.map((id) => ({ id, state: 'success' as const })),
          )
        }
        throw new Error('it never came to its end')
      }),
    )
  })
})
