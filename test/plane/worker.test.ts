import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startWorker, type Worker } from '../../src/client/worker/worker.ts'
import type { WorkerHandler } from '../../src/client/worker/attempts.ts'
import type { ClaimAnswer, WorkerAnswer } from '../../src/features/workers/schema.ts'
import { remoteOf, scenario, type Remote } from '../http-scenarios/world.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'
import { chat, ended, eventually, inState, send } from '../scenarios/support.ts'

// Short leases, so that nobody waits long for a worker that has died.
const QUICK = { node: { lease_ms: 2_500, renew_ms: 400, stop_grace_ms: 2_500 }, schedules: { poll_ms: 200 } }

let world: ServeWorld
let node: Remote

beforeAll(async () => {
  world = await createServeWorld()
  const file = path.join(world.data, 'config.yaml')
  writeFileSync(file, JSON.stringify(QUICK))
  node = await remoteOf(world, world.serve({ config: file }), file)
}, 60_000)
afterAll(() => world.end())

/** Makes an agent whose work is done elsewhere. */
async function makeAgent(id: string, server = node): Promise<void> {
  const retry = { max_retries: 1, strategy: 'fixed', base_ms: 50 } as const
  await server.agents.create({ id, name: id, executor: { kind: 'worker' }, retry_policy: retry })
}

/** One request of a worker, by hand. */
const post = async <T>(what: string, body?: unknown, server = node): Promise<T> => {
  const answer = await server.raw('POST', `/api/v1/worker/${what}`, body === undefined ? {} : { body })
  if (answer.status !== 200) throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body as T
}

const claim = (agent: string, more: object = {}, server = node): Promise<ClaimAnswer> =>
  post('claim', { agents: [agent], wait_seconds: 0, ...more }, server)

const about = (attempt: string | undefined, what: string, body?: unknown, server = node): Promise<WorkerAnswer> =>
  post(`attempts/${attempt ?? ''}/${what}`, body, server)

/** A worker of this process. */
async function working<T>(
  agents: Readonly<Record<string, WorkerHandler>>,
  play: (worker: Worker) => Promise<T>,
  capacity = 4,
): Promise<T> {
  const worker = startWorker({ url: node.url, key: node.key, agents, capacity, name: 'here', drainSeconds: 1 })
  try {
    await worker.connected
    return await play(worker)
  } finally {
    await worker.stop('now')
  }
}

const hearing = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })

