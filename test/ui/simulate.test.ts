import { describe, expect, it } from 'vitest'
import type { SimulatedRunView, SimulationView } from '../../src/features/simulation/result-schema.ts'
import { formOf, searchOf } from '../../ui/pages/simulation/form.ts'
import { readSimulateSearch, simulateInputOf } from '../../ui/pages/simulation/simulation-search.ts'
import { layOutSimulation, marksOf, occurrenceName, shadesOf } from '../../ui/ribbon/simulated-items.ts'
import type { Say } from '../../ui/texts/fill.ts'

const NOW = Date.parse('2026-11-16T09:00:30Z')

describe('the address of the simulator', () => {
  const search = {
    ...{ ids: 'sch_1,sch_2', from: '2026-11-16T09:00:00.000Z', for: '5m', takes: '12s', fails: 20 },
    ...{ out: 'stall:60s@2m', set: 'overlap_action=SKIP,max_concurrency=2', against: 'overlap_action=CANCEL_PREV' },
  }

  it('is all of the question', () => {
    expect(simulateInputOf(search)).toEqual({
      ids: ['sch_1', 'sch_2'],
      ...{ from: '2026-11-16T09:00:00.000Z', window_seconds: 300, assume: { duration_ms: 12_000, failure_rate: 0.2 } },
      outages: [{ kind: 'stall', from: '2026-11-16T09:02:00.000Z', to: '2026-11-16T09:03:00.000Z' }],
      changes: [{ set: { overlap_action: 'SKIP', max_concurrency: 2 } }],
      against: [{ set: { overlap_action: 'CANCEL_PREV' } }],
    })
    expect(simulateInputOf({ for: '1h' })).toBeNull()
    expect(simulateInputOf({ draft: '{"cron":"0 9 * * *"}' })).toMatchObject({ schedules: [{ cron: '0 9 * * *' }] })
    expect(simulateInputOf({ draft: 'no JSON' })).toBeNull()
    expect(readSimulateSearch({ draft: { every_seconds: 5 } })).toEqual({ draft: '{"every_seconds":5}' })
  })

  it('goes through the form and comes back as it was', () => {
    expect(searchOf(formOf(search), NOW)).toEqual(search)
    expect(readSimulateSearch({ ...search, nonsense: 1, all: 'yes', fails: 'many' })).toEqual({
      ...search,
      fails: undefined,
    })
  })

  it('has a beginning where outages are counted from it, and none that are not said yet', () => {
    const form = { ...formOf({ ids: 'sch_1' }), outages: [{ kind: 'stall', lasts: '60s', after: '2m' }] as const }
    expect(searchOf(form, NOW)).toMatchObject({ from: '2026-11-16T09:01:00.000Z', out: 'stall:60s@2m' })
    expect(searchOf({ ...form, outages: [{ kind: 'stall', lasts: 'x', after: '' }] }, NOW)).toEqual({ ids: 'sch_1' })
  })
})

describe('what a simulation looks like on the ribbon', () => {
  const at = (seconds: number): string => new Date(Date.parse('2026-11-16T09:00:00Z') + seconds * 1_000).toISOString()
  const run = (id: string, more: Partial<SimulatedRunView>): SimulatedRunView => ({
    ...{ id, schedule_id: 'a', nominal_time: at(0), trigger: 'schedule', status: 'success', reason: 'completed' },
    ...{
      rule: 'r',
      sentence: 's',
      decision: { reason: 'due', rule: 'r', sentence: 's' },
      held_decision: null,
      first_attempt: 1,
      attempt: 1,
    },
    ...{ created_at: more.nominal_time ?? at(0), not_before: null, started_at: null, finished_at: null },
    ...{ lateness_ms: null, error_code: null, tokens: 0, cost: 0, superseded: false, superseded_by: null },
    attempts: [],
    ...more,
  })
  const attempt = (number: number, from: number, to: number | null, status: SimulatedRunView['status']) => ({
    ...{ number, started_at: at(from), finished_at: to === null ? null : at(to), status, error_code: null },
  })
  const view = {
    ...{
      from: at(0),
      to: at(60),
      truncated: false,
      bucket_seconds: 60,
      ranges: [],
      outages: [{ kind: 'stall', from: at(10), to: at(20) }],
    },
    schedules: [
      { id: 'a', name: 'A', dst_notes: [{ at: at(5), zone: 'Europe/Berlin', sentence: 'The clock goes back.' }] },
      { id: 'b', name: 'B', dst_notes: [] },
    ],
    rows: [
      run('1', { finished_at: at(30), attempts: [attempt(1, 0, 5, 'failed'), attempt(2, 8, 30, 'success')] }),
      run('2', { nominal_time: at(10), status: 'skipped', reason: 'overlap' }),
      run('3', { nominal_time: at(20), status: 'running', attempts: [attempt(1, 20, null, 'running')] }),
      run('4', { schedule_id: 'b', nominal_time: at(20) }),
    ],
  } as unknown as SimulationView
  const say = ((key: string) => key) as unknown as Say

  it('draws counts of every schedule where not all runs are listed, to the end of the window', () => {
    const buckets = Array.from({ length: 60 }, (_, n) => ({ at: at(n * 60), by_status: { success: 100 } }))
    const schedules = Array.from({ length: 56 }, (_, n) => ({ id: `s${n}`, name: `S${n}`, dst_notes: [], buckets }))
    const laid = layOutSimulation({ ...view, truncated: true, schedules } as unknown as SimulationView, {
      ...{ say, mostBeside: 1 },
    })
    expect(laid.rows).toHaveLength(56)
    expect(laid.items.filter(({ row }) => row === 's55 0').at(-1)).toMatchObject({ start: Date.parse(at(59 * 60)) })
  })

  it('is attempts with the waits between them, crosses for skips, and rows beside each other where runs overlap', () => {
    const laid = layOutSimulation(view, {
      say,
      mostBeside: 4,
      marked: new Set([occurrenceName(run('2', { nominal_time: at(10) }))]),
    })
    expect(laid.rows.map(({ id, label }) => [id, label])).toEqual([
      ['a 0', 'A'],
      ['a 1', ''],
      ['b 0', 'B'],
    ])
    const seen = laid.items.map((item) => [item.id, item.row, item.kind === 'run' ? item.status : item.kind])
    expect(seen).toEqual([
      ['1 1', 'a 0', 'failed'],
      ['1 w2', 'a 0', 'waiting'],
      ['1 2', 'a 0', 'success'],
      ['2', 'a 0', 'skipped'],
      ['3 1', 'a 1', 'running'],
      ['4 end', 'b 0', 'success'],
    ])
    expect(laid.items[3]).toMatchObject({ isMarked: true, note: 'overlap: s' })
    expect(laid.items[4]).toMatchObject({ end: Date.parse(at(60)) })
  })

  it('has outages behind it and changes of the clock through it', () => {
    expect(shadesOf(view.outages, say)).toMatchObject([{ from: Date.parse(at(10)), label: 'sim.outage.stall' }])
    expect(marksOf(view)).toMatchObject([{ at: Date.parse(at(5)), label: 'The clock goes back.' }])
  })
})
