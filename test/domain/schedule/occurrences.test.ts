import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { grantSlots } from '../../../src/domain/schedule/concurrency.ts'
import { decideRunNow } from '../../../src/domain/schedule/run-now.ts'
import { runId } from '../../../src/domain/ids.ts'
import { earlier, instant, later } from '../../../src/domain/instant.ts'
import { planOccurrences } from '../../../src/domain/schedule/occurrences.ts'
import { because, explainWhy } from '../../../src/domain/reasons.ts'
import {
  nextFailureStreak,
  NO_HISTORY,
  type ScheduleHistory,
  type CountedEnding,
} from '../../../src/domain/schedule/history.ts'
import { decideAfterRun, deletesAfterRun, statusAfter } from '../../../src/domain/schedule/lifecycle.ts'
import { DEFAULT_FIRING_SETTINGS, MISFIRE_POLICIES } from '../../../src/domain/schedule/rules.ts'
import { readShape } from '../../../src/api/read-input.ts'
import { schedulePatch } from '../../../src/features/schedules/schema.ts'
import { policiesFrom } from '../../../src/domain/schedule/rule-fields.ts'
import { NOW, rules } from '../../support/builders.ts'
import { at, plan, planAndRelease, timingOf, wordFor, type PlanInput } from '../../support/schedules.ts'

/** What becomes of all occurrences when none of the runs before them has ended. */
const words = (input: PlanInput): readonly string[] => planAndRelease(input).map(wordFor)
const previous = runId('previous')
const runningPrevious: ScheduleHistory = {
  ...NO_HISTORY,
  previous: { id: previous, state: 'running' },
  pending: [{ id: previous, slot: 'held' }],
}
const ended = (status: CountedEnding, attempt = 1, ago = 1000): ScheduleHistory => ({
  ...NO_HISTORY,
  previous: { id: previous, state: status },
  lastEnding: { id: previous, status, attempt, endedAt: earlier(NOW, ago) },
  failureStreak: status === 'success' ? 0 : 1,
})
const SECONDLY = timingOf({ cron: '* * * * * *' })
const ONE_DUE = { timing: SECONDLY, watermark: earlier(NOW, 1000), seen: NOW }

describe('an engine that stalls five seconds on an every-second cron', () => {
  const stall = { timing: SECONDLY, watermark: earlier(NOW, 5000), seen: NOW }
  const parallel = { concurrencyPolicy: 'PARALLEL' } as const

  it('fires all five under FIRE_NOW', () => {
    expect(words({ ...stall, rules: { ...parallel, misfirePolicy: 'FIRE_NOW' } })).toEqual([
      'run1',
      'run1',
      'run1',
      'run1',
      'run1',
    ])
  })

  it('fires only the current one under SKIP and records the other four', () => {
    expect(words({ ...stall, rules: { ...parallel, misfirePolicy: 'SKIP' } })).toEqual([
      ...Array<string>(4).fill('misfire'),
      'run1',
    ])
  })

  it('fires the newest two under CATCH_UP_LIMITED 2 and records the other three', () => {
    const two = { ...parallel, misfirePolicy: 'CATCH_UP_LIMITED', catchupLimit: 2 } as const
    const decisions = planAndRelease({ ...stall, rules: two })
    expect(decisions.map(wordFor)).toEqual(['misfire', 'misfire', 'misfire', 'run1', 'run1'])
    expect(decisions.map((one) => one.kind === 'run' && one.trigger)).toEqual([
      false,
      false,
      false,
      'catchup',
      'schedule',
    ])
    const [first] = decisions
    expect(first !== undefined && explainWhy(first.why)).toContain('was missed by 4 s, and CATCH_UP_LIMITED')
  })
})

