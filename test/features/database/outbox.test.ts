import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { scheduleId } from '../../../src/domain/ids.ts'
import { HOUR_MS, later, MINUTE_MS } from '../../../src/domain/instant.ts'
import { findAlerts } from '../../../src/features/alerts/service.ts'
import { findDeliveries, getDelivery, retryDelivery } from '../../../src/features/deliveries/service.ts'
import { createRetention } from '../../../src/features/retention/service.ts'
import { retryRun } from '../../../src/features/runs/retry.ts'
import { cancelRunById, getRunDetail, runScheduleNow } from '../../../src/features/runs/service.ts'
import { createSchedule, getSchedule } from '../../../src/features/schedules/service.ts'
import {
  updateTarget,
  createTarget,
  enableTarget,
  getTarget,
  deleteTarget,
} from '../../../src/features/targets/service.ts'
import { ORG } from '../../platform/db/records.ts'
import { NOW } from '../../support/builders.ts'
import { ARRIVED, aTask, claim, end, FAILED, messageOf, record } from './outbox-stage.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

const HOOK = 'https://hooks.example.com/in'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('run', 'pending', 'delivery', 'delivery_try', 'alert', 'schedule', 'target'))
afterAll(() => world.drop())

const newTarget = (): Promise<{ readonly id: string }> =>
  createTarget(world.ports, world.caller, { name: 'ops', url: HOOK })

/** A run of a schedule that delivers to a target. */
async function aRunFor(target: string): Promise<string> {
  const { id } = await createSchedule(world.ports, world.caller, {
    ...{ cron: '0 0 1 1 *', agent_id: 'writer', payload: 'go', delivery: { target_id: target } },
  })
  const { run_id: run = '' } = await runScheduleNow(world.ports, world.caller, { id, mode: 'force' })
  return run
}

const statuses = async (): Promise<readonly string[]> =>
  (await findDeliveries(world.ports, world.caller)).items.map(({ status }) => status)

const onlyDelivery = async (): Promise<string> => {
  const { items } = await findDeliveries(world.ports, world.caller)
  expect(items).toHaveLength(1)
  return items[0]?.id ?? ''
}

