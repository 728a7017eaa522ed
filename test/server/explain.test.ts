import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { explanation } from '../../src/features/explain/schema.ts'
import { principalId } from '../../src/domain/ids.ts'
import { formatInstant, later } from '../../src/domain/instant.ts'
import { because } from '../../src/domain/reasons.ts'
import { seedRun } from '../platform/db/records.ts'
import { NOW } from '../support/builders.ts'
import { aPrincipal, createHttpWorld, KEYS, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  KEYS.set('onlyRuns', aPrincipal('owner', { id: principalId('key_only'), scopes: ['runs:read'] }))
})
afterAll(async () => {
  KEYS.delete('onlyRuns')
  await world.close()
})

const URL = '/api/v1/explain'
const ask = async (query: string, as = 'viewer') =>
  explanation.parse((await world.ask('GET', `${URL}?${query}`, { as })).json())

describe('GET /api/v1/explain', () => {
  it('answers about a run by its id, in words and with doors', async () => {
    const dropped = because('dropped', 'session.drop=old', { by: 'run_2' })
    await seedRun(world.services.db, 'run_1', {
      state: 'dropped',
      session: 'agent:writer:x',
      finishedAt: NOW,
      why: dropped,
    })
    const told = await ask('id=run_1')
    expect(told.sentence).toBe('The session queue was full and run_2 replaced it.')
    expect(told.findings[0]?.links.map(({ api }) => api)).toEqual(
      expect.arrayContaining(['/api/v1/runs/run_2', '/api/v1/sessions/agent%3Awriter%3Ax']),
    )
    expect(told.next?.actions.map(({ action }) => action)).toEqual(['change_session', 'retry'])
    for (const { api } of told.findings[0]?.links.filter(({ id }) => id === 'run_1') ?? [])
      expect((await world.ask('GET', api, { as: 'viewer' })).statusCode).toBe(200)
  })

  it('reads a local time in the time zone of the reader', async () => {
    const { asked } = await ask('at=2026-11-16T09:00&timezone=Asia/Tokyo')
    expect(asked).toMatchObject({ at: '2026-11-16T00:00:00.000Z', timezone: 'Asia/Tokyo', timezone_from: 'given' })
    const refused = await world.ask('GET', `${URL}?at=09:00&timezone=Mars`, { as: 'viewer' })
    expect(pointersIn(refused)).toEqual(['/timezone'])
  })

  it('says of a running run that its turn came, not that others go first', async () => {
    await seedRun(world.services.db, 'run_up', { state: 'running', startedAt: NOW })
    const [found] = (await ask('id=run_up')).findings
    expect(found).toMatchObject({ status: 'running', reason: 'picked', evidence: {} })
    expect(found?.sentence).toContain('next in the queue')
  })

  it('answers about a moment, and tells a key only what it may see', async () => {
    const made = await world.ask('POST', '/api/v1/schedules', {
      body: { cron: '30 12 * * *', timezone: 'UTC', name: 'Noon' },
    })
    const { id } = made.json<ScheduleView>()
    await world.ask('POST', `/api/v1/schedules/${id}/disable`)
    world.services.now = later(NOW, 3_600_000)
    const at = encodeURIComponent(formatInstant(later(NOW, 1_800_000)))
    const told = await ask(`at=${at}`)
    expect(told.findings[0]).toMatchObject({ about: 'Noon', reason: 'switched_off' })
    expect(told.asked).toMatchObject({ timezone: 'UTC', timezone_from: 'given' })
    // A local time is read in the zone that the question names, before that of the org or the schedule.
    const local = await ask(`at=09:00&timezone=Asia/Tokyo&schedule_id=${id}`)
    expect(local.asked).toMatchObject({ timezone: 'Asia/Tokyo', timezone_from: 'given' })
    expect(local.asked.at).toMatch(/T00:00:00/)
    const less = await ask(`at=${at}`, 'onlyRuns')
    expect(JSON.stringify(less)).not.toContain('Noon')
    expect(less).toMatchObject({ nearest: { before: null, after: null } })
    expect(JSON.stringify(await ask(`at=${at}`, 'stranger'))).not.toContain('Noon')
    world.services.now = NOW
  })

  it('refuses what cannot be understood, and what is not there', async () => {
    expect(pointersIn(await world.ask('GET', URL))).toEqual(['/at'])
    expect(pointersIn(await world.ask('GET', `${URL}?at=nine`))).toEqual(['/at'])
    expect(pointersIn(await world.ask('GET', `${URL}?id=a&at=09:00`))).toEqual(['/id'])
    expect(pointersIn(await world.ask('GET', `${URL}?at=09:00&within_seconds=0`))).toEqual(['/within_seconds'])
    problemIn(await world.ask('GET', `${URL}?id=run_none`), 'NOT_FOUND')
    problemIn(await world.ask('GET', `${URL}?at=09:00&schedule_id=sch_none`), 'NOT_FOUND')
    problemIn(await world.ask('GET', `${URL}?id=run_1`, { as: 'stranger' }), 'NOT_FOUND')
  })
})

describe('a question with a name', () => {
  it('finds a schedule by its name or a part of it, and says so of several', async () => {
    for (const name of ['Invoice check', 'Invoice report'])
      await world.ask('POST', '/api/v1/schedules', { body: { every_seconds: 600, name } })
    expect((await ask('id=invoice%20CHECK')).findings.map(({ about }) => about)).toEqual(['Invoice check'])
    expect((await ask('id=invoice')).findings.map(({ about }) => about)).toEqual(['Invoice check', 'Invoice report'])
    const unknown = await world.ask('GET', `${URL}?id=no-such-name`, { as: 'viewer' })
    expect(problemIn(unknown, 'NOT_FOUND').detail).toContain('No object has the id or name no-such-name')
  })
})
