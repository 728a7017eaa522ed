import { describe, expect } from 'vitest'
import type { ScheduleInput } from '../../src/features/schedules/schema.ts'
import { zoneScenarios } from './both/schedules.ts'
import { createStage } from './stage.ts'
import { ended, eventually, inMs, nothingFor, refused, runsOf, runsWhen, timeOf, until } from './support.ts'
import { scenario } from './world.ts'

const idle = { agents: { worker: () => 'done' } } as const

zoneScenarios(scenario)

describe.concurrent('15: a cron in a zone', () => {
  scenario('from the present on, too', async (world) => {
    const node = await world.start(idle)
    const before = Date.now()
    const { next_run_at: next } = await node.schedules.create({
      ...{ agent_id: 'worker', cron: '0 7 * * *', timezone: 'Asia/Shanghai', payload: 'morning' },
    })
    const day = 86_400_000
    const expected = (from: number): number => Math.floor((from - 23 * 3_600_000) / day + 1) * day + 23 * 3_600_000
    expect([expected(before), expected(Date.now())]).toContain(timeOf(next))
  })
})

describe.concurrent('16: nonsense is refused with the name of the field, and nothing is stored', () => {
  const refusals: readonly (readonly [string, ScheduleInput, string])[] = [
    ['minute 61', { cron: '61 * * * *' }, 'cron'],
    ['4 fields', { cron: '* * * *' }, 'cron'],
    ['an unknown zone', { cron: '0 7 * * *', timezone: 'Mars/Base' }, 'timezone'],
    ['an interval of 0', { every_seconds: 0 }, 'every_seconds'],
    ['a moment in the past', { at: '2020-01-01T00:00:00Z' }, 'at'],
    ['no plan at all', {}, 'cron'],
    ['two plans', { cron: '0 7 * * *', every_seconds: 5 }, 'cron'],
    ['an unknown policy', { cron: '0 7 * * *', overlap_action: 'MAYBE' as 'SKIP' }, 'overlap_action'],
    ['a jitter above the interval', { every_seconds: 2, jitter_ms: 2_000 }, 'jitter_ms'],
  ]
  scenario(refusals.map(([what]) => what).join(', '), async (world) => {
    const node = await world.start(idle)
    for (const [what, input, field] of refusals) {
      const refusal = await refused(node.schedules.create({ agent_id: 'worker', payload: 'x', ...input }), 'VALIDATION')
      expect(
        refusal.flaws.map((flaw) => flaw.field),
        what,
      ).toContain(field)
      expect(refusal.message, what).toContain(field)
    }
    expect((await node.schedules.list()).items).toEqual([])
  })

  scenario('a change, too: the schedule stays as it was', async (world) => {
    const node = await world.start(idle)
    const made = await node.schedules.create({ agent_id: 'worker', cron: '0 7 * * *', timezone: 'UTC', payload: 'x' })
    await refused(node.schedules.update(made.id, { cron: '61 * * * *', name: 'new' }), 'VALIDATION')
    expect(await node.schedules.get(made.id)).toEqual(made)
    await refused(node.schedules.get('sch_unknown'), 'NOT_FOUND')
  })
})

