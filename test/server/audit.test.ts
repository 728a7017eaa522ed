import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AuditVerdict, type AuditView, auditPage, auditVerdict } from '../../src/features/audit/schema.ts'
import type { Page } from '../../src/api/page.ts'

import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
let id = ''
beforeAll(async () => {
  world = await createHttpWorld()
  id = (await world.ask('POST', '/api/v1/schedules', { body: { name: 'x', every_seconds: 60 } })).json<ScheduleView>()
    .id
  world.services.pass(1_000)
  await world.ask('PATCH', `/api/v1/schedules/${id}`, { body: { name: 'y' }, as: 'member' })
  await world.ask('POST', '/api/v1/keys', { body: { name: 'k' } })
})
afterAll(() => world.close())

const URL = '/api/v1/audit'
const list = async (query = '', as = 'owner'): Promise<Page<AuditView>> => {
  const page = (await world.ask('GET', `${URL}${query}`, { as })).json<Page<AuditView>>()
  return auditPage.parse(page)
}
const actions = async (query: string) => (await list(query)).items.map(({ action }) => action)

describe('the audit log', () => {
  it('says who did what to what, newest first, in pages', async () => {
    const { items } = await list()
    expect(items.map(({ no, actor, action }) => [no, actor, action])).toEqual([
      [3, 'key_owner', 'key.create'],
      [2, 'key_member', 'schedule.update'],
      [1, 'key_owner', 'schedule.create'],
    ])
    expect(items[1]).toMatchObject({ object: { kind: 'schedule', id }, before: { name: 'x' }, after: { name: 'y' } })
    const first = await list('?limit=2')
    expect((await list(`?limit=2&cursor=${first.next_cursor ?? ''}`)).items).toEqual(items.slice(2))
  })

  it('is filtered', async () => {
    expect(await actions('?actor=key_member')).toEqual(['schedule.update'])
    expect(await actions('?action=key.create')).toEqual(['key.create'])
    expect(await actions(`?object_kind=schedule&object_id=${id}`)).toEqual(['schedule.update', 'schedule.create'])
    const [, update] = (await list()).items
    expect(await actions(`?to=${update?.at ?? ''}`)).toEqual(['schedule.create'])
    expect(await actions(`?from=${update?.at ?? ''}`)).toEqual(['key.create', 'schedule.update'])
  })

  it('is verified, with an anchor that was kept elsewhere', async () => {
    const verify = async (query = ''): Promise<AuditVerdict> =>
      auditVerdict.parse((await world.ask('GET', `${URL}/verify${query}`)).json())
    const verdict = await verify()
    expect(verdict).toMatchObject({ ok: true, records: 3, head: { no: 3 }, faults: [] })
    expect(await verify(`?anchor=${verdict.head?.hash ?? ''}`)).toEqual(verdict)
    expect((await verify(`?anchor=${'0'.repeat(64)}`)).faults).toMatchObject([{ kind: 'anchor_missing' }])
    await world.services.db.query('alter table audit disable trigger all', [])
    await world.services.db.query(`update audit set actor = 'nobody' where org_id = 'acme' and no = 2`, [])
    expect(await verify()).toMatchObject({ ok: false, faults: [{ kind: 'changed', no: 2 }] })
  })

  it.each([
    ['?from=yesterday', '/from'],
    ['?cursor=nonsense', '/cursor'],
    ['?limit=0', '/limit'],
    ['?who=me', '/who'],
    ['/verify?anchor=abc', '/anchor'],
  ])('refuses %s', async (query, pointer) => {
    expect(pointersIn(await world.ask('GET', `${URL}${query}`))).toEqual([pointer])
  })

  it("is read by viewers, and shows nobody another org's", async () => {
    expect((await list('', 'viewer')).items).toHaveLength(3)
    expect((await list('', 'stranger')).items).toEqual([])
    problemIn(await world.ask('GET', URL, { as: null }), 'UNAUTHENTICATED')
  })
})