describe('a minute cron', () => {
  const minutely = timingOf({ cron: '* * * * *' })
  const seen = at('2026-01-15T12:00:03Z')

  it('whose :00 is seen at :03 still fires under SKIP', () => {
    const due = { timing: minutely, watermark: at('2026-01-15T11:59:59Z'), seen }
    expect(words({ ...due, rules: { misfirePolicy: 'SKIP' } })).toEqual(['run1'])
  })

  it('is current up to exactly a minute late, and missed after that', () => {
    const hourly = timingOf({ cron: '0 * * * *' })
    const due = { timing: hourly, watermark: at('2026-01-15T11:59:59Z'), rules: { misfirePolicy: 'SKIP' } } as const
    expect(words({ ...due, seen: at('2026-01-15T12:01:00Z') })).toEqual(['run1'])
    expect(words({ ...due, seen: at('2026-01-15T12:01:00.001Z') })).toEqual(['misfire'])
  })

  it('every five minutes, down for ten, is caught up inside the window and marked', () => {
    const five = timingOf({ cron: '*/5 * * * *' })
    const down = { timing: five, watermark: at('2026-01-15T11:50:00Z'), seen: at('2026-01-15T12:02:00Z') }
    const decisions = planAndRelease({
      ...down,
      rules: { misfirePolicy: 'FIRE_NOW', concurrencyPolicy: 'PARALLEL' },
    })
    expect(decisions.map((one) => one.kind === 'run' && one.trigger)).toEqual(['catchup', 'catchup'])
  })

  it('down for three days never replays the backlog: the gap is one recorded range', () => {
    const down = {
      timing: timingOf({ cron: '*/5 * * * *' }),
      watermark: earlier(NOW, 3 * 86_400_000),
      seen: later(NOW, 1000),
    }
    const { decisions, skippedRange } = plan({
      ...down,
      rules: { misfirePolicy: 'FIRE_NOW', concurrencyPolicy: 'PARALLEL' },
    })
    expect(decisions.map(wordFor)).toEqual(['run1', 'hold', 'hold'])
    expect(skippedRange).toMatchObject({
      first: later(down.watermark, 300_000),
      last: at('2026-01-15T11:45:00Z'),
      count: 864 - 3,
    })
  })

  it('down for three years of every second costs next to nothing', () => {
    const started = process.hrtime.bigint()
    const { skippedRange } = plan({ timing: SECONDLY, watermark: at('2023-01-15T12:00:00Z'), seen: NOW })
    expect(skippedRange?.count).toBe(1096 * 86_400 - 1)
    expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(1_250)
  })
})

describe('a missed reminder', () => {
  const reminder = timingOf({ at: '2026-01-15T12:00:00Z' })
  const late = { timing: reminder, watermark: at('2026-01-15T11:00:00Z'), seen: at('2026-01-18T12:00:00Z') }

  it.each(MISFIRE_POLICIES)('fires however late, as a catch-up, under %s', (misfirePolicy) => {
    expect(plan({ ...late, rules: { misfirePolicy } }).decisions).toMatchObject([{ kind: 'run', trigger: 'catchup' }])
  })

  it('obeys a window of its own', () => {
    expect(words({ ...late, rules: { catchupWindowSeconds: 3600 } })).toEqual(['misfire'])
  })
})

describe('overlap', () => {
  it('SKIP skips the first, second and third occurrence while the previous run goes on', () => {
    const due = { timing: SECONDLY, watermark: earlier(NOW, 3000), seen: NOW }
    const skipAll = { overlapAction: 'SKIP', misfirePolicy: 'FIRE_NOW' } as const
    expect(words({ ...due, rules: skipAll, history: runningPrevious })).toEqual(['overlap', 'overlap', 'overlap'])
  })

  it('CANCEL_PREV replaces the previous run although its only slot is taken', () => {
    const replace = { overlapAction: 'CANCEL_PREV', concurrencyPolicy: 'SKIP' } as const
    const { decisions } = plan({ ...ONE_DUE, rules: replace, history: runningPrevious })
    expect(decisions).toMatchObject([{ kind: 'run', supersedes: ['previous'], firstAttempt: 1, slot: 'held' }])
  })

  it('CANCEL_PREV takes every pending run, and leaves one that has just succeeded as it ended', () => {
    const replace = { overlapAction: 'CANCEL_PREV' } as const
    const two = [
      { id: runId('older'), slot: 'held' },
      { id: previous, slot: 'parked' },
    ] as const
    const both = plan({ ...ONE_DUE, rules: replace, history: { ...runningPrevious, pending: two } }).decisions
    expect(both).toMatchObject([{ supersedes: ['older', 'previous'] }])
    const done = plan({ ...ONE_DUE, rules: replace, history: ended('success') }).decisions
    expect(done).toMatchObject([{ kind: 'run', supersedes: [] }])
  })

  it('PARALLEL helps only while the previous run itself is pending', () => {
    const parallel = { overlapAction: 'PARALLEL', concurrencyPolicy: 'SKIP' } as const
    expect(words({ ...ONE_DUE, rules: parallel, history: runningPrevious })).toEqual(['run1'])
    const olderPending = { ...ended('success'), pending: [{ id: runId('older'), slot: 'held' as const }] }
    expect(words({ ...ONE_DUE, rules: parallel, history: olderPending })).toEqual(['concurrency'])
  })

  it('PARALLEL stops at max_parallel', () => {
    const rule = { overlapAction: 'PARALLEL', maxParallel: 1 } as const
    expect(words({ ...ONE_DUE, rules: rule, history: runningPrevious })).toEqual(['overlap_limit'])
    expect(words({ ...ONE_DUE, rules: { ...rule, maxParallel: 2 }, history: runningPrevious })).toEqual(['run1'])
  })
})

