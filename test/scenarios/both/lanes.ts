import { describe, expect } from 'vitest'
import type { LaneView } from '../../../src/features/lanes/schema.ts'
import { createStage } from '../stage.ts'
import { chat, endings, eventually, nothingFor, send } from '../support.ts'
import type { Declare, Surface } from './world.ts'

export const laneOf = async (node: Pick<Surface, 'lanes'>, name: string): Promise<LaneView | undefined> =>
  (await node.lanes.list()).items.find((lane) => lane.name === name)

/** Sends each to a session of its own, so that only the lane holds them up. */
export const sendApart = (
  node: Pick<Surface, 'schedules' | 'sessions' | 'runs'>,
  texts: readonly string[],
  lane?: string,
): Promise<readonly string[]> =>
  Promise.all(
    texts.map(async (text) => (await send(node, chat(text), { text, ...(lane === undefined ? {} : { lane }) })).run_id),
  )

export function laneScenarios(scenario: Declare): void {
  describe.concurrent('lanes', () => {
    scenario('1: a lane of 2 and 6 runs of 50 ms: never more than 2 at once, 2 reached, all 6 end', async (world) => {
      const stage = createStage({ open: true, then: () => nothingFor(50) })
      const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 2 } })
      const ids = await sendApart(node, ['a', 'b', 'c', 'd', 'e', 'f'])
      expect(await endings(node, ids)).toEqual(Array(6).fill('success'))
      expect(stage.most()).toBe(2)
      expect(stage.acts).toHaveLength(6)
    })

    scenario('3: work for lane `nope` runs on main and shows in its stats', async (world) => {
      const stage = createStage()
      const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
      const ids = await sendApart(node, ['a', 'b'], 'nope')
      await stage.begunMany(1)
      await eventually(async () => expect(await laneOf(node, 'main')).toMatchObject({ active: 1, pending: 1 }))
      expect(await laneOf(node, 'nope')).toBeUndefined()
      stage.open()
      expect(await endings(node, ids)).toEqual(['success', 'success'])
      await eventually(async () => expect(await laneOf(node, 'main')).toMatchObject({ active: 0, pending: 0 }))
    })
  })
}
