import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SchedulePreview } from '../../src/features/schedules/views-schema.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { DAY_MS, formatInstant, instant } from '../../src/domain/instant.ts'
import { createHttpWorld, type HttpWorld, type Method } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())
beforeEach(() => world.services.startOver('schedule', 'run', 'pending', 'occurrence', 'turn', 'budget'))

async function ask<T>(method: Method, path: string, body?: unknown): Promise<T> {
  const response = await world.ask(method, `/api/v1/schedules${path}`, body === undefined ? {} : { body })
  expect(response.statusCode, response.body).toBeLessThan(300)
  return response.json()
}

const create = (fields: Readonly<Record<string, unknown>>): Promise<ScheduleView> =>
  ask('POST', '', { payload: 'x', ...fields })

describe('timezone: null', () => {
  it('brings back the default zone of the org, and the occurrences move with it', async () => {
    const made = await create({ cron: '0 9 * * *', timezone: 'Asia/Tokyo' })
    const usual = await create({ cron: '0 9 * * *' })
    const changed = await ask<ScheduleView>('PATCH', `/${made.id}`, { timezone: null })
    expect(changed.timezone).toBe(usual.timezone)
    expect(changed.timezone).not.toBe('Asia/Tokyo')
    expect(changed.next_run_at).toBe(usual.next_run_at)
  })

  it('is the default of today, while a change of anything else leaves the zone that was settled', async () => {
    const made = await create({ cron: '0 9 * * *' })
    const setDefault = (zone: string) =>
      world.services.db.query('update org set default_timezone = $2 where id = $1', [made.org_id, zone])
    await setDefault('America/New_York')
    try {
      expect((await ask<ScheduleView>('PATCH', `/${made.id}`, { cron: '0 10 * * *' })).timezone).toBe(made.timezone)
      expect((await ask<ScheduleView>('PATCH', `/${made.id}`, { tz: null })).timezone).toBe('America/New_York')
    } finally {
      await setDefault(made.timezone)
    }
  })
})

describe('a rule with COUNT that names no start', () => {
  it('fires as often as it counts, and then is finished', async () => {
    const made = await create({ rrule: 'FREQ=DAILY;COUNT=2' })
    const day = Math.floor(world.services.now / 1_000) * 1_000
    expect(made.next_run_at).toBe(formatInstant(instant(day + DAY_MS)))
    for (const fires of [1, 2]) {
      world.services.pass(DAY_MS)
      await world.services.fire(made.id)
      expect(await ask<ScheduleView>('GET', `/${made.id}`)).toMatchObject({ fires })
    }
    expect(await ask<ScheduleView>('GET', `/${made.id}`)).toMatchObject({ state: 'finished', next_run_at: null })
  })

  it('keeps its count when something else about it changes', async () => {
    const made = await create({ rrule: 'FREQ=DAILY;COUNT=1' })
    world.services.pass(DAY_MS / 2)
    const changed = await ask<ScheduleView>('PATCH', `/${made.id}`, { payload: 'y', rrule: 'FREQ=DAILY;COUNT=1' })
    expect(changed.next_run_at).toBe(made.next_run_at)
  })
})

describe('a schedule that can never fire', () => {
  const NEVER = [
    { cron: '0 0 30 2 *' },
    { rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30' },
    { rrule: 'FREQ=DAILY;UNTIL=20200101' },
    { rrule: 'DTSTART:20200101T000000Z\nFREQ=DAILY;COUNT=3' },
    { every_seconds: 60, ends_at: '2020-01-01T00:00:00Z' },
    { cron: '0 0 * * *', exclude: [{ from: '1970-01-01T00:00:00Z', to: '2250-01-01T00:00:00Z' }] },
  ]
  const CODES = [{ code: 'never_fires', params: {} }]
  const SAYS = [expect.stringContaining('never fires')]

  it.each(NEVER)('%j says so when it is previewed, created, shown and changed', async (fields) => {
    expect(await ask<SchedulePreview>('POST', '/preview', fields)).toMatchObject({
      next: [],
      notes: SAYS,
      note_codes: CODES,
    })
    const made = await create(fields)
    expect([made.notes, made.note_codes]).toEqual([SAYS, CODES])
    expect((await ask<ScheduleView>('GET', `/${made.id}`)).notes).toEqual(SAYS)
    expect((await ask<ScheduleView>('PATCH', `/${made.id}`, { payload: 'y' })).notes).toEqual(SAYS)
    const mended = await ask<ScheduleView>('PATCH', `/${made.id}`, { cron: '0 9 * * *', exclude: null, ends_at: null })
    expect([mended.notes, mended.state]).toEqual([undefined, 'active'])
  })

  it('says so also while it is off', async () => {
    const made = await create({ cron: '0 0 30 2 *', enabled: false })
    expect([made.state, made.notes]).toEqual(['paused', SAYS])
  })

  it('is not said of one that has fired, nor of one that will', async () => {
    const made = await create({ rrule: 'FREQ=DAILY;COUNT=1' })
    expect(made.notes).toBeUndefined()
    world.services.pass(DAY_MS)
    await world.services.fire(made.id)
    const shown = await ask<ScheduleView>('GET', `/${made.id}`)
    expect([shown.state, shown.notes]).toEqual(['finished', undefined])
  })
})
