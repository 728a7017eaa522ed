import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { principalId } from '../../src/domain/ids.ts'
import { DAY_MS } from '../../src/domain/instant.ts'
import { DEFAULT_RESTRICTIONS } from '../../src/domain/access/restrictions.ts'
import { aPrincipal, createHttpWorld, KEYS, problemIn, type HttpWorld, type Method } from '../server/support.ts'
import { shortestOf } from './main-thread.ts'

// Rules that ask for more work than others can wait for. Everything is worked out in this thread here, so that what it
// takes is seen; a server works out previews and forecasts of rules in threads of their own.

const numbers = (count: number, first = 0): string => Array.from({ length: count }, (_, at) => at + first).join(',')
const [HOURS, SIXTY] = [numbers(24), numbers(60)]

const EVERY_SECOND = `FREQ=YEARLY;BYHOUR=${HOURS};BYMINUTE=${SIXTY};BYSECOND=${SIXTY}`
const EVERY_MINUTE = `FREQ=MONTHLY;BYMONTHDAY=1,2;BYHOUR=${HOURS};BYMINUTE=${SIXTY}`
const DENSE = {
  'every second of a year': EVERY_SECOND,
  'every minute of two days of a year': `FREQ=YEARLY;BYMONTH=1,2;BYHOUR=${HOURS};BYMINUTE=${SIXTY}`,
  'every minute of a month': `FREQ=MONTHLY;BYMONTHDAY=${numbers(31, 1)};BYHOUR=${HOURS};BYMINUTE=${SIXTY}`,
  'every hour of every day of the year': `FREQ=YEARLY;BYYEARDAY=${numbers(366, 1)};BYHOUR=${HOURS}`,
  'a position among the minutes of a year': `FREQ=YEARLY;BYDAY=MO,TU;BYHOUR=${HOURS};BYMINUTE=${SIXTY};BYSETPOS=-1`,
  'every second of an hour': `FREQ=HOURLY;BYMINUTE=${SIXTY};BYSECOND=${SIXTY}`,
}

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  const railed = { restrictions: DEFAULT_RESTRICTIONS, owner: 'key_railed', attempt: null }
  KEYS.set('railed', aPrincipal('owner', { id: principalId('key_railed'), restricted: railed }))
})
afterAll(async () => {
  KEYS.delete('railed')
  await world.close()
})
beforeEach(() => world.services.startOver('schedule', 'run', 'pending', 'occurrence', 'turn', 'budget'))

interface Answer {
  readonly status: number
  readonly json: unknown
}

async function ask(as: string, [method, url]: readonly [Method, string], body?: unknown): Promise<Answer> {
  const response = await world.ask(method, url, body === undefined ? { as } : { as, body })
  return { status: response.statusCode, json: response.json() }
}

/** Asks what changes nothing, more than once if need be, and demands that it has not kept anything else from its turn. */
async function askQuickly(...asked: Parameters<typeof ask>): Promise<Answer> {
  const answers: Answer[] = []
  const stretch = await shortestOf(ATTEMPTS, MAX_STRETCH_MS, async () => answers.push(await ask(...asked)))
  expect(stretch).toBeLessThan(MAX_STRETCH_MS)
  return answers[0] as Answer
}

/** What is promised is 20; a machine that compiles and collects meanwhile is given five times that. */
const MAX_STRETCH_MS = 100
const ATTEMPTS = 10

const PREVIEW = ['POST', '/api/v1/schedules/preview'] as const
const FORECAST = ['POST', '/api/v1/schedules/forecast'] as const
const CREATE = ['POST', '/api/v1/schedules'] as const
const SIMULATE = ['POST', '/api/v1/schedules/simulate'] as const

describe('a rule that is too dense to be evaluated', () => {
  it.each(Object.entries(DENSE))('%s is refused wherever it is asked about or stored', async (_name, rrule) => {
    const doors = [
      ['viewer', PREVIEW, { rrule, count: 100 }],
      ['viewer', FORECAST, { rrule, days: 2, payload: 'x' }],
      ['member', CREATE, { rrule, payload: 'x' }],
      ['railed', CREATE, { rrule, payload: 'x' }],
      ['viewer', SIMULATE, { schedules: [{ rrule }], window_seconds: 3_600 }],
    ] as const
    for (const [as, door, body] of doors) {
      const { status } = await askQuickly(as, door, body)
      expect([as, door[1], status]).toEqual([as, door[1], 422])
    }
  })

  it('is told how many times it names, how many may be named, and what to write instead', async () => {
    const response = await world.ask('POST', PREVIEW[1], { body: { rrule: EVERY_SECOND }, as: 'viewer' })
    const { code, errors } = problemIn(response, 'RULE_TOO_DENSE')
    expect(code).toBe('RULE_TOO_DENSE')
    expect(errors?.[0]).toMatchObject({
      pointer: '/rrule',
      message: 'is too dense: it has up to 86400 times per year, more than the limit of 1440 at position 1',
    })
    expect(errors?.[0]?.allowed).toContain('FREQ such as MINUTELY')
  })

  it('does not change a schedule that has another rule', async () => {
    const { id } = (await ask('owner', CREATE, { rrule: 'FREQ=DAILY', payload: 'x' })).json as ScheduleView
    expect((await ask('owner', ['PATCH', `/api/v1/schedules/${id}`], { rrule: EVERY_MINUTE })).status).toBe(422)
  })
})