describe('after a failure', () => {
  it.each(['failed', 'timeout', 'cancelled'] as const)('that ended %s on attempt 2', (status) => {
    const after = (failureAction: 'RUN_NEW' | 'RETRY' | 'SKIP'): readonly string[] =>
      words({ ...ONE_DUE, rules: { failureAction }, history: ended(status, 2) })
    expect(after('RUN_NEW')).toEqual(['run1'])
    expect(after('RETRY')).toEqual(['run3'])
    expect(after('SKIP')).toEqual(['failure'])
  })

  it('SKIP skips exactly one occurrence per failure', () => {
    const skip = { failureAction: 'SKIP' } as const
    const once = plan({ ...ONE_DUE, rules: skip, history: ended('failed') })
    expect(once.history.skippedFor).toBe('previous')
    expect(words({ ...ONE_DUE, rules: skip, history: once.history })).toEqual(['run1'])
  })

  it('RETRY counts on without end, unless the schedule sets its own number of retries', () => {
    const retry = (attempt: number, ownMaxRetries: number | null): readonly string[] =>
      words({ ...ONE_DUE, rules: { failureAction: 'RETRY', ownMaxRetries }, history: ended('failed', attempt) })
    expect(retry(99, null)).toEqual(['run100'])
    expect(retry(99, 0)).toEqual(['run100'])
    expect([1, 2, 3, 4].map((attempt) => retry(attempt, 2)[0])).toEqual(['run2', 'run3', 'run1', 'run1'])
  })

  it.each([
    [1, 29, 'failure'],
    [1, 30, 'run1'],
    [2, 59, 'failure'],
    [2, 60, 'run1'],
    [5, 3599, 'failure'],
    [9, 3599, 'failure'],
    [9, 3600, 'run1'],
  ])('BACKOFF after %i failures in a row and %i s: %s', (failureStreak, ago, word) => {
    const history = { ...ended('failed', 1, ago * 1000), failureStreak }
    expect(words({ ...ONE_DUE, rules: { failureAction: 'BACKOFF' }, history })).toEqual([word])
  })

  it.each([
    [2, 1, 'run1'],
    [3, 299, 'failure'],
    [3, 300, 'run1'],
    [4, 299, 'failure'],
  ])('HALF_OPEN after %i failures in a row and %i s: %s', (failureStreak, ago, word) => {
    const history = { ...ended('failed', 1, ago * 1000), failureStreak }
    expect(words({ ...ONE_DUE, rules: { failureAction: 'HALF_OPEN' }, history })).toEqual([word])
  })

  it('is not looked at while the previous run is pending, nor after a success', () => {
    const older = { ...runningPrevious, lastEnding: ended('failed').lastEnding, failureStreak: 5 }
    const back = { failureAction: 'BACKOFF', concurrencyPolicy: 'PARALLEL' } as const
    expect(words({ ...ONE_DUE, rules: back, history: older })).toEqual(['run1'])
    expect(words({ ...ONE_DUE, rules: back, history: ended('success') })).toEqual(['run1'])
  })

  it('the streak counts failed, timed-out and cancelled runs, and nothing else', () => {
    const after = (state: Parameters<typeof nextFailureStreak>[1]['state'], superseded = false): number =>
      nextFailureStreak(2, { state, superseded })
    expect(['failed', 'timeout', 'cancelled'].map((state) => after(state as 'failed'))).toEqual([3, 3, 3])
    expect(after('success')).toBe(0)
    expect(after('cancelled', true)).toBe(2)
    expect(['skipped', 'expired', 'dropped', 'rejected'].map((state) => after(state as 'skipped'))).toEqual([
      2, 2, 2, 2,
    ])
  })
})

