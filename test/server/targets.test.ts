import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { OutgoingMessage, TryOutcome } from '../../src/domain/delivery/message.ts'
import { parseEnvelope } from '../../src/domain/delivery/email-message.ts'
import {
  type TargetView,
  enabledTarget,
  signingSecret,
  target,
  targetPage,
  targetTest,
} from '../../src/features/targets/schema.ts'
import { schedule } from '../../src/features/schedules/schema.ts'

import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
const sent: OutgoingMessage[] = []
let answer: TryOutcome = { ok: true, statusCode: 204 }

beforeAll(async () => {
  world = await createHttpWorld()
  const { ports } = world.services
  world.change({
    ports: {
      ...ports,
      outbound: {
        check: (url) => Promise.resolve(url.includes('forbidden') ? 'is not called from here' : null),
        post: (message) => {
          sent.push(message)
          return Promise.resolve(answer)
        },
      },
    },
  })
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query(
    'delete from delivery; delete from schedule; delete from target; delete from signing_secret',
  )
  sent.length = 0
  answer = { ok: true, statusCode: 204 }
})

const URL = '/api/v1/targets'
const hook = { name: 'ops', url: 'https://hooks.example.com/in?key=1' }
const create = async (body: unknown = hook, headers = {}): Promise<TargetView> => {
  const response = await world.ask('POST', URL, { body, headers })
  expect([response.statusCode, response.json<{ detail?: string }>().detail]).toEqual([201, undefined])
  return target.parse(response.json())
}

describe('a target', () => {
  it('is made, shown, listed, changed and deleted', async () => {
    const made = await create()
    expect(made).toMatchObject({
      ...hook,
      kind: 'webhook',
      enabled: true,
      held: 0,
      org_id: 'acme',
      created_by: 'key_owner',
    })
    expect((await world.ask('GET', `${URL}/${made.id}`)).json()).toEqual(made)
    expect(targetPage.parse((await world.ask('GET', URL)).json()).items).toEqual([made])
    const changed = await world.ask('PATCH', `${URL}/${made.id}`, { body: { name: 'alarms', enabled: false } })
    expect(target.parse(changed.json())).toMatchObject({
      name: 'alarms',
      url: hook.url,
      enabled: false,
      disabled_why: null,
    })
    expect((await world.ask('DELETE', `${URL}/${made.id}`)).statusCode).toBe(204)
    problemIn(await world.ask('GET', `${URL}/${made.id}`), 'NOT_FOUND')
    problemIn(await world.ask('DELETE', `${URL}/${made.id}`), 'NOT_FOUND')
    problemIn(await world.ask('POST', `${URL}/${made.id}/test`), 'NOT_FOUND')
    problemIn(await world.ask('POST', `${URL}/${made.id}/enable`), 'NOT_FOUND')
  })

  it('is audited, without what its address may hold', async () => {
    const { id } = await create()
    await world.ask('PATCH', `${URL}/${id}`, { body: { name: 'alarms' } })
    await world.ask('POST', `${URL}/${id}/test`)
    const rows = await world.services.rows(`select action, after from audit where object_id = '${id}' order by no`)
    expect(rows).toMatchObject([
      { action: 'target.create', after: { name: 'ops', url: 'https://hooks.example.com/in?***' } },
      { action: 'target.update', after: { name: 'alarms' } },
      { action: 'target.test', after: { delivered: true } },
    ])
  })

  it('is made once for an idempotency key', async () => {
    const headers = { 'idempotency-key': 'k' }
    expect(await create(hook, headers)).toEqual(await create(hook, headers))
    expect(await world.services.rows('select id from target')).toHaveLength(1)
  })

  it.each([
    ['nothing', {}, ['/name', '/url']],
    ['a misspelt field', { ...hook, adress: 'x' }, ['/adress']],
    ['what its kind does not know', { ...hook, settings: { to: 'ops@example.com' } }, ['/settings']],
    ['mail to nobody', { name: 'ops', kind: 'email' }, ['/settings/to']],
    ['mail with an address', { ...hook, kind: 'email', settings: { to: 'ops@example.com' } }, ['/url']],
    ['hours that never end', { ...hook, quiet_hours: { start: '1:00', end: '02:00' } }, ['/quiet_hours/start']],
    ['alerts that are none', { ...hook, alerts: 1 }, ['/alerts']],
    ['a kind that is none', { ...hook, kind: 'pigeon' }, ['/kind']],
    ['an address that must not be called', { ...hook, url: 'http://forbidden/' }, ['/url']],
    ['a flag that is none', { ...hook, enabled: 'yes' }, ['/enabled']],
    ['no name', { ...hook, name: '' }, ['/name']],
  ])('is refused with %s, and nothing is kept', async (_, body, pointers) => {
    expect(pointersIn(await world.ask('POST', URL, { body }))).toEqual(pointers)
    expect(await world.services.rows('select id from target')).toEqual([])
  })

  it('keeps what its kind is set up with, and when it is quiet', async () => {
    const hours = { start: '22:00', end: '24:00', timezone: 'Europe/Berlin' }
    const made = await create({ name: 'mail', kind: 'email', settings: { to: 'ops@example.com' }, quiet_hours: hours })
    expect(made).toMatchObject({ url: null, settings: { to: ['ops@example.com'] }, quiet_hours: hours, alerts: false })
    const change = { settings: { to: ['a@example.com'] }, quiet_hours: null, alerts: true }
    const changed = target.parse((await world.ask('PATCH', `${URL}/${made.id}`, { body: change })).json())
    expect(changed).toMatchObject({ name: 'mail', kind: 'email', ...change })
  })

  it('is not changed to where nothing may be sent, nor into another kind', async () => {
    const { id } = await create()
    expect(pointersIn(await world.ask('PATCH', `${URL}/${id}`, { body: { url: 'http://forbidden/' } }))).toEqual([
      '/url',
    ])
    expect(pointersIn(await world.ask('PATCH', `${URL}/${id}`, { body: { kind: 'webhook' } }))).toEqual(['/kind'])
    expect((await world.ask('GET', `${URL}/${id}`)).json()).toMatchObject(hook)
  })

  it('is tried out with a signed message, and says what came of it', async () => {
    const { id } = await create()
    expect(targetTest.parse((await world.ask('POST', `${URL}/${id}/test`)).json())).toMatchObject({ delivered: true })
    answer = { ok: false, statusCode: null, error: 'timeout', message: 'no answer' }
    expect((await world.ask('POST', `${URL}/${id}/test`)).json()).toMatchObject({
      ...{ delivered: false, status_code: null, error_code: 'timeout', message: 'no answer' },
    })
    expect(parseEnvelope(sent[0]?.body ?? '')).toMatchObject({ type: 'target.test', data: { target_id: id } })
    expect(sent[0]?.secrets).toHaveLength(1)
    expect(sent[0]?.id).not.toBe(sent[1]?.id)
  })

  it('that is off is enabled', async () => {
    const { id } = await create({ ...hook, enabled: false })
    const enabled = enabledTarget.parse((await world.ask('POST', `${URL}/${id}/enable`)).json())
    expect(enabled).toMatchObject({ enabled: true, released: 0, disabled_at: null })
  })

  it('of another org is not there', async () => {
    const { id } = await create()
    for (const [method, url] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/enable'],
    ] as const)
      problemIn(await world.ask(method, `${URL}/${id}${url}`, { as: 'stranger' }), 'NOT_FOUND')
    expect((await world.ask('GET', URL, { as: 'stranger' })).json()).toMatchObject({ items: [] })
  })
})

