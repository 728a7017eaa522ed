import { Webhook } from 'standardwebhooks'
import { describe, expect } from 'vitest'
import type { EventView } from '../../src/features/events/schema.ts'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { ended, eventually, refused } from './support.ts'
import { scenario } from './world.ts'

describe.concurrent('a result in the library', () => {
  scenario('goes to the target of its schedule, and whoever listens hears of it', async (world) => {
    const receiver = await startPeer((_, response, n) => json(response, n === 1 ? 500 : 200, {}))
    try {
      const node = await world.start({
        agents: { worker: () => ({ report: 'fine' }) },
        outbound: { allow_hosts: [`127.0.0.1:${receiver.port}`] },
      })
      const heard: EventView[] = []
      node.on('delivery.changed', (event) => void heard.push(event))
      const { id: target } = await node.targets.create({ name: 'ops', url: `${receiver.url}/in` })
      const { id } = await node.schedules.create({
        ...{ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'go', delivery: { target_id: target } },
      })
      const { run_id: run = '' } = await node.schedules.runNow(id)
      expect(await ended(node, run)).toMatchObject({ status: 'success' })
      const delivery = await eventually(async () => {
        const [found] = (await node.deliveries.list({ run_id: run })).items
        expect(found?.tries).toHaveLength(1)
        return found ?? expect.fail()
      })
      // A person does not want to wait for the next try.
      await node.deliveries.retry(delivery.id)
      await eventually(async () => {
        expect((await node.deliveries.get(delivery.id)).status).toBe('delivered')
      })
      const { secret } = await node.targets.signingSecret()
      const { body, headers } = receiver.heard[1] ?? expect.fail()
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
        data: { id: run, output: { report: 'fine' } },
      })
      const about = heard.filter(({ subject }) => subject === delivery.id)
      expect(about.map(({ data }) => [data['status'], data['outcome'], data['run_id']])).toEqual([
        ['created', undefined, run],
        ['pending', 'failed', run],
        ['pending', undefined, run],
        ['delivered', 'delivered', run],
      ])
      await refused(node.deliveries.retry(delivery.id), 'CONFLICT')
      expect(await node.alerts.list()).toEqual({ items: [], next_cursor: null })
    } finally {
      await receiver.close()
    }
  })

  scenario('is sent by whoever is there when the node that made it is not', async (world) => {
    const receiver = await startPeer((_, response) => json(response, 200, {}))
    try {
      const outbound = { allow_hosts: [`127.0.0.1:${receiver.port}`] }
      const first = await world.start({ agents: { worker: () => 'done' }, outbound })
      const { id: target } = await first.targets.create({ name: 'ops', url: receiver.url, enabled: false })
      const { id } = await first.schedules.create({ every_seconds: 3_600, delivery: { target_id: target } })
      const { run_id: run = '' } = await first.schedules.runNow(id)
      await ended(first, run)
      await first.stop()
      const second = await world.start({ outbound })
      expect(await second.targets.enable(target)).toMatchObject({ released: 1 })
      await eventually(() => {
        expect(receiver.heard).toHaveLength(1)
      })
      expect(JSON.parse(receiver.heard[0]?.body ?? '')).toMatchObject({ data: { id: run, output: 'done' } })
    } finally {
      await receiver.close()
    }
  })
})
