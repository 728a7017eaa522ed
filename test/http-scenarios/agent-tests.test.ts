import { describe, expect } from 'vitest'
import { json, startPeer, type Answering, type Peer } from '../platform/outbound/peer.ts'
import { scenario, type Remote, type World } from './world.ts'

const answers: Answering = ({ body }, response) => {
  const said = (JSON.parse(body) as { input?: { text?: string } }).input?.text ?? body
  if (body.includes('break')) json(response, 500, { error: 'The model is overloaded' })
  else if (!body.includes('hang'))
    json(response, 200, {
      status: 'success',
      output: 'OK',
      usage: { input_tokens: 3, output_tokens: 1, cost: 0.5 },
      summary: said.slice(0, 9),
    })
}

async function withAgent(world: World, play: (node: Remote, peer: Peer) => Promise<void>): Promise<void> {
  const peer = await startPeer(answers)
  try {
    const node = await world.start()
    // The operator allows the address while the server runs, and it can be called at once.
    const refused = await node.raw('POST', '/api/v1/agents', {
      body: { id: 'writer', name: 'Writer', executor: { kind: 'http', url: `${peer.url}/work` } },
    })
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('outbound.allow_hosts'),
    ])
    await node.client.config.update({ outbound: { allow_hosts: [`127.0.0.1:${peer.port}`] } })
    await node.agents.create({ id: 'writer', name: 'Writer', executor: { kind: 'http', url: `${peer.url}/work` } })
    await play(node, peer)
  } finally {
    await peer.close()
  }
}

describe.concurrent('testing an agent', () => {
  scenario('shows its answer, or the reason why there is none, after one attempt', async (world) => {
    await withAgent(world, async (node, peer) => {
      const test = await node.client.agents.test('writer')
      expect(test).toMatchObject({ ok: true, status: 'success', output: 'OK', problem: null, error_code: null })
      expect(test.usage).toMatchObject({ input_tokens: 3, output_tokens: 1 })
      const heard = peer.heard.length
      const broken = await node.client.agents.test('writer', { text: 'break' })
      expect(broken).toMatchObject({ ok: false, status: 'failed', output: null })
      expect(broken.problem).toContain('The model is overloaded')
      expect(peer.heard.length).toBe(heard + 1)
      const run = await node.client.runs.get(broken.run_id)
      expect(run).toMatchObject({ session_key: null, attempts: [{ number: 1 }], decision: { reason: 'tested' } })
      expect((await node.raw('POST', '/api/v1/agents/nobody/test')).status).toBe(404)
    })
  })

  scenario('ends a run that takes too long or that nothing can execute', async (world) => {
    await withAgent(world, async (node) => {
      const slow = await node.client.agents.test('writer', { text: 'hang', wait_seconds: 1 })
      expect(slow).toMatchObject({ ok: false, status: 'running' })
      await node.agents.create({ id: 'far', name: 'Far', executor: { kind: 'worker' } })
      const began = Date.now()
      const far = await node.client.agents.test('far', { wait_seconds: 60 })
      expect(far).toMatchObject({
        ok: false,
        status: 'queued',
        problem: expect.stringContaining('No connected node or worker') as string,
      })
      expect(Date.now() - began).toBeLessThan(20_000)
      expect((await node.client.runs.get(far.run_id)).status).toBe('cancelled')
    })
  })

  scenario('counts in the figures of the agent, day by day', async (world) => {
    await withAgent(world, async (node) => {
      await node.client.agents.test('writer')
      await node.client.agents.test('writer', { text: 'break' })
      const stats = await node.client.agents.stats('writer', { days: 3 })
      expect(stats.days).toHaveLength(3)
      expect(stats.total).toMatchObject({ runs: 2, success: 1, tokens: 4, cost: 0.5 })
      expect(stats.total.duration_p95_ms).toBeGreaterThanOrEqual(stats.total.duration_p50_ms ?? Infinity)
      expect(stats.days.map(({ runs }) => runs).toSorted()).toEqual([0, 0, 2])
      expect(stats.days[0]).toMatchObject({ runs: 0, duration_p50_ms: null, cost: 0 })
      expect((await node.raw('GET', '/api/v1/agents/writer/stats?days=0')).status).toBe(400)
    })
  })
})
