import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { MessageReceipt } from '../../src/features/sessions/schema.ts'
import {
  stats,
  statsSeries,
  type StatsSeries,
  type StatsView,
  timeline,
  type TimelineView,
} from '../../src/features/stats/schema.ts'

import { createRetention } from '../../src/features/retention/service.ts'
import { ageHistory } from '../support/history.ts'
import { createLiveWorld, type LiveWorld } from './live.ts'
import { pointersIn, problemIn } from './support.ts'

let world: LiveWorld
beforeAll(async () => {
  world = await createLiveWorld({
    worker: (attempt, { signal }) => {
      const { text } = attempt.payload as { readonly text: string }
      if (text === 'fail') throw new Error('no')
      if (text === 'good') return 'done'
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')))
      })
    },
  })
  await world.ask('PATCH', '/api/v1/agents/worker', { body: { retry_policy: { max_retries: 0 }, timeout_seconds: 1 } })
})
afterAll(() => world.close())

const URL = '/api/v1/stats'
const EVER = '?from=2020-01-01T00:00:00Z'
const read = async (query = '', as = 'owner'): Promise<StatsView> =>
  stats.parse((await world.ask('GET', `${URL}${query}`, { as })).json())
const series = async (query = ''): Promise<StatsSeries> =>
  statsSeries.parse((await world.ask('GET', `${URL}/series${query}`)).json())
const say = async (session: string, text: string): Promise<string> =>
  (
    await world.ask('POST', `/api/v1/sessions/${session}/messages`, { body: { text, debounce_ms: 0 } })
  ).json<MessageReceipt>().run_id

