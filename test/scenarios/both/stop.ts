import { describe, expect } from 'vitest'
import { createStage } from '../stage.ts'
import { chat, ended, endings, nothingFor, send, sendEach, statusOf } from '../support.ts'
import type { Declare } from './world.ts'

export function stopScenarios(scenario: Declare): void {
  describe.concurrent('11: /stop', () => {
    scenario('with 3 running and 2 waiting cancels the oldest; the rest goes on', async (world) => {
      const stage = createStage()
      const node = await world.start({ agents: { worker: stage.handler }, sessions: { max_concurrent: 3 } })
      const ids = await sendEach(node, chat('s'), ['1', '2', '3', '4', '5'])
      await stage.begunMany(3)
      expect(await node.sessions.stop(chat('s'))).toEqual({ stopped: 1, drained: 0 })
      expect(await ended(node, ids[0] ?? '')).toMatchObject({ status: 'cancelled', reason: 'stopped' })
      await stage.begun('4')
      stage.open()
      expect(await endings(node, ids)).toEqual(['cancelled', 'success', 'success', 'success', 'success'])
    })

    scenario('12: acts at once while the lane is full and nobody gives it back, as /stopall does', async (world) => {
      const stage = createStage()
      const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
      const { run_id: held } = await send(node, chat('h'), 'held')
      await stage.begun('held')
      const [waiting = ''] = await sendEach(node, chat('s'), ['waiting'])
      const askedAt = performance.now()
      expect(await node.sessions.send(chat('s'), '/stopall')).toEqual({ stopped: 0, drained: 1 })
      expect(await node.sessions.send(chat('h'), '/stop')).toEqual({ stopped: 1, drained: 0 })
      expect(await endings(node, [held, waiting])).toEqual(['cancelled', 'cancelled'])
      // At once: half of the 5 s after which a run that does not listen is given up is left for a busy machine.
      expect(performance.now() - askedAt).toBeLessThan(2_500)
    })
  })

  describe.concurrent('11: /stopall', () => {
    scenario('with 2 running and 3 waiting cancels 5; none of the 3 executes; a later message runs', async (world) => {
      const stage = createStage()
      const node = await world.start({ agents: { worker: stage.handler }, sessions: { max_concurrent: 2 } })
      const key = chat('s')
      const ids = await sendEach(node, key, ['1', '2', '3', '4', '5'])
      await stage.begunMany(2)
      expect(await node.sessions.stopAll(key)).toEqual({ stopped: 2, drained: 3 })
      const { run_id: later } = await send(node, key, 'later')
      stage.release('later')
      expect(await endings(node, [...ids, later])).toEqual([...Array<string>(5).fill('cancelled'), 'success'])
      for (const id of ids) expect((await node.runs.get(id)).reason).toBe('stopped_all')
      expect(stage.started()).toEqual(['1', '2', 'later'])
    })

    scenario('12: a message at 0, /stopall 100 ms later, and nothing runs when its window closes', async (world) => {
      const stage = createStage({ open: true })
      const node = await world.start({ agents: { worker: stage.handler }, sessions: { debounce_ms: 2_000 } })
      const { run_id: id } = await send(node, chat('s'), { text: 'a', sender: 'ann' })
      await nothingFor(100)
      expect(await node.sessions.stopAll(chat('s'))).toEqual({ stopped: 0, drained: 1 })
      expect(await statusOf(node, id)).toBe('cancelled')
      await nothingFor(2_200)
      expect(stage.acts).toEqual([])
    })
  })
}
