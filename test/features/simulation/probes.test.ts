import { describe, expect, it } from 'vitest'
import type { ScheduleInput } from '../../../src/features/schedules/schema.ts'
import type { SimulationView } from '../../../src/features/simulation/result-schema.ts'
import { simulate } from '../../../src/features/simulation/simulator.ts'
import type { SimulatedScheduleInput, SimulationTask } from '../../../src/features/simulation/task.ts'
import { aTask, at } from './tasks.ts'

const MINUTES = 400
const PROBED = {
  every_seconds: 60,
  anchor: at(0),
  probe: { kind: 'state', when: { path: '/runs', op: 'exists' } },
} as ScheduleInput

/** A schedule with a probe that so far has started this share of its runs, each of which uses 10 tokens. */
const probed = (
  schedule: Partial<SimulatedScheduleInput>,
  more: Partial<SimulationTask> = {},
  seconds = MINUTES * 60,
): SimulationTask =>
  aTask(PROBED, { assume: { tokens: 10 }, schedules: [{ id: 'sch_1', input: PROBED, ...schedule }], ...more }, seconds)

const startedIn = ({ rows }: SimulationView): readonly (string | null)[] =>
  rows.filter(({ reason }) => reason !== 'probe_no').map((run) => run.nominal_time)

describe('a probe in a simulation', () => {
  it.each([0.1, 0.5, 0.9])('starts the share of runs that is on record: %d', (share) => {
    const view = simulate(probed({ probe_started: share }))
    const started = startedIn(view).length
    expect(started / view.totals.runs).toBeGreaterThan(share - 0.08)
    expect(started / view.totals.runs).toBeLessThan(share + 0.08)
    expect(view.totals).toMatchObject({ by_status: { success: view.totals.runs }, tokens: 10 * started })
    const no = view.rows.find(({ reason }) => reason === 'probe_no')
    expect(no).toMatchObject({ status: 'success', rule: 'probe', tokens: 0, started_at: no?.finished_at })
    expect(no?.sentence).toContain(`it said no to ${Math.round((1 - share) * 100)}% of past runs`)
  })

  it('starts every run where nothing is on record, and none where none was started', () => {
    const [all, none] = [simulate(probed({})), simulate(probed({ probe_started: 0 }))]
    expect(startedIn(all)).toHaveLength(all.totals.runs)
    expect(startedIn(none)).toEqual([])
    expect(none.totals).toMatchObject({ runs: all.totals.runs, tokens: 0, busy_ms: 0 })
  })

  it('answers by schedule, moment and seed, whatever else is asked', () => {
    const started = startedIn(simulate(probed({ probe_started: 0.5 })))
    expect(startedIn(simulate(probed({ probe_started: 0.5 })))).toEqual(started)
    const slow = probed({ probe_started: 0.5 }, { assume: { duration_ms: 20_000 } })
    expect(startedIn(simulate(slow))).toEqual(started)
    const half = startedIn(simulate(probed({ probe_started: 0.5 }, {}, MINUTES * 30)))
    expect(half).toEqual(started.slice(0, half.length))
    expect(startedIn(simulate({ ...probed({ probe_started: 0.5 }), seed: 2 }))).not.toEqual(started)
    expect(startedIn(simulate(probed({ id: 'sch_2', probe_started: 0.5 })))).not.toEqual(started)
  })

  it('is not asked again for a run that it has started, nor for one that a person asks for', () => {
    const policy = { max_retries: 2, strategy: 'fixed', base_ms: 1_000 } as const
    const failing = simulate(
      probed(
        { probe_started: 0.5, input: { ...PROBED, retry_policy: policy } },
        { assume: { failure_rate: 1, tokens: 10 } },
      ),
    )
    const failed = failing.rows.filter(({ status }) => status === 'failed')
    expect(failed.length).toBeGreaterThan(100)
    expect(new Set(failed.map(({ attempt }) => attempt))).toEqual(new Set([3]))
    const asked = { at: at(90), schedule_id: 'sch_1', action: 'run_now' } as const
    const woken = simulate(probed({ probe_started: 0 }, { interventions: [asked] }))
    expect(startedIn(woken)).toEqual([null])
    expect(woken.totals.tokens).toBe(10)
  })

  it('says what it said where that is on record', () => {
    const recorded = [
      { nominal: at(60), attempt: 1, duration_ms: 200, outcome: 'success', probe: 'no' },
      { nominal: at(120), attempt: 1, duration_ms: 500, outcome: 'success' },
    ] as const
    const { rows } = simulate(probed({ probe_started: 0, recorded }, {}, 170))
    expect(rows.map((run) => [run.nominal_time, run.reason, run.tokens])).toEqual([
      [at(60), 'probe_no', 0],
      [at(120), 'completed', 10],
    ])
    // Without its probe it would have been started.
    const without = simulate(probed({ recorded }, { changes: [{ set: { probe: null } }] }, 110))
    expect(without.rows.map(({ reason, tokens }) => [reason, tokens])).toEqual([['completed', 10]])
  })

  it('is no failure of an agent that is out', () => {
    const out = { kind: 'agent', from: at(0), to: at(MINUTES * 60) } as const
    const { totals, rows } = simulate(probed({ probe_started: 0.5 }, { outages: [out] }))
    const noes = rows.filter(({ reason }) => reason === 'probe_no').length
    expect(totals.by_status).toMatchObject({ success: noes })
    expect(noes).toBeGreaterThan(100)
  })
})
