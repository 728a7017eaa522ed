import { describe, expect } from 'vitest'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { chat, ended, send } from '../scenarios/support.ts'
import { scenario, type Remote } from '../http-scenarios/world.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`

const message = async (node: Remote, peer: string, headers: Readonly<Record<string, string>>): Promise<string> => {
  const target = `/api/v1/sessions/${encodeURIComponent(chat(peer))}/messages`
  const { body } = await node.raw('POST', target, { body: { text: 'Hello', debounce_ms: 0 }, headers })
  return String(body['run_id'])
}

describe.concurrent('without anybody who records spans', () => {
  scenario(
    'a trace that was sent along stays with the run, its retry does not have it, and agents hear of it',
    async (world) => {
      const peer = await startPeer((_, response) => json(response, 200, { status: 'success', output: 'done' }))
      try {
        const node = await world.start({ outbound: { allow_loopback: true } })
        await node.agents.create({ id: 'worker', name: 'Worker', executor: { kind: 'http', url: `${peer.url}/work` } })
        const id = await message(node, 'a', { traceparent })
        await ended(node, id)
        expect((await node.runs.get(id)).trace_id).toBe(TRACE)
        expect(peer.heard.at(-1)?.headers['traceparent']).toBe(traceparent)
        for (const headers of [{}, { traceparent: 'nonsense' }]) {
          const other = await message(node, 'b', headers)
          await ended(node, other)
          expect((await node.runs.get(other)).trace_id).toBeNull()
          // It begins a trace of its own, so that what the agent records can be found.
          expect(peer.heard.at(-1)?.headers['traceparent']).toMatch(/^00-(?!0{32})[\da-f]{32}-[\da-f]{16}-01$/)
        }
      } finally {
        await peer.close()
      }
    },
  )

  scenario('so do the traces of run-now, of retries and of calls', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const { id } = await node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'x' })
    const headers = { traceparent }
    const ran = await node.raw('POST', `/api/v1/schedules/${id}/run-now`, { headers })
    const first = String(ran.body['run_id'])
    await ended(node, first)
    expect((await node.runs.get(first)).trace_id).toBe(TRACE)
    const plain = await node.raw('POST', `/api/v1/runs/${first}/retry`, { body: { force: true } })
    expect((await node.runs.get(String(plain.body['id']))).trace_id).toBeNull()
    const again = await node.raw('POST', `/api/v1/runs/${first}/retry`, { body: { force: true }, headers })
    expect((await node.runs.get(String(again.body['id']))).trace_id).toBe(TRACE)
    const body = { jsonrpc: '2.0', id: 1, method: 'cron.run', params: { jobId: id } }
    const called = await node.raw('POST', '/rpc', { body, headers })
    const { runId } = called.body['result'] as { runId: string }
    expect((await node.runs.get(runId)).trace_id).toBe(TRACE)
  })

  scenario('a trace survives the node that admitted its run', async (world) => {
    const first = await world.start({ agents: { worker: () => 'done' } })
    const target = `/api/v1/sessions/${encodeURIComponent(chat('c'))}/messages`
    const not_before = new Date(Date.now() + 60_000).toISOString()
    const sent = await first.raw('POST', target, { body: { text: 'x', not_before }, headers: { traceparent } })
    await first.stop()
    const second = await world.start({ agents: { worker: () => 'done' } })
    expect(await second.runs.get(String(sent.body['run_id']))).toMatchObject({ status: 'waiting', trace_id: TRACE })
    await send(second, chat('d'), 'untraced')
  })
})