describe.concurrent('17: an anchored interval', () => {
  scenario('comes at anchor + n × interval after now, and a new name does not move it', async (world) => {
    const node = await world.start(idle)
    const anchor = Date.now() - 22_000
    const nextOf = (now: number): number => anchor + (Math.floor((now - anchor) / 5_000) + 1) * 5_000
    const before = Date.now()
    const made = await node.schedules.create({
      ...{ agent_id: 'worker', every_seconds: 5, anchor: new Date(anchor).toISOString(), payload: 'x' },
    })
    expect([nextOf(before), nextOf(Date.now())]).toContain(timeOf(made.next_run_at))
    const renamed = await node.schedules.update(made.id, { name: 'another name', payload: 'y' })
    expect(renamed).toMatchObject({ name: 'another name', next_run_at: made.next_run_at })
    await node.schedules.disable(made.id)
    const again = await node.schedules.enable(made.id)
    expect((timeOf(again.next_run_at) - anchor) % 5_000).toBe(0)
  })

  scenario('that has never come begins with its anchor', async (world) => {
    const node = await world.start(idle)
    const anchor = inMs(3_600_000)
    const made = await node.schedules.create({ agent_id: 'worker', every_seconds: 5, anchor, payload: 'x' })
    expect(made.next_run_at).toBe(anchor)
  })

  scenario('does not drift however long its runs take', async (world) => {
    const stage = createStage({ open: true, then: () => nothingFor(350) })
    const node = await world.start({ agents: { worker: stage.handler } })
    const anchor = inMs(-10_000)
    const { id } = await node.schedules.create({ agent_id: 'worker', every_seconds: 1, anchor, payload: 'x' })
    const runs = await runsWhen(node, id, (all) => all.filter((run) => run.status === 'success').length >= 3)
    const offsets = runs.map((run) => (timeOf(run.nominal_time) - timeOf(anchor)) % 1_000)
    expect(offsets).toEqual(runs.map(() => 0))
    for (const [index, run] of runs.entries())
      if (index > 0) expect(timeOf(run.nominal_time) - timeOf(runs[index - 1]?.nominal_time ?? null)).toBe(1_000)
    const [first] = runs
    expect(timeOf(first?.started_at ?? null) - timeOf(first?.nominal_time ?? null)).toBeLessThan(700)
  })
})

describe.concurrent('what bounds a schedule', () => {
  scenario('max_fires: so many runs, then it is finished', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({ agent_id: 'worker', every_seconds: 1, max_fires: 2, payload: 'x' })
    await eventually(async () =>
      expect(await node.schedules.get(id)).toMatchObject({ state: 'finished', next_run_at: null }),
    )
    await nothingFor(1_300)
    expect((await runsOf(node, id)).map((run) => run.status)).toEqual(['success', 'success'])
  })

  scenario('starts_at and ends_at, both inclusive', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const first = Math.ceil(Date.now() / 1_000) * 1_000 + 3_000
    const { id, next_run_at: next } = await node.schedules.create({
      ...{ agent_id: 'worker', cron: '* * * * * *', payload: 'x' },
      ...{ starts_at: new Date(first).toISOString(), ends_at: new Date(first + 1_000).toISOString() },
    })
    expect(timeOf(next)).toBe(first)
    await eventually(async () => expect((await node.schedules.get(id)).state).toBe('finished'))
    const runs = await runsOf(node, id)
    expect(runs.map((run) => timeOf(run.nominal_time))).toEqual([first, first + 1_000])
  })

  scenario('exclude: excluded days are no occurrences', async (world) => {
    const node = await world.start(idle)
    const { next_run_at: next } = await node.schedules.create({
      ...{ agent_id: 'worker', cron: '0 7 * * *', timezone: 'UTC', payload: 'x' },
      ...{ starts_at: '2030-01-15T00:00:00Z', exclude: ['2030-01-15', '2030-01-16'] },
    })
    expect(next).toBe('2030-01-17T07:00:00.000Z')
  })

  scenario('a recurrence rule', async (world) => {
    const node = await world.start(idle)
    const made = await node.schedules.create({
      ...{ agent_id: 'worker', rrule: 'FREQ=WEEKLY;BYDAY=MO,WE;BYHOUR=9;BYMINUTE=0;BYSECOND=0', timezone: 'UTC' },
      ...{ starts_at: '2030-01-15T00:00:00Z', payload: 'x' },
    })
    expect(made).toMatchObject({ kind: 'rrule', next_run_at: '2030-01-16T09:00:00.000Z' })
  })

  scenario('jitter_ms: each start is late by up to so much, the plan is not', async (world) => {
    const node = await world.start(idle)
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const input = { agent_id: 'worker', every_seconds: 1, jitter_ms: 900, max_fires: 1, payload: 'x' }
        return (await node.schedules.create({ ...input, anchor: inMs(-10_000) })).id
      }),
    )
    const lateness = await Promise.all(
      ids.map(async (id) => {
        const [run] = await runsWhen(node, id, ([first]) => first?.status === 'success')
        return timeOf(run?.started_at ?? null) - timeOf(run?.nominal_time ?? null)
      }),
    )
    for (const late of lateness) expect(late).toBeGreaterThanOrEqual(0)
    for (const late of lateness) expect(late).toBeLessThan(900 + 600)
    // Eight that are all within 100 ms of their moment would mean that nobody jitters.
    expect(lateness.some((late) => late > 100)).toBe(true)
  })
})