describe('a task with a callback', () => {
  it('leaves one message when it succeeds, with the headers of its seed and the task as everybody reads it', async () => {
    const id = await aTask(world, 'https://client.example.com/done')
    expect(await statuses()).toEqual([])
    await end(world, id, { output: { clicked: true } })
    const [delivery, ...others] = await claim(world)
    expect(others).toEqual([])
    const message = await messageOf(world, delivery ?? expect.fail())
    expect(message).toMatchObject({
      ...{ url: 'https://client.example.com/done', purpose: 'callback', id: `msg_${delivery?.id ?? ''}` },
      headers: { 'X-PinchTab-Event': 'task.completed', 'X-PinchTab-Task-ID': id },
    })
    expect(JSON.parse(message.body)).toMatchObject({ taskId: id, state: 'done', result: { clicked: true } })
  })

  it('leaves one when it is cancelled, and none without a callback', async () => {
    const id = await aTask(world, 'https://client.example.com/done')
    await cancelRunById(world.ports, world.caller, id)
    await cancelRunById(world.ports, world.caller, await aTask(world, null))
    const [delivery, ...others] = await claim(world)
    expect(others).toEqual([])
    expect(JSON.parse((await messageOf(world, delivery ?? expect.fail())).body)).toMatchObject({ state: 'cancelled' })
  })

  it('leaves none when it was rejected, and one when its deadline passed while it waited', async () => {
    const { settings } = world
    world.settings = { ...settings, tasks: { ...settings.tasks, maxQueue: 1 } }
    const waiting = await aTask(world, 'https://client.example.com/done', { deadline: later(NOW, 1_000) })
    const rejected = await aTask(world, 'https://client.example.com/done')
    world.settings = settings
    expect(await world.rows(`select state from run where id = '${rejected}'`)).toEqual([{ state: 'rejected' }])
    expect(await statuses()).toEqual([])
    world.pass(2_000)
    await world.take({ orgId: ORG, apply: () => undefined })
    const [delivery, ...others] = await claim(world)
    expect(others).toEqual([])
    expect(JSON.parse((await messageOf(world, delivery ?? expect.fail())).body)).toMatchObject({
      ...{ taskId: waiting, state: 'failed', error: 'deadline exceeded while queued' },
    })
  })

  it('is told also when it answers NO_REPLY: a program waits for it', async () => {
    await end(world, await aTask(world, 'https://client.example.com/done'), { output: 'NO_REPLY' })
    expect(await statuses()).toEqual(['pending'])
  })

  it('gives up after 10 tries, keeps what was sent, and is sent after all when a person asks', async () => {
    const id = await aTask(world, 'https://client.example.com/done')
    await end(world, id)
    const ids = new Set<string>()
    for (let number = 1; number <= 10; number += 1) {
      const [delivery] = await claim(world)
      expect(delivery?.number).toBe(number)
      const message = await messageOf(world, delivery ?? expect.fail())
      ids.add(message.id)
      const [after] = await record(world, [{ ...(delivery ?? expect.fail()), outcome: FAILED, body: message.body }])
      expect(after?.outcome).toBe(number === 10 ? 'given_up' : 'retry')
      expect(await claim(world)).toEqual([])
      world.pass(5 * HOUR_MS)
    }
    expect(ids.size).toBe(1)
    const delivery = await getDelivery(world.ports, world.caller, await onlyDelivery())
    expect(delivery).toMatchObject({ status: 'failed', why: { reason: 'delivery_given_up' }, kind: 'callback' })
    expect(delivery.tries.map(({ number, status_code: status }) => [number, status])).toEqual(
      Array.from({ length: 10 }, (_, index) => [index + 1, 500]),
    )
    await createRetention(world.ports).pass()
    expect(await world.rows(`select id from run where id = '${id}'`)).toEqual([])
    await retryDelivery(world.ports, world.caller, delivery.id)
    const [again] = await claim(world)
    expect(again?.number).toBe(11)
    expect(JSON.parse((await messageOf(world, again ?? expect.fail())).body)).toMatchObject({ taskId: id })
  })
})

describe('a claim', () => {
  it('is one node\u2019s alone until it lapses, and then changes nothing any more', async () => {
    await end(world, await aTask(world, 'https://client.example.com/done'))
    const [first] = await claim(world)
    expect(await claim(world)).toEqual([])
    world.pass(MINUTE_MS)
    const [second] = await claim(world)
    expect(second?.id).toBe(first?.id)
    expect(await record(world, [{ ...(first ?? expect.fail()), outcome: FAILED }])).toEqual([])
    expect(await statuses()).toEqual(['pending'])
    expect(await record(world, [{ ...(second ?? expect.fail()), outcome: ARRIVED }])).toMatchObject([
      { outcome: 'delivered', number: 1 },
    ])
    expect(await statuses()).toEqual(['delivered'])
  })

  it('takes at most four messages of one receiver at a time, and passes on to the next receiver', async () => {
    for (let index = 0; index < 6; index += 1) await end(world, await aTask(world, 'https://slow.example.com/a'))
    await end(world, await aTask(world, 'https://other.example.com/b'))
    const first = await claim(world)
    const hosts = first.map(({ url }) => new URL(url ?? '').host).sort()
    expect(hosts).toEqual(['other.example.com', ...Array<string>(4).fill('slow.example.com')])
    expect(await claim(world)).toEqual([])
    const [done] = first.filter(({ url }) => url?.includes('slow') === true)
    await record(world, [{ ...(done ?? expect.fail()), outcome: ARRIVED }])
    expect(await claim(world)).toHaveLength(1)
  })
})

