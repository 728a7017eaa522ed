import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { unservedCommand } from '../../src/engine/commands/alerts.ts'
import { alert, alertPage, alertRetry, type AlertView } from '../../src/features/alerts/schema.ts'
import { because } from '../../src/domain/reasons.ts'
import { ORG, seedRun } from '../platform/db/records.ts'
import { createHttpWorld, pointersIn, type HttpWorld } from './support.ts'

let world: HttpWorld
let schedule = ''
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('delete from run; delete from pending; delete from alert')
  const body = { name: 'Nightly digest', cron: '0 2 * * *', agent_id: 'writer' }
  schedule = (await world.ask('POST', '/api/v1/schedules', { body })).json<{ id: string }>().id
  await world.services.db.query(
    `update schedule set failure_streak = 83, last_error = 'quota exceeded' where id = $1`,
    [schedule],
  )
})

const URL = '/api/v1/alerts'

async function anAlert(id: string, { kind = 'failures_in_a_row', subject = 'schedule', subjectId = schedule } = {}) {
  const why = JSON.stringify(because('failure_streak', 'alerts.failures_in_a_row', { streak: 3, alert_after: 3 }))
  await world.services.db.query(
    `insert into alert (org_id, id, kind, subject_kind, subject_id, why, raised_at)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7::timestamptz)`,
    [ORG, id, kind, subject, subjectId, why, new Date(world.services.now).toISOString()],
  )
}

const list = async (query = ''): Promise<readonly AlertView[]> =>
  alertPage.parse((await world.ask('GET', `${URL}${query}`)).json()).items
const change = (id: string, verb: string, body: unknown, as = 'owner') =>
  world.ask('POST', `${URL}/${id}/${verb}`, { body, as })
const needingAttention = async () => (await list('?attention=true')).map(({ id }) => id)
const inAnHour = () => new Date(world.services.now + 3_600_000).toISOString()

describe('an alert', () => {
  it('has the name, the current streak and the latest error of what it is about', async () => {
    await anAlert('alr_1')
    const shown = {
      ...{ subject_id: schedule, subject_name: 'Nightly digest', streak: 83, last_error: 'quota exceeded' },
      ...{ agent_id: 'writer', acknowledged_at: null, acknowledged_by: null, snoozed_until: null },
    }
    expect(await list()).toMatchObject([shown])
    expect(alert.parse((await world.ask('GET', `${URL}/alr_1`)).json())).toMatchObject(shown)
    expect((await world.ask('GET', `${URL}/alr_none`)).statusCode).toBe(404)
    expect((await world.ask('GET', `${URL}/alr_1`, { as: 'stranger' })).statusCode).toBe(404)
  })

  it('about something that was deleted has its id for a name', async () => {
    await anAlert('alr_1', { kind: 'delivery_disabled', subject: 'target', subjectId: 'tgt_gone' })
    expect(await list()).toMatchObject([{ subject_name: 'tgt_gone', streak: null, last_error: null }])
  })
})

describe('acknowledging an alert', () => {
  it('keeps it open, names who did, is audited, and can be taken back', async () => {
    await anAlert('alr_1')
    expect(await needingAttention()).toEqual(['alr_1'])
    const done = await change('alr_1', 'acknowledge', undefined, 'member')
    expect(alert.parse(done.json())).toMatchObject({ status: 'open', acknowledged_by: 'key_member' })
    // Someone else's acknowledgment does not replace the first.
    expect((await change('alr_1', 'acknowledge', {})).json()).toMatchObject({ acknowledged_by: 'key_member' })
    expect(await needingAttention()).toEqual([])
    const audit = await world.ask('GET', '/api/v1/audit?object_kind=alert&object_id=alr_1')
    expect(audit.json<{ items: unknown[] }>().items.at(-1)).toMatchObject({
      ...{ action: 'alert.acknowledge', actor: 'key_member', after: { acknowledged_by: 'key_member' } },
    })
    expect((await change('alr_1', 'acknowledge', { acknowledged: false })).json()).toMatchObject({
      acknowledged_at: null,
    })
    expect(await needingAttention()).toEqual(['alr_1'])
  })

  it('is refused for readers, for cleared alerts and for input that makes no sense', async () => {
    await anAlert('alr_1')
    expect((await change('alr_1', 'acknowledge', {}, 'viewer')).statusCode).toBe(403)
    expect(pointersIn(await change('alr_1', 'acknowledge', { acknowledged: 'yes' }))).toEqual(['/acknowledged'])
    await world.services.db.query(`update alert set cleared_at = now(), cleared_why = why`)
    const late = await change('alr_1', 'acknowledge', {})
    expect([late.statusCode, late.json<{ detail: string }>().detail]).toEqual([
      409,
      expect.stringMatching(/^Alert alr_1 was cleared at /),
    ])
  })
})

