import { setImmediate as afterOthers } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  forecast,
  forecastFilter,
  scheduleForecast,
  scheduleForecastInput,
  type ScheduleForecastInput,
} from '../../../src/features/forecast/schema.ts'
import { schemaReader } from '../../../src/api/read-input.ts'

import { agentId } from '../../../src/domain/ids.ts'
import { earlier, formatInstant, HOUR_MS } from '../../../src/domain/instant.ts'
import { createBudget } from '../../../src/features/budgets/service.ts'
import { forecastDraft } from '../../../src/features/forecast/draft.ts'
import { forecastOrg } from '../../../src/features/forecast/service.ts'
import { createSchedule, disableSchedule } from '../../../src/features/schedules/service.ts'
import { insertAgents } from '../../../src/features/agents/store.ts'
import { insertSchedules } from '../../../src/features/schedules/store.ts'
import { aScheduleRow, anAgent, ORG, seedRun } from '../../platform/db/records.ts'
import { timingOf } from '../../support/schedules.ts'
import { NOW } from '../../support/builders.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('budget', 'usage', 'schedule', 'run', 'pending', 'heartbeat'))
afterAll(() => world.drop())

const caller = () => ({ ...world.caller, writesBudgets: true })
const readFilter = schemaReader(forecastFilter)
const readInput = schemaReader(scheduleForecastInput)
const look = async (days?: number) => forecast.parse(await forecastOrg(world.ports, world.caller, readFilter({ days })))
const draft = async (input: ScheduleForecastInput, seesBudgets = true) =>
  scheduleForecast.parse(await forecastDraft(world.ports, world.caller, { input: readInput(input), seesBudgets }))

/** Runs of a schedule, or of nobody's, that ended before now. */
async function ranBefore(schedule: string | null, ...tokens: readonly number[]): Promise<void> {
  for (const [n, used] of tokens.entries())
    await seedRun(world.db, `r${schedule ?? ''}${n}`, {
      ...{ state: 'success', createdAt: earlier(NOW, (n + 1) * HOUR_MS), schedule, agent: 'writer' },
      usage: { inputTokens: used, costMicros: used * 1_000 },
      trigger: schedule === null ? 'message' : 'schedule',
    })
}