describe('concurrency', () => {
  const parkedTwo = ['p1', 'p2'].map((id) => ({ id: runId(id), slot: 'parked' as const }))
  const three = { timing: SECONDLY, watermark: earlier(NOW, 3000), seen: NOW }

  it('SKIP with one slot makes one run and two skips of three catch-ups on an idle schedule', () => {
    const skip = { concurrencyPolicy: 'SKIP', misfirePolicy: 'FIRE_NOW' } as const
    expect(words({ ...three, rules: skip })).toEqual(['run1', 'concurrency', 'concurrency'])
  })

  it('QUEUE lets whatever is made up for wait, beyond its depth', () => {
    const queue = { queueDepth: 2, misfirePolicy: 'FIRE_NOW' } as const
    expect(words({ ...three, rules: queue, history: runningPrevious })).toEqual(['park', 'park', 'park'])
  })

  it('QUEUE with depth 2 skips the third that waits in time, and does not count those made up for', () => {
    const queue = { queueDepth: 2 } as const
    const pending = (isCatchUp: boolean): ScheduleHistory => ({
      ...runningPrevious,
      pending: [...runningPrevious.pending, ...parkedTwo.map((run) => ({ ...run, isCatchUp }))],
    })
    expect(words({ ...ONE_DUE, rules: queue, history: pending(false) })).toEqual(['queue_full'])
    expect(words({ ...ONE_DUE, rules: queue, history: pending(true) })).toEqual(['park'])
  })

  it('gives a freed slot to the run parked longest', () => {
    const parked = ['p1', 'p2', 'p3'].map((id) => ({ id: runId(id), slot: 'parked' as const }))
    expect(grantSlots(parked, 1)).toEqual(['p1'])
    expect(grantSlots([{ id: runId('h'), slot: 'held' }, ...parked], 1)).toEqual([])
    expect(grantSlots([{ id: runId('h'), slot: 'held' }, ...parked], 3)).toEqual(['p1', 'p2'])
  })
})

describe('run-now', () => {
  const schedule = (history: ScheduleHistory, over = {}): Parameters<typeof decideRunNow>[0] => ({
    rules: rules({ concurrencyPolicy: 'SKIP', overlapAction: 'SKIP', failureAction: 'SKIP', ...over }),
    history,
    nextRunAt: later(NOW, 1000),
  })

  it('asks only the concurrency policy', () => {
    expect(decideRunNow(schedule(ended('failed')), 'force', NOW)).toMatchObject({ kind: 'run', slot: 'held' })
    expect(decideRunNow(schedule(runningPrevious, { maxConcurrency: 2 }), 'force', NOW)).toMatchObject({ kind: 'run' })
  })

  it('is refused when every slot is taken under SKIP, and waits under QUEUE', () => {
    expect(decideRunNow(schedule(runningPrevious), 'force', NOW)).toMatchObject({
      kind: 'refuse',
      why: { reason: 'concurrency' },
    })
    expect(decideRunNow(schedule(runningPrevious, { concurrencyPolicy: 'QUEUE' }), 'force', NOW)).toMatchObject({
      slot: 'parked',
    })
  })

  it('in mode due does nothing before the time', () => {
    expect(decideRunNow(schedule(NO_HISTORY), 'due', NOW)).toMatchObject({ kind: 'not_due' })
    expect(decideRunNow(schedule(NO_HISTORY), 'due', later(NOW, 1000)).kind).toBe('run')
  })
})