describe('snoozing an alert', () => {
  it('takes it from what needs attention until then', async () => {
    await anAlert('alr_1')
    const until = inAnHour()
    expect((await change('alr_1', 'snooze', { until })).json()).toMatchObject({ snoozed_until: until, status: 'open' })
    expect(await needingAttention()).toEqual([])
    world.services.pass(3_600_001)
    expect(await needingAttention()).toEqual(['alr_1'])
    await change('alr_1', 'snooze', { until: inAnHour() })
    await change('alr_1', 'snooze', { until: null })
    expect(await needingAttention()).toEqual(['alr_1'])
  })

  it('needs a future time', async () => {
    await anAlert('alr_1')
    expect(pointersIn(await change('alr_1', 'snooze', { until: '2020-01-01T00:00:00Z' }))).toEqual(['/until'])
    expect(pointersIn(await change('alr_1', 'snooze', {}))).toEqual(['/until'])
    expect(pointersIn(await change('alr_1', 'snooze', { until: 'later' }))).toEqual(['/until'])
  })
})

describe('retrying the runs behind an alert', () => {
  const ended = (id: string, minute: number, more: object = {}) =>
    seedRun(world.services.db, id, {
      ...{ state: 'failed', errorCode: 'agent_error', schedule, trigger: 'schedule' },
      ...{ createdAt: world.services.now - 3_600_000 + minute * 60_000, ...more },
    } as never)

  it('retries the failed runs since the last success, oldest first, each once', async () => {
    await anAlert('alr_1')
    await ended('run_before', 1)
    await ended('run_good', 2, { state: 'success', errorCode: null })
    await ended('run_a', 3)
    await ended('run_b', 4, { state: 'timeout' })
    await ended('run_skip', 5, { state: 'skipped', errorCode: null })
    const first = await change('alr_1', 'retry', undefined)
    const answer = alertRetry.parse(first.json())
    expect([first.statusCode, answer.retried, answer.left, answer.refused]).toEqual([202, 2, 0, null])
    const retried = await world.services.rows(
      `select retry_of from run where retry_of is not null order by created_at, id`,
    )
    expect(retried).toEqual([{ retry_of: 'run_a' }, { retry_of: 'run_b' }])
    // What was retried is not retried again.
    expect((await change('alr_1', 'retry', undefined)).json()).toMatchObject({ retried: 0, left: 0 })
  })

  it('is refused where there are no runs to retry', async () => {
    await anAlert('alr_1', { kind: 'delivery_disabled', subject: 'target', subjectId: 'tgt_1' })
    const refused = await change('alr_1', 'retry', undefined)
    expect([refused.statusCode, refused.json<{ detail: string }>().detail]).toEqual([
      409,
      'An alert of kind delivery_disabled has no failed runs to retry; only failures_in_a_row has',
    ])
  })
})

describe('runs that no connected node or worker can execute', () => {
  const look = (served: boolean) => world.services.ports.commands.execute(unservedCommand(ORG, () => served))

  it('raise one alert after five minutes, which clears when something can execute them', async () => {
    await seedRun(world.services.db, 'run_1', { state: 'queued', createdAt: world.services.now } as never)
    await look(false)
    expect(await list()).toEqual([])
    world.services.pass(5 * 60_000)
    await look(true)
    expect(await list()).toEqual([])
    await look(false)
    await look(false)
    expect(await list()).toMatchObject([
      { kind: 'runs_unserved', subject_kind: 'agent', subject_id: 'writer', status: 'open', agent_id: 'writer' },
    ])
    expect((await list())[0]?.why).toMatchObject({ reason: 'runs_unserved', evidence: { agent: 'writer', waiting: 1 } })
    await look(true)
    expect(await list()).toMatchObject([{ status: 'cleared', cleared_why: { reason: 'runs_served' } }])
  })
})
