import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { schemaReader } from '../../../src/api/read-input.ts'
import { scheduleInput, schedulePatch, type ScheduleInput } from '../../../src/features/schedules/schema.ts'
import { formatInstant, later } from '../../../src/domain/instant.ts'
import { explainOccurrence } from '../../../src/features/explain/occurrence.ts'
import {
  updateSchedule,
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
} from '../../../src/features/schedules/service.ts'
import { findSchedules } from '../../../src/features/schedules/find.ts'
import { findRunsOfSchedule } from '../../../src/features/runs/service.ts'
import { anAsker } from '../../support/asker.ts'
import { NOW } from '../../support/builders.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(async () => {
  await world.startOver('schedule', 'run', 'pending', 'occurrence', 'turn')
  await world.db.query('update org set max_schedules = null', [])
})
afterAll(() => world.drop())

const readNew = schemaReader(scheduleInput)
const readChange = schemaReader(schedulePatch)
const create = async (input: ScheduleInput) => createSchedule(world.ports, world.caller, readNew(input))
const get = (id: string) => getSchedule(world.ports, world.caller, id)
const change = async (id: string, input: ScheduleInput, version?: number) =>
  updateSchedule(world.ports, world.caller, { id, change: readChange(input), version })
const events = async (): Promise<readonly unknown[]> =>
  (await world.rows('select events from turn order by no')).flatMap((row) => row['events'] as readonly unknown[])

