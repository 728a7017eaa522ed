import { describe, expect, it } from 'vitest'
import { runId } from '../../../src/domain/ids.ts'
import { earlier, later } from '../../../src/domain/instant.ts'
import type { PendingState } from '../../../src/domain/run/run-machine.ts'
import { NO_HISTORY, type ScheduleHistory, type CountedEnding } from '../../../src/domain/schedule/history.ts'
import {
  CONCURRENCY_POLICIES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
  type ConcurrencyPolicy,
  type FailureAction,
  type MisfirePolicy,
  type OverlapAction,
} from '../../../src/domain/schedule/rules.ts'
import { at, plan, planAndRelease, timingOf, wordFor } from '../../support/schedules.ts'

/**
 * The whole law of firing on one screen. Each row says what becomes of three occurrences decided one after the other,
 * with max_concurrency 1 and every other number at its default; `*` is any value. The misfire policy decides how many of
 * the three are taken at all (FIRE_NOW 3, CATCH_UP_LIMITED 2 the newest 2, SKIP only the current one), and those not
 * taken are `misfire`; whatever is taken meets the row from its left end, because each sees only what came before it. The
 * first one taken is decided at once, the others when they are released; here no run ends in between.
 *
 *   run1, run3   starts as attempt 1, 3        replace1   the same, and every pending run of the schedule is superseded
 *   park         waits for a slot              any other  skipped, with this reason
 */
const TABLE = `
previous | overlap     | failure   | concurrency | three in a row
idle     | ALLOW       | *         | QUEUE       | run1 park park
idle     | ALLOW       | *         | SKIP        | run1 concurrency concurrency
idle     | ALLOW       | *         | PARALLEL    | run1 run1 run1
idle     | SKIP        | *         | *           | run1 overlap overlap
idle     | CANCEL_PREV | *         | *           | run1 replace1 replace1
idle     | PARALLEL    | *         | *           | run1 run1 run1
idle     | BUFFER_ONE  | *         | QUEUE       | run1 park overlap
idle     | BUFFER_ONE  | *         | SKIP        | run1 park overlap
idle     | BUFFER_ONE  | *         | PARALLEL    | run1 run1 run1

pending  | ALLOW       | *         | QUEUE       | park park park
pending  | ALLOW       | *         | SKIP        | concurrency concurrency concurrency
pending  | ALLOW       | *         | PARALLEL    | run1 run1 run1
pending  | SKIP        | *         | *           | overlap overlap overlap
pending  | CANCEL_PREV | *         | *           | replace1 replace1 replace1
pending  | PARALLEL    | *         | *           | run1 run1 run1
pending  | BUFFER_ONE  | *         | QUEUE       | park overlap overlap
pending  | BUFFER_ONE  | *         | SKIP        | park overlap overlap
pending  | BUFFER_ONE  | *         | PARALLEL    | run1 run1 run1

failed   | ALLOW       | RUN_NEW   | QUEUE       | run1 park park
failed   | ALLOW       | RUN_NEW   | SKIP        | run1 concurrency concurrency
failed   | ALLOW       | RUN_NEW   | PARALLEL    | run1 run1 run1
failed   | SKIP        | RUN_NEW   | *           | run1 overlap overlap
failed   | CANCEL_PREV | RUN_NEW   | *           | run1 replace1 replace1
failed   | PARALLEL    | RUN_NEW   | *           | run1 run1 run1
failed   | BUFFER_ONE  | RUN_NEW   | QUEUE       | run1 park overlap
failed   | BUFFER_ONE  | RUN_NEW   | SKIP        | run1 park overlap
failed   | BUFFER_ONE  | RUN_NEW   | PARALLEL    | run1 run1 run1

failed   | ALLOW       | RETRY     | QUEUE       | run3 park park
failed   | ALLOW       | RETRY     | SKIP        | run3 concurrency concurrency
failed   | ALLOW       | RETRY     | PARALLEL    | run3 run1 run1
failed   | SKIP        | RETRY     | *           | run3 overlap overlap
failed   | CANCEL_PREV | RETRY     | *           | run3 replace1 replace1
failed   | PARALLEL    | RETRY     | *           | run3 run1 run1
failed   | BUFFER_ONE  | RETRY     | QUEUE       | run3 park overlap
failed   | BUFFER_ONE  | RETRY     | SKIP        | run3 park overlap
failed   | BUFFER_ONE  | RETRY     | PARALLEL    | run3 run1 run1

failed   | ALLOW       | SKIP      | QUEUE       | failure run1 park
failed   | ALLOW       | SKIP      | SKIP        | failure run1 concurrency
failed   | ALLOW       | SKIP      | PARALLEL    | failure run1 run1
failed   | SKIP        | SKIP      | *           | failure run1 overlap
failed   | CANCEL_PREV | SKIP      | *           | failure run1 replace1
failed   | PARALLEL    | SKIP      | *           | failure run1 run1
failed   | BUFFER_ONE  | SKIP      | QUEUE       | failure run1 park
failed   | BUFFER_ONE  | SKIP      | SKIP        | failure run1 park
failed   | BUFFER_ONE  | SKIP      | PARALLEL    | failure run1 run1

failed   | *           | BACKOFF   | *           | failure failure failure
failed   | *           | HALF_OPEN | *           | failure failure failure
`

const rows = TABLE.trim()
  .split('\n')
  .slice(1)
  .filter((line) => line.trim() !== '')
  .map((line) => line.split('|').map((cell) => cell.trim()))

