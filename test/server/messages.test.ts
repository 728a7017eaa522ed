import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from '../../src/api/page.ts'
import type { RunView } from '../../src/features/runs/schema.ts'
import { messagesAnswer, type MessageView } from '../../src/features/sessions/schema.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

const at = (key: string, path = ''): string => `/api/v1/sessions/${encodeURIComponent(key)}${path}`

describe('messages sent in one call', () => {
  let world: HttpWorld
  beforeAll(async () => {
    world = await createHttpWorld()
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.services.db.query('delete from run; delete from pending; delete from session; delete from idempotency')
  })
  afterEach(() => {
    world.change({ isDraining: () => false })
  })

  const runs = async (): Promise<readonly RunView[]> =>
    (await world.ask('GET', '/api/v1/runs?limit=200')).json<Page<RunView>>().items
  const sendMany = (messages: unknown, more: Parameters<HttpWorld['ask']>[2] = {}) =>
    world.ask('POST', '/api/v1/messages', { body: { messages }, ...more })
  const sentMany = async (messages: unknown, more: Parameters<HttpWorld['ask']>[2] = {}) => {
    const response = await sendMany(messages, more)
    expect(response.statusCode, response.body).toBe(202)
    return messagesAnswer.parse(response.json())
  }
  const transactions = async (): Promise<unknown> =>
    (await world.services.rows('select count(*)::int as count from turn'))[0]?.['count']

  it('are accepted in order and in one transaction, a thousand of them too', async () => {
    const before = Number(await transactions())
    const given = Array.from({ length: 1_000 }, (_, n) => ({ session: `agent:reader:many:${n % 7}`, text: `m ${n}` }))
    await world.ask('PATCH', at('agent:reader:many:0'), { body: { cap: 200 } })
    const { items, accepted, refused } = await sentMany(given.slice(0, 10))
    expect([accepted, refused]).toEqual([10, 0])
    expect(items.map((item) => item.ok && 'state' in item && item.state)).toEqual(Array(10).fill('queued'))
    expect(await transactions()).toBe(before + 2)
    const all = await sentMany(given)
    expect(all).toMatchObject({ accepted: 1_000, refused: 0 })
    expect(await transactions()).toBe(before + 3)
    const { items: messages } = (await world.ask('GET', at('agent:reader:many:0', '/messages?limit=3'))).json<
      Page<MessageView>
    >()
    expect(messages.map(({ text }) => text)).toEqual(['m 994', 'm 987', 'm 980'])
  })

  it('are complete on record, whatever later ones of the same call do to earlier ones', async () => {
    const others = (session: string) => Array.from({ length: 300 }, (_, n) => ({ session, text: `m ${n}` }))
    await world.ask('PATCH', at('stopped'), { body: { cap: 1_000 } })
    await world.ask('PATCH', at('full'), { body: { cap: 299 } })
    const { refused } = await sentMany([
      { session: 'one', text: 'first', sender: 'ann' },
      ...others('stopped'),
      { session: 'one', text: 'second', sender: 'ann' },
      { session: 'stopped', text: '/stopall' },
      ...others('full'),
    ])
    expect(refused).toBe(0)
    const states = await world.services.rows(
      `select coalesce(r.state, p.state) as state, r.session_key as key, count(*)::int as count
         from run r left join pending p on p.org_id = r.org_id and p.id = r.id group by 1, 2 order by 2, 1`,
    )
    expect(states).toEqual([
      { state: 'dropped', key: 'full', count: 1 },
      { state: 'queued', key: 'full', count: 299 },
      { state: 'waiting', key: 'one', count: 1 },
      { state: 'cancelled', key: 'stopped', count: 300 },
    ])
    const { items } = (await world.ask('GET', at('one', '/messages'))).json<Page<MessageView>>()
    expect(items).toMatchObject([{ text: 'first\nsecond', sender: 'ann' }])
  })

  it('are decided one by one: what is wrong with one is its answer alone', async () => {
    await world.ask('PATCH', at('full'), { body: { cap: 1, drop: 'new' } })
    const { items, accepted, refused } = await sentMany([
      { session: 'one', text: 'a' },
      { session: 'one', text: '' },
      { session: 'agent:nobody:x', text: 'a' },
      { session: 'full', text: '1' },
      { session: 'full', text: '2' },
      { session: 'one', text: 'b', deadline: '2001-01-01T00:00:00Z' },
      { session: 'one', text: '/stopall' },
      5,
    ])
    expect([accepted, refused]).toEqual([3, 5])
    expect(items).toMatchObject([
      { ok: true, state: 'queued' },
      { ok: false, code: 'VALIDATION', message: expect.stringContaining('messages.1.text') as string },
      { ok: false, code: 'NOT_FOUND' },
      { ok: true, state: 'queued' },
      { ok: false, code: 'SESSION_QUEUE_FULL', run_id: expect.any(String) as string },
      { ok: false, code: 'VALIDATION', message: expect.stringContaining('messages.5.deadline') as string },
      { ok: true, stopped: 0, drained: 1 },
      { ok: false, code: 'VALIDATION', message: expect.stringContaining('messages.7') as string },
    ])
  })

  it('of which none can be decided are refused together, and change nothing', async () => {
    const bad = [{ session: 's' }, { session: '', text: 'a' }, { session: 's', text: 'a', txt: 1 }]
    expect(pointersIn(await sendMany(bad))).toEqual(['/messages/0/text', '/messages/1/session', '/messages/2/txt'])
    for (const messages of [[], 'a', Array(1_001).fill({ session: 's', text: 'a' }), null])
      expect(pointersIn(await sendMany(messages))).toEqual(['/messages'])
    expect(await runs()).toEqual([])
  })

  it('are sent once for an idempotency key, and each once for its message id', async () => {
    const headers = { 'idempotency-key': 'many' }
    const messages = [
      { session: 's', text: 'a', message_id: 'm-1' },
      { session: 's', text: 'again', message_id: 'm-1' },
      { session: 't', text: 'b' },
    ]
    const first = await sentMany(messages, { headers })
    const [one, again] = first.items
    expect(again).toEqual({ ...one, duplicate: true })
    expect(await sentMany(messages, { headers })).toEqual(first)
    problemIn(await sendMany(messages.slice(1), { headers }), 'IDEMPOTENCY_MISMATCH')
    expect(await runs()).toHaveLength(2)
    await world.services.db.query(`update run set state = 'cancelled', finished_at = now(); delete from pending`)
    expect((await sentMany(messages.slice(0, 1))).items).toMatchObject([
      { ok: true, state: 'cancelled', duplicate: true },
    ])
    expect(await runs()).toHaveLength(2)
  })

  it('are refused one by one by a node that shuts down, unless they are commands', async () => {
    world.change({ isDraining: () => true })
    problemIn(await sendMany([{ session: 's', text: 'a' }]), 'DRAINING')
    const { items } = await sentMany([
      { session: 's', text: 'a' },
      { session: 's', text: '/stop' },
    ])
    expect(items).toMatchObject([
      { ok: false, code: 'DRAINING' },
      { ok: true, stopped: 0 },
    ])
    expect(await runs()).toEqual([])
  })

  it('need the permission to send', async () => {
    problemIn(await sendMany([{ session: 's', text: 'a' }], { as: 'viewer' }), 'FORBIDDEN')
  })
})