describe('a schedule that delivers to a target', () => {
  it('sends its run in the envelope of webhooks, with the whole of a long output', async () => {
    const run = await aRunFor((await newTarget()).id)
    const long = 'é'.repeat(100_000)
    await end(world, run, { output: 'é', uncut: long })
    const [delivery] = await claim(world)
    const message = await messageOf(world, delivery ?? expect.fail())
    const body = JSON.parse(message.body) as { readonly data: { readonly output: string } }
    expect(body).toMatchObject({ type: 'run.completed', data: { id: run, status: 'success' } })
    expect(body.data.output).toBe(long)
    expect(message).toMatchObject({ url: HOOK, purpose: 'webhook', headers: {} })
    expect(await messageOf(world, delivery ?? expect.fail())).toEqual(message)
  })

  it('sends at most 1 MiB of an output', async () => {
    const run = await aRunFor((await newTarget()).id)
    await end(world, run, { output: 'x', uncut: 'x'.repeat(3_000_000) })
    const [delivery] = await claim(world)
    const { body } = await messageOf(world, delivery ?? expect.fail())
    expect(body.length).toBeGreaterThan(1_048_576)
    expect(body.length).toBeLessThan(1_048_576 + 4_000)
    expect(body).toContain('[…cut: ')
  })

  it('keeps a reply that is exactly NO_REPLY, says so, and sends it when a person wants it', async () => {
    await end(world, await aRunFor((await newTarget()).id), { output: ' NO_REPLY\n' })
    const id = await onlyDelivery()
    expect(await getDelivery(world.ports, world.caller, id)).toMatchObject({
      status: 'kept',
      why: { reason: 'no_reply' },
    })
    expect(await claim(world)).toEqual([])
    await retryDelivery(world.ports, world.caller, id)
    expect(await claim(world)).toHaveLength(1)
  })

  it('shows its deliveries with the run, whose status they never change', async () => {
    const run = await aRunFor((await newTarget()).id)
    await end(world, run)
    const [delivery] = await claim(world)
    await record(world, [{ ...(delivery ?? expect.fail()), outcome: FAILED }])
    const detail = await getRunDetail(world.ports, { orgId: ORG, id: run })
    expect(detail).toMatchObject({
      status: 'success',
      deliveries: [{ status: 'pending', why: { reason: 'delivery_retry' }, tries: [{ number: 1, delivered: false }] }],
    })
  })

  it('delivers also what a person has run again, as a message of its own', async () => {
    const run = await aRunFor((await newTarget()).id)
    await end(world, run, {
      outcome: { kind: 'failed', errorCode: 'agent_error', retryable: false, retryAfterMs: null },
    })
    const again = await retryRun(world.ports, world.caller, { id: run, force: false })
    await end(world, again)
    const bodies = await Promise.all((await claim(world)).map(async (one) => (await messageOf(world, one)).body))
    expect(bodies.map((body) => (JSON.parse(body) as { readonly data: object }).data)).toMatchObject([
      { id: run, status: 'failed', error_code: 'agent_error' },
      { id: again, status: 'success', retry_of: run },
    ])
  })

  it('waits as long as the receiver asks', async () => {
    await end(world, await aRunFor((await newTarget()).id))
    const [delivery] = await claim(world)
    const outcome = { ...FAILED, statusCode: 429, retryAfterMs: HOUR_MS } as const
    const [after] = await record(world, [{ ...(delivery ?? expect.fail()), outcome }])
    expect(after?.after.nextTryAt).toBe(later(NOW, HOUR_MS))
  })
})

