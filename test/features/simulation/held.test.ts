import { describe, expect, it } from 'vitest'
import { simulate } from '../../../src/features/simulation/simulator.ts'
import { aTask, at, short } from './tasks.ts'

/** What the third seed shows as its sample. */
const SAMPLE = {
  cron: '*/5 * * * * *',
  max_concurrency: 1,
  concurrency_policy: 'SKIP',
  overlap_action: 'CANCEL_PREV',
  failure_action: 'RETRY',
  misfire_policy: 'CATCH_UP_LIMITED',
  catchup_limit: 3,
  timeout_seconds: 8,
} as const

const STALL = { kind: 'stall', from: at(7), to: at(67) } as const
const QUICK = { assume: { duration_ms: 100 } } as const

/** Runs of what was missed between 7 s and 67 s, and how they went. */
const madeUp = (rows: ReturnType<typeof simulate>['rows']) =>
  rows.filter((run) => run.created_at === at(67) && run.reason !== 'misfire')

describe('the sample of the seed after a stall', () => {
  it('makes up three of three when runs are shorter than the spacing', () => {
    const { rows, totals } = simulate({ ...aTask(SAMPLE, { outages: [STALL] }, 72), ...QUICK })
    expect(madeUp(rows).map(short)).toEqual([
      [55, 'success', 1, 67, 67.1],
      [60, 'success', 1, 68, 68.1],
      [65, 'success', 1, 69, 69.1],
    ])
    expect(totals.skipped_by_reason).toEqual({ misfire: 9 })
    expect(rows.filter((run) => run.held_decision !== null).map((run) => run.held_decision?.reason)).toEqual([
      ...['held', 'held'],
    ])
  })

  it('skips a held one for which a later occurrence is at work', () => {
    const stall = { ...STALL, to: at(69.5) }
    const { rows } = simulate({ ...aTask(SAMPLE, { outages: [stall] }, 74), assume: { duration_ms: 900 } })
    const found = rows.filter((run) => run.created_at === at(69.5) && run.reason !== 'misfire')
    // The one of 70 s begins while that of 65 s is held until 71.5 s, and has ended by then.
    expect(found.map(short)).toEqual([
      [55, 'cancelled', 1, 69.5, 70],
      [60, 'skipped', 1, null, 70.5],
      [65, 'success', 1, 71.5, 72.4],
    ])
    expect(found[1]).toMatchObject({ reason: 'overlap' })
  })
})

describe('FIRE_NOW after an outage of 15 minutes on a minute cron', () => {
  it.each([0, 1, 10])('makes up 15 of 15 with queue_depth %d', (queue_depth) => {
    const outage = { kind: 'engine', from: at(30), to: at(930) } as const
    const input = { cron: '* * * * *', misfire_policy: 'FIRE_NOW', queue_depth } as const
    const { rows } = simulate({ ...aTask(input, { outages: [outage] }, 1_100), assume: { duration_ms: 5_000 } })
    const found = rows.filter((run) => run.created_at === at(930))
    expect(found.map((run) => run.status)).toEqual(Array<string>(15).fill('success'))
  })
})

describe('occurrences that are held', () => {
  const FIRE_ALL = { ...SAMPLE, misfire_policy: 'FIRE_NOW', overlap_action: 'ALLOW' } as const

  it('end when the schedule is disabled', () => {
    const interventions = [{ at: at(68.5), action: 'disable', schedule_id: 'sch_1' }] as const
    const { rows, schedules } = simulate({ ...aTask(FIRE_ALL, { outages: [STALL], interventions }, 100), ...QUICK })
    const [first, second, ...others] = madeUp(rows)
    expect([first?.status, second?.status]).toEqual(['success', 'success'])
    expect(others.length).toBeGreaterThan(5)
    expect(new Set(others.map((run) => `${run.status}/${run.reason}`))).toEqual(
      new Set(['cancelled/schedule_disabled']),
    )
    expect(schedules[0]).toMatchObject({ fires: 3, failure_streak: 0 })
  })

  it('keep their distance after a restart', () => {
    const outages = [STALL, { kind: 'engine', from: at(68.5), to: at(69.5) }] as const
    const { rows } = simulate({ ...aTask({ ...SAMPLE, catchup_limit: 4 }, { outages }, 100), ...QUICK })
    expect(madeUp(rows).map(short)).toEqual([
      [50, 'success', 1, 67, 67.1],
      [55, 'success', 1, 68, 68.1],
      [60, 'success', 1, 69.5, 69.6],
      [65, 'success', 1, 70.5, 70.6],
    ])
  })

  it('count towards max_fires when they are released', () => {
    const { rows, schedules } = simulate({
      ...aTask({ ...FIRE_ALL, max_fires: 4 }, { outages: [STALL] }, 100),
      ...QUICK,
    })
    expect(
      madeUp(rows)
        .map((run) => `${run.status}/${run.reason}`)
        .slice(0, 5),
    ).toEqual([
      ...['success/completed', 'success/completed', 'success/completed'],
      ...['skipped/all_fires_made', 'skipped/all_fires_made'],
    ])
    expect(schedules[0]).toMatchObject({ fires: 4, state: 'finished' })
  })

  it('do not keep fresh occurrences waiting', () => {
    const beside = { ...FIRE_ALL, concurrency_policy: 'PARALLEL' } as const
    const { rows } = simulate({ ...aTask(beside, { outages: [STALL] }, 72), ...QUICK })
    expect(rows.find((run) => run.nominal_time === at(70))).toMatchObject({ status: 'success', started_at: at(70) })
    expect(rows.filter((run) => run.status === 'waiting').length).toBeGreaterThan(5)
  })

  it('do not wait for a released one that cannot start', () => {
    const missed = { ...SAMPLE, overlap_action: 'ALLOW', failure_action: 'RUN_NEW', cron: '0 * * * * *' } as const
    const task = aTask(missed, { outages: [{ kind: 'stall', from: at(50), to: at(190) }] }, 230)
    const busy = { id: 'busy', executor_kind: 'in-process', max_concurrent: 1 } as const
    const { rows } = simulate({
      ...task,
      agents: [...task.agents, busy],
      settings: { schedules: { catchup_max_active: 1 } },
      schedules: [
        { id: 'sch_1', input: { ...missed, agent_id: 'busy', concurrency_policy: 'PARALLEL' } },
        { id: 'sch_2', input: missed },
        { id: 'sch_3', input: { at: at(40), agent_id: 'busy' }, assume: { duration_ms: 170_000 } },
      ],
      ...QUICK,
    })
    // All places are free, but the agent of the first schedule is busy until 210 s.
    const found = rows.filter((run) => run.created_at === at(190))
    expect(found.filter((run) => run.schedule_id === 'sch_2').map(short)).toEqual([
      [60, 'success', 1, 190, 190.1],
      [120, 'success', 1, 191, 191.1],
      [180, 'success', 1, 192, 192.1],
    ])
    expect(found.filter((run) => run.schedule_id === 'sch_1').map(short)).toEqual([
      [60, 'success', 1, 210, 210.1],
      [120, 'success', 1, 210.1, 210.2],
      [180, 'success', 1, 210.2, 210.3],
    ])
  })
})