describe('the stats of an org', () => {
  it('begin with nothing', async () => {
    expect((await read()).runs).toEqual({
      ...{ ended: 0, by_status: {}, share: null, duration_ms: null, lateness_ms: null },
    })
  })

  it('show one third each after a success, a failure and a timeout, and what 95 % stay within', async () => {
    for (const text of ['good', 'fail', 'hang']) await say(text, text)
    await expect.poll(async () => (await read()).pending.active).toBe(1)
    const { agents, lanes } = await read()
    expect(agents).toEqual([{ agent_id: 'worker', queued: 0, active: 1 }])
    expect(lanes.find(({ name }) => name === 'main')).toMatchObject({ active: 1, pending: 0 })
    await expect.poll(async () => (await read()).runs.ended, { timeout: 10_000 }).toBe(3)
    const { runs, pending } = await read()
    expect(runs.by_status).toEqual({ success: 1, failed: 1, timeout: 1 })
    expect(runs.share).toEqual({ success: 1 / 3, failed: 1 / 3, timeout: 1 / 3 })
    expect(runs.duration_ms?.p95).toBeGreaterThanOrEqual(950)
    expect(runs.duration_ms?.p50).toBeLessThan(950)
    expect(pending).toEqual({ waiting: 0, queued: 0, active: 0 })
  })

  it('say how late schedules began', async () => {
    const at = new Date(Date.now() + 1_000).toISOString()
    await world.ask('POST', '/api/v1/schedules', { body: { name: 'soon', at, payload: { text: 'good' } } })
    await expect.poll(async () => (await read()).runs.lateness_ms, { timeout: 10_000 }).not.toBeNull()
    expect((await read()).runs.lateness_ms?.max).toBeLessThan(5_000)
  })

  it('outlive the runs and the history they were counted from, and count nothing twice', async () => {
    const before = (await read(EVER)).runs
    // This one is counted by nobody before its history goes.
    const id = await say('last', 'good')
    await expect.poll(async () => (await world.ask('GET', `/api/v1/runs/${id}`)).json<RunView>().status).toBe('success')
    const { ports } = world.engine
    await ports.database.query('delete from run where state is not null', [])
    await ageHistory(ports.database)
    await createRetention(ports).pass()
    await createRetention(ports).pass()
    const { runs } = await read(EVER)
    expect([runs.ended, runs.by_status.success]).toEqual([before.ended + 1, (before.by_status.success ?? 0) + 1])
    const [row] = await ports.database.query(`select count(*) as left from turn where org_id = 'acme'`, [])
    expect(row?.['left']).toBe(0)
  })

  it('are of whole hours of the stretch that is asked for', async () => {
    const hour = 3_600_000
    const now = Date.now()
    const iso = (at: number) => new Date(at).toISOString()
    const last = await read(`?from=${iso(now - 1)}&to=${iso(now)}`)
    expect(last).toMatchObject({
      from: iso(Math.floor((now - 1) / hour) * hour),
      to: iso(Math.ceil(now / hour) * hour),
    })
    expect((await read(`?to=${iso(now - 2 * hour)}`)).runs.ended).toBe(0)
    expect((await read(EVER)).runs.ended).toBeGreaterThan((await read()).runs.ended)
  })

  it.each([
    ['?from=yesterday', '/from'],
    ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', '/from'],
    ['?from=2999-01-01T00:00:00Z', '/from'],
    ['?window=24h', '/window'],
  ])('refuse %s', async (query, pointer) => {
    expect(pointersIn(await world.ask('GET', `${URL}${query}`))).toEqual([pointer])
  })

  it('go by the hour and by the day, with steps in which nothing happened', async () => {
    const hours = await series()
    expect(hours.points.map(({ at }) => Date.parse(at))).toEqual(
      Array.from({ length: 25 }, (_, index) => Date.parse(hours.from) + index * 3_600_000),
    )
    const { runs } = await read()
    const sum = (status: 'success' | 'failed') =>
      hours.points.reduce((all, { by_status: counts }) => all + (counts[status] ?? 0), 0)
    expect([sum('success'), sum('failed')]).toEqual([runs.by_status.success, runs.by_status.failed])
    const days = await series('?step=day&from=2026-01-01T10:00:00Z&to=2026-01-03T00:00:01Z')
    expect(days.points.map(({ at }) => at)).toEqual(['01', '02', '03'].map((day) => `2026-01-${day}T00:00:00.000Z`))
    expect(days.points[0]).toMatchObject({ by_status: {}, duration_p95_ms: null, lateness_p99_ms: null, tokens: 0 })
  })

  it('add up what was used', async () => {
    const before = (await series()).points.at(-1)?.tokens ?? 0
    const at = new Date().toISOString()
    await world.engine.ports.database.query(
      `insert into turn (org_id, no, at, node_id, events, ended)
       select org_id, max(no) + 1, $1::timestamptz, 'n', '[]',
              '{"status": {"success": 1}, "duration": {}, "lateness": {}, "usage": {"tokens": 120, "money": 1500}}'
         from org_version where org_id = 'acme' group by org_id`,
      [at],
    )
    const last = (await series()).points.at(-1)
    expect([last?.tokens, last?.cost]).toEqual([before + 120, 0.0015])
  })

  it.each([
    ['?step=minute', '/step'],
    ['?from=2020-01-01T00:00:00Z', '/from'],
    ['?step=day&from=2020-01-01T00:00:00Z', '/from'],
  ])('refuse the series %s', async (query, pointer) => {
    expect(pointersIn(await world.ask('GET', `${URL}/series${query}`))).toEqual([pointer])
  })

  it("show nobody another org's", async () => {
    expect((await read('', 'stranger')).runs.ended).toBe(0)
    problemIn(await world.ask('GET', URL, { as: null }), 'UNAUTHENTICATED')
  })
})

