import { describe, expect } from 'vitest'
import type { LaneView } from '../../src/contract/lane.ts'
import { createStage } from '../scenarios/stage.ts'
import { chat, endings, eventually, nothingFor, send } from '../scenarios/support.ts'
import { scenario, type Remote } from './world.ts'

const laneOf = async (node: Remote, name: string): Promise<LaneView | undefined> =>
  (await node.client.lanes.list()).items.find((lane) => lane.name === name)

/** Sends each to a session of its own, so that only the lane holds them up. */
const sendApart = (node: Remote, texts: readonly string[], lane = 'main'): Promise<readonly string[]> =>
  Promise.all(texts.map(async (text) => (await send(node, chat(text), { text, lane })).run_id))

describe.concurrent('lanes over HTTP', () => {
  scenario('1: a lane of 2 and 6 runs of 50 ms: never more than 2 at once, 2 reached, all 6 end', async (world) => {
    const stage = createStage({ open: true, then: () => nothingFor(50) })
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 2 } })
    const ids = await sendApart(node, ['a', 'b', 'c', 'd', 'e', 'f'])
    expect(await endings(node, ids)).toEqual(Array(6).fill('success'))
    expect(stage.most()).toBe(2)
    expect(stage.acts).toHaveLength(6)
  })

  scenario('2: ESCAPEMENT_LANE_MAIN=5 makes it 5; 0, -1, abc and nothing leave 30, with a warning', async (world) => {
    const outcomes: unknown[] = []
    for (const text of ['5', '0', '-1', 'abc', '']) {
      const node = await world.start({ variables: { ESCAPEMENT_LANE_MAIN: text } })
      const warned = node.served
        .log()
        .some(({ level, msg }) => level === 'warn' && msg.includes('ESCAPEMENT_LANE_MAIN'))
      outcomes.push([text, (await laneOf(node, 'main'))?.concurrency, warned])
    }
    expect(outcomes).toEqual([
      ['5', 5, false],
      ['0', 30, true],
      ['-1', 30, true],
      ['abc', 30, true],
      ['', 30, true],
    ])
  })

  scenario('3: work for lane `nope` runs on main and shows in its stats', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
    const ids = await sendApart(node, ['a', 'b'], 'nope')
    await stage.begunMany(1)
    await eventually(async () => expect(await laneOf(node, 'main')).toMatchObject({ active: 1, pending: 1 }))
    expect(await laneOf(node, 'nope')).toBeUndefined()
    const { lanes } = await node.client.stats.get()
    expect(lanes.find((lane) => lane.name === 'main')).toMatchObject({ active: 1, pending: 1 })
    stage.open()
    expect(await endings(node, ids)).toEqual(['success', 'success'])
  })

  scenario('are set while work goes on; a size of 0 is refused and changes nothing', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
    const ids = await sendApart(node, ['a', 'b', 'c'])
    await stage.begunMany(1)
    const refusal = await node.raw('PUT', '/api/v1/lanes/main', { body: { concurrency: 0 } })
    expect([refusal.status, refusal.body['code']]).toEqual([400, 'VALIDATION'])
    expect(await laneOf(node, 'main')).toMatchObject({ concurrency: 1 })
    expect(await node.client.lanes.set('main', { concurrency: 3 })).toMatchObject({ name: 'main', concurrency: 3 })
    await stage.begunMany(3)
    stage.open()
    expect(await endings(node, ids)).toEqual(['success', 'success', 'success'])
  })
})
