import { describe, expect } from 'vitest'
import { laneOf, laneScenarios, sendApart } from '../scenarios/both/lanes.ts'
import { createStage } from '../scenarios/stage.ts'
import { endings, eventually } from '../scenarios/support.ts'
import { scenario } from './world.ts'

describe.concurrent('lanes over HTTP', () => {
  laneScenarios(scenario)

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

  scenario('are set while work goes on; a size of 0 is refused and changes nothing', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
    const ids = await sendApart(node, ['a', 'b', 'c'])
    await stage.begunMany(1)
    await eventually(async () => {
      const { lanes } = await node.client.stats.get()
      expect(lanes.find((lane) => lane.name === 'main')).toMatchObject({ active: 1, pending: 2 })
    })
    const refusal = await node.raw('PUT', '/api/v1/lanes/main', { body: { concurrency: 0 } })
    expect([refusal.status, refusal.body['code']]).toEqual([400, 'VALIDATION'])
    expect(await laneOf(node, 'main')).toMatchObject({ concurrency: 1 })
    expect(await node.client.lanes.set('main', { concurrency: 3 })).toMatchObject({ name: 'main', concurrency: 3 })
    await stage.begunMany(3)
    stage.open()
    expect(await endings(node, ids)).toEqual(['success', 'success', 'success'])
  })
})
