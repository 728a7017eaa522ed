import { describe, expect } from 'vitest'
import type { EventView } from '../../src/features/events/schema.ts'
import { debounceScenarios } from './both/sessions.ts'
import { createStage } from './stage.ts'
import { chat, ended, endings, eventually, send } from './support.ts'
import { scenario } from './world.ts'

const from = (sender: string, text: string): { readonly text: string; readonly sender: string } => ({ text, sender })

debounceScenarios(scenario)

describe.concurrent('7: messages inside the window', () => {
  scenario('of one sender become one run with a line each', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { debounce_ms: 1_200 } })
    const merged: EventView[] = []
    node.on('message.merged', (event) => void merged.push(event))
    const first = await send(node, chat('s'), { ...from('ann', 'a'), message_id: 'm1', attachments: [1] })
    expect(first.state).toBe('waiting')
    const second = await send(node, chat('s'), { ...from('ann', 'b'), message_id: 'm2', attachments: [2, 3] })
    const third = await send(node, chat('s'), { ...from('ann', 'c'), message_id: 'm3' })
    expect([second.merged_into, third.merged_into]).toEqual([first.run_id, first.run_id])
    expect((await ended(node, first.run_id)).status).toBe('success')
    expect(stage.started()).toEqual(['a\nb\nc'])
    const payload = JSON.stringify(stage.acts[0]?.attempt.payload)
    for (const kept of ['m1', 'm2', 'm3', '[1,2,3]']) expect(payload).toContain(kept)
    await eventually(() => expect(merged).toHaveLength(2))
  })

  scenario('of two senders become two runs', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { debounce_ms: 1_200 } })
    const ids = new Set<string>()
    for (const [sender, text] of [
      ['ann', 'a1'],
      ['bob', 'b1'],
      ['ann', 'a2'],
    ] as const)
      ids.add((await send(node, chat('s'), from(sender, text))).run_id)
    expect(await endings(node, [...ids])).toEqual(['success', 'success'])
    expect(stage.started().toSorted()).toEqual(['a1\na2', 'b1'])
  })

  scenario('are not held back without a sender, nor with debounce off', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { debounce_ms: 20_000 } })
    const { run_id: plain } = await send(node, chat('a'), 'plain')
    const { run_id: off } = await send(node, chat('b'), { ...from('ann', 'off'), debounce_ms: 0 })
    expect(await endings(node, [plain, off])).toEqual(['success', 'success'])
  })

  scenario('stay ahead of one of the same sender that is not held back', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { debounce_ms: 20_000 } })
    const { run_id: held } = await send(node, chat('a'), from('ann', 'first'))
    const { run_id: now } = await send(node, chat('a'), { ...from('ann', 'second'), debounce_ms: 0 })
    expect(await endings(node, [held, now])).toEqual(['success', 'success'])
    expect(stage.started()).toEqual(['first', 'second'])
  })

  scenario('do not block others of their session meanwhile', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { debounce_ms: 1_200 } })
    const { run_id: held } = await send(node, chat('a'), from('ann', 'held back'))
    const { run_id: other } = await send(node, chat('a'), 'at once')
    expect(await endings(node, [held, other])).toEqual(['success', 'success'])
    expect(stage.started()).toEqual(['at once', 'held back'])
  })
})

describe.concurrent('8: text buffered in the window', () => {
  scenario('runs after a restart', async (world) => {
    const before = await world.start({ sessions: { debounce_ms: 2_000 } })
    await before.agents.create({ id: 'worker', name: 'worker', executor: { kind: 'in-process' } })
    const { run_id: id } = await send(before, chat('s'), from('ann', 'a'))
    await send(before, chat('s'), from('ann', 'b'))
    await before.stop('now')
    const stage = createStage({ open: true })
    const after = await world.start({ agents: { worker: stage.handler } })
    expect((await ended(after, id)).status).toBe('success')
    expect(stage.started()).toEqual(['a\nb'])
  })

  scenario('waits for more of the same sender after a restart as before', async (world) => {
    const before = await world.start({ sessions: { debounce_ms: 6_000 } })
    await before.agents.create({ id: 'worker', name: 'worker', executor: { kind: 'in-process' } })
    const { run_id: id } = await send(before, chat('s'), from('ann', 'a'))
    await before.stop()
    const stage = createStage({ open: true })
    const after = await world.start({ agents: { worker: stage.handler }, sessions: { debounce_ms: 300 } })
    expect((await send(after, chat('s'), from('ann', 'b'))).merged_into).toBe(id)
    expect((await ended(after, id)).status).toBe('success')
    expect(stage.started()).toEqual(['a\nb'])
  })
})