/** Everything that was pending has succeeded. */
const succeeded = (history: ScheduleHistory): ScheduleHistory => ({
  ...history,
  previous: history.previous === null ? null : { ...history.previous, state: 'success' },
  pending: [],
})

describe('the sample of the seeds: every 5 s, SKIP, CANCEL_PREV, RETRY, CATCH_UP_LIMITED 3', () => {
  const fields = readShape(schedulePatch, {
    max_concurrency: 1,
    concurrency_policy: 'skip',
    overlap_action: 'cancel_prev',
    failure_action: 'retry',
    misfire_policy: 'catch_up_limited',
    catchup_limit: 3,
  })
  const read = fields.ok ? policiesFrom(fields.value) : fields
  const sample = read.ok ? read.value.rules : rules()
  const every5 = timingOf({ cron: '*/5 * * * * *' })
  const due = { timing: every5, watermark: earlier(NOW, 5000), seen: NOW, rules: sample }

  it('is read, policy words in any case', () => {
    expect(read).toMatchObject({ ok: true, value: { rules: { overlapAction: 'CANCEL_PREV', catchupLimit: 3 } } })
  })

  it('with a target that takes 12 s supersedes each run and starts attempt 1', () => {
    expect(words({ ...due, history: runningPrevious })).toEqual(['replace1'])
  })

  it('with a target that answers 500 makes attempts 2, 3, …', () => {
    expect([1, 2, 3].map((attempt) => words({ ...due, history: ended('failed', attempt) })[0])).toEqual([
      'run2',
      'run3',
      'run4',
    ])
  })

  it('after a stall makes up three of three when each run ends before the next is released', () => {
    const stalled = { ...due, watermark: earlier(NOW, 60_000) }
    const skipped = Array<string>(9).fill('misfire')
    expect(plan(stalled).decisions.map(wordFor)).toEqual([...skipped, 'run1', 'hold', 'hold'])
    expect(planAndRelease(stalled, succeeded).map(wordFor)).toEqual([...skipped, 'run1', 'run1', 'run1'])
  })

  it('after a stall of a minute makes up for the last three, each replacing the one before', () => {
    // Runs that take longer than the spacing.
    const skipped = Array<string>(9).fill('misfire')
    expect(words({ ...due, watermark: earlier(NOW, 60_000) })).toEqual([...skipped, 'run1', 'replace1', 'replace1'])
  })
})

describe('policies that are not policies', () => {
  it.each([
    [{ misfire_policy: 'LATER' }, 'misfire_policy'],
    [{ catchup_limit: 0 }, 'catchup_limit'],
    [{ overlap_action: 5 }, 'overlap_action'],
    [{ max_concurrency: 0 }, 'max_concurrency'],
    [{ queue_depth: -1 }, 'queue_depth'],
    [{ failure_options: { threshold: 0 } }, 'failure_options.threshold'],
    [{ failure_options: { cooldown: 5 } }, 'failure_options.cooldown'],
    [{ retry_policy: { strategy: 'x' } }, 'retry_policy.strategy'],
    [{ max_fires: 0 }, 'max_fires'],
  ])('%j is refused at %s', (input, field) => {
    const read = readShape(schedulePatch, input)
    expect(!read.ok && read.flaws[0]?.field).toBe(field)
    expect(!read.ok && read.flaws[0]?.allowed).toBeTruthy()
  })
})

