import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Page } from '../../src/api/page.ts'
import { type RunView, run } from '../../src/features/runs/schema.ts'

import {
  messagePage,
  messageReceipt,
  session,
  sessionPage,
  stopAnswer,
  type MessageReceipt,
  type MessageView,
  type SessionView,
  type StopAnswer,
} from '../../src/features/sessions/schema.ts'

import { seedRun } from '../platform/db/records.ts'
import { createLiveWorld, type LiveWorld } from './live.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

const URL = '/api/v1/sessions'
const at = (key: string, path = ''): string => `${URL}/${encodeURIComponent(key)}${path}`

describe('sessions', () => {
  let world: HttpWorld
  beforeAll(async () => {
    world = await createHttpWorld()
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    await world.services.db.query(
      'delete from run; delete from pending; delete from session; delete from idempotency; delete from schedule',
    )
  })
  afterEach(() => {
    world.change({ isDraining: () => false })
  })

  const send = (key: string, body: unknown, more: Parameters<HttpWorld['ask']>[2] = {}) =>
    world.ask('POST', at(key, '/messages'), { body, ...more })
  const sent = async (key: string, body: unknown, more: Parameters<HttpWorld['ask']>[2] = {}) => {
    const response = await send(key, body, more)
    expect(response.statusCode).toBe(202)
    return messageReceipt.parse(response.json())
  }
  const runs = async (): Promise<readonly RunView[]> =>
    (await world.ask('GET', '/api/v1/runs?limit=200')).json<Page<RunView>>().items

  describe('a message', () => {
    it('is accepted with a receipt, and wakes the agent its session names, else the default agent', async () => {
      const receipt = await sent('agent:reader:web:dm:ann', { text: 'Hello', message_id: 'm-1', debounce_ms: 0 })
      expect(receipt).toEqual({
        run_id: expect.any(String) as string,
        message_id: 'm-1',
        state: 'queued',
        position: null,
      })
      await sent('somewhere', { text: 'Hello' })
      expect((await runs()).map(({ agent_id: agent, lane, trigger }) => [agent, lane, trigger])).toEqual([
        ['writer', 'main', 'message'],
        ['reader', 'main', 'message'],
      ])
    })

    it('may carry everything a message can', async () => {
      const receipt = await sent('s', {
        ...{ text: 'later', attachments: [{ name: 'a.txt' }], message_id: 'm-2', lane: 'team', parent_run_id: 'run_0' },
        ...{ mode: 'followup', max_concurrent: 3, debounce_ms: 0, sender: 'ann' },
        ...{
          sent_at: '2026-01-01T00:00:00Z',
          not_before: '2100-01-01T00:00:00Z',
          deadline: '2100-01-02T00:00:00+02:00',
        },
      })
      expect(receipt).toMatchObject({ state: 'waiting', message_id: 'm-2' })
      expect((await runs())[0]).toMatchObject({
        ...{ lane: 'team', parent_run_id: 'run_0', not_before: '2100-01-01T00:00:00.000Z' },
        ...{ deadline: '2100-01-01T22:00:00.000Z', message_id: 'm-2' },
      })
      expect((await world.ask('GET', at('s'))).json<SessionView>().max_concurrent).toBe(3)
    })

    it('may give its times as milliseconds', async () => {
      const then = Date.UTC(2100, 0, 1)
      await sent('s', { text: 'later', sent_at: world.services.now, not_before: then, deadline: then + 1_000 })
      expect((await runs())[0]).toMatchObject({
        ...{ not_before: '2100-01-01T00:00:00.000Z', deadline: '2100-01-01T00:00:01.000Z' },
      })
      const body = { text: 'x', sent_at: 1.5 }
      expect(pointersIn(await world.ask('POST', `${at('s')}/messages`, { body }))).toEqual(['/sent_at'])
    })

    it('comes from its key when it names no sender, so that a burst is one run', async () => {
      const first = await sent('s', { text: 'one' })
      const second = await sent('s', { text: 'two' })
      expect(second).toMatchObject({ state: 'waiting', merged_into: first.run_id })
      const { items } = (await world.ask('GET', at('s', '/messages'))).json<Page<MessageView>>()
      expect(items).toMatchObject([{ text: 'one\ntwo', sender: 'key_owner' }])
    })

    it.each([
      ['an idempotency key', {}, { 'idempotency-key': 'once' }],
      ['a run above it', { parent_run_id: 'run_above' }, {}],
      ['debounce switched off', { debounce_ms: 0 }, {}],
    ])('is not held back with %s', async (_, more, headers) => {
      await sent('s', { text: 'one' })
      const body = { text: 'two', ...more }
      const response = await send('s', body, { headers })
      expect(response.statusCode).toBe(202)
      expect(response.json<MessageReceipt>().merged_into).toBeUndefined()
      expect(response.json<MessageReceipt>().state).toBe('queued')
    })

    it('joins the one of its sender that still waits for more', async () => {
      const first = await sent('s', { text: 'one', sender: 'ann' })
      const second = await sent('s', { text: 'two', sender: 'ann' })
      expect(second).toMatchObject({ run_id: first.run_id, merged_into: first.run_id, state: 'waiting' })
      const other = await sent('s', { text: 'three', sender: 'bob' })
      expect(other.run_id).not.toBe(first.run_id)
      expect(other).not.toHaveProperty('merged_into')
    })

    it('pushes out the oldest of a full session, or is rejected itself and kept', async () => {
      await world.ask('PATCH', at('s'), { body: { cap: 1 } })
      const first = await sent('s', { text: '1', debounce_ms: 0 })
      expect(await sent('s', { text: '2', debounce_ms: 0 })).toMatchObject({ dropped_run_id: first.run_id })
      await world.ask('PATCH', at('s'), { body: { drop: 'new' } })
      const refused = problemIn(await send('s', { text: '3', debounce_ms: 0 }), 'SESSION_QUEUE_FULL')
      const kept = await world.ask('GET', `/api/v1/runs/${refused.run_id ?? ''}`)
      expect(kept.json<RunView>()).toMatchObject({ status: 'rejected' })
    })

    it('is sent once for an idempotency key, however long one waits for it', async () => {
      const headers = { 'idempotency-key': 'k' }
      const first = await sent('s', { text: 'a' }, { headers })
      expect(await sent('s', { text: 'a' }, { headers })).toEqual(first)
      const waiting = await world.ask('POST', at('s', '/messages?wait=0.01'), { body: { text: 'a' }, headers })
      expect(waiting.json<MessageReceipt>().run_id).toBe(first.run_id)
      problemIn(await send('s', { text: 'b' }, { headers }), 'IDEMPOTENCY_MISMATCH')
      problemIn(await send('t', { text: 'a' }, { headers }), 'IDEMPOTENCY_MISMATCH')
      await sent('s', { text: 'a' }, { headers, as: 'member' })
      expect(await runs()).toHaveLength(2)
    })

    it('is refused by a node that goes down, unless it is a command', async () => {
      world.change({ isDraining: () => true })
      problemIn(await send('s', { text: 'a' }), 'DRAINING')
      expect((await send('s', { text: '/stopall' })).statusCode).toBe(200)
      expect(await runs()).toEqual([])
    })

    it('needs somebody to wake', async () => {
      expect(problemIn(await send('agent:nobody:x', { text: 'a' }), 'NOT_FOUND').detail).toContain('nobody')
      world.change({ defaultAgent: () => Promise.resolve(null) })
      try {
        expect(problemIn(await send('x', { text: 'a' }), 'NOT_FOUND').detail).toContain('agent:<agent>')
      } finally {
        world.change({ defaultAgent: () => 'writer' as never })
      }
    })

    it.each([
      ['nothing', {}, ['/text']],
      ['a misspelt field', { text: 'a', txt: 'b' }, ['/txt']],
      ['wrong types', { text: 5, sender: [], attachments: {} }, ['/text', '/sender', '/attachments']],
      ['a mode that is none', { text: 'a', mode: 'shout' }, ['/mode']],
      ['a deadline that is over', { text: 'a', deadline: '2001-01-01T00:00:00Z' }, ['/deadline']],
      ['odd numbers', { text: 'a', max_concurrent: 0, debounce_ms: 1.5 }, ['/max_concurrent', '/debounce_ms']],
    ])('is refused with %s, and changes nothing', async (_, body, pointers) => {
      expect(pointersIn(await send('s', body))).toEqual(pointers)
      expect(await runs()).toEqual([])
      problemIn(await world.ask('GET', at('s')), 'NOT_FOUND')
    })

    it.each(['wait=-1', 'wait=soon', 'wait=301', 'wate=1'])('is refused ?%s', async (query) => {
      const response = await world.ask('POST', at('s', `/messages?${query}`), { body: { text: 'a' } })
      expect(pointersIn(response)).toEqual([`/${query.split('=', 1)[0] ?? ''}`])
      expect(await runs()).toEqual([])
    })
  })

  describe('a key', () => {
    it.each(['a/b//c', 'ü 中文 🙂', 'a%2Fb', 'q?x=1#y', '🙂'.repeat(128)])('may be %s', async (key) => {
      await sent(key, { text: 'a' })
      expect(session.parse((await world.ask('GET', at(key))).json()).key).toBe(key)
      expect((await runs())[0]?.session_id).toBe(key)
      const listed = (await world.ask('GET', at(key, '/messages'))).json<Page<unknown>>()
      expect(listed.items).toHaveLength(1)
    })

    it.each([
      ['513 bytes', 'x'.repeat(513)],
      ['more than 512 bytes in fewer characters', 'ü'.repeat(257)],
      ['NUL', 'a\u0000b'],
    ])('may not be %s', async (_, key) => {
      for (const path of ['', '/messages']) expect(pointersIn(await world.ask('GET', at(key, path)))).toEqual(['/key'])
      expect(pointersIn(await send(key, { text: 'a' }))).toEqual(['/key'])
      expect(pointersIn(await world.ask('POST', at(key, '/stop')))).toEqual(['/key'])
    })
  })

  describe('stopping', () => {
    it.each(['/stop', ' /STOP@bot '])('is what the text %s does', async (text) => {
      await seedRun(world.services.db, 'run_1', { state: 'running', session: 's' })
      await sent('s', { text: 'next', debounce_ms: 0 })
      const response = await send('s', { text })
      expect([response.statusCode, stopAnswer.parse(response.json())]).toEqual([200, { stopped: 1, drained: 0 }])
      expect((await runs()).map(({ status }) => status).toSorted()).toEqual(['queued', 'stopping'])
    })

    it.each([
      ['stop', { stopped: 1, drained: 0 }, 'queued', 0],
      ['stopall', { stopped: 1, drained: 1 }, 'cancelled', 0],
      ['reset', { stopped: 1, drained: 1 }, 'cancelled', 1],
    ])('is what POST …/%s does', async (how, expected, status, generation) => {
      await sent('s', { text: 'next', debounce_ms: 0 })
      await seedRun(world.services.db, 'run_1', { state: 'running', session: 's' })
      const response = await world.ask('POST', at('s', `/${how}`), { as: 'member' })
      expect([response.statusCode, response.json<StopAnswer>()]).toEqual([200, expected])
      const states = new Map((await runs()).map((one) => [one.trigger === 'message' ? one.message_id : '', one.status]))
      expect([...states.values()].toSorted()).toEqual([status, 'stopping'].toSorted())
      expect((await world.ask('GET', at('s'))).json<SessionView>().generation).toBe(generation)
    })

    it('finds nothing in a session that is not there, or not ours', async () => {
      await seedRun(world.services.db, 'run_1', { state: 'running', session: 's' })
      for (const as of ['stranger', 'owner'])
        for (const how of ['stop', 'stopall', 'reset'])
          expect((await world.ask('POST', at(as === 'owner' ? 'none' : 's', `/${how}`), { as })).json()).toEqual({
            ...{ stopped: 0, drained: 0 },
          })
      expect((await runs()).map(({ status }) => status)).toEqual(['running'])
    })
  })

  describe('a session', () => {
    it('is shown with its rules, listed newest first, and is hidden from others', async () => {
      for (const key of ['one', 'two', 'three']) {
        world.services.pass(1_000)
        await sent(key, { text: 'a' })
      }
      expect(session.parse((await world.ask('GET', at('one'))).json())).toMatchObject({
        ...{ key: 'one', org_id: 'acme', mode: 'queue', cap: 10, drop: 'old', debounce_ms: 800, max_concurrent: 1 },
        ...{ generation: 0, active: 0, waiting: 1, tokens: null },
      })
      const first = sessionPage.parse((await world.ask('GET', `${URL}?limit=2`)).json())
      expect(first.items.map(({ key }) => key)).toEqual(['three', 'two'])
      const rest = await world.ask('GET', `${URL}?cursor=${first.next_cursor ?? ''}`)
      expect(rest.json<Page<SessionView>>()).toMatchObject({ items: [{ key: 'one' }], next_cursor: null })
      expect((await world.ask('GET', URL, { as: 'stranger' })).json<Page<unknown>>().items).toEqual([])
      problemIn(await world.ask('GET', at('one'), { as: 'stranger' }), 'NOT_FOUND')
      problemIn(await world.ask('GET', at('one', '/messages'), { as: 'stranger' }), 'NOT_FOUND')
      expect(pointersIn(await world.ask('GET', `${URL}?limit=0&cursor=x`)).toSorted()).toEqual(['/limit'])
      expect(pointersIn(await world.ask('GET', `${URL}?cursor=x`))).toEqual(['/cursor'])
    })

    it('is given rules of its own and gives them back', async () => {
      const change = async (body: unknown) => (await world.ask('PATCH', at('s'), { body })).json<SessionView>()
      expect(await change({ mode: 'INTERRUPT', cap: 3, drop: 'new', debounce_ms: 0, max_concurrent: 5 })).toMatchObject(
        {
          ...{ mode: 'interrupt', cap: 3, drop: 'new', debounce_ms: 0, max_concurrent: 5 },
        },
      )
      expect(await change({ cap: null, mode: null })).toMatchObject({ mode: 'queue', cap: 10, drop: 'new' })
      expect(await change({})).toMatchObject({ drop: 'new' })
    })

    it.each([
      [{ cap: 0 }, ['/cap']],
      [{ mode: 'x', drop: 'y' }, ['/mode', '/drop']],
      [{ generation: 5 }, ['/generation']],
      [{ debounce_ms: '800' }, ['/debounce_ms']],
    ])('is not changed by %j', async (body, pointers) => {
      expect(pointersIn(await world.ask('PATCH', at('s'), { body }))).toEqual(pointers)
      problemIn(await world.ask('GET', at('s')), 'NOT_FOUND')
    })

    it('is changed and written to by members, and seen by viewers', async () => {
      await sent('s', { text: 'a' }, { as: 'member' })
      problemIn(await send('s', { text: 'a' }, { as: 'viewer' }), 'FORBIDDEN')
      problemIn(await send('s', { text: '/stop' }, { as: 'viewer' }), 'FORBIDDEN')
      problemIn(await world.ask('PATCH', at('s'), { as: 'viewer', body: {} }), 'FORBIDDEN')
      for (const how of ['stop', 'stopall', 'reset'])
        problemIn(await world.ask('POST', at('s', `/${how}`), { as: 'viewer' }), 'FORBIDDEN')
      expect((await world.ask('GET', at('s', '/messages'), { as: 'viewer' })).statusCode).toBe(200)
    })

    it('shows what was said, newest first, whoever woke it', async () => {
      await sent('s', { text: 'one', sender: 'ann', message_id: 'm1', attachments: [{ a: 1 }] })
      await sent('s', { text: 'two', sender: 'ann', message_id: 'm2' })
      world.services.pass(5)
      await seedRun(world.services.db, 'run_s', {
        ...{ session: 's', trigger: 'schedule', state: 'success', payload: { prompt: 'Look' }, output: 'Nothing new' },
        createdAt: world.services.now,
      })
      await seedRun(world.services.db, 'run_other', { session: 't', createdAt: world.services.now })
      const page = messagePage.parse((await world.ask('GET', at('s', '/messages'))).json())
      expect(page).toMatchObject({
        items: [
          { run_id: 'run_s', trigger: 'schedule', text: 'Look', reply: 'Nothing new', message_ids: [], sender: null },
          { trigger: 'message', text: 'one\ntwo', message_ids: ['m1', 'm2'], attachments: [{ a: 1 }], sender: 'ann' },
        ],
        next_cursor: null,
      })
      const first = messagePage.parse((await world.ask('GET', at('s', '/messages?limit=1'))).json())
      const rest = await world.ask('GET', at('s', `/messages?limit=1&cursor=${first.next_cursor ?? ''}`))
      expect(messagePage.parse(rest.json()).items).toEqual([page.items[1]])
    })

    it('that nobody has written to yet has no messages; one that is not there is not found', async () => {
      await world.ask('PATCH', at('s'), { body: {} })
      expect((await world.ask('GET', at('s', '/messages'))).json()).toEqual({ items: [], next_cursor: null })
      problemIn(await world.ask('GET', at('none', '/messages')), 'NOT_FOUND')
    })
  })
})