describe('a target that fails', () => {
  async function failed(target: string, times: number): Promise<void> {
    for (let index = 0; index < times; index += 1) await end(world, await aRunFor(target))
    for (let left = times; left > 0;) {
      const claimed = await claim(world)
      expect(claimed.length).toBeGreaterThan(0)
      left -= claimed.length
      await record(
        world,
        claimed.map((delivery) => ({ ...delivery, outcome: FAILED })),
      )
    }
  }

  it('ten times in a row is disabled: an alert is raised, its schedules show it, and everything for it is held', async () => {
    const { id } = await newTarget()
    await failed(id, 10)
    const target = await getTarget(world.ports, world.caller, id)
    expect(target).toMatchObject({
      enabled: false,
      failures_in_a_row: 10,
      held: 10,
      disabled_why: { reason: 'target_disabled' },
    })
    const { items: alerts } = await findAlerts(world.ports, world.caller, { status: 'open' })
    expect(alerts).toMatchObject([{ kind: 'delivery_disabled', subject_id: id, status: 'open' }])
    await end(world, await aRunFor(id))
    expect(new Set(await statuses())).toEqual(new Set(['held']))
    world.pass(10 * HOUR_MS)
    expect(await claim(world)).toEqual([])
    const [schedule] = await world.rows('select id from schedule limit 1')
    expect(await getSchedule(world.ports, world.caller, scheduleId(String(schedule?.['id'])))).toMatchObject({
      ...{ delivery: { target_id: id }, delivery_disabled: true },
    })

    expect(await enableTarget(world.ports, world.caller, id)).toMatchObject({ enabled: true, released: 11, held: 0 })
    expect(await findAlerts(world.ports, world.caller, { status: 'open' })).toMatchObject({ items: [] })
    expect(await findAlerts(world.ports, world.caller)).toMatchObject({
      items: [{ status: 'cleared', cleared_why: { reason: 'target_enabled' } }],
    })
    expect(await claim(world)).toHaveLength(4)
    const events = await world.rows(`select events from turn order by no`)
    const kinds = events.flatMap(({ events: told }) => (told as readonly (readonly [string])[]).map(([kind]) => kind))
    expect(kinds.filter((kind) => kind.startsWith('alert.'))).toEqual(['alert.raised', 'alert.cleared'])
  })

  it('nine times and then works counts from none again', async () => {
    const { id } = await newTarget()
    await failed(id, 9)
    await end(world, await aRunFor(id))
    await record(
      world,
      (await claim(world)).map((delivery) => ({ ...delivery, outcome: ARRIVED })),
    )
    expect(await getTarget(world.ports, world.caller, id)).toMatchObject({ enabled: true, failures_in_a_row: 0 })
  })

  it('that is switched off while a try is under way holds that message too', async () => {
    const { id } = await newTarget()
    await end(world, await aRunFor(id))
    const [delivery] = await claim(world)
    await updateTarget(world.ports, world.caller, { id, change: { enabled: false } })
    expect(await statuses()).toEqual(['held'])
    await record(world, [{ ...(delivery ?? expect.fail()), outcome: FAILED }])
    expect(await statuses()).toEqual(['held'])
    expect(await findAlerts(world.ports, world.caller)).toMatchObject({ items: [] })
    await updateTarget(world.ports, world.caller, { id, change: { enabled: true } })
    const [again] = await claim(world)
    await record(world, [{ ...(again ?? expect.fail()), outcome: ARRIVED }])
    expect(await getDelivery(world.ports, world.caller, await onlyDelivery())).toMatchObject({
      ...{ status: 'delivered', tries: [{ delivered: false }, { delivered: true }] },
    })
  })

  it('cannot be deleted while schedules deliver to it, and takes what was on its way with it', async () => {
    const { id } = await newTarget()
    await end(world, await aRunFor(id))
    await expect(deleteTarget(world.ports, world.caller, { id })).rejects.toMatchObject({ code: 'CONFLICT' })
    const late = await aRunFor(id)
    await world.db.query('delete from schedule')
    await deleteTarget(world.ports, world.caller, { id })
    await end(world, late)
    expect(await statuses()).toEqual(['failed', 'failed'])
    const delivery = await getDelivery(
      world.ports,
      world.caller,
      (await findDeliveries(world.ports, world.caller)).items[0]?.id ?? '',
    )
    expect(delivery.why.reason).toBe('target_gone')
    await expect(retryDelivery(world.ports, world.caller, delivery.id)).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})

describe('pruning', () => {
  it('keeps a task whose callback is on its way, and lets it go when that has arrived', async () => {
    const id = await aTask(world, 'https://client.example.com/done')
    await end(world, id)
    world.pass(HOUR_MS)
    const retention = createRetention(world.ports)
    expect((await retention.pass()).tasks).toBe(0)
    const [delivery] = await claim(world)
    await record(world, [{ ...(delivery ?? expect.fail()), outcome: ARRIVED }])
    expect(await retention.pass()).toMatchObject({ tasks: 1, deliveries: 0 })
    world.pass(25 * HOUR_MS)
    expect((await retention.pass()).deliveries).toBe(1)
    expect(await world.rows('select * from delivery_try')).toEqual([])
  })
})
