import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  MAX_PACE_STEPS,
  paceAfter,
  pacedOf,
  paceInterval,
  plannedTiming,
  startPace,
  whyOccurrence,
  type EndedPacedRun,
  type Pace,
  type PacedTiming,
} from '../../../../src/domain/schedule/pace/pace.ts'
import { paceSentence } from '../../../../src/domain/schedule/pace/describe.ts'
import { runId } from '../../../../src/domain/ids.ts'
import { durationMs, instant, later, type Instant } from '../../../../src/domain/instant.ts'
import { explainWhy } from '../../../../src/domain/reasons.ts'
import { nextOccurrence, type EveryTiming } from '../../../../src/domain/time/timing.ts'
import { UTC } from '../../../../src/domain/time/zone.ts'

const START = instant(Date.parse('2026-11-16T12:00:00Z'))
const MINUTE = 60_000

const timingOf = (cadence: Partial<PacedTiming['cadence']> = {}, everyMinutes = 20): PacedTiming => ({
  ...{ kind: 'every', zone: UTC, startsAt: null, endsAt: null, exclude: null },
  ...{ intervalMs: durationMs(everyMinutes * MINUTE), anchor: START },
  cadence: { minSeconds: 300, maxSeconds: 21_600, stretch: 2, quietAfter: 1, ...cadence },
})

const NEWS = { isQuiet: false, found: 'new', digest: 'd' } as const
const QUIET = { isQuiet: true, found: 'empty', digest: null } as const

/** q: quiet, n: news. */
const lettersOf = (story: string): readonly string[] => Array.from(story)

/** A schedule whose runs take a minute each and end before the next moment. */
class Walk {
  pace: Pace
  watermark = START
  now = START
  readonly timing: PacedTiming
  constructor(timing: PacedTiming) {
    this.timing = timing
    const pace = startPace(timing, START)
    if (pace === null) throw new Error('it has a cadence')
    this.pace = pace
  }

  get next(): Instant {
    return nextOccurrence(plannedTiming(this), this.watermark) ?? START
  }

  /** Fires the next moment, and lets its run end so many minutes later. */
  run(news: EndedPacedRun['news'], { took = 1, proposal = null as EndedPacedRun['proposal'] } = {}): this {
    const nominal = this.next
    this.watermark = nominal
    this.now = later(nominal, took * MINUTE)
    const id = runId('run_1')
    const at = { now: this.now, watermark: this.watermark, nextRunAt: this.next }
    this.pace = paceAfter(this.pace, this.timing, { id, nominal, news, proposal, ...at })
    return this
  }

  get minutes(): number {
    return paceInterval(this.timing, this.pace.level) / MINUTE
  }
}

