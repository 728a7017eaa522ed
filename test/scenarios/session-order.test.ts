import { describe, expect } from 'vitest'
import { ErrQueueDropped, ErrQueueFull } from '../../src/api/refusals.ts'
import type { EventView } from '../../src/features/events/schema.ts'
import { sessionScenarios } from './both/sessions.ts'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, nothingFor, refused, send, sendEach } from './support.ts'
import { scenario, type World } from './world.ts'

sessionScenarios(scenario)

describe.concurrent('the order of a session', () => {
  scenario('4: many sessions run side by side', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    for (const peer of ['a', 'b', 'c']) await sendEach(node, chat(peer), [`${peer}1`, `${peer}2`])
    const acts = await stage.begunMany(3)
    await nothingFor(100)
    expect(acts.map((act) => act.label).toSorted()).toEqual(['a1', 'b1', 'c1'])
  })

  scenario('is told by `position`, the place among the queued runs of the agent', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler, other: stage.handler }, lanes: { main: 1 } })
    await send(node, chat('h'), 'held')
    await stage.begun('held')
    const positions: (number | null)[] = []
    for (const text of ['a', 'b', 'c']) positions.push((await send(node, chat(text), text)).position)
    positions.push((await send(node, chat('z', 'other'), 'z')).position)
    expect(positions).toEqual([1, 2, 3, 1])
  })

  scenario('says why a run waits: the one ahead of it', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const [first, second = '', third = ''] = await sendEach(node, chat('s'), ['1', '2', '3'])
    await stage.begun('1')
    expect(await node.runs.explain(second)).toMatchObject({
      reason: 'session_limit',
      evidence: { active: 1, limit: 1 },
    })
    expect(await node.runs.explain(third)).toMatchObject({ reason: 'session_order', evidence: { ahead: second } })
    expect(await node.sessions.get(chat('s'))).toMatchObject({ active: 1, waiting: 2, max_concurrent: 1 })
    stage.open()
    expect(await endings(node, [first ?? '', second, third])).toEqual(['success', 'success', 'success'])
  })
})

describe.concurrent('a full session', () => {
  scenario('5: cap 2, drop old: the caller is told by ErrQueueDropped, and listeners by an event', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { cap: 2, drop: 'old' } })
    const heard: EventView[] = []
    node.on('message.dropped', (event) => void heard.push(event))
    const key = chat('s')
    await send(node, key, 'r1')
    await stage.begun('r1')
    const asked = node.sessions.ask(key, 'r2').catch((error: unknown) => error)
    const r2 = await eventually(async () => {
      const { items } = await node.runs.list({ session: key, status: 'queued' })
      return items[0]?.id ?? Promise.reject(new Error('r2 is not there yet'))
    })
    await sendEach(node, key, ['r3', 'r4'])
    const error = await asked
    expect(error).toBeInstanceOf(ErrQueueDropped)
    expect(error).toMatchObject({ runId: r2 })
    await eventually(() => expect(heard.map((event) => event.subject)).toEqual([r2]))
    stage.open()
  })

  scenario('5: cap 2, drop new: the newcomer is rejected at once', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { cap: 2, drop: 'new' } })
    const key = chat('s')
    const ids = await sendEach(node, key, ['r1', 'r2', 'r3'])
    await stage.begun('r1')
    const refusal = await refused(node.sessions.send(key, 'r4'), 'SESSION_QUEUE_FULL')
    expect(refusal).toBeInstanceOf(ErrQueueFull)
    expect(await node.runs.get(refusal.runId ?? '')).toMatchObject({
      status: 'rejected',
      reason: 'session_queue_full',
    })
    stage.open()
    expect(await endings(node, ids)).toEqual(['success', 'success', 'success'])
    expect(stage.started()).toEqual(['r1', 'r2', 'r3'])
  })

  scenario('6: rules of one session are its own', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    await sendEach(node, chat('s'), ['1'])
    await stage.begun('1')
    expect(await node.sessions.update(chat('s'), { cap: 1, drop: 'new' })).toMatchObject({ cap: 1, drop: 'new' })
    await send(node, chat('s'), '2')
    await refused(node.sessions.send(chat('s'), '3'), 'SESSION_QUEUE_FULL')
    await sendEach(node, chat('t'), ['a', 'b', 'c'])
    await refused(node.sessions.update(chat('s'), { cap: 0 }), 'VALIDATION')
  })
})