describe('the signing secret', () => {
  const ask = async (method: 'GET' | 'POST', path = ''): Promise<ReturnType<typeof signingSecret.parse>> =>
    signingSecret.parse((await world.ask(method, `${URL}/signing-secret${path}`)).json())

  it('is made once, and after a change both sign for a day', async () => {
    const first = await ask('GET')
    expect(first.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
    expect(await ask('GET')).toEqual(first)
    const second = await ask('POST', '/rotate')
    expect(second.secret).not.toBe(first.secret)
    expect(Date.parse(second.previous_until ?? '')).toBe(world.services.now + 86_400_000)
    const { id } = await create()
    await world.ask('POST', `${URL}/${id}/test`)
    expect(sent[0]?.secrets).toEqual([second.secret, first.secret])
    world.services.pass(86_400_001)
    await world.ask('POST', `${URL}/${id}/test`)
    expect(sent[1]?.secrets).toEqual([second.secret])
  })

  it('is not for those who only read, is each org\u2019s own, and is in no record', async () => {
    problemIn(await world.ask('GET', `${URL}/signing-secret`, { as: 'viewer' }), 'FORBIDDEN')
    const { secret } = await ask('GET')
    const other = await world.ask('GET', `${URL}/signing-secret`, { as: 'stranger' })
    expect(signingSecret.parse(other.json()).secret).not.toBe(secret)
    const rotated = await ask('POST', '/rotate')
    const rows = await world.services.rows(
      `select action, after::text from audit where action = 'signing_secret.rotate'`,
    )
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(rotated.secret)
  })
})

describe('a schedule', () => {
  const schedules = '/api/v1/schedules'

  it('delivers to a target, to another, and to none any more', async () => {
    const [one, two] = [await create(), await create({ ...hook, enabled: false })]
    const made = await world.ask('POST', schedules, { body: { every_seconds: 60, delivery: { target_id: one.id } } })
    const { id, ...view } = schedule.parse(made.json())
    expect(view).toMatchObject({ delivery: { target_id: one.id }, delivery_disabled: false })
    const changed = await world.ask('PATCH', `${schedules}/${id}`, { body: { delivery: { target_id: two.id } } })
    expect(schedule.parse(changed.json())).toMatchObject({ delivery: { target_id: two.id }, delivery_disabled: true })
    const renamed = await world.ask('PATCH', `${schedules}/${id}`, { body: { name: 'other' } })
    expect(renamed.json()).toMatchObject({ delivery: { target_id: two.id }, delivery_disabled: true })
    expect((await world.ask('GET', schedules)).json()).toMatchObject({ items: [{ id, delivery_disabled: true }] })
    problemIn(await world.ask('DELETE', `${URL}/${two.id}`), 'CONFLICT')
    const cleared = await world.ask('PATCH', `${schedules}/${id}`, { body: { delivery: null } })
    expect(cleared.json()).toMatchObject({ delivery: null, delivery_disabled: false })
    expect((await world.ask('DELETE', `${URL}/${two.id}`)).statusCode).toBe(204)
  })

  it.each([
    ['a target that is not there', { target_id: 'tgt_none' }, ['/delivery/target_id']],
    ['no target', {}, ['/delivery/target_id']],
    ['an address', 'https://example.com', ['/delivery']],
    ['another field', { target_id: 'x', url: 'https://example.com' }, ['/delivery/url']],
  ])('is refused with %s to deliver to', async (_, delivery, pointers) => {
    expect(pointersIn(await world.ask('POST', schedules, { body: { every_seconds: 60, delivery } }))).toEqual(pointers)
    expect(await world.services.rows('select id from schedule')).toEqual([])
  })

  it('does not deliver to a target of another org', async () => {
    const { id } = await create()
    const body = { every_seconds: 60, delivery: { target_id: id } }
    expect(pointersIn(await world.ask('POST', schedules, { body, as: 'stranger' }))).toEqual(['/delivery/target_id'])
  })
})
