import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/api/refusals.ts'
import { compareSimulations } from '../../../src/features/simulation/compute.ts'
import { simulate } from '../../../src/features/simulation/simulator.ts'
import { aTask, at, FROM, short, shortRows } from './tasks.ts'

const SAMPLE = {
  every_seconds: 5,
  concurrency_policy: 'SKIP',
  overlap_action: 'CANCEL_PREV',
  failure_action: 'RETRY',
  misfire_policy: 'CATCH_UP_LIMITED',
  catchup_limit: 3,
  timeout_seconds: 8,
} as const

describe('the sample of the seeds', () => {
  it('is superseded by the next occurrence, which begins with attempt 1, when the target takes longer', () => {
    const { rows } = simulate(aTask(SAMPLE, { assume: { duration_ms: 12_000 } }, 21))
    expect(rows.map(short)).toEqual([
      [5, 'cancelled', 1, 5, 10],
      [10, 'cancelled', 1, 10, 15],
      [15, 'cancelled', 1, 15, 20],
      [20, 'running', 1, 20, null],
    ])
    expect(rows[0]).toMatchObject({ reason: 'superseded', superseded: true, superseded_by: at(10) })
  })

  it('counts attempts on when the target answers 500', () => {
    const assume = { duration_ms: 100, failure_rate: 1, error_code: 'executor_http_5xx' } as const
    const { rows } = simulate(aTask(SAMPLE, { assume }, 21))
    expect(rows.map((run) => [run.status, run.first_attempt, run.attempt])).toEqual(
      [1, 2, 3, 4].map((attempt) => ['failed', attempt, attempt]),
    )
  })

  it('makes up for the newest three after a stall of 60 s, a second apart, and skips the rest', () => {
    const stall = { kind: 'stall', from: at(7), to: at(67) } as const
    const task = aTask({ ...SAMPLE, overlap_action: 'ALLOW', concurrency_policy: 'PARALLEL' }, { outages: [stall] }, 72)
    const { rows, totals } = simulate({ ...task, assume: { duration_ms: 100 } })
    expect(rows.filter(({ status }) => status !== 'skipped').map(short)).toEqual([
      [5, 'success', 1, 5, 5.1],
      [55, 'success', 1, 67, 67.1],
      [60, 'success', 1, 68, 68.1],
      [65, 'success', 1, 69, 69.1],
      [70, 'success', 1, 70, 70.1],
    ])
    expect(rows.slice(-4).map(({ trigger }) => trigger)).toEqual(['catchup', 'catchup', 'schedule', 'schedule'])
    expect(totals.skipped_by_reason).toEqual({ misfire: 9 })
    expect(totals).toMatchObject({ occurrences: 14, runs: 5, lateness_p50_ms: 4_000, lateness_max_ms: 12_000 })
  })
})

describe('a simulation', () => {
  const busy = aTask(
    { every_seconds: 2 },
    { assume: { duration_ms: { min: 100, max: 5_000 }, failure_rate: 0.3 } },
    300,
  )

  it('gives the same answer to the same task, as plain data, and another to another seed', () => {
    const view = simulate(busy)
    expect(simulate(structuredClone(busy))).toEqual(view)
    expect(JSON.parse(JSON.stringify(view))).toEqual(view)
    expect(simulate({ ...busy, seed: 2 }).totals).not.toEqual(view.totals)
  })

  it('keeps as many rows as asked for, and the totals of all', () => {
    const [all, few] = [simulate(busy), simulate({ ...busy, max_rows: 5 })]
    expect(few.rows).toEqual(all.rows.slice(0, 5))
    expect([few.truncated, all.truncated]).toEqual([true, false])
    expect(few.totals).toEqual(all.totals)
    expect(Object.values(all.totals.by_status).reduce((sum, count) => sum + count)).toBe(all.rows.length)
  })

  it('tells how far it has come, and ends when nobody wants to know any more', () => {
    const told: number[] = []
    simulate(busy, { progress: (done, total) => told.push(done / total) })
    expect(told).toEqual(told.toSorted((a, b) => a - b))
    expect(told.at(-1)).toBe(1)
    expect(() => simulate(busy, { signal: AbortSignal.abort(new Error('enough')) })).toThrow('enough')
    const tired = (): never => {
      throw new Error('tired')
    }
    expect(() => simulate(busy, { progress: tired })).toThrow('tired')
  })

  it('says everything that is wrong, and where', () => {
    const task = aTask(
      { every_seconds: 0, overlap_action: 'NEVER' as 'SKIP' },
      { changes: [{ set: { agent_id: 'x' } }] },
    )
    const wrong = { ...task, outages: [{ kind: 'stall', from: at(5), to: at(5), agent_id: 'writer' }] } as const
    const refused = ((): unknown => {
      try {
        return simulate({ ...wrong, schedules: [...task.schedules, { id: 'sch_2', input: { cron: '* * * * *' } }] })
      } catch (error) {
        return error
      }
    })()
    expect(refused).toBeInstanceOf(Refusal)
    expect((refused as Refusal).flaws.map(({ field }) => field)).toEqual([
      ...['schedules.0.every_seconds', 'schedules.0.overlap_action', 'changes.0.set.agent_id'],
      ...['outages.0.to', 'outages.0.agent_id'],
    ])
  })
})

