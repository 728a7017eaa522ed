import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'
import type { CronJob, CronRunEntry } from '../../src/server/rpc/schema.ts'
import { createStage } from '../scenarios/stage.ts'
import { chat, eventually, send } from '../scenarios/support.ts'
import { scenario, type Remote } from './world.ts'

interface Line {
  readonly call: <T>(method: string, params?: object) => Promise<T>
  readonly closed: Promise<number>
  readonly socket: WebSocket
}

/** A WebSocket to the server, spoken as a client of GoClaw would. */
function lineTo({ url, key }: Remote, as = key): Promise<Line> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/rpc`, { headers: { authorization: `Bearer ${as}` } })
  const waiting = new Map<number, (answer: { readonly result?: unknown; readonly error?: unknown }) => void>()
  let calls = 0
  socket.on('message', (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as { id: number; result?: unknown; error?: unknown }
    waiting.get(answer.id)?.(answer)
  })
  const call: Line['call'] = async <T>(method: string, params?: object) => {
    const id = (calls += 1)
    const answer = await new Promise<{ readonly result?: unknown; readonly error?: unknown }>((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
    if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error))
    return answer.result as T
  }
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  return new Promise((resolve, reject) => {
    socket.on('open', () => {
      resolve({ call, closed, socket })
    })
    socket.on('error', reject)
  })
}

describe.concurrent('calls over a WebSocket to a server', () => {
  scenario('make a job that runs, show its log, and stop what it began', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { call, socket } = await lineTo(node)
    const { job } = await call<{ job: CronJob }>('cron.create', {
      ...{ name: 'Each second', agentId: 'worker', message: 'tick', schedule: { kind: 'every', everyMs: 1_000 } },
    })
    await stage.begun('tick')
    expect(await call('cron.toggle', { jobId: job.id, enabled: false })).toEqual({ jobId: job.id, enabled: false })
    stage.open()
    const log = await eventually(async () => {
      const seen = await call<{ entries: CronRunEntry[]; total: number }>('cron.runs', { jobId: job.id })
      expect(seen.entries.map(({ status }) => status)).toContain('ok')
      return seen
    })
    expect(log.total).toBe(log.entries.length)
    socket.terminate()
  })

  scenario('/stopall acts on the conversation', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    for (const text of ['one', 'two', 'three']) await send(node, chat('s'), text)
    await stage.begun('one')
    const { call, socket } = await lineTo(node)
    expect(await call('sessions.stopall', { key: chat('s') })).toEqual({ stopped: 1, drained: 2 })
    socket.terminate()
  })

  scenario('end when the key is revoked, and when the server goes down', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const { id, key } = await node.client.keys.create({ name: 'A program', role: 'member' })
    const [line, owners] = [await lineTo(node, key ?? ''), await lineTo(node)]
    expect(await line.call('cron.status')).toEqual({ enabled: true, jobs: 0 })
    await node.client.keys.revoke(id)
    expect(await line.closed).toBe(4401)
    expect(await owners.call('cron.status')).toEqual({ enabled: true, jobs: 0 })
    const began = performance.now()
    await node.stop()
    expect(await owners.closed).toBe(1001)
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})
