import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runId } from '../../../src/domain/ids.ts'
import { earlier, later } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { isHeld, isCatchUp } from '../../../src/domain/schedule/held.ts'
import { decideRelease, type ReleasedOccurrence } from '../../../src/domain/schedule/occurrences.ts'
import { NO_HISTORY, type PendingRun, type ScheduleHistory } from '../../../src/domain/schedule/history.ts'
import { CONCURRENCY_POLICIES, OVERLAP_ACTIONS, type ScheduleRules } from '../../../src/domain/schedule/rules.ts'
import { NOW, rules } from '../../support/builders.ts'
import { plan, timingOf, wordFor } from '../../support/schedules.ts'
import { expectExplained } from '../../support/why.ts'

const SECONDLY = timingOf({ cron: '* * * * * *' })
const HELD: ReleasedOccurrence = {
  ...{ runId: runId('held'), nominal: NOW, trigger: 'catchup', seen: later(NOW, 60_000) },
  ...{ now: later(NOW, 61_000), jitterSeed: 'sch_1' },
}

const release = (over: Partial<ScheduleRules>, history: Partial<ScheduleHistory> = {}, held = HELD) =>
  decideRelease({ rules: rules(over), timing: SECONDLY, history: { ...NO_HISTORY, ...history }, budget: null }, held)

const pending = (id: string, nominal = earlier(NOW, 1000)): PendingRun => ({
  ...{ id: runId(id), slot: 'held', nominal },
})

const running = (...runs: readonly PendingRun[]): Partial<ScheduleHistory> => ({
  previous: { id: runs.at(-1)?.id ?? runId('none'), state: 'running' },
  pending: runs,
})

describe('occurrences that are seen together', () => {
  const stall = { timing: SECONDLY, watermark: earlier(NOW, 3000), seen: NOW }

  it('are held from the second on, spaced, and say until when', () => {
    const { decisions, history } = plan({ ...stall, rules: { misfirePolicy: 'FIRE_NOW' } })
    expect(decisions.map((one) => [one.kind, one.kind === 'hold' ? one.until - NOW : null])).toEqual([
      ['run', null],
      ['hold', 1000],
      ['hold', 2000],
    ])
    for (const { why } of decisions) expectExplained(why)
    expect(history.pending).toHaveLength(1)
    expect(history.fires).toBe(1)
  })

  it('are held the current one included, which keeps its trigger', () => {
    const { decisions } = plan({ ...stall, rules: { misfirePolicy: 'CATCH_UP_LIMITED', catchupLimit: 2 } })
    expect(decisions.at(-1)).toMatchObject({ kind: 'hold', trigger: 'schedule' })
  })
})

describe('a run that waits', () => {
  const held = because('held', 'misfire_policy=FIRE_NOW', { nominal: '', held_until: '' })

  it('is held until something has happened to it', () => {
    expect(isHeld({ state: 'waiting', decision: held, why: null })).toBe(true)
    expect(isHeld({ state: 'waiting', decision: held, why: because('accepted', 'not_before') })).toBe(false)
    expect(isHeld({ state: 'queued', decision: held, why: null })).toBe(false)
    expect(isHeld({ state: 'waiting', decision: because('accepted', 'admission'), why: null })).toBe(false)
  })

  it('makes up for a time when it was held or was missed', () => {
    expect(isCatchUp({ trigger: 'catchup', heldDecision: null })).toBe(true)
    expect(isCatchUp({ trigger: 'schedule', heldDecision: held })).toBe(true)
    expect(isCatchUp({ trigger: 'schedule', heldDecision: null })).toBe(false)
  })
})

describe('a held occurrence that is released', () => {
  it('keeps its id, and says when it was seen and released', () => {
    const { decision, history } = release({})
    expect(decision).toMatchObject({ kind: 'run', runId: 'held', notBefore: HELD.now, slot: 'held' })
    expect(decision.why).toMatchObject({
      reason: 'caught_up',
      evidence: { seen: '2026-01-15T12:01:00.000Z', released: '2026-01-15T12:01:01.000Z' },
    })
    expect(history).toMatchObject({ fires: 1, previous: { id: 'held' } })
  })

  it('replaces earlier runs under CANCEL_PREV, and is skipped while one for a later time is pending', () => {
    const replace = { overlapAction: 'CANCEL_PREV' } as const
    expect(release(replace, running(pending('a'))).decision).toMatchObject({ kind: 'run', supersedes: ['a'] })
    const later1 = pending('later', later(NOW, 5000))
    const skipped = release(replace, running(pending('a'), later1)).decision
    expect(skipped).toMatchObject({ kind: 'skip', why: { reason: 'overlap', evidence: { previous_run: 'later' } } })
    // Also when the run decided last has ended: what it would replace counts, not which is newest.
    const ended = { previous: { id: runId('x'), state: 'success' }, pending: [later1] } as const
    expect(wordFor(release(replace, ended).decision)).toBe('overlap')
    expectExplained(skipped.why)
  })

  it('is skipped when the schedule has made all its runs by then', () => {
    const { decision, history } = release({ maxFires: 2 }, { fires: 2 })
    expect(decision).toMatchObject({ kind: 'skip', why: { reason: 'all_fires_made' } })
    expect(history.fires).toBe(2)
    expectExplained(decision.why)
  })

  it('obeys the jitter of its schedule', () => {
    const now = HELD.nominal
    const { decision } = release({ jitterMs: 600_000 }, {}, { ...HELD, now })
    expect(decision.kind === 'run' && decision.notBefore > now).toBe(true)
  })

  it('does not wait for its own time after the clock was set back, but for its jitter', () => {
    const now = earlier(HELD.nominal, 2 * 3_600_000)
    const [plain, jittered] = [0, 600_000].map((jitterMs) => release({ jitterMs }, {}, { ...HELD, now }).decision)
    expect(plain).toMatchObject({ kind: 'run', notBefore: now })
    const { decision } = release({ jitterMs: 600_000 }, {}, { ...HELD, now: HELD.nominal })
    const jitterMs = decision.kind === 'run' ? decision.notBefore - HELD.nominal : NaN
    expect(jittered).toMatchObject({ kind: 'run', notBefore: later(now, jitterMs) })
  })

  it('is decided by what is pending, whatever that is: never cut by queue_depth, never in place of a later one', () => {
    const runs = fc.array(
      fc.record({
        later: fc.boolean(),
        slot: fc.constantFrom('held' as const, 'parked' as const),
        isCatchUp: fc.boolean(),
      }),
      { maxLength: 15 },
    )
    fc.assert(
      fc.property(
        runs,
        fc.constantFrom(...OVERLAP_ACTIONS),
        fc.constantFrom(...CONCURRENCY_POLICIES),
        fc.integer({ min: 0, max: 3 }),
        (drawn, overlapAction, concurrencyPolicy, queueDepth) => {
          const found = drawn.map((run, index) => ({
            ...{ id: runId(`r${index}`), slot: run.slot, isCatchUp: run.isCatchUp },
            nominal: run.later ? later(NOW, 1000) : earlier(NOW, 1000),
          }))
          const history = found.length === 0 ? {} : running(...found)
          const { decision } = release({ overlapAction, concurrencyPolicy, queueDepth }, history)
          if (decision.kind === 'skip') expect(decision.why.reason).not.toBe('queue_full')
          else {
            const replaced = found.filter(({ id }) => decision.supersedes.includes(id))
            expect(replaced.every(({ nominal }) => nominal < NOW)).toBe(true)
            if (found.length === 0) expect(decision.slot).toBe('held')
          }
        },
      ),
      { seed: 23, numRuns: 500 },
    )
  })
})