describe.concurrent('an agent whose work is done by workers', () => {
  it.concurrent('waits with its reason while none is connected, and starts when one connects', async () => {
    await makeAgent('waiter')
    const { run_id: id } = await send(node, chat('ann', 'waiter'), 'Hello')
    const waiting = await node.runs.explain(id)
    expect(waiting).toMatchObject({ reason: 'executor_offline', evidence: { agent: 'waiter' } })
    expect((await node.runs.get(id)).status).toBe('queued')
    await working({ waiter: ({ message }) => `${String(message)}, too` }, async (worker) => {
      expect(await ended(node, id)).toMatchObject({ status: 'success', output: 'Hello, too', attempt: 1 })
      const listed = (await node.client.workers.list()).items.find(({ id: listed }) => listed === worker.id())
      expect(listed).toMatchObject({ name: 'here', agents: ['waiter'], capacity: 4, alive: true })
    })
    const lanes = await node.client.lanes.list()
    expect(lanes.items.every(({ active, pending }) => active + pending === 0)).toBe(true)
  })

  it.concurrent('is handed out, begun, shown and reported step by step, and each step is answered once', async () => {
    await makeAgent('stepper')
    const idle = await claim('stepper')
    expect(idle).toMatchObject({ attempts: [], cancel: [], renew_seconds: 1 })
    const { run_id: id } = await send(node, chat('ann', 'stepper'), 'Hello')
    const { attempts } = await claim('stepper', { worker_id: idle.worker_id })
    const [attempt] = attempts
    expect(attempt).toMatchObject({
      agent_id: 'stepper',
      run_id: id,
      attempt: 1,
      message: 'Hello',
      trigger_type: 'message',
    })
    // A question that is open keeps the lease, whatever else this machine has to do.
    void claim('stepper', { worker_id: idle.worker_id, draining: true, wait_seconds: 30 }).catch(() => undefined)
    expect((await node.runs.get(id)).status).toBe('assigned')
    const started = await about(attempt?.attempt_id, 'start')
    expect(started).toMatchObject({ status: 'running', ignored: false, cancel: false, reason: null })
    expect(Date.parse(started.ends_by ?? '') - Date.now()).toBeGreaterThan(590_000)
    expect(await about(attempt?.attempt_id, 'start')).toEqual(started)
    expect(await about(attempt?.attempt_id, 'renew')).toEqual(started)
    expect(await about(attempt?.attempt_id, 'events', { events: ['half', { way: 1 }] })).toEqual(started)
    await eventually(async () => {
      const { rows } = await said(id)
      expect(rows).toEqual(['half', { way: 1 }])
    })
    const usage = { input_tokens: 7, output_tokens: 3, context_window: 100, cost: 0.5 }
    const result = { status: 'success', output: { n: 1 }, summary: 'one', usage, attempt_id: attempt?.attempt_id }
    expect(await about(attempt?.attempt_id, 'complete', result)).toMatchObject({
      status: 'success',
      ignored: false,
    })
    expect(await node.runs.get(id)).toMatchObject({ status: 'success', output: { n: 1 }, result_summary: 'one', usage })
    const again = await about(attempt?.attempt_id, 'complete', { status: 'failed' })
    expect(again).toMatchObject({ status: 'success', ignored: true, reason: 'stale_report' })
    expect(await about(attempt?.attempt_id, 'renew')).toMatchObject({
      status: 'success',
      ignored: true,
      cancel: true,
    })
  })

  it.concurrent(
    'is tried again by policy when its worker dies, and what the dead one says later changes nothing',
    async () => {
      await makeAgent('mortal')
      const { run_id: id } = await send(node, chat('ann', 'mortal'), 'Hello')
      const { worker_id: dead, attempts } = await claim('mortal')
      const first = attempts[0]?.attempt_id
      await about(first, 'start')
      await working({ mortal: ({ attempt }) => `attempt ${attempt}` }, async () => {
        expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 2, output: 'attempt 2' })
      })
      const [lost] = (await node.runs.get(id)).attempts
      expect(lost).toMatchObject({ number: 1, status: 'failed', error_code: 'node_lost' })
      expect(await about(first, 'complete', { status: 'success', output: 'late' })).toMatchObject({
        ...{ status: 'success', ignored: true, cancel: true, reason: 'stale_report' },
      })
      const refused = await node.raw('POST', '/api/v1/worker/claim', { body: { worker_id: dead, agents: ['mortal'] } })
      expect(refused).toMatchObject({ status: 409, body: { code: 'WORKER_LOST' } })
    },
  )

  it.concurrent('goes to somebody else when whoever took it does not begin, and nothing counts as failed', async () => {
    await makeAgent('lazy')
    const { run_id: id } = await send(node, chat('ann', 'lazy'), 'Hello')
    const lazy = await claim('lazy')
    expect(lazy.attempts).toHaveLength(1)
    // It is alive all the time, and full: what it has taken is given back, and it is not given it again at once.
    const keep = setInterval(() => void claim('lazy', { worker_id: lazy.worker_id, draining: true }), 300)
    try {
      await working({ lazy: () => 'done' }, async () => {
        expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 1 })
      })
    } finally {
      clearInterval(keep)
    }
    const answer = await about(lazy.attempts[0]?.attempt_id, 'start')
    expect(answer).toMatchObject({ ignored: true, cancel: true })
  })

  it.concurrent('stops where it is worked on when somebody cancels it', async () => {
    await makeAgent('stoppable')
    const heard: string[] = []
    const agents = {
      stoppable: async (_: unknown, { signal, progress }: Parameters<WorkerHandler>[1]) => {
        progress('begun')
        await hearing(signal).catch((error: unknown) => void heard.push((error as Error).message))
        throw new Error('stopped')
      },
    }
    await working(agents, async () => {
      const { run_id: id } = await send(node, chat('ann', 'stoppable'), 'Hello')
      await inState(node, id, 'running')
      const from = performance.now()
      await node.runs.cancel(id)
      expect(await ended(node, id)).toMatchObject({ status: 'cancelled', error_message: 'stopped' })
      expect(performance.now() - from).toBeLessThan(2_400)
      expect(heard).toEqual(['the attempt was cancelled: cancelled'])
    })
  })

  it.concurrent('takes no more at a time than its workers have declared, and says so of the rest', async () => {
    await makeAgent('busy')
    let [now, most] = [0, 0]
    const open: (() => void)[] = []
    const agents = {
      busy: async () => {
        now += 1
        most = Math.max(most, now)
        await new Promise<void>((resolve) => open.push(resolve))
        now -= 1
      },
    }
    await working(
      agents,
      async () => {
        const ids: string[] = []
        for (const who of ['a', 'b', 'c', 'd', 'e']) ids.push((await send(node, chat(who, 'busy'), 'Hello')).run_id)
        await vi.waitFor(() => expect(open).toHaveLength(2))
        const why = await node.runs.explain(ids[4] ?? '')
        expect(why).toMatchObject({ reason: 'worker_busy', evidence: { held: 2, capacity: 2 } })
        const opening = setInterval(() => open.shift()?.(), 10)
        for (const id of ids) expect((await ended(node, id)).status).toBe('success')
        clearInterval(opening)
        expect(most).toBe(2)
      },
      2,
    )
  })

  scenario('is served through any node, and the death of one changes nothing', async (two) => {
    const [one, other] = [await two.start(QUICK), await two.start(QUICK)]
    await makeAgent('writer', one)
    const { run_id: id } = await send(one, chat('ann', 'writer'), 'Hello')
    const { worker_id: worker, attempts } = await claim('writer', {}, one)
    await about(attempts[0]?.attempt_id, 'start', undefined, one)
    await one.stop()
    for (let beat = 0; beat < 9; beat += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(await about(attempts[0]?.attempt_id, 'renew', undefined, other)).toMatchObject({
        status: 'running',
        cancel: false,
      })
    }
    await about(attempts[0]?.attempt_id, 'complete', { status: 'success', output: 'done' }, other)
    expect(await other.runs.get(id)).toMatchObject({ status: 'success', attempt: 1 })
    expect((await claim('writer', { worker_id: worker }, other)).worker_id).toBe(worker)
  })

  it.concurrent('is given back by a worker that goes down, and waits for the next', async () => {
    await makeAgent('leaver')
    const { run_id: id } = await send(node, chat('ann', 'leaver'), 'Hello')
    const slow = { leaver: (_: unknown, { signal }: Parameters<WorkerHandler>[1]) => hearing(signal) }
    await working(slow, async (worker) => {
      await inState(node, id, 'running')
      await worker.stop('now')
      expect(worker.working()).toBe(0)
    })
    expect((await node.runs.get(id)).attempts[0]).toMatchObject({ status: 'failed', error_code: 'node_shutdown' })
    await working({ leaver: () => 'done' }, async () => {
      expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 2 })
    })
  })

  it.concurrent('speaks over one WebSocket as over requests, and hears there what to stop', async () => {
    await makeAgent('socket')
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/v1/worker/socket`, {
      headers: { authorization: `Bearer ${node.key}` },
    })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    const waiting = new Map<number, (answer: Answered) => void>()
    socket.on('message', (data: Buffer) => {
      const answer = JSON.parse(data.toString()) as Answered
      waiting.get(answer.id)?.(answer)
    })
    let last = 0
    const call = (message: object): Promise<Answered> => {
      const id = (last += 1)
      socket.send(JSON.stringify({ id, ...message }))
      return new Promise((resolve) => waiting.set(id, resolve))
    }
    const asking = call({ call: 'claim', body: { agents: ['socket'] } })
    const { run_id: id } = await send(node, chat('ann', 'socket'), 'Hello')
    const { status, body } = await asking
    expect([status, body.attempts[0]?.run_id]).toEqual([200, id])
    const attempt = body.attempts[0]?.attempt_id ?? ''
    expect((await call({ call: 'start', attempt_id: attempt })).body.status).toBe('running')
    const next = { worker_id: body.worker_id, agents: ['socket'], holding: [attempt] }
    const news = call({ call: 'claim', body: next })
    await node.runs.cancel(id)
    expect((await news).body).toMatchObject({ attempts: [], cancel: [{ attempt_id: attempt, reason: 'cancelled' }] })
    const result = { call: 'complete', attempt_id: attempt, body: { status: 'cancelled' } }
    expect((await call(result)).body).toMatchObject({ status: 'cancelled', ignored: false })
    expect(await call({ call: 'dance' })).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
    expect(await call({ call: 'start', attempt_id: 'att_x' })).toMatchObject({ status: 404 })
    socket.close()
  })

  it.concurrent('lets nobody work for it who may not, or for an agent that is not there', async () => {
    await makeAgent('guarded')
    await node.agents.create({ id: 'parrot', name: 'Parrot', executor: { kind: 'echo' } })
    const wrong = await node.raw('POST', '/api/v1/worker/claim', { body: { agents: ['garded', 'parrot'] } })
    expect(wrong).toMatchObject({
      status: 400,
      body: {
        errors: [
          { pointer: '/agents/0', message: 'is not an agent of this org; did you mean guarded?' },
          { pointer: '/agents/1', message: 'is an agent with executor kind echo, not worker' },
        ],
      },
    })
    const made = await node.client.keys.create({ name: 'laptop', role: 'admin', scopes: ['workers:run'] })
    const bare = await node.client.keys.create({ name: 'reader', role: 'member' })
    const body = { agents: ['guarded'], wait_seconds: 0 }
    expect((await node.raw('POST', '/api/v1/worker/claim', { body, key: made.key ?? '' })).status).toBe(200)
    expect((await node.raw('GET', '/api/v1/runs', { key: made.key ?? '' })).status).toBe(403)
    expect((await node.raw('POST', '/api/v1/worker/claim', { body, key: bare.key ?? '' })).status).toBe(403)
    const odd = await node.raw('POST', '/api/v1/agents', {
      body: { name: 'Odd', executor: { kind: 'worker', url: 'http://x' } },
    })
    expect(odd).toMatchObject({ status: 400, body: { errors: [{ pointer: '/executor/url' }] } })
    await expect(
      startWorker({ url: node.url, key: node.key, agents: { nobody: () => null } }).connected,
    ).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('keeps what the worker printed, with its log lines, before the result is recorded', async () => {
    await makeAgent('printing')
    const handler: WorkerHandler = (_, { progress, log }) => {
      progress('one ')
      progress('two')
      log('error', 'No such page', { status: 404 })
      return 'one two'
    }
    await working({ printing: handler }, async () => {
      const { run_id: id } = await send(node, chat('ann', 'printing'), 'print')
      expect(await ended(node, id)).toMatchObject({ status: 'success', output: 'one two' })
      const { items } = await node.client.runs.log(id)
      expect(items.map(({ kind, text, level, data }) => [kind, text, level, data])).toEqual([
        ['output', 'one two', null, null],
        ['log', 'No such page', 'error', { status: 404 }],
      ])
      expect((await said(id)).rows).toEqual(['one two', expect.objectContaining({ type: 'log', level: 'error' })])
    })
  })
})

/** An answer over a WebSocket. */
interface Answered {
  readonly id: number
  readonly status: number
  readonly body: ClaimAnswer & WorkerAnswer
}

/** What a run has said on its way, from the history. */
async function said(id: string): Promise<{ readonly rows: readonly unknown[] }> {
  const rows = await world.database.outside(
    `select e -> 2 -> 'output' as output from escapement.turn t, json_array_elements(t.events) e
      where e ->> 0 = 'run.output' and e ->> 1 = $1 order by t.no`,
    [id],
  )
  return { rows: rows.flatMap((row) => row['output'] as readonly unknown[]) }
}
