import { describe, expect } from 'vitest'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, nothingFor, send, sendEach, statusOf } from './support.ts'
import { scenario } from './world.ts'

describe.concurrent('9: an interrupting message', () => {
  scenario('cancels what runs and what waits, and runs itself', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    const [r1 = '', r2 = ''] = await sendEach(node, key, ['r1', 'r2'])
    const first = await stage.begun('r1')
    const { run_id: r3 } = await send(node, key, { text: 'r3', mode: 'interrupt' })
    stage.release('r3')
    expect(await endings(node, [r1, r2, r3])).toEqual(['cancelled', 'cancelled', 'success'])
    expect((await ended(node, r1)).reason).toBe('interrupted')
    expect((await ended(node, r2)).reason).toBe('interrupted')
    expect(stage.started()).toEqual(['r1', 'r3'])
    expect(first.endedAt()).toBeLessThanOrEqual(stage.acts[1]?.startedAt ?? 0)
  })

  scenario('never overlaps what it interrupted: it is queued, awaiting its stop', async (world) => {
    const stage = createStage({ deaf: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    await node.sessions.update(key, { mode: 'interrupt' })
    const { run_id: r1 } = await send(node, key, 'r1')
    const first = await stage.begun('r1')
    const { run_id: r2 } = await send(node, key, 'r2')
    await eventually(() => expect(first.signal.aborted).toBe(true))
    await nothingFor(150)
    expect(stage.started()).toEqual(['r1'])
    expect(await statusOf(node, r1)).toBe('stopping')
    expect(await statusOf(node, r2)).toBe('queued')
    expect(await node.runs.explain(r2)).toMatchObject({ reason: 'awaiting_stop' })
    stage.open()
    expect(await endings(node, [r1, r2])).toEqual(['cancelled', 'success'])
    expect(stage.most()).toBe(1)
  })

  scenario('waits no longer than the grace for what does not listen', async (world) => {
    const stage = createStage({ deaf: true })
    const node = await world.start({ agents: { worker: stage.handler }, node: { stop_grace_ms: 400 } })
    const key = chat('s')
    const { run_id: r1 } = await send(node, key, 'r1')
    const first = await stage.begun('r1')
    stage.release('r2')
    const { run_id: r2 } = await send(node, key, { text: 'r2', mode: 'interrupt' })
    const second = await stage.begun('r2')
    expect(second.startedAt - first.startedAt).toBeGreaterThan(350)
    expect(await endings(node, [r1, r2])).toEqual(['cancelled', 'success'])
    stage.open()
    await nothingFor(100)
    expect(await statusOf(node, r1)).toBe('cancelled')
  })

  scenario('enters a full session: cap and drop do not apply', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { cap: 1, drop: 'new' } })
    const key = chat('s')
    const [r1 = '', r2 = ''] = await sendEach(node, key, ['r1', 'r2'])
    await stage.begun('r1')
    stage.release('r3')
    const receipt = await send(node, key, { text: 'r3', mode: 'interrupt' })
    expect(receipt.dropped_run_id).toBeUndefined()
    expect(await endings(node, [r1, r2, receipt.run_id])).toEqual(['cancelled', 'cancelled', 'success'])
  })

  scenario('interrupts on arrival, debounces, and later ones merge without interrupting again', async (world) => {
    const stage = createStage()
    const node = await world.start({
      agents: { worker: stage.handler },
      sessions: { mode: 'interrupt', debounce_ms: 1_500 },
    })
    const key = chat('s')
    const { run_id: r1 } = await send(node, key, { text: 'r1', sender: 'ann', debounce_ms: 0 })
    await stage.begun('r1')
    const { run_id: r2 } = await send(node, key, { text: 'a', sender: 'ann' })
    expect((await ended(node, r1)).status).toBe('cancelled')
    expect(await statusOf(node, r2)).toBe('waiting')
    expect((await send(node, key, { text: 'b', sender: 'ann' })).merged_into).toBe(r2)
    stage.open()
    expect((await ended(node, r2)).status).toBe('success')
    expect(stage.started()).toEqual(['r1', 'a\nb'])
  })

  scenario('of a burst without debounce: the last wins', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { mode: 'interrupt' } })
    const ids = await sendEach(node, chat('s'), ['1', '2', '3', '4', '5'])
    stage.release('5')
    expect(await endings(node, ids)).toEqual([...Array<string>(4).fill('cancelled'), 'success'])
    expect(stage.most()).toBe(1)
  })

  scenario('is never a schedule: that waits like anything else', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { mode: 'interrupt' } })
    const { run_id: r1 } = await send(node, chat('s'), 'r1')
    await stage.begun('r1')
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'report', session: chat('s') },
    })
    const { run_id: report = '' } = await node.schedules.runNow(id)
    await nothingFor(100)
    expect(await statusOf(node, r1)).toBe('running')
    stage.open()
    expect(await endings(node, [r1, report])).toEqual(['success', 'success'])
    expect(stage.most()).toBe(1)
  })
})
