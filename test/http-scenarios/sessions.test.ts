import { describe, expect } from 'vitest'
import { debounceScenarios, sessionScenarios } from '../scenarios/both/sessions.ts'
import { createStage } from '../scenarios/stage.ts'
import {
  chat,
  ended,
  endings,
  eventually,
  nothingFor,
  refused,
  send,
  sendEach,
  statusOf,
} from '../scenarios/support.ts'
import { scenario } from './world.ts'

describe.concurrent('over HTTP', () => {
  sessionScenarios(scenario)
  debounceScenarios(scenario)
})

describe.concurrent('a full session over HTTP', () => {
  scenario('5: cap 2, drop new: the newcomer is refused with 429 and the id of its rejected run', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    await node.sessions.update(key, { cap: 2, drop: 'new' })
    const ids = await sendEach(node, key, ['r1', 'r2', 'r3'])
    await stage.begun('r1')
    const target = `/api/v1/sessions/${encodeURIComponent(key)}/messages`
    const refusal = await node.raw('POST', target, { body: { text: 'r4' } })
    expect([refusal.status, refusal.body['code']]).toEqual([429, 'SESSION_QUEUE_FULL'])
    expect(await node.runs.get(String(refusal.body['run_id']))).toMatchObject({
      ...{ status: 'rejected', reason: 'session_queue_full' },
    })
    stage.open()
    expect(await endings(node, ids)).toEqual(['success', 'success', 'success'])
    expect(stage.started()).toEqual(['r1', 'r2', 'r3'])
  })
})

describe.concurrent('7: messages inside the window, over HTTP', () => {
  scenario('of one sender become one run with a line each; of two senders, two runs', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { debounce_ms: 4_000 } })
    const first = await send(node, chat('s'), { text: 'a', sender: 'ann' })
    expect(first.state).toBe('waiting')
    const other = await send(node, chat('s'), { text: 'x', sender: 'bob' })
    const second = await send(node, chat('s'), { text: 'b', sender: 'ann' })
    const third = await send(node, chat('s'), { text: 'c', sender: 'ann' })
    expect([second.merged_into, third.merged_into]).toEqual([first.run_id, first.run_id])
    expect(await endings(node, [first.run_id, other.run_id])).toEqual(['success', 'success'])
    expect(stage.started().toSorted()).toEqual(['a\nb\nc', 'x'])
    const { items } = await node.client.sessions.messages(chat('s'))
    expect(items.find((message) => message.sender === 'ann')).toMatchObject({
      ...{ run_id: first.run_id, text: 'a\nb\nc', status: 'success', reply: 'a\nb\nc' },
      message_ids: [first.message_id, second.message_id, third.message_id],
    })
  })
})

describe.concurrent('9: an interrupting message over HTTP', () => {
  scenario('cancels what runs and what waits, and runs itself without ever overlapping', async (world) => {
    const stage = createStage({ deaf: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    const [r1 = '', r2 = ''] = await sendEach(node, key, ['r1', 'r2'])
    const first = await stage.begun('r1')
    const { run_id: r3 } = await send(node, key, { text: 'r3', mode: 'interrupt' })
    await eventually(() => expect(first.signal.aborted).toBe(true))
    expect(await statusOf(node, r1)).toBe('stopping')
    expect(await node.runs.explain(r3)).toMatchObject({ reason: 'awaiting_stop' })
    expect(stage.started()).toEqual(['r1'])
    stage.open()
    expect(await endings(node, [r1, r2, r3])).toEqual(['cancelled', 'cancelled', 'success'])
    expect((await ended(node, r2)).reason).toBe('interrupted')
    expect(stage.started()).toEqual(['r1', 'r3'])
    expect(stage.most()).toBe(1)
  })
})

describe.concurrent('10: a group session over HTTP', () => {
  scenario(
    'at 60 % of the context that its agent reports starts nothing until all have ended, then one at a time',
    async (world) => {
      const stage = createStage({
        then: (act, context) => {
          if (act.label === '1') context.usage({ inputTokens: 600, outputTokens: 0, contextWindow: 1_000 })
          return act.label
        },
      })
      const node = await world.start({ agents: { worker: stage.handler } })
      const key = chat('g')
      const ids = await sendEach(node, key, [{ text: '1', max_concurrent: 3 }, '2', '3', '4', '5'])
      await stage.begunMany(3)
      stage.release('1')
      await ended(node, ids[0] ?? '')
      await nothingFor(150)
      stage.release('2')
      await ended(node, ids[1] ?? '')
      await nothingFor(150)
      expect(stage.started()).toEqual(['1', '2', '3'])
      expect(await node.runs.explain(ids[3] ?? '')).toMatchObject({ reason: 'context_throttle' })
      stage.release('3')
      await stage.begun('4')
      await nothingFor(100)
      expect(stage.busy()).toBe(1)
      stage.open()
      expect(await endings(node, ids)).toEqual(Array(5).fill('success'))
    },
  )
})

describe.concurrent('a session key', () => {
  scenario('may hold slashes, spaces and any letters: it is percent-encoded', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const key = 'agent:worker:net/irc:#ünï ☃/?&=%'
    const run = await node.sessions.ask(key, 'hello')
    expect(run).toMatchObject({ status: 'success', session_id: key })
    expect((await node.sessions.get(key)).key).toBe(key)
    expect((await node.runs.list({ session: key })).items.map((item) => item.id)).toEqual([run.id])
    await refused(node.sessions.send(`agent:worker:${'x'.repeat(512)}`, 'too long'), 'VALIDATION')
  })
})