describe('the timeline', () => {
  const TIMELINE = `${URL}/timeline`
  const readTimeline = async (query = ''): Promise<TimelineView> =>
    timeline.parse((await world.ask('GET', `${TIMELINE}${query}`)).json())
  const iso = (at: number): string => new Date(at).toISOString()
  const create = async (body: object): Promise<string> => {
    const answer = await world.ask('POST', '/api/v1/schedules', { body })
    expect(answer.body).toContain('"id"')
    return answer.json<{ id: string }>().id
  }
  const settled = async (query: string): Promise<TimelineView['items'][number] | undefined> => {
    await expect
      .poll(async () => (await readTimeline(query)).items[0]?.by_status, { timeout: 10_000 })
      .toMatchObject({ [query.includes('failing') ? 'failed' : 'success']: 1 })
    return (await readTimeline(query)).items[0]
  }

  it('counts runs per schedule and outcome, the failing ones first, and keeps the counts when the runs are gone', async () => {
    const at = (): string => iso(Date.now() + 500)
    const good = await create({ name: 'a good one', at: at(), delete_after_run: false, payload: { text: 'good' } })
    const failing = await create({
      name: 'one that is failing',
      at: at(),
      delete_after_run: false,
      payload: { text: 'fail' },
    })
    await settled('?text=a%20good')
    await settled('?text=failing')
    const { ports } = world.engine
    const before = await readTimeline()
    const { runs } = await read()
    expect(before.items.slice(0, 2).map(({ id }) => id)).toContain(failing)
    expect(before.items.findIndex(({ id }) => id === failing)).toBeLessThan(
      before.items.findIndex(({ id }) => id === good),
    )
    const [all] = (await readTimeline('?by=org')).items
    expect(all?.by_status.failed).toBe(runs.by_status.failed)
    const [worker] = (await readTimeline('?by=agent')).items
    expect(worker).toMatchObject({ kind: 'agent', id: 'worker', by_status: { failed: runs.by_status.failed } })
    await ports.database.query('delete from run where state is not null', [])
    await ageHistory(ports.database)
    await createRetention(ports).pass()
    await createRetention(ports).pass()
    expect((await readTimeline()).items).toEqual(before.items)
  })

  it('draws what is planned, but nothing that a back-off or a pause holds back', async () => {
    const from = Date.now()
    const id = await create({
      ...{ name: 'backing off', every_seconds: 600, payload: { text: 'fail' } },
      ...{ failure_action: 'BACKOFF', failure_options: { ladder_seconds: [7_200] } },
    })
    const range = `?schedule_id=${id}&from=${iso(from)}&to=${iso(from + 6 * 3_600_000)}&step_seconds=3600`
    const plannedOf = async (): Promise<number> =>
      (await readTimeline(range)).items[0]?.buckets.reduce((sum, { planned }) => sum + planned, 0) ?? 0
    expect(await plannedOf()).toBe(35)
    await world.ask('POST', `/api/v1/schedules/${id}/run-now`)
    await expect
      .poll(async () => (await readTimeline(range)).items[0]?.held?.reason, { timeout: 10_000 })
      .toBe('failure')
    const [held] = (await readTimeline(range)).items
    expect(Date.parse(held?.held?.until ?? '') - from).toBeGreaterThan(7_000_000)
    expect(held?.buckets.filter(({ at, planned }) => planned > 0 && Date.parse(at) < from + 3_600_000)).toEqual([])
    expect(await plannedOf()).toBeLessThanOrEqual(24)
    await world.ask('POST', `/api/v1/schedules/${id}/disable`)
    expect(await plannedOf()).toBe(0)
  })

  it('draws nothing as planned while a budget has no room', async () => {
    const id = await create({ name: 'without money', every_seconds: 3_600, payload: { text: 'good' } })
    const budget = { schedule_id: id, unit: 'tokens', amount: 10, default_reserve: 10 }
    const { id: budgetId } = (await world.ask('POST', '/api/v1/budgets', { body: budget })).json<{ id: string }>()
    const range = `?schedule_id=${id}&from=${iso(Date.now())}&to=${iso(Date.now() + 2 * 3_600_000)}`
    expect((await readTimeline(range)).items[0]?.held).toBeNull()
    await world.engine.ports.database.query(
      `insert into usage (org_id, budget_id, period_start, used)
       values ('acme', $1, date_trunc('day', now(), 'UTC'), 10)
       on conflict (org_id, budget_id, period_start) do update set used = excluded.used`,
      [budgetId],
    )
    const [row] = (await readTimeline(range)).items
    expect(row?.held).toMatchObject({ reason: 'budget' })
    const until = Date.parse(row?.held?.until ?? '')
    for (const { at, planned } of row?.buckets ?? [])
      if (planned > 0) expect(Date.parse(at)).toBeGreaterThan(until - 3_600_000)
  })

  it('reaches every row page by page', async () => {
    const whole = await readTimeline('?limit=200')
    const found: (string | null)[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: TimelineView = await readTimeline(`?limit=2&cursor=${cursor}`)
      found.push(...page.items.map(({ id }) => id))
      cursor = page.next_cursor
    }
    expect(found).toEqual(whole.items.map(({ id }) => id))
    expect(whole.total).toBe(found.length)
  })

  it.each([
    ['?step_seconds=90', '/step_seconds'],
    ['?step_seconds=60&from=2026-01-01T00:00:00Z', '/step_seconds'],
    ['?cursor=nonsense', '/cursor'],
    ['?by=lane', '/by'],
    ['?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', '/from'],
  ])('refuses %s', async (query, pointer) => {
    expect(pointersIn(await world.ask('GET', `${TIMELINE}${query}`))).toEqual([pointer])
  })
})