describe('the life of a schedule', () => {
  const reminder = timingOf({ at: '2026-01-15T12:00:00Z' })

  it.each([
    ['success', true, { kind: 'delete' }],
    ['success', false, { kind: 'end', state: 'finished' }],
    ['failed', true, { kind: 'end', state: 'failed' }],
    ['timeout', true, { kind: 'end', state: 'failed' }],
    ['cancelled', true, { kind: 'end', state: 'finished' }],
    ['running', true, { kind: 'keep' }],
  ] as const)('of a reminder whose run ended %s (delete_after_run: %s)', (state, deleteAfterRun, after) => {
    expect(decideAfterRun({ timing: reminder, deleteAfterRun }, { state, planned: true })).toEqual(after)
  })

  it('is untouched by a run somebody asked for, and by runs of recurring schedules', () => {
    expect(decideAfterRun({ timing: reminder, deleteAfterRun: true }, { state: 'success', planned: false })).toEqual({
      kind: 'keep',
    })
    expect(decideAfterRun({ timing: SECONDLY, deleteAfterRun: true }, { state: 'failed', planned: true })).toEqual({
      kind: 'keep',
    })
    expect([
      deletesAfterRun(reminder, null),
      deletesAfterRun(SECONDLY, null),
      deletesAfterRun(reminder, false),
    ]).toEqual([true, false, false])
  })

  it('ends with its last occurrence or its last permitted run', () => {
    expect(statusAfter({ timing: reminder, maxFires: null, fires: 0 }, at('2026-01-15T12:00:00Z'))).toEqual({
      state: 'finished',
      nextRunAt: null,
    })
    expect(statusAfter({ timing: SECONDLY, maxFires: 3, fires: 3 }, NOW).state).toBe('finished')
    expect(statusAfter({ timing: SECONDLY, maxFires: 3, fires: 2 }, NOW)).toEqual({
      state: 'active',
      nextRunAt: later(NOW, 1000),
    })
  })

  it('makes no run beyond max_fires, skipped occurrences not counting', () => {
    const due = { timing: SECONDLY, watermark: earlier(NOW, 5000), seen: NOW }
    const two = { misfirePolicy: 'FIRE_NOW', concurrencyPolicy: 'PARALLEL', maxFires: 2 } as const
    expect(words({ ...due, rules: two })).toEqual(['run1', 'run1', ...Array<string>(3).fill('all_fires_made')])
    const one = { ...two, maxFires: 1 }
    expect(words({ ...due, rules: one })).toEqual(['run1'])
  })
})

describe('a budget that is used up', () => {
  it('skips the occurrence without cancelling anything for it', () => {
    const why = because('budget', 'budget.on_exceed=skip', {
      ...{ budget: 'b', remaining: 0, unit: 'tokens', until: '2026-01-02T00:00:00.000Z', reserve: 1 },
    })
    const planned = planOccurrences(
      { rules: rules({ overlapAction: 'CANCEL_PREV' }), timing: SECONDLY, history: runningPrevious, budget: why },
      { due: { ...ONE_DUE, jitterSeed: 's' }, settings: DEFAULT_FIRING_SETTINGS, newRunId: () => runId('n') },
    )
    expect(planned.decisions).toMatchObject([{ kind: 'skip', why: { reason: 'budget' } }])
    expect(planned.history.pending).toEqual(runningPrevious.pending)
  })
})

describe('planning, whatever the stall', () => {
  it('decides each due occurrence exactly once, in order, wherever the scans fall', () => {
    const stalls = fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 8 })
    const policy = fc.constantFrom(...MISFIRE_POLICIES)
    fc.assert(
      fc.property(
        stalls,
        policy,
        fc.constantFrom('*/7 * * * * *', '* * * * *', '*/5 * * * *'),
        (gaps, misfirePolicy, cron) => {
          const timing = timingOf({ cron })
          let watermark = NOW
          const decided: number[] = []
          let ranged = 0
          for (const gap of gaps) {
            const seen = instant(watermark + gap)
            const { decisions, skippedRange } = plan({
              timing,
              watermark,
              seen,
              rules: { misfirePolicy, catchupLimit: 3 },
            })
            if (skippedRange !== null) ranged += skippedRange.count
            decided.push(...decisions.map((one) => one.nominal))
            watermark = seen
          }
          const every = plan({
            timing,
            watermark: NOW,
            seen: watermark,
            rules: { misfirePolicy: 'FIRE_NOW', catchupWindowSeconds: 31_536_000 },
          })
          const due = every.decisions.map((one) => one.nominal)
          expect(decided.length + ranged).toBe(due.length)
          expect(decided).toEqual(due.filter((nominal) => decided.includes(nominal)))
        },
      ),
      { seed: 11, numRuns: 200 },
    )
  })
})