const matches = (cell: string | undefined, value: string): boolean => cell === '*' || cell === value

const STATES: Record<'idle' | 'pending' | 'failed', readonly (CountedEnding | PendingState | 'none')[]> = {
  idle: ['none', 'success'],
  pending: ['waiting', 'queued', 'assigned', 'running', 'awaiting_callback', 'stopping'],
  // The last run was attempt 2, ended a second ago, and was the third failure in a row.
  failed: ['failed', 'timeout', 'cancelled'],
}

const SEEN = at('2026-01-15T12:02:03Z')
const MINUTELY = timingOf({ cron: '* * * * *' })
const TAKEN: Record<MisfirePolicy, number> = { FIRE_NOW: 3, CATCH_UP_LIMITED: 2, SKIP: 1 }

function historyAfter(state: string): ScheduleHistory {
  const id = runId('previous')
  const isEnded = state === 'success' || state === 'failed' || state === 'timeout' || state === 'cancelled'
  if (state === 'none') return NO_HISTORY
  if (!isEnded)
    return { ...NO_HISTORY, previous: { id, state: state as PendingState }, pending: [{ id, slot: 'held' }], fires: 1 }
  const failureStreak = state === 'success' ? 0 : 3
  const lastEnding = { id, status: state, attempt: 2, endedAt: earlier(SEEN, 1000) } as const
  return { ...NO_HISTORY, previous: { id, state }, lastEnding, failureStreak, fires: 1 }
}

interface Cell {
  readonly misfirePolicy: MisfirePolicy
  readonly overlapAction: OverlapAction
  readonly failureAction: FailureAction
  readonly concurrencyPolicy: ConcurrencyPolicy
}

const cells: readonly Cell[] = MISFIRE_POLICIES.flatMap((misfirePolicy) =>
  OVERLAP_ACTIONS.flatMap((overlapAction) =>
    FAILURE_ACTIONS.flatMap((failureAction) =>
      CONCURRENCY_POLICIES.map((concurrencyPolicy) => ({
        misfirePolicy,
        overlapAction,
        failureAction,
        concurrencyPolicy,
      })),
    ),
  ),
)

describe.each(Object.entries(STATES).flatMap(([group, states]) => states.map((state) => [state, group] as const)))(
  'the policy table, previous run %s',
  (state, group) => {
    it(`holds for all ${cells.length} combinations of misfire, overlap, failure and concurrency`, () => {
      const wrong: string[] = []
      for (const cell of cells) {
        const row = rows.filter(
          ([previous, overlap, failure, concurrency]) =>
            previous === group &&
            matches(overlap, cell.overlapAction) &&
            matches(failure, cell.failureAction) &&
            matches(concurrency, cell.concurrencyPolicy),
        )
        const taken = TAKEN[cell.misfirePolicy]
        const missed = Array.from({ length: 3 - taken }, () => 'misfire')
        const expected = [...missed, ...(row[0]?.[4] ?? '').split(' ').slice(0, taken)].join(' ')
        const due = { timing: MINUTELY, watermark: at('2026-01-15T11:59:30Z'), seen: SEEN }
        const decisions = planAndRelease({ ...due, rules: { ...cell, catchupLimit: 2 }, history: historyAfter(state) })
        const actual = decisions.map(wordFor).join(' ')
        if (row.length !== 1 || actual !== expected)
          wrong.push(`${Object.values(cell).join(' ')}: ${actual}, expected ${expected} (${row.length} rows)`)
      }
      expect(wrong).toEqual([])
    })
  },
)

describe('the policy table', () => {
  it('has no row that nothing uses', () => {
    const unused = rows.filter(
      ([, overlap, failure, concurrency]) =>
        !cells.some(
          (cell) =>
            matches(overlap, cell.overlapAction) &&
            matches(failure, cell.failureAction) &&
            matches(concurrency, cell.concurrencyPolicy),
        ),
    )
    expect(unused).toEqual([])
    expect(cells).toHaveLength(225)
  })

  it('starts what it takes in nominal order, one second apart, the current one last', () => {
    const due = { timing: MINUTELY, watermark: at('2026-01-15T11:59:30Z'), seen: SEEN }
    const { decisions } = plan({ ...due, rules: { misfirePolicy: 'FIRE_NOW', concurrencyPolicy: 'PARALLEL' } })
    const times = decisions.map(
      (one) => one.kind !== 'skip' && [one.trigger, one.kind === 'run' ? one.notBefore : one.until],
    )
    expect(times).toEqual([
      ['catchup', SEEN],
      ['catchup', later(SEEN, 1000)],
      ['schedule', later(SEEN, 2000)],
    ])
  })

  it('runs all three under every overlap and concurrency when each has ended before the next is released', () => {
    const due = { timing: MINUTELY, watermark: at('2026-01-15T11:59:30Z'), seen: SEEN }
    const wrong: string[] = []
    for (const cell of cells) {
      if (cell.misfirePolicy !== 'FIRE_NOW') continue
      const decisions = planAndRelease({ ...due, rules: { ...cell, queueDepth: 0 } }, (history) => ({
        ...history,
        previous: { id: runId('previous'), state: 'success' },
        pending: [],
      }))
      const actual = decisions.map(wordFor).join(' ')
      if (actual !== 'run1 run1 run1') wrong.push(`${Object.values(cell).join(' ')}: ${actual}`)
    }
    expect(wrong).toEqual([])
  })
})
