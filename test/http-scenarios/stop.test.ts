import { describe, expect } from 'vitest'
import { stopScenarios } from '../scenarios/both/stop.ts'
import { createStage } from '../scenarios/stage.ts'
import { chat, ended, send } from '../scenarios/support.ts'
import { scenario } from './world.ts'

describe.concurrent('11: /stop and /stopall over HTTP', () => {
  stopScenarios(scenario)

  scenario('are texts, too, answered with what they did, and put on record', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    for (const [index, command] of ['/stop', ' /StopAll@bot '].entries()) {
      const { run_id: id } = await send(node, key, 'work')
      await stage.begun('work', index + 1)
      const target = `/api/v1/sessions/${encodeURIComponent(key)}/messages`
      const answer = await node.raw('POST', target, { body: { text: command, sender: 'ann' } })
      expect([answer.status, answer.body]).toEqual([200, { stopped: 1, drained: 0 }])
      expect((await ended(node, id)).status).toBe('cancelled')
    }
    const { items } = await node.client.audit.list({ object_kind: 'session' })
    expect(items.map(({ action, object }) => [action, object.id])).toEqual([
      ['session.stopall', key],
      ['session.stop', key],
    ])
  })
})
