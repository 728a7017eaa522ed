import { describe, expect, vi } from 'vitest'
import { WebSocket } from 'ws'
import { startWorker, type Worker } from '../../src/client/worker/worker.ts'
import type { WorkerHandler } from '../../src/client/worker/handler.ts'
import type { ClaimAnswer, WorkerAnswer } from '../../src/contract/worker.ts'
import { scenario, type Remote, type World } from '../http-scenarios/world.ts'
import { chat, ended, eventually, inState, send } from '../scenarios/support.ts'

// Leases of a second, so that nobody waits long for a worker that has died.
const QUICK = { node: { lease_ms: 1_200, renew_ms: 300, stop_grace_ms: 1_500 }, schedules: { poll_ms: 200 } }

/** A server with an agent whose work is done elsewhere. */
async function start(world: World, more: object = {}): Promise<Remote> {
  const node = await world.start({ ...QUICK, ...more })
  await makeAgent(node)
  return node
}

const makeAgent = (node: Remote, id = 'writer'): Promise<unknown> =>
  node.agents.create({
    ...{ id, name: id, executor: { kind: 'worker' }, retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 50 } },
  })

/** One request of a worker, by hand. */
const post = async <T>(node: Remote, path: string, body?: unknown): Promise<T> => {
  const answer = await node.raw('POST', `/api/v1/worker/${path}`, body === undefined ? {} : { body })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body as T
}

const claim = (node: Remote, more: object = {}): Promise<ClaimAnswer> =>
  post(node, 'claim', { agents: ['writer'], wait_seconds: 0, ...more })

const about = (node: Remote, attempt: string | undefined, what: string, body?: unknown): Promise<WorkerAnswer> =>
  post(node, `attempts/${attempt ?? ''}/${what}`, body)