describe('the forecast of an org', () => {
  it('is nothing while nothing is planned', async () => {
    const view = await look(3)
    expect(view).toMatchObject({ total: { runs: 0, tokens: null, cost: null }, sources: [], budgets: [] })
    expect(view.days.map(({ date }) => date)).toEqual(['2026-01-15', '2026-01-16', '2026-01-17', '2026-01-18'])
  })

  it('charges of runs with a probe the share that it has started, and nothing under a paused budget', async () => {
    const probe = { http: { url: 'https://example.com/new' }, when: [{ path: '/status', equals: 200 }] }
    const { id } = await createSchedule(world.ports, world.caller, { name: 'Hourly', cron: '0 * * * *' })
    await world.db.query(`update schedule set input = input || jsonb_build_object('probe', $1::jsonb)`, [
      JSON.stringify(probe),
    ])
    await ranBefore(id, 100)
    expect((await look(1)).total).toMatchObject({ runs: 24, tokens: { expected: 2_400 } })
    await world.db.query(
      `insert into probe (org_id, subject, asked, saved, errors, last_answer, last_sentence, last_at, last_run_id)
       values ($1, $2, 4, 3, 0, 'no', 'Nothing new', now(), 'r0')`,
      [ORG, id],
    )
    expect((await look(1)).total).toMatchObject({ runs: 24, tokens: { expected: 600 } })
    await createBudget(world.ports, caller(), {
      unit: 'tokens',
      amount: 9,
      period: 'day',
      on_exceed: 'pause',
    })
    await world.db.query('update budget set paused_at = $1::timestamptz', [formatInstant(NOW)])
    const stopped = await look(1)
    expect([stopped.total.runs, stopped.budgets[0]?.paused]).toEqual([0, true])
    await world.db.query('delete from probe')
  })

  it('is what is planned times what the last runs used', async () => {
    const { id } = await createSchedule(world.ports, world.caller, { name: 'Hourly', cron: '0 * * * *' })
    await ranBefore(id, 100, 200, 300)
    const view = await look(2)
    expect(view.total).toEqual({
      ...{ runs: 48, tokens: { expected: 9_600, high: 14_400 }, cost: { expected: 9.6, high: 14.4 } },
    })
    expect(view.sources).toEqual([
      {
        ...{ kind: 'schedule', name: 'Hourly', schedule_id: id, agent_id: 'writer', ...view.total, held_back_runs: 0 },
        based_on: { tokens: 'schedule', cost: 'schedule', runs: 3 },
      },
    ])
    expect(view.days.map(({ runs }) => runs)).toEqual([12, 24, 12])
    expect(view.agents).toEqual([{ agent_id: 'writer', ...view.total }])
    await disableSchedule(world.ports, world.caller, { id })
    expect((await look(2)).total.runs).toBe(0)
  })

  it('takes in heartbeats, and chat at the pace it had', async () => {
    await ranBefore(null, 10, 10, 10, 10, 10, 10)
    const settings = { interval_seconds: 3_600, checklist: { text: '- look' } }
    await world.db.query(
      `insert into heartbeat (org_id, agent_id, settings, enabled, due_at, next_at, ok_streak, version, created_at, updated_at)
       values ('acme', 'reader', $1::jsonb, true, now(), now(), 0, 1, now(), now())`,
      [JSON.stringify(settings)],
    )
    // The agent was never sent a message, so there is nowhere to send an answer and nothing that runs.
    expect((await look(1)).sources.map(({ kind }) => kind)).toEqual(['chat'])
    await world.db.query(`update heartbeat set settings = settings || '{"target": "none"}'`)
    const view = await look(1)
    expect(view.sources.map(({ kind, agent_id: agent, runs, tokens }) => [kind, agent, runs, tokens])).toEqual([
      ['chat', 'writer', 6, { expected: 60, high: 60 }],
      ['heartbeat', 'reader', 24, null],
    ])
    expect(view.notes[1]).toBe('The usage of 1 of 2 sources is unknown; they are not included in the totals.')
  })

  it('looks for the routes of all heartbeats with the same few statements', async () => {
    const settings = { interval_seconds: 3_600, checklist: { text: '- look' } }
    const targets = ['last', 'none', 'telegram', 'telegram:1', 'trg_none']
    const made = Array.from({ length: 50 }, (_, n) => anAgent({ orgId: ORG, id: agentId(`agent-${n + 1}`) }))
    await world.db.transaction((tx) => insertAgents(tx, made))
    const count = async (agents: number): Promise<number> => {
      await world.db.query('delete from heartbeat')
      await world.db.query(
        `insert into heartbeat (org_id, agent_id, settings, enabled, due_at, next_at, ok_streak, version, created_at, updated_at)
         select 'acme', 'agent-' || n, $1::jsonb || jsonb_build_object('target', ($2::text[])[1 + n % 5]), true, now(), now(),
           0, 1, now(), now() from generate_series(1, $3::int) n`,
        [JSON.stringify(settings), targets, agents],
      )
      let statements = 0
      const database: typeof world.db = {
        ...world.db,
        query: (...given) => {
          statements += 1
          return world.db.query(...given)
        },
      }
      const view = await forecastOrg({ ...world.ports, database }, world.caller, { days: 1 })
      // Only `none` needs no route: no agent was ever sent a message, and there is neither channel nor target.
      expect(view.sources.every(({ kind }) => kind === 'heartbeat')).toBe(true)
      expect(view.sources).toHaveLength(Math.floor((agents + 4) / 5))
      return statements
    }
    expect(await count(50)).toBe(await count(5))
  })

  it('says when a budget will be used up, and what happens then', async () => {
    const { id } = await createSchedule(world.ports, world.caller, { cron: '0 * * * *' })
    await ranBefore(id, 100)
    const budget = { unit: 'tokens', period: 'month', on_exceed: 'pause' } as const
    await createBudget(world.ports, world.caller, { ...budget, amount: 6_000 })
    await createBudget(world.ports, world.caller, { ...budget, unit: 'money', amount: 1_000 })
    await createBudget(world.ports, world.caller, { ...budget, amount: 10, agent_id: 'reader', default_reserve: 5 })
    const [tokens, money, reader] = (await look(30)).budgets
    // 60 runs of 100: half a day of them today, two days after it.
    expect(tokens).toMatchObject({ used_up_at: '2026-01-18T00:00:00.000Z', incomplete: false })
    expect(tokens?.sentence).toContain('all runs under it stop until a user resumes it. It holds back 660 runs.')
    expect(tokens?.periods.map(({ start, expected, held_back: held }) => [start.slice(0, 7), expected, held])).toEqual([
      ['2026-01', 6_000, 33_600],
      ['2026-02', 0, 32_400],
    ])
    expect(money).toMatchObject({ used_up_at: null, sentence: 'It lasts.' })
    expect(reader?.periods[0]?.expected).toBe(0)
  })

  it('counts only what can run under every budget, and says what is held back', async () => {
    const { id } = await createSchedule(world.ports, world.caller, { name: 'Hourly', cron: '0 * * * *' })
    await ranBefore(id, 100)
    const budget = { unit: 'tokens', period: 'day' } as const
    await createBudget(world.ports, caller(), { ...budget, amount: 1_000, on_exceed: 'queue' })
    const queued = await look(2)
    // Of 12, 24 and 12 runs, ten a day fit; its policies let eleven of the others wait.
    expect(queued.days.map(({ runs }) => runs)).toEqual([10, 10, 10])
    expect(queued).toMatchObject({
      total: { runs: 30, tokens: { expected: 3_000 } },
      held_back: { runs: 18, tokens: { expected: 1_800 } },
      sources: [{ runs: 30, held_back_runs: 18 }],
      budgets: [{ used_up_at: '2026-01-15T22:00:00.000Z', held_back_runs: 18 }],
    })
    expect(queued.budgets[0]?.periods.map(({ expected }) => expected)).toEqual([1_000, 1_000, 1_000])
    expect(queued.budgets[0]?.sentence).toContain(
      'runs wait in the queue until the next period. It holds back 18 runs.',
    )
    // The stricter one of the agent has days of its own, of which a third begins within this time.
    await createBudget(world.ports, caller(), { ...budget, amount: 300, agent_id: 'writer', timezone: 'Asia/Tokyo' })
    const both = await look(2)
    expect(both.total.runs).toBe(9)
    const heldBy = (scope: string) => both.budgets.find((one) => one.scope === scope)?.held_back_runs
    expect([heldBy('org'), heldBy('agent')]).toEqual([0, 39])
  })

  it('counts nothing where what is left admits no further run', async () => {
    const { id } = await createSchedule(world.ports, world.caller, { name: 'Hourly', cron: '0 * * * *' })
    await ranBefore(id, 100)
    await createBudget(world.ports, caller(), { unit: 'tokens', period: 'month', amount: 90, on_exceed: 'queue' })
    await world.db.query(
      `insert into usage (org_id, budget_id, period_start, used) select org_id, id, $1::timestamptz, 1 from budget`,
      ['2026-01-01T00:00:00.000Z'],
    )
    expect((await look(7)).total.runs).toBe(0)
  })

  it('refuses a window that is none', async () => {
    for (const days of [0, 93, 1.5]) await expect(look(days)).rejects.toMatchObject({ flaws: [{ field: 'days' }] })
  })
})