describe.concurrent('10: a group session', () => {
  scenario('at 60 % of its context starts nothing until all have ended, then one at a time', async (world) => {
    const stage = createStage()
    const key = chat('g')
    let tokens = 599
    const node = await world.start({
      agents: { worker: stage.handler },
      estimateTokens: (session) => (session === key ? { tokens, contextWindow: 1_000 } : null),
    })
    const ids = await sendEach(node, key, [{ text: '1', max_concurrent: 3 }, '2', '3'])
    await stage.begunMany(3)
    tokens = 600
    ids.concat(await sendEach(node, key, ['4', '5', '6']))
    stage.release('1')
    await nothingFor(150)
    stage.release('2')
    await nothingFor(150)
    expect(stage.started()).toEqual(['1', '2', '3'])
    stage.release('3')
    for (const text of ['4', '5', '6']) {
      await stage.begun(text)
      await nothingFor(60)
      expect(stage.busy()).toBe(1)
      stage.release(text)
    }
    expect(await endings(node, ids)).toEqual(['success', 'success', 'success'])
  })

  scenario('is throttled by an estimator that was set while it ran, until that is taken away', async (world) => {
    const stage = createStage()
    const key = chat('g')
    const node = await world.start({ agents: { worker: stage.handler } })
    node.setTokenEstimateFunc((session) => (session === key ? { tokens: 900, contextWindow: 1_000 } : null))
    const [, second = ''] = await sendEach(node, key, [{ text: '1', max_concurrent: 3 }, '2'])
    await stage.begun('1')
    expect(await node.runs.explain(second)).toMatchObject({ reason: 'context_throttle' })
    node.setTokenEstimateFunc(null)
    await stage.begunMany(2)
    await sendEach(node, key, ['3'])
    await stage.begunMany(3)
    expect(() => node.setTokenEstimateFunc('many' as never)).toThrow(/estimate "many": must be a function/)
    stage.open()
  })

  const isThrottled =
    (reported: { readonly contextWindow?: number }, ofAgent: number | null) =>
    async (world: World): Promise<void> => {
      const stage = createStage({
        then: (act, context) => {
          if (act.label === '1') context.usage({ inputTokens: 700, outputTokens: 1, ...reported })
        },
      })
      const node = await world.start({ agents: { worker: stage.handler } })
      if (ofAgent !== null) await node.agents.update('worker', { context_window: ofAgent })
      const key = chat('g')
      const [first = ''] = await sendEach(node, key, [{ text: '1', max_concurrent: 2 }])
      stage.release('1')
      expect(await ended(node, first)).toMatchObject({ usage: { input_tokens: 700 } })
      expect(await node.sessions.get(key)).toMatchObject({ context_window: 1_000, tokens: 701 })
      const [, third = ''] = await sendEach(node, key, ['2', '3'])
      await stage.begun('2')
      await nothingFor(150)
      expect(stage.started()).toEqual(['1', '2'])
      expect(await node.runs.explain(third)).toMatchObject({ reason: 'context_throttle' })
      stage.open()
      expect((await ended(node, third)).status).toBe('success')
    }

  scenario('is throttled by what its executor reports, too', isThrottled({ contextWindow: 1_000 }, null))
  scenario('is throttled by the context window of its agent, where none is reported', isThrottled({}, 1_000))
  scenario('is throttled by the reported window, where there are two', isThrottled({ contextWindow: 1_000 }, 1_000_000))
})