/** A worker of this process. */
async function working<T>(
  node: Remote,
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
  scenario('waits with its reason while none is connected, and starts when one connects', async (world) => {
    const node = await start(world)
    const { run_id: id } = await send(node, chat('ann', 'writer'), 'Hello')
    const waiting = await node.runs.explain(id)
    expect(waiting).toMatchObject({ reason: 'executor_offline', evidence: { agent: 'writer' } })
    expect((await node.runs.get(id)).status).toBe('queued')
    await working(node, { writer: ({ message }) => `${String(message)}, too` }, async (worker) => {
      expect(await ended(node, id)).toMatchObject({ status: 'success', output: 'Hello, too', attempt: 1 })
      const [listed] = (await node.client.workers.list()).items
      expect(listed).toMatchObject({ id: worker.id(), name: 'here', agents: ['writer'], capacity: 4, alive: true })
    })
    const lanes = await node.client.lanes.list()
    expect(lanes.items.every(({ active, pending }) => active + pending === 0)).toBe(true)
  })

  scenario('is handed out, begun, shown and reported step by step, and each step is answered once', async (world) => {
    const node = await start(world)
    const idle = await claim(node)
    expect(idle).toMatchObject({ attempts: [], cancel: [], renew_seconds: 1 })
    const { run_id: id } = await send(node, chat('ann', 'writer'), 'Hello')
    const { attempts } = await claim(node, { worker_id: idle.worker_id })
    const [attempt] = attempts
    expect(attempt).toMatchObject({
      agent_id: 'writer',
      run_id: id,
      attempt: 1,
      message: 'Hello',
      trigger_type: 'message',
    })
    expect((await node.runs.get(id)).status).toBe('assigned')
    const started = await about(node, attempt?.attempt_id, 'start')
    expect(started).toMatchObject({ status: 'running', ignored: false, cancel: false, reason: null })
    expect(Date.parse(started.ends_by ?? '') - Date.now()).toBeGreaterThan(590_000)
    expect(await about(node, attempt?.attempt_id, 'start')).toEqual(started)
    expect(await about(node, attempt?.attempt_id, 'renew')).toEqual(started)
    expect(await about(node, attempt?.attempt_id, 'events', { events: ['half', { way: 1 }] })).toEqual(started)
    await eventually(async () => {
      const { rows } = await said(world, id)
      expect(rows).toEqual(['half', { way: 1 }])
    })
    const usage = { input_tokens: 7, output_tokens: 3, context_window: 100, cost: 0.5 }
    const result = { status: 'success', output: { n: 1 }, summary: 'one', usage, attempt_id: attempt?.attempt_id }
    expect(await about(node, attempt?.attempt_id, 'complete', result)).toMatchObject({
      status: 'success',
      ignored: false,
    })
    expect(await node.runs.get(id)).toMatchObject({ status: 'success', output: { n: 1 }, result_summary: 'one', usage })
    const again = await about(node, attempt?.attempt_id, 'complete', { status: 'failed' })
    expect(again).toMatchObject({ status: 'success', ignored: true, reason: 'stale_report' })
    expect(await about(node, attempt?.attempt_id, 'renew')).toMatchObject({
      status: 'success',
      ignored: true,
      cancel: true,
    })
  })

  scenario(
    'is tried again by policy when its worker dies, and what the dead one says later changes nothing',
    async (world) => {
      const node = await start(world)
      const { run_id: id } = await send(node, chat('ann', 'writer'), 'Hello')
      const { worker_id: dead, attempts } = await claim(node)
      const first = attempts[0]?.attempt_id
      await about(node, first, 'start')
      await working(node, { writer: ({ attempt }) => `attempt ${attempt}` }, async () => {
        expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 2, output: 'attempt 2' })
      })
      const [lost] = (await node.runs.get(id)).attempts
      expect(lost).toMatchObject({ number: 1, status: 'failed', error_code: 'node_lost' })
      expect(await about(node, first, 'complete', { status: 'success', output: 'late' })).toMatchObject({
        ...{ status: 'success', ignored: true, cancel: true, reason: 'stale_report' },
      })
      const refused = await node.raw('POST', '/api/v1/worker/claim', { body: { worker_id: dead, agents: ['writer'] } })
      expect(refused).toMatchObject({ status: 409, body: { code: 'WORKER_LOST' } })
    },
  )

  scenario('goes to somebody else when whoever took it does not begin, and nothing counts as failed', async (world) => {
    const node = await start(world)
    const { run_id: id } = await send(node, chat('ann', 'writer'), 'Hello')
    const lazy = await claim(node)
    expect(lazy.attempts).toHaveLength(1)
    // It is alive all the time, and full: what it has taken is given back, and it is not given it again at once.
    const keep = setInterval(() => void claim(node, { worker_id: lazy.worker_id, draining: true }), 300)
    try {
      await working(node, { writer: () => 'done' }, async () => {
        expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 1 })
      })
    } finally {
      clearInterval(keep)
    }
    const answer = await about(node, lazy.attempts[0]?.attempt_id, 'start')
    expect(answer).toMatchObject({ ignored: true, cancel: true })
  })

  scenario('stops where it is worked on when somebody cancels it', async (world) => {
    const node = await start(world)
    const heard: string[] = []
    const agents = {
      writer: async (_: unknown, { signal, progress }: Parameters<WorkerHandler>[1]) => {
        progress('begun')
        await hearing(signal).catch((error: unknown) => void heard.push((error as Error).message))
        throw new Error('stopped')
      },
    }
    await working(node, agents, async () => {
      const { run_id: id } = await send(node, chat('ann', 'writer'), 'Hello')
      await inState(node, id, 'running')
      const from = performance.now()
      await node.runs.cancel(id)
      expect(await ended(node, id)).toMatchObject({ status: 'cancelled', error_message: 'stopped' })
      expect(performance.now() - from).toBeLessThan(1_400)
      expect(heard).toEqual(['the attempt was told to end: cancelled'])
    })
  })

  scenario('takes no more at a time than its workers have declared, and says so of the rest', async (world) => {
    const node = await start(world)
    let [now, most] = [0, 0]
    const open: (() => void)[] = []
    const agents = {
      writer: async () => {
        now += 1
        most = Math.max(most, now)
        await new Promise<void>((resolve) => open.push(resolve))
        now -= 1
      },
    }
    await working(
      node,
      agents,
      async () => {
        const ids: string[] = []
        for (const who of ['a', 'b', 'c', 'd', 'e']) ids.push((await send(node, chat(who, 'writer'), 'Hello')).run_id)
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

  scenario('is served through any node, and the death of one changes nothing', async (world) => {
    const [one, other] = [await start(world), await world.start(QUICK)]
    const { run_id: id } = await send(one, chat('ann', 'writer'), 'Hello')
    const { worker_id: worker, attempts } = await claim(one)
    await about(one, attempts[0]?.attempt_id, 'start')
    await one.stop()
    for (let beat = 0; beat < 5; beat += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(await about(other, attempts[0]?.attempt_id, 'renew')).toMatchObject({ status: 'running', cancel: false })
    }
    await about(other, attempts[0]?.attempt_id, 'complete', { status: 'success', output: 'done' })
    expect(await other.runs.get(id)).toMatchObject({ status: 'success', attempt: 1 })
    expect((await claim(other, { worker_id: worker })).worker_id).toBe(worker)
  })

  scenario('is given back by a worker that goes down, and waits for the next', async (world) => {
    const node = await start(world)
    const { run_id: id } = await send(node, chat('ann', 'writer'), 'Hello')
    const slow = { writer: (_: unknown, { signal }: Parameters<WorkerHandler>[1]) => hearing(signal) }
    await working(node, slow, async (worker) => {
      await inState(node, id, 'running')
      await worker.stop('now')
      expect(worker.working()).toBe(0)
    })
    expect((await node.runs.get(id)).attempts[0]).toMatchObject({ status: 'failed', error_code: 'node_shutdown' })
    await working(node, { writer: () => 'done' }, async () => {
      expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 2 })
    })
  })

  scenario('speaks over one WebSocket as over requests, and hears there what to stop', async (world) => {
    const node = await start(world)
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/api/v1/worker/socket`, {
      headers: { authorization: `Bearer ${node.key}` },
    })
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
    const waiting = new Map<number, (answer: { readonly status: number; readonly body: never }) => void>()
    socket.on('message', (data: Buffer) => {
      const answer = JSON.parse(data.toString()) as {
        readonly id: number
        readonly status: number
        readonly body: never
      }
      waiting.get(answer.id)?.(answer)
    })
    let last = 0
    const call = <T>(message: object): Promise<{ readonly status: number; readonly body: T }> => {
      const id = (last += 1)
      socket.send(JSON.stringify({ id, ...message }))
      return new Promise((resolve) => waiting.set(id, resolve))
    }
    const asking = call<ClaimAnswer>({ call: 'claim', body: { agents: ['writer'] } })
    const { run_id: id } = await send(node, chat('ann', 'writer'), 'Hello')
    const { status, body } = await asking
    expect([status, body.attempts[0]?.run_id]).toEqual([200, id])
    const attempt = body.attempts[0]?.attempt_id ?? ''
    expect((await call<WorkerAnswer>({ call: 'start', attempt_id: attempt })).body.status).toBe('running')
    const next = { worker_id: body.worker_id, agents: ['writer'], holding: [attempt] }
    const news = call<ClaimAnswer>({ call: 'claim', body: next })
    await node.runs.cancel(id)
    expect((await news).body).toMatchObject({ attempts: [], cancel: [{ attempt_id: attempt, reason: 'cancelled' }] })
    const result = { call: 'complete', attempt_id: attempt, body: { status: 'cancelled' } }
    expect((await call<WorkerAnswer>(result)).body).toMatchObject({ status: 'cancelled', ignored: false })
    expect(await call({ call: 'dance' })).toMatchObject({ status: 400, body: { code: 'VALIDATION' } })
    expect(await call({ call: 'start', attempt_id: 'att_x' })).toMatchObject({ status: 404 })
    socket.close()
  })

  scenario('lets nobody work for it who may not, or for an agent that is not there', async (world) => {
    const node = await start(world)
    await node.agents.create({ id: 'parrot', name: 'Parrot', executor: { kind: 'echo' } })
    const wrong = await node.raw('POST', '/api/v1/worker/claim', { body: { agents: ['writr', 'parrot'] } })
    expect(wrong).toMatchObject({
      status: 400,
      body: {
        errors: [
          { pointer: '/agents/0', message: 'is no agent of this org; did you mean writer?', allowed: 'writer' },
          { pointer: '/agents/1', message: 'is an agent that is performed by echo, not by workers' },
        ],
      },
    })
    const made = await node.client.keys.create({ name: 'laptop', role: 'admin', scopes: ['workers:run'] })
    const bare = await node.client.keys.create({ name: 'reader', role: 'member' })
    const body = { agents: ['writer'], wait_seconds: 0 }
    expect((await node.raw('POST', '/api/v1/worker/claim', { body, key: made.key })).status).toBe(200)
    expect((await node.raw('GET', '/api/v1/runs', { key: made.key })).status).toBe(403)
    expect((await node.raw('POST', '/api/v1/worker/claim', { body, key: bare.key })).status).toBe(403)
    const odd = await node.raw('POST', '/api/v1/agents', {
      body: { name: 'Odd', executor: { kind: 'worker', url: 'http://x' } },
    })
    expect(odd).toMatchObject({ status: 400, body: { errors: [{ pointer: '/executor/url' }] } })
    await expect(
      startWorker({ url: node.url, key: node.key, agents: { nobody: () => null } }).connected,
    ).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})

/** What a run has said on its way, from the history. */
async function said({ database }: World, id: string): Promise<{ readonly rows: readonly unknown[] }> {
  const rows = await database.outside(
    `select e -> 2 -> 'output' as output from escapement.turn t, json_array_elements(t.events) e
      where e ->> 0 = 'run.output' and e ->> 1 = $1 order by t.no`,
    [id],
  )
  return { rows: rows.flatMap((row) => row['output'] as readonly unknown[]) }
}
