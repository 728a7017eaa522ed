import { describe, expect } from 'vitest'
import { ended } from './support.ts'
import { scenario } from './world.ts'

describe.concurrent('what a policy leaves out', () => {
  scenario('comes from the deployment, for a schedule and for an agent, and changes with it', async (world) => {
    const fail = (): never => {
      throw new Error('as asked')
    }
    const retry = { max_retries: 1, base_ms: 20, max_ms: 40, jitter: 0 }
    const node = await world.start({ agents: { worker: fail }, retry })
    const attempts = async (id: string): Promise<number> => {
      const { run_id: run = '' } = await node.schedules.runNow(id)
      await ended(node, run)
      return (await node.runs.get(run)).attempts.length
    }
    const far = { agent_id: 'worker', cron: '0 0 1 1 *', concurrency_policy: 'PARALLEL' } as const
    const own = await node.schedules.create({ ...far, retry_policy: { max_retries: 2 } })
    expect(own.retry_policy).toMatchObject({ max_retries: 2, base_ms: 20, max_ms: 40, jitter: 0 })
    expect(await attempts(own.id)).toBe(3)
    await node.agents.update('worker', { retry_policy: { base_ms: 10 } })
    const plain = await node.schedules.create(far)
    expect(await attempts(plain.id)).toBe(2)
    node.reload({ retry: { max_retries: 3, max_ms: 30 } })
    expect(await attempts(plain.id)).toBe(4)
    expect((await node.schedules.get(own.id)).retry_policy).toMatchObject({ max_retries: 2, base_ms: 20, max_ms: 30 })
    expect((await node.agents.get('worker')).retry_policy).toMatchObject({ max_retries: 3, base_ms: 10 })
  })
})