describe('making a schedule', () => {
  it('answers with everything about it', async () => {
    const made = await create({
      cron: '0 7 * * *',
      timezone: 'Asia/Shanghai',
      payload: 'hi',
      overlap_action: 'skip' as 'SKIP',
    })
    expect(made).toMatchObject({
      org_id: 'acme',
      agent_id: 'writer',
      kind: 'cron',
      cron: '0 7 * * *',
      timezone: 'Asia/Shanghai',
      name: 'At 07:00, every day (Asia/Shanghai)',
      sentence: 'At 07:00, every day (Asia/Shanghai)',
      state: 'active',
      enabled: true,
      next_run_at: '2026-01-15T23:00:00.000Z',
      last_run_at: null,
      failure_streak: 0,
      payload: { prompt: 'hi' },
      overlap_action: 'SKIP',
      misfire_policy: 'CATCH_UP_LIMITED',
      concurrency_policy: 'QUEUE',
      session: 'isolated',
      retry_policy: null,
      created_by: 'key_1',
      version: 1,
    })
    expect(await get(made.id)).toEqual(made)
    expect(await events()).toEqual([['schedule.changed', made.id, { change: 'created', state: 'active' }]])
  })

  it('is refused with every flaw, and leaves nothing', async () => {
    const bad = create({ cron: 'never', jitter_ms: -1, ...{ nmae: 'x' } })
    await expect(bad).rejects.toMatchObject({ code: 'VALIDATION', status: 400 })
    await expect(bad).rejects.toThrow(/did you mean name\?/)
    expect(await world.rows('select id from schedule')).toEqual([])
    expect(await events()).toEqual([])
  })

  it('needs an agent of the org', async () => {
    await expect(create({ every_seconds: 5, agent_id: 'nobody' })).rejects.toThrow(/is not an agent of this org/)
    expect((await create({ every_seconds: 5, agent_id: 'reader' })).agent_id).toBe('reader')
    await world.db.query('update org set default_agent_id = null', [])
    await expect(create({ every_seconds: 5 })).rejects.toThrow(/the org has no default agent/)
    await world.db.query(`update org set default_agent_id = 'writer'`, [])
  })

  it('ends at the number of schedules the org may have', async () => {
    await world.db.query('update org set max_schedules = 1', [])
    await create({ every_seconds: 5 })
    await expect(create({ every_seconds: 5 })).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})

describe('changing a schedule', () => {
  it('moves the next occurrence only when timing changes', async () => {
    const { id } = await create({ every_seconds: 60 })
    world.pass(30_000)
    const renamed = await change(id, { name: 'renamed', every_seconds: 60 })
    expect(renamed).toMatchObject({ name: 'renamed', version: 2, next_run_at: formatInstant(later(NOW, 60_000)) })
    expect(renamed.updated_at).toBe(formatInstant(later(NOW, 30_000)))
    const sooner = await change(id, { every_seconds: 20 })
    expect(sooner.next_run_at).toBe(formatInstant(later(NOW, 50_000)))
    expect(await get(id)).toEqual(sooner)
  })

  it('is refused when somebody else was faster', async () => {
    const { id } = await create({ every_seconds: 60 })
    await change(id, { name: 'first' }, 1)
    await expect(change(id, { name: 'second' }, 1)).rejects.toMatchObject({ code: 'STALE_VERSION', status: 412 })
    expect((await get(id)).name).toBe('first')
  })

  it('switches off and on without a backlog', async () => {
    const { id } = await create({ every_seconds: 60 })
    const off = await disableSchedule(world.ports, world.caller, { id })
    expect(off).toMatchObject({ state: 'paused', enabled: false, next_run_at: null })
    world.pass(600_000)
    const on = await enableSchedule(world.ports, world.caller, { id })
    expect(on).toMatchObject({ state: 'active', enabled: true, next_run_at: formatInstant(later(NOW, 660_000)) })
    await world.fire(id)
    expect(await world.rows('select id from run')).toEqual([])
  })

  it('keeps what firing has written', async () => {
    const { id } = await create({ every_seconds: 60, max_concurrency: 1 })
    world.pass(60_000)
    await world.fire(id)
    world.pass(60_000)
    await world.fire(id)
    const before = await get(id)
    expect(before).toMatchObject({ fires: 2, next_run_at: formatInstant(later(NOW, 180_000)) })
    const after = await change(id, { max_concurrency: 2 })
    expect(after).toMatchObject({ fires: 2, next_run_at: before.next_run_at, max_concurrency: 2 })
    // The second run waited for a slot of the schedule; now there is one.
    const slots = await world.rows('select slot from pending order by id')
    expect(slots).toEqual([{ slot: 'held' }, { slot: 'held' }])
  })
})

describe('deleting a schedule', () => {
  it('leaves its history, lets what holds a slot go on, and cancels what waits for one', async () => {
    const { id } = await create({ every_seconds: 60 })
    for (let minute = 0; minute < 2; minute += 1) {
      world.pass(60_000)
      await world.fire(id)
    }
    await deleteSchedule(world.ports, world.caller, { id })
    await expect(get(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const runs = await findRunsOfSchedule(world.ports, { orgId: world.caller.orgId, id })
    expect(runs.items.map(({ status }) => status)).toEqual(['cancelled', 'queued'])
    expect(await events()).toContainEqual(['schedule.changed', id, { deleted: true }])
    await expect(deleteSchedule(world.ports, world.caller, { id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('another org', () => {
  it('has no such schedule', async () => {
    const { id } = await create({ every_seconds: 60 })
    const { ports, stranger } = world
    const refused = { code: 'NOT_FOUND', status: 404 }
    await expect(getSchedule(ports, stranger, id)).rejects.toMatchObject(refused)
    await expect(updateSchedule(ports, stranger, { id, change: { name: 'x' } })).rejects.toMatchObject(refused)
    await expect(disableSchedule(ports, stranger, { id })).rejects.toMatchObject(refused)
    await expect(deleteSchedule(ports, stranger, { id })).rejects.toMatchObject(refused)
    await expect(explainOccurrence(ports, anAsker(stranger), { id, at: NOW })).rejects.toMatchObject(refused)
    await expect(findRunsOfSchedule(ports, { orgId: stranger.orgId, id })).rejects.toMatchObject(refused)
    expect((await findSchedules(ports, stranger)).items).toEqual([])
  })
})

describe('a list of schedules', () => {
  it('comes in pages, newest first', async () => {
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) {
      world.pass(1)
      ids.unshift((await create({ every_seconds: 60, name: `number ${index}` })).id)
    }
    const first = await findSchedules(world.ports, world.caller, { limit: 2 })
    const second = await findSchedules(world.ports, world.caller, { limit: 2, cursor: first.next_cursor ?? '' })
    const third = await findSchedules(world.ports, world.caller, { limit: 2, cursor: second.next_cursor ?? '' })
    expect([...first.items, ...second.items, ...third.items].map(({ id }) => id)).toEqual(ids)
    expect(third.next_cursor).toBeNull()
    expect((await findSchedules(world.ports, world.caller, { q: 'NUMBER 3' })).items).toHaveLength(1)
    expect((await findSchedules(world.ports, world.caller, { kind: 'interval' })).items).toHaveLength(5)
    expect((await findSchedules(world.ports, world.caller, { state: 'paused' })).items).toEqual([])
  })

  it('refuses what is no filter', async () => {
    const bad = { limit: 500, cursor: 'x', kind: 'sometimes' as 'cron' }
    await expect(findSchedules(world.ports, world.caller, bad)).rejects.toMatchObject({
      flaws: [{ field: 'kind' }, { field: 'cursor' }, { field: 'limit' }],
    })
  })
})

describe('an occurrence is explained', () => {
  const explain = (id: string, at: string | number) => explainOccurrence(world.ports, anAsker(world.caller), { id, at })

  it('by its run, by its plan, and by its absence', async () => {
    const { id } = await create({ every_seconds: 60, overlap_action: 'SKIP' })
    world.pass(60_000)
    await world.fire(id)
    world.pass(60_000)
    await world.fire(id)
    const first = formatInstant(later(NOW, 60_000))
    expect(await explain(id, first)).toMatchObject({ at: first, status: 'queued', reason: 'due', rule: 'timing' })
    expect(await explain(id, later(NOW, 120_000))).toMatchObject({ status: 'skipped', reason: 'overlap' })
    expect(await explain(id, later(NOW, 180_000))).toMatchObject({ run_id: null, reason: 'not_yet' })
    expect(await explain(id, later(NOW, 61_000))).toMatchObject({ reason: 'no_occurrence' })
    await disableSchedule(world.ports, world.caller, { id })
    expect(await explain(id, later(NOW, 180_000))).toMatchObject({
      reason: 'not_active',
      evidence: { state: 'paused' },
    })
  })

  it('by the creation it came before', async () => {
    const { id } = await create({ cron: '* * * * *' })
    expect(await explain(id, later(NOW, -60_000))).toMatchObject({ reason: 'before_creation', run_id: null })
  })

  it('by the range it was missed in', async () => {
    const { id } = await create({ every_seconds: 1 })
    world.pass(3_600_000)
    await world.fire(id)
    const missed = await explain(id, later(NOW, 5_000))
    expect(missed).toMatchObject({ run_id: null, status: 'skipped', reason: 'misfire', evidence: { count: 3_599 } })
  })

  it('also after the schedule is gone', async () => {
    const { id } = await create({ every_seconds: 60 })
    world.pass(60_000)
    await world.fire(id)
    await deleteSchedule(world.ports, world.caller, { id })
    expect(await explain(id, later(NOW, 60_000))).toMatchObject({ reason: 'due' })
    expect(await explain(id, later(NOW, 120_000))).toMatchObject({ reason: 'deleted_by', run_id: null })
    await expect(explain('sch_never', later(NOW, 120_000))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(explain(id, 'yesterday')).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})
