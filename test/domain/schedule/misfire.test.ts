import { describe, expect, it } from 'vitest'
import { runId } from '../../../src/domain/ids.ts'
import { earlier, later, type Instant } from '../../../src/domain/instant.ts'
import { explainWhy } from '../../../src/domain/reasons.ts'
import { cancelSuperseded } from '../../../src/domain/schedule/overlap.ts'
import { MAX_HELD } from '../../../src/domain/schedule/rules.ts'
import { NO_HISTORY } from '../../../src/domain/schedule/history.ts'
import { NOW } from '../../support/builders.ts'
import { at, plan, timingOf, wordFor, type PlanInput } from '../../support/schedules.ts'
import { expectExplained } from '../../support/why.ts'

const SECONDLY = timingOf({ cron: '* * * * * *' })
const HOURLY = timingOf({ cron: '0 * * * *' })
const words = (input: PlanInput): readonly string[] => plan(input).decisions.map(wordFor)
const starts = (input: PlanInput): readonly (readonly [string, number])[] =>
  plan(input).decisions.flatMap((one) => (one.kind === 'run' ? [[one.trigger, one.notBefore - input.seen]] : []))

describe('the catch-up window', () => {
  const missed = { timing: HOURLY, watermark: at('2026-01-15T11:59:59Z') }

  it.each([
    [null, '2026-01-15T12:15:00Z', 'run1'],
    [null, '2026-01-15T12:15:00.001Z', 'misfire'],
    [1800, '2026-01-15T12:30:00Z', 'run1'],
    [1800, '2026-01-15T12:30:00.001Z', 'misfire'],
  ])('of %s s, the default being a quarter of an hour, seen at %s: %s', (catchupWindowSeconds, seen, word) => {
    expect(words({ ...missed, seen: at(seen), rules: { misfirePolicy: 'FIRE_NOW', catchupWindowSeconds } })).toEqual([
      word,
    ])
  })

  it('has nothing to say about the current occurrence', () => {
    const seen = at('2026-01-15T12:00:03Z')
    expect(words({ ...missed, seen, rules: { catchupWindowSeconds: 0 } })).toEqual(['run1'])
  })
})

describe('an occurrence at the end of its grace', () => {
  const due = { timing: HOURLY, watermark: at('2026-01-15T11:59:59Z') }

  it('is current to the millisecond, and a catch-up after that', () => {
    expect(starts({ ...due, seen: at('2026-01-15T12:01:00Z') })).toEqual([['schedule', 0]])
    expect(starts({ ...due, seen: at('2026-01-15T12:01:00.001Z') })).toEqual([['catchup', 0]])
  })

  it('says which of the two it was', () => {
    const sentence = (seen: Instant): readonly string[] =>
      plan({ ...due, seen }).decisions.map((one) => {
        expectExplained(one.why)
        return explainWhy(one.why)
      })
    expect(sentence(at('2026-01-15T12:00:01Z'))[0]).toMatch(/was due at/)
    expect(sentence(at('2026-01-15T12:05:00Z'))[0]).toMatch(/was missed; CATCH_UP_LIMITED caught up on it/)
  })
})

describe('many skipped occurrences', () => {
  const skipped = (count: number): ReturnType<typeof plan> =>
    plan({
      timing: SECONDLY,
      watermark: earlier(NOW, (count + 1) * 1000),
      seen: NOW,
      rules: { misfirePolicy: 'SKIP' },
    })

  it('are recorded one by one up to a hundred', () => {
    const { decisions, skippedRange } = skipped(100)
    expect(decisions).toHaveLength(101)
    expect(skippedRange).toBeNull()
  })

  it('are one range from a hundred and one on, from the first to the last', () => {
    const { decisions, skippedRange } = skipped(101)
    expect(decisions.map(wordFor)).toEqual(['run1'])
    expect(skippedRange).toMatchObject({ first: earlier(NOW, 101_000), last: earlier(NOW, 1000), count: 101 })
    if (skippedRange !== null) expectExplained(skippedRange.why)
  })

  it('are one range up to the present when nothing at all is taken', () => {
    const daily = timingOf({ cron: '0 0 * * *' })
    const gone = plan({ timing: daily, watermark: at('2025-01-01T00:00:00Z'), seen: at('2026-01-15T12:00:00Z') })
    expect(gone.decisions).toEqual([])
    expect(gone.skippedRange).toMatchObject({ last: at('2026-01-15T00:00:00Z'), count: 379 })
  })
})