describe('what may come between', () => {
  const once = { at: at(5), retry_policy: { strategy: 'fixed', base_ms: 2_000, max_retries: 2 } } as const

  it('is lost with its node, and tried again when another comes', () => {
    const outages = [{ kind: 'engine', from: at(10), to: at(30) }] as const
    const { rows } = simulate(aTask(once, { assume: { duration_ms: 20_000 }, outages }))
    expect(rows[0]?.attempts.map(({ status, error_code: code }) => [status, code])).toEqual([
      ['failed', 'node_lost'],
      ['success', null],
    ])
    expect(shortRows({ rows } as never)).toEqual([[5, 'success', 1, 5, 52]])
  })

  it('fails with its agent, or waits for it', () => {
    const out = { kind: 'agent', from: at(0), to: at(8) } as const
    const failing = simulate(aTask(once, { outages: [out] }))
    expect(failing.rows[0]?.attempts.map((one) => one.error_code)).toEqual(['network', 'network', null])
    const waiting = simulate(aTask(once, { outages: [{ ...out, effect: 'offline' }] }))
    expect(waiting.rows.map(short)).toEqual([[5, 'success', 1, 8, 9]])
  })

  it('is what people do on the way', () => {
    const interventions = [
      { at: at(12), schedule_id: 'sch_1', action: 'disable' },
      { at: at(15), schedule_id: 'sch_1', action: 'run_now' },
      { at: at(33), schedule_id: 'sch_1', action: 'enable' },
    ] as const
    const { rows } = simulate(aTask({ every_seconds: 10 }, { interventions }))
    expect(rows.map(short)).toEqual([
      [10, 'success', 1, 10, 11],
      [null, 'success', 1, 15, 16],
      [40, 'success', 1, 40, 41],
      [50, 'success', 1, 50, 51],
    ])
  })

  it('is the budget that a schedule brings with it, unless budgets are left aside', () => {
    const bringing = { every_seconds: 10, budget: { unit: 'tokens', amount: 20, timezone: 'UTC' } } as const
    const task = aTask(bringing, { assume: { tokens: 10 } })
    expect(simulate(task).totals).toMatchObject({ tokens: 20, skipped_by_reason: { budget: 3 } })
    expect(simulate({ ...task, own_budgets: false }).totals).toMatchObject({ tokens: 50, skipped_by_reason: {} })
  })

  it('is a budget that is used up', () => {
    const budget = {
      id: 'bud_1',
      unit: 'tokens',
      amount: 25,
      period: 'day',
      timezone: 'UTC',
      on_exceed: 'skip',
    } as const
    const view = simulate(aTask({ every_seconds: 10 }, { budgets: [budget], assume: { tokens: 10 } }))
    expect(view.totals).toMatchObject({ tokens: 20, skipped_by_reason: { budget: 3 } })
    expect(view.depth.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(20)
  })
})

describe('a simulation that begins in the middle', () => {
  it('goes on with what is pending, and with how the last run ended', () => {
    const pending = [{ nominal: at(-20), status: 'running', created_at: at(-20), started_at: at(-20) }] as const
    const standing = { watermark: at(0), fires: 7, failure_streak: 2, pending } as const
    const input = { every_seconds: 10, anchor: FROM, overlap_action: 'SKIP', max_fires: 9 } as const
    const task = aTask(input, { assume: { duration_ms: 35_000 } })
    const { rows, schedules } = simulate({
      ...task,
      schedules: [{ id: 'sch_1', created_at: at(-100), input, standing }],
    })
    expect(rows.map(short)).toEqual([
      [-20, 'success', 1, -20, 15],
      [10, 'skipped', 1, null, 10],
      [20, 'success', 1, 20, 55],
      ...[30, 40, 50].map((nominal) => [nominal, 'skipped', 1, null, nominal]),
    ])
    expect(schedules[0]).toMatchObject({ fires: 8, failure_streak: 0, state: 'active' })
  })

  it('takes attempts that are on record as they were', () => {
    const recorded = [{ nominal: at(10), attempt: 1, duration_ms: 4_000, outcome: 'failed', tokens: 9 }] as const
    const task = aTask({ every_seconds: 10, retry_policy: { max_retries: 0 } }, {}, 25)
    const view = simulate({ ...task, schedules: task.schedules.map((one) => ({ ...one, recorded })) })
    expect(view.rows.map(short)).toEqual([
      [10, 'failed', 1, 10, 14],
      [20, 'success', 1, 20, 21],
    ])
    expect(view.rows[0]?.tokens).toBe(9)
  })

  it('tells what changes of the clock do', () => {
    const input = { cron: '30 2 * * *', timezone: 'Europe/Berlin' }
    const { schedules } = simulate({
      ...aTask(input),
      from: '2026-03-28T12:00:00.000Z',
      to: '2026-03-30T12:00:00.000Z',
    })
    expect(schedules[0]?.dst_notes).toMatchObject([{ at: '2026-03-29T01:00:00.000Z', kind: 'gap' }])
  })
})

describe('two sets of policies', () => {
  const task = aTask({ every_seconds: 5 }, { assume: { duration_ms: { min: 1_000, max: 9_000 } } })

  it('differ in what they make of the same occurrences, of which nothing else differs', () => {
    const before = simulate(task)
    const after = simulate({ ...task, changes: [{ schedules: ['sch_1'], set: { overlap_action: 'SKIP' } }] })
    const diff = compareSimulations(before, after)
    expect(diff.changed + diff.unchanged).toBe(before.rows.length)
    expect(diff).toMatchObject({ truncated: false, before: before.totals, after: after.totals })
    expect(diff.changes.some(({ kind }) => kind === 'status')).toBe(true)
    expect(diff.changes.find(({ after: run }) => run?.status === 'skipped')?.after?.reason).toBe('overlap')
    expect(compareSimulations(before, simulate(task))).toMatchObject({ changed: 0, unchanged: before.rows.length })
  })

  it('have other occurrences under another timing', () => {
    const after = simulate({ ...task, changes: [{ set: { every_seconds: 10 } }] })
    const { changes } = compareSimulations(simulate(task), after)
    expect(changes.filter(({ kind }) => kind === 'only_before')).toHaveLength(6)
  })
})