describe('waiting for the answer', () => {
  const gates = new Map<string, () => void>()
  let live: LiveWorld
  beforeAll(async () => {
    live = await createLiveWorld({
      slow: ({ sessionKey: key }, { signal }) =>
        new Promise((resolve, reject) => {
          gates.set(String(key), () => resolve('done'))
          signal.addEventListener('abort', () => reject(new Error('stopped')))
        }),
    })
  })
  afterAll(() => live.close())

  const send = (key: string, wait: string, body: unknown = { text: 'Hello', debounce_ms: 0 }) =>
    live.ask('POST', at(key, `/messages?wait=${wait}`), { body })
  const started = (key: string) => vi.waitFor(() => expect(gates.has(key)).toBe(true), { timeout: 10_000, interval: 5 })

  it('answers with the settled run', async () => {
    const response = await send('agent:echo:a', '20')
    expect(response.statusCode).toBe(200)
    expect(run.parse(response.json())).toMatchObject({ status: 'success', output: 'Hello', session_id: 'agent:echo:a' })
    const later = send('agent:slow:b', '20')
    await started('agent:slow:b')
    gates.get('agent:slow:b')?.()
    expect((await later).json<RunView>()).toMatchObject({ status: 'success', output: 'done' })
  })

  it('answers with the receipt when the time is up, and with what was stopped', async () => {
    const response = await send('agent:slow:c', '0.2')
    expect(response.statusCode).toBe(202)
    expect(messageReceipt.parse(response.json())).toMatchObject({ state: 'running' })
    const stopped = send('agent:slow:d', '20')
    await started('agent:slow:d')
    const all = await live.ask('POST', at('agent:slow:d', '/messages'), { body: { text: '/stopall' } })
    expect(all.json()).toEqual({ stopped: 1, drained: 0 })
    const ended = await stopped
    expect([ended.statusCode, ended.json<RunView>().status]).toEqual([200, 'cancelled'])
  })

  it('answers with the receipt when the node goes down meanwhile: the message is accepted', async () => {
    const waiting = send('agent:slow:f', '60')
    await started('agent:slow:f')
    live.waiters.rejectAll()
    const response = await waiting
    expect(response.statusCode).toBe(202)
    expect(response.json<MessageReceipt>().state).toBe('running')
  })

  it('gives up when the asker has gone', async () => {
    await live.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = live.app.server.address() as AddressInfo
    const given: string[] = []
    live.change({
      ended: (id) => {
        const { promise, give } = live.waiters.ended(id)
        return {
          promise,
          give: () => {
            given.push(id)
            give()
          },
        }
      },
    })
    const asking = request({
      ...{ host: '127.0.0.1', port, method: 'POST', path: at('agent:slow:e', '/messages?wait=60') },
      headers: { authorization: 'Bearer owner', 'content-type': 'application/json' },
    })
    asking.on('error', () => undefined)
    asking.end(JSON.stringify({ text: 'a' }))
    await started('agent:slow:e')
    asking.destroy()
    await vi.waitFor(() => expect(given).not.toEqual([]), { timeout: 10_000, interval: 5 })
    live.change({ ended: live.waiters.ended })
  })
})