describe('the forecast of a draft', () => {
  it('says what it adds, on what that is based, and what becomes of budgets', async () => {
    const { id } = await createSchedule(world.ports, world.caller, { cron: '0 * * * *' })
    await ranBefore(id, 100)
    await createBudget(world.ports, world.caller, { unit: 'tokens', amount: 4_000 })
    const view = await draft({ every_seconds: 1_800, days: 2 })
    expect(view).toMatchObject({
      // A third of each full day is more than the budget admits.
      ...{ figures: { runs: 75, tokens: { expected: 7_500 } }, before: null },
      held_back: { runs: 21, tokens: { expected: 2_100 } },
      based_on: { tokens: 'agent', runs: 1 },
    })
    const [effect] = view.budgets
    expect([effect?.before?.used_up_at, effect?.after.used_up_at]).toEqual([null, '2026-01-16T13:20:00.000Z'])
    expect(view.warnings).toHaveLength(1)
    expect(view.warnings[0]).toContain('4000 tokens per day of the org is exhausted about 2026-01-16T13:20')
    expect(await draft({ every_seconds: 1_800, days: 2 }, false)).toMatchObject({ budgets: [], warnings: [] })
  })

  it('takes a change of a schedule for what it is, and one that is off as if it were on', async () => {
    const { id } = await createSchedule(world.ports, world.caller, { cron: '0 * * * *' })
    await ranBefore(id, 100)
    await createBudget(world.ports, world.caller, { unit: 'tokens', amount: 3_000, agent_id: 'writer' })
    const view = await draft({ id, cron: '0 */2 * * *', days: 1 })
    expect(view).toMatchObject({ figures: { runs: 12 }, before: { runs: 24 }, based_on: { tokens: 'schedule' } })
    expect(view.budgets[0]).toMatchObject({
      ...{ before: { periods: [{ expected: 1_200 }, { expected: 1_200 }] } },
      ...{ after: { periods: [{ expected: 600 }, { expected: 600 }] } },
    })
    await disableSchedule(world.ports, world.caller, { id })
    const off = await draft({ id, name: 'x', days: 1 })
    expect(off).toMatchObject({ before: null, figures: { runs: 24 } })
    expect(off.notes).toContain('The schedule is disabled; the figures assume that it is enabled.')
  })

  it('counts the budget that it brings with it', async () => {
    const budget = { unit: 'tokens', amount: 500, default_reserve: 50 } as const
    const view = await draft({ cron: '0 * * * *', budget, days: 1 })
    expect(view.based_on).toMatchObject({ tokens: 'default_reserve', cost: 'unknown' })
    expect(view.budgets).toMatchObject([
      { before: null, after: { scope: 'schedule', used_up_at: '2026-01-15T22:00:00.000Z' } },
    ])
    expect(await world.rows('select id from budget')).toEqual([])
    const made = await createSchedule(world.ports, caller(), { cron: '0 * * * *', budget })
    const [effect] = (await draft({ id: made.id, budget: { ...budget, amount: 5_000 }, days: 1 })).budgets
    expect([effect?.before?.amount, effect?.after.amount]).toEqual([500, 5_000])
  })

  it('is refused as the schedule itself would be', async () => {
    await expect(draft({ cron: '61 * * * *' })).rejects.toMatchObject({ flaws: [{ field: 'cron' }] })
    await expect(draft({ id: 'sch_none', name: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

it('forecasts a thousand schedules without holding anybody up', async () => {
  const timings = ['* * * * * *', '*/5 * * * *', '0 9 * * MON-FRI', '0 0 1 * *'].map((cron) =>
    timingOf({ cron, timezone: 'Europe/Berlin' }),
  )
  const rows = Array.from({ length: 1_000 }, (_, n) => {
    const timing = timings[n % 4]
    if (timing === undefined) throw new Error('no timing')
    return aScheduleRow(`sch_${n}`, { orgId: ORG, timing, watermark: NOW, nextRunAt: NOW, state: 'active' })
  })
  for (let from = 0; from < rows.length; from += 250)
    await world.db.transaction(async (tx) => {
      await Promise.resolve()
      insertSchedules(tx, rows.slice(from, from + 250))
    })
  const state = { isDone: false }
  const counted = forecastOrg(world.ports, world.caller, { days: 30 }).finally(() => {
    state.isDone = true
  })
  let turns = 0
  for (; !state.isDone; turns += 1) await afterOthers()
  const view = await counted
  expect(view.total.runs).toBeGreaterThan(30 * 86_400 * 250)
  expect(view.days).toHaveLength(31)
  // A thousand schedules of 31 days are counted and summed up in slices of ten, and others have their turn after each.
  expect(turns).toBeGreaterThan(200)
}, 20_000)