describe('the pace of a schedule', () => {
  it('starts with the interval of the schedule, on its grid', () => {
    const walk = new Walk(timingOf())
    expect(walk.minutes).toBe(20)
    expect(walk.next).toBe(later(START, 20 * MINUTE))
    expect(walk.pace.why.reason).toBe('pace_started')
    expect(paceSentence(walk.timing, walk.pace)).toBe('Between 5 minutes and 6 hours, now every 20 minutes')
  })

  it.each([
    ['q', [40]],
    ['qqq', [40, 80, 160]],
    ['qqqqqq', [40, 80, 160, 320, 360, 360]],
    ['qqqn', [40, 80, 160, 20]],
    ['qqqqqqqqn', [40, 80, 160, 320, 360, 360, 360, 360, 20]],
    ['n', [20]],
    ['nn', [20, 10]],
    ['nnnn', [20, 10, 5, 5]],
    ['nnnnnq', [20, 10, 5, 5, 5, 10]],
    ['nnnqq', [20, 10, 5, 10, 20]],
    ['nqnqn', [20, 40, 20, 40, 20]],
    ['nnqn', [20, 10, 20, 20]],
  ])('follows what runs find: %s', (story, minutes) => {
    const walk = new Walk(timingOf())
    expect(lettersOf(story).map((one) => walk.run(one === 'q' ? QUIET : NEWS).minutes)).toEqual(minutes)
  })

  it('waits for as many quiet runs as it was told', () => {
    const walk = new Walk(timingOf({ quietAfter: 3 }))
    expect(lettersOf('qqqqn').map((one) => walk.run(one === 'q' ? QUIET : NEWS).minutes)).toEqual([20, 20, 40, 80, 20])
  })

  it('moves by whole seconds with any step, and not at all with a step of 1', () => {
    const walk = new Walk(timingOf({ stretch: 1.5 }))
    expect(lettersOf('qqq').map(() => walk.run(QUIET).minutes)).toEqual([30, 45, 67.5])
    const still = new Walk(timingOf({ stretch: 1 }))
    expect(lettersOf('qqnn').map((one) => still.run(one === 'q' ? QUIET : NEWS).minutes)).toEqual([20, 20, 20, 20])
  })

  it('counts from the last moment, so that long runs do not make it drift', () => {
    const walk = new Walk(timingOf()).run(QUIET, { took: 7 })
    expect(walk.next).toBe(later(START, (20 + 40) * MINUTE))
    expect(explainWhy(walk.pace.why)).toBe(
      'After 1 consecutive runs without new results the schedule runs every 2400 s; the interval can vary between 300 s and 21600 s.',
    )
    expect(paceSentence(walk.timing, walk.pace)).toBe(
      'Between 5 minutes and 6 hours, now every 40 minutes after 1 quiet run',
    )
  })

  it('never goes back: a shorter interval whose moment has passed comes at its next one', () => {
    const walk = new Walk(timingOf()).run(QUIET).run(QUIET).run(QUIET)
    const last = walk.next
    walk.run(NEWS, { took: 50 })
    expect(walk.now).toBe(later(last, 50 * MINUTE))
    expect(walk.next).toBe(later(last, 60 * MINUTE))
  })

  it.each([
    [{ text: '3600', inMs: 3_600_000 }, 60, { asked_seconds: 3_600, got_seconds: 3_600, clamped: false }],
    [{ text: '10', inMs: 10_000 }, 5, { asked_seconds: 10, got_seconds: 300, clamped: true }],
    [{ text: '-1', inMs: -1_000 }, 5, { got_seconds: 300, clamped: true }],
    [{ text: '30d', inMs: 30 * 86_400_000 }, 360, { got_seconds: 21_600, clamped: true }],
  ])('obeys a proposal inside the bounds, from the end of the run: %j', (proposal, minutes, evidence) => {
    const walk = new Walk(timingOf()).run(QUIET, { took: 3, proposal })
    expect(walk.next).toBe(later(walk.now, minutes * MINUTE))
    expect(walk.pace.why).toMatchObject({ reason: 'pace_proposed', evidence })
    // A proposal is about one moment: what was found goes on deciding the interval.
    expect(walk.minutes).toBe(40)
    expect(walk.run(NEWS).minutes).toBe(20)
  })

  it('says what it could not read, and goes on as if nothing had been said', () => {
    const walk = new Walk(timingOf()).run(QUIET, { proposal: { text: 'soon', inMs: null } })
    expect(walk.pace.why).toMatchObject({ reason: 'pace_quiet', evidence: { passed_over: 'soon' } })
    expect(walk.minutes).toBe(40)
  })

  it('keeps a moment that has come and is not decided yet', () => {
    const walk = new Walk(timingOf())
    const nominal = walk.next
    const due = later(nominal, 20 * MINUTE)
    const pace = paceAfter(walk.pace, walk.timing, {
      ...{ id: runId('run_1'), nominal, news: QUIET, proposal: { text: '1h', inMs: 3_600_000 } },
      ...{ now: later(due, 5), watermark: nominal, nextRunAt: due },
    })
    expect(nextOccurrence(plannedTiming({ timing: walk.timing, pace }), nominal)).toBe(due)
    expect(pace.why).toMatchObject({ reason: 'pace_quiet', evidence: { passed_over: '1h' } })
    expect(whyOccurrence(pace, walk.timing, later(due, 40 * MINUTE)).reason).toBe('pace_kept')
  })

  it('does not listen to runs of an earlier plan', () => {
    const walk = new Walk(timingOf())
    const early = { id: runId('run_0'), nominal: instant(START - 1), news: QUIET, proposal: null }
    const at = { now: later(START, 1_000), watermark: START, nextRunAt: walk.next }
    expect(paceAfter(walk.pace, walk.timing, { ...early, ...at })).toBe(walk.pace)
  })

  it('remembers the last steps, and no more', () => {
    const walk = new Walk(timingOf())
    for (let count = 0; count < MAX_PACE_STEPS + 5; count += 1) walk.run(QUIET)
    expect(walk.pace.recent).toHaveLength(MAX_PACE_STEPS)
    expect(walk.pace.recent[0]).toMatchObject({ at: walk.now, intervalSeconds: 21_600, reason: 'pace_quiet' })
  })

  it('changes nothing about a timing without a cadence, not even the object', () => {
    const { cadence: _cadence, ...rest } = timingOf()
    const plain: EveryTiming = rest
    expect(pacedOf(plain)).toBeNull()
    expect(startPace(plain, START)).toBeNull()
    expect(plannedTiming({ timing: plain, pace: null })).toBe(plain)
  })
})

