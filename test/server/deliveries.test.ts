import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DeliveryView, delivery, deliveryPage } from '../../src/features/deliveries/schema.ts'
import type { Page } from '../../src/api/page.ts'
import { alertPage } from '../../src/features/alerts/schema.ts'
import { ARRIVED, aTask, claim, end, FAILED, record } from '../features/database/outbox-stage.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.services.db.query('delete from run; delete from pending; delete from delivery; delete from delivery_try')
})

const URL = '/api/v1/deliveries'
const callback = 'https://client.example.com/done'
const list = async (query = ''): Promise<Page<DeliveryView>> =>
  deliveryPage.parse((await world.ask('GET', `${URL}${query}`)).json())

/** A task whose callback was tried. */
async function tried(outcome = ARRIVED): Promise<string> {
  const id = await aTask(world.services, callback)
  await end(world.services, id)
  const [claimed] = await claim(world.services)
  await record(world.services, [{ ...(claimed ?? expect.fail()), outcome }])
  return id
}

describe('deliveries', () => {
  it('are listed newest first, page by page, each with its tries', async () => {
    const first = await tried()
    world.services.pass(1_000)
    const second = await tried(FAILED)
    const page = await list('?limit=1')
    expect(page.items).toMatchObject([
      {
        ...{ run_id: second, status: 'pending', kind: 'callback', url: callback, target_id: null },
        tries: [{ number: 1, delivered: false, status_code: 500, error_code: 'http', message: 'answered 500' }],
      },
    ])
    const rest = await list(`?limit=1&cursor=${page.next_cursor ?? ''}`)
    expect(rest).toMatchObject({ items: [{ run_id: first, status: 'delivered' }], next_cursor: null })
  })

  it('are found by run and by status', async () => {
    const [first, second] = [await tried(), await tried(FAILED)]
    expect((await list(`?run_id=${first}`)).items.map(({ run_id: run }) => run)).toEqual([first])
    expect((await list('?status=pending,held')).items.map(({ run_id: run }) => run)).toEqual([second])
    expect((await list('?status=failed')).items).toEqual([])
    expect((await list('?target_id=tgt_none')).items).toEqual([])
    expect(pointersIn(await world.ask('GET', `${URL}?status=lost&cursor=x`))).toEqual(['/status', '/cursor'])
  })

  it('are read one by one, and not by others', async () => {
    await tried()
    const [item] = (await list()).items
    const one = await world.ask('GET', `${URL}/${item?.id ?? ''}`)
    expect(delivery.parse(one.json())).toEqual(item)
    problemIn(await world.ask('GET', `${URL}/${item?.id ?? ''}`, { as: 'stranger' }), 'NOT_FOUND')
    problemIn(await world.ask('GET', `${URL}/nothing`), 'NOT_FOUND')
  })

  it('that wait are tried at once when somebody asks, and those that arrived are not', async () => {
    await tried(FAILED)
    const [item] = (await list()).items
    expect(await claim(world.services)).toEqual([])
    const retried = await world.ask('POST', `${URL}/${item?.id ?? ''}/retry`)
    expect([retried.statusCode, delivery.parse(retried.json()).status]).toEqual([202, 'pending'])
    const [claimed] = await claim(world.services)
    expect(claimed?.id).toBe(item?.id)
    await record(world.services, [{ ...(claimed ?? expect.fail()), outcome: ARRIVED }])
    problemIn(await world.ask('POST', `${URL}/${item?.id ?? ''}/retry`), 'CONFLICT')
    problemIn(await world.ask('POST', `${URL}/nothing/retry`), 'NOT_FOUND')
    const rows = await world.services.rows(`select actor from audit where action = 'delivery.retry'`)
    expect(rows).toEqual([{ actor: 'key_owner' }])
  })
})

describe('alerts', () => {
  it('are none to begin with, and their filter is read', async () => {
    expect(alertPage.parse((await world.ask('GET', '/api/v1/alerts')).json())).toEqual({ items: [], next_cursor: null })
    expect(pointersIn(await world.ask('GET', '/api/v1/alerts?status=loud'))).toEqual(['/status'])
  })
})