/** As a version stored it that did not look at the work. */
async function stored(rrule: string): Promise<string> {
  const made = await ask('owner', CREATE, { rrule: 'FREQ=DAILY', payload: 'x' })
  const { id } = made.json as ScheduleView
  await world.services.db.query(
    `update schedule set timing = jsonb_set(timing, '{rrule}', to_jsonb($2::text)),
       input = jsonb_set(input, '{rrule}', to_jsonb($2::text)) where id = $1`,
    [id, rrule],
  )
  return id
}

describe('a rule that an earlier version has stored and that is too dense', () => {
  it('stops at its next moment, cheaply, and says why', async () => {
    const ids = [await stored(EVERY_SECOND), await stored(EVERY_SECOND), await stored(EVERY_SECOND)]
    world.services.pass(2 * DAY_MS)
    const [id = '', ...others] = ids
    const fire = (): Promise<void> => world.services.fire(others.pop() ?? id)
    expect(await shortestOf(ids.length, MAX_STRETCH_MS, fire)).toBeLessThan(MAX_STRETCH_MS)
    await world.services.fire(id)
    const shown = await askQuickly('viewer', ['GET', `/api/v1/schedules/${id}`])
    expect(shown.json).toMatchObject({ state: 'failed', enabled: false, next_run_at: null })
    expect((shown.json as ScheduleView).last_error).toContain('is too dense: it has up to 86400 times per year')
    const at = new Date(world.services.now + DAY_MS).toISOString()
    const why = await askQuickly('owner', ['GET', `/api/v1/schedules/${id}/explain?at=${at}`])
    expect(why.json).toMatchObject({ reason: 'rule_too_dense' })
  })

  it('goes on when it is given another rule', async () => {
    const id = await stored(EVERY_SECOND)
    world.services.pass(2 * DAY_MS)
    await world.services.fire(id)
    const changed = await ask('owner', ['PATCH', `/api/v1/schedules/${id}`], { rrule: 'FREQ=HOURLY', enabled: true })
    expect(changed.json).toMatchObject({ state: 'active' })
  })

  it('holds nobody up who lists, forecasts or explains', async () => {
    const ids = await Promise.all([stored(EVERY_SECOND), stored(EVERY_MINUTE)])
    await ask('owner', ['POST', '/api/v1/budgets'], { unit: 'tokens', amount: 9, period: 'day', on_exceed: 'queue' })
    const at = new Date(world.services.now + DAY_MS).toISOString()
    const asked = [
      await askQuickly('viewer', ['GET', '/api/v1/budgets/forecast?days=90']),
      await askQuickly('viewer', ['GET', '/api/v1/schedules?limit=200']),
      await askQuickly('viewer', ['GET', `/api/v1/schedules/${ids[0]}/explain?at=${at}`]),
      await askQuickly('viewer', ['GET', `/api/v1/explain?at=${at}`]),
    ]
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })
})

describe('a rule for some minutes of the day', () => {
  const SOME = 'FREQ=MINUTELY;BYHOUR=1,2,3,4,5'

  it('is forecast for a month without anything waiting, and exactly', async () => {
    const { status, json } = await askQuickly('viewer', FORECAST, { rrule: SOME, days: 31, payload: 'x' })
    expect(status).toBe(200)
    expect((json as { readonly figures: { readonly runs: number } }).figures.runs).toBe(31 * 5 * 60)
  })

  it('is in the forecast of all budgets for three months', async () => {
    for (let count = 0; count < 5; count += 1) await stored(SOME)
    const { status, json } = await askQuickly('viewer', ['GET', '/api/v1/budgets/forecast?days=90'])
    expect(status).toBe(200)
    expect((json as { readonly total: { readonly runs: number } }).total.runs).toBe(5 * 90 * 5 * 60)
  })
})

describe('a rule that never comes', () => {
  it.each([
    'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=SECONDLY;INTERVAL=60;BYSECOND=31',
    'FREQ=YEARLY;BYMONTH=3;BYHOUR=2,6,9;BYSETPOS=-50',
  ])('%s is found out while nobody waits', async (rrule) => {
    const { status, json } = await askQuickly('viewer', PREVIEW, { rrule, anchor: '2026-01-01T00:00:00Z' })
    expect([status, (json as { readonly next: readonly string[] }).next]).toEqual([200, []])
  })
})