describe('the start of what is taken', () => {
  it('is moved by the jitter of the schedule, later and never beyond it', () => {
    const due = { timing: HOURLY, watermark: at('2026-01-15T11:59:59Z'), seen: at('2026-01-15T12:00:00Z') }
    const moved = starts({ ...due, rules: { jitterMs: 600_000 } })[0]?.[1] ?? -1
    expect(moved).toBeGreaterThan(0)
    expect(moved).toBeLessThanOrEqual(600_000)
    expect(starts({ ...due, rules: { jitterMs: 600_000 } })).toEqual([['schedule', moved]])
  })

  it('is never before it was seen, however small the jitter', () => {
    const late = { timing: HOURLY, watermark: at('2026-01-15T11:59:59Z'), seen: at('2026-01-15T12:00:50Z') }
    expect(starts({ ...late, rules: { jitterMs: 1 } })).toEqual([['schedule', 0]])
  })
})

describe('a window of a whole day of seconds under FIRE_NOW', () => {
  it('is taken up to as many as may be held, in time that grows with their number only', () => {
    const started = process.hrtime.bigint()
    const day = { timing: SECONDLY, watermark: earlier(NOW, 86_400_000), seen: NOW }
    const fire = { misfirePolicy: 'FIRE_NOW', catchupWindowSeconds: 86_400 } as const
    const { decisions, skippedRange } = plan({ ...day, rules: fire })
    expect(decisions.map(wordFor)).toEqual(['run1', ...Array<string>(MAX_HELD - 1).fill('hold')])
    expect(skippedRange?.count).toBe(86_400 - MAX_HELD)
    expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(5_000)
  })
})

describe('a run that is superseded', () => {
  const by = { nominal: NOW, now: later(NOW, 3), stopGraceMs: 5_000 }

  it('is asked to stop where somebody works on it, ends at once otherwise, and says what took its place', () => {
    const cancelled = cancelSuperseded(
      [
        { id: runId('a'), state: 'running' },
        { id: runId('b'), state: 'queued' },
        { id: runId('c'), state: 'success' },
      ],
      by,
    )
    expect(cancelled.map(({ runId: id, to, graceUntil }) => [id, to, graceUntil])).toEqual([
      ['a', 'stopping', later(NOW, 5_003)],
      ['b', 'cancelled', null],
    ])
    for (const { why } of cancelled) expectExplained(why)
    expect(cancelled.map(({ why }) => explainWhy(why))[0]).toBe(
      'The occurrence at 2026-01-15T12:00:00.000Z replaced it.',
    )
  })
})

describe('HALF_OPEN and RETRY at their edges', () => {
  const previous = runId('previous')
  const after = (ago: number, rules: PlanInput['rules'], attempt = 1): readonly string[] =>
    words({
      timing: SECONDLY,
      watermark: earlier(NOW, 1000),
      seen: NOW,
      ...(rules === undefined ? {} : { rules }),
      history: {
        ...NO_HISTORY,
        previous: { id: previous, state: 'failed' },
        lastEnding: { id: previous, status: 'failed', attempt, endedAt: earlier(NOW, ago) },
        failureStreak: 3,
      },
    })

  it('holds back to the millisecond', () => {
    expect(after(299_999, { failureAction: 'HALF_OPEN' })).toEqual(['failure'])
    expect(after(300_000, { failureAction: 'HALF_OPEN' })).toEqual(['run1'])
  })

  it('counts to two with one retry of its own', () => {
    expect([1, 2].map((attempt) => after(0, { failureAction: 'RETRY', ownMaxRetries: 1 }, attempt))).toEqual([
      ['run2'],
      ['run1'],
    ])
  })
})