describe('whatever runs find and ask for', () => {
  const story = fc.record({
    minSeconds: fc.integer({ min: 1, max: 600 }),
    moreSeconds: fc.integer({ min: 0, max: 600 }),
    mostSeconds: fc.integer({ min: 0, max: 100_000 }),
    stretch: fc.double({ min: 1, max: 10, noNaN: true }),
    quietAfter: fc.integer({ min: 1, max: 4 }),
    runs: fc.array(
      fc.record({
        isQuiet: fc.boolean(),
        tookMs: fc.integer({ min: 0, max: 200_000_000 }),
        proposal: fc.option(fc.record({ text: fc.constant('x'), inMs: fc.option(fc.integer()) })),
        isLate: fc.boolean(),
      }),
      { maxLength: 30 },
    ),
  })

  it('the next moment is ahead, inside the bounds, and the same for whoever computes it again', () => {
    fc.assert(
      fc.property(story, ({ minSeconds, moreSeconds, mostSeconds, stretch, quietAfter, runs }) => {
        const every = minSeconds + moreSeconds
        const cadence = { minSeconds, maxSeconds: every + mostSeconds, stretch, quietAfter }
        const timing: PacedTiming = { ...timingOf(cadence), intervalMs: durationMs(every * 1_000) }
        let pace = startPace(timing, START) as Pace
        let watermark = START
        for (const { isQuiet, tookMs, proposal, isLate } of runs) {
          const planned = plannedTiming({ timing, pace })
          const nominal = nextOccurrence(planned, watermark) as Instant
          watermark = nominal
          const nextRunAt = nextOccurrence(planned, watermark) as Instant
          // Either it ends in time, or moments have passed that nobody has decided.
          const now = later(nominal, isLate ? tookMs : Math.min(tookMs, nextRunAt - nominal - 1))
          const ended = { id: runId('r'), nominal, news: isQuiet ? QUIET : NEWS, proposal }
          const after = paceAfter(pace, timing, { ...ended, now, watermark, nextRunAt })
          expect(paceAfter(pace, timing, { ...ended, now, watermark, nextRunAt })).toEqual(after)
          // What is on record is the same pace.
          expect(JSON.parse(JSON.stringify(after))).toEqual(after)
          const next = nextOccurrence(plannedTiming({ timing, pace: after }), watermark) as Instant
          const interval = paceInterval(timing, after.level)
          expect(interval).toBeGreaterThanOrEqual(minSeconds * 1_000)
          expect(interval).toBeLessThanOrEqual(cadence.maxSeconds * 1_000)
          expect(next).toBeGreaterThan(watermark)
          expect(next - nominal).toBeGreaterThanOrEqual(minSeconds * 1_000)
          expect(next).toBeLessThanOrEqual(Math.max(now, nominal) + cadence.maxSeconds * 1_000)
          if (nextRunAt > now) expect(next).toBeGreaterThan(now)
          else expect(next).toBe(nextRunAt)
          pace = after
        }
      }),
      { numRuns: 60 },
    )
  })
})