describe.concurrent('switching off and on', () => {
  scenario('off: nothing further occurs, what runs ends; on: from now, without a backlog', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', every_seconds: 1, payload: 'x', misfire_policy: 'FIRE_NOW' },
    })
    await stage.begunMany(1)
    // What a busy machine saw late is held, and ends with the schedule.
    const isOwn = (run: { readonly reason: string | null }): boolean => run.reason !== 'schedule_disabled'
    const off = await node.schedules.disable(id)
    expect(off).toMatchObject({ state: 'paused', enabled: false })
    const made = (await runsOf(node, id)).length
    await nothingFor(2_200)
    stage.open()
    const [first] = await runsWhen(node, id, (runs) => runs.filter(isOwn).every((run) => run.status === 'success'))
    expect(await ended(node, first?.id ?? '')).toMatchObject({ status: 'success' })
    expect(await runsOf(node, id)).toHaveLength(made)
    const enabledAt = Date.now()
    const on = await node.schedules.enable(id)
    expect(on).toMatchObject({ state: 'active', enabled: true })
    expect(timeOf(on.next_run_at)).toBeGreaterThan(enabledAt - 1)
    await until(enabledAt + 1_300)
    for (const run of (await runsOf(node, id)).slice(made)) {
      expect(timeOf(run.nominal_time)).toBeGreaterThanOrEqual(enabledAt)
      expect(run.trigger).toBe('schedule')
    }
  })

  scenario('a pending run keeps the payload it was made with', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { cron: 1 } })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'old', concurrency_policy: 'PARALLEL' },
    })
    await node.schedules.runNow(id)
    const { run_id: second = '' } = await node.schedules.runNow(id)
    await node.schedules.update(id, { payload: 'new' })
    const { run_id: third = '' } = await node.schedules.runNow(id)
    stage.open()
    await Promise.all([ended(node, second), ended(node, third)])
    expect(stage.started()).toEqual(['old', 'old', 'new'])
  })

  scenario('deleting: nothing further occurs, and the history outlives it', async (world) => {
    const node = await world.start(idle)
    const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'x' })
    const { run_id: run = '' } = await node.schedules.runNow(id)
    await ended(node, run)
    await node.schedules.delete(id)
    await refused(node.schedules.get(id), 'NOT_FOUND')
    await refused(node.schedules.delete(id), 'NOT_FOUND')
    expect((await node.runs.list({ schedule_id: id })).items.map((item) => item.id)).toEqual([run])
    expect(await node.runs.get(run)).toMatchObject({ schedule_id: id, status: 'success' })
  })

  scenario('many are listed by state, agent and words, a page at a time', async (world) => {
    const node = await world.start({ agents: { worker: () => 1, other: () => 2 } })
    const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon']
    for (const name of names)
      await node.schedules.create({ name, agent_id: name === 'beta' ? 'other' : 'worker', cron: '0 0 1 1 *' })
    const gamma = (await node.schedules.list({ q: 'gamma' })).items
    expect(gamma.map((item) => item.name)).toEqual(['gamma'])
    await node.schedules.disable(gamma[0]?.id ?? '')
    const namesOf = async (filter: Parameters<typeof node.schedules.list>[0]): Promise<readonly string[]> =>
      (await node.schedules.list(filter)).items.map((item) => item.name).toSorted()
    expect(await namesOf({ state: 'paused' })).toEqual(['gamma'])
    expect(await namesOf({ agent_id: 'other' })).toEqual(['beta'])
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await node.schedules.list({ limit: 2, ...(cursor === null ? {} : { cursor }) })
      expect(page.items.length).toBeLessThanOrEqual(2)
      seen.push(...page.items.map((item) => item.name))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(seen.toSorted()).toEqual(names.toSorted())
  })
})
