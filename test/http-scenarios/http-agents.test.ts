import { describe, expect } from 'vitest'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { Dispatch } from '../../src/executors/dispatch.ts'
import { json, startPeer, type Answering, type Heard, type Peer } from '../platform/outbound/peer.ts'
import {
  chat,
  decidedWhen,
  ended,
  eventually,
  inShort,
  inState,
  nothingFor,
  refused,
  runsWhen,
  send,
  statusOf,
  timeOf,
} from '../scenarios/support.ts'
import { scenario, type Remote, type StartOptions, type World } from './world.ts'

// Agents are real servers on this machine: nothing of what is in between is pretended.

const dispatchOf = ({ body }: Heard): Dispatch => JSON.parse(body) as Dispatch

/** The server with an agent `worker` behind an address of its own, which its operator lets it call. */
async function withAgent(
  world: World,
  answer: Answering,
  play: (node: Remote, peer: Peer) => Promise<void>,
  { executor = {}, ...options }: StartOptions & { readonly executor?: object } = {},
): Promise<void> {
  const peer = await startPeer(answer)
  try {
    const node = await world.start({ outbound: { allow_loopback: true }, ...options })
    await node.agents.create({
      ...{ id: 'worker', name: 'Worker', executor: { kind: 'http', url: `${peer.url}/work`, ...executor } },
    })
    await play(node, peer)
  } finally {
    await peer.close()
  }
}

const done: Answering = (_, response) => json(response, 200, { status: 'success', output: 'done' })
const never: Answering = () => undefined

describe.concurrent('an agent over HTTP', () => {
  scenario('is told everything about its run, and what it answers is the result', async (world) => {
    const usage = { input_tokens: 12, output_tokens: 5, context_window: 1_000, cost: 0.25 }
    const answer: Answering = ({ body }, response) =>
      json(response, 200, {
        ...{
          job_run_id: (JSON.parse(body) as Dispatch).job_run_id,
          status: 'success',
          output: { n: 1 },
          summary: 'one',
          usage,
        },
      })
    await withAgent(world, answer, async (node, peer) => {
      const { run_id: id } = await send(node, chat('ann'), 'Hello')
      expect(await ended(node, id)).toMatchObject({
        ...{ status: 'success', output: { n: 1 }, result_summary: 'one', usage },
      })
      const [heard] = peer.heard
      if (heard === undefined) throw new Error('nothing was heard')
      const told = dispatchOf(heard)
      const { url } = node
      expect(heard).toMatchObject({ method: 'POST', url: '/work', headers: { 'content-type': 'application/json' } })
      expect(heard.headers['idempotency-key']).toBe(told.attempt_id)
      expect(told).toEqual({
        ...{
          trigger_type: 'message',
          manual: false,
          schedule_id: null,
          job_run_id: told.job_run_id,
          run_id: id,
          attempt: 1,
        },
        ...{ attempt_id: expect.stringMatching(/^att_/) as string, nominal_time: null, session_id: chat('ann') },
        ...{
          message: 'Hello',
          schedule_payload: told.payload,
          payload: expect.objectContaining({ text: 'Hello' }) as unknown,
        },
        ...{ deadline: null, callback_token: expect.stringMatching(/^[\w-]{43}$/) as string },
        callback_url: `${url}/api/v1/callbacks/${told.callback_token ?? ''}`,
      })
    })
  })

  scenario('is told of the moment and the payload of a schedule', async (world) => {
    await withAgent(world, done, async (node, peer) => {
      const { id } = await node.schedules.create({
        ...{ agent_id: 'worker', every_seconds: 1, max_fires: 1, payload: { prompt: 'look', depth: 2 } },
      })
      const [run] = await decidedWhen(node, id, ([first]) => first?.status === 'success')
      const told = dispatchOf(peer.heard[0] as Heard)
      expect(told).toMatchObject({
        ...{ trigger_type: 'scheduled', schedule_id: id, message: 'look', job_run_id: run?.job_run_id },
        ...{ nominal_time: run?.nominal_time, payload: { prompt: 'look', depth: 2 } },
      })
      expect(told.schedule_payload).toEqual(told.payload)
    })
  })

  scenario('on this machine is refused with the name of the setting, and nothing is stored', async (world) => {
    const node = await world.start()
    const executor = { kind: 'http', url: 'http://127.0.0.1:9/work' } as const
    const refusal = await refused(node.agents.create({ id: 'near', name: 'Near', executor }), 'VALIDATION')
    expect(JSON.stringify(refusal)).toContain('outbound.allow_loopback')
    await refused(node.agents.get('near'), 'NOT_FOUND')
    const own = await world.start({ outbound: { allow_loopback: true, allow_hosts: [new URL(node.url).host] } })
    for (const { url } of [own]) {
      const raw = await own.raw('POST', '/api/v1/agents', {
        body: { id: 'self', name: 'Self', executor: { kind: 'http', url: `${url}/api/v1/agents` } },
      })
      expect([raw.status, JSON.stringify(raw.body)]).toEqual([400, expect.stringContaining('this server')])
    }
  })

  scenario('that was allowed and is no more ends with what the guard says, and is not tried again', async (world) => {
    const peer = await startPeer(done)
    const first = await world.start({ outbound: { allow_loopback: true } })
    await first.agents.create({ id: 'worker', name: 'W', executor: { kind: 'http', url: peer.url } })
    await first.stop()
    const node = await world.start()
    const { run_id: id } = await send(node, chat('s'), 'x')
    expect(await ended(node, id)).toMatchObject({ status: 'failed', error_code: 'outbound_refused', attempt: 1 })
    expect(peer.heard).toHaveLength(0)
    await peer.close()
  })

  scenario('sees its connection drop when its run is cancelled, and when its time is over', async (world) => {
    await withAgent(world, never, async (node, peer) => {
      const { run_id: id } = await send(node, chat('a'), 'x')
      await eventually(() => expect(peer.heard).toHaveLength(1))
      await node.runs.cancel(id)
      expect((await ended(node, id)).status).toBe('cancelled')
      await eventually(() => expect(peer.dropped()).toBe(1))
      await node.agents.update('worker', { timeout_seconds: 1, retry_policy: { max_retries: 0 } })
      const { run_id: late } = await send(node, chat('b'), 'x')
      expect(await ended(node, late)).toMatchObject({ status: 'timeout', error_code: 'timeout', attempt: 1 })
      await eventually(() => expect(peer.dropped()).toBe(2))
    })
  })

  scenario('that asks for patience gets it: 429 with Retry-After; any other 4xx is final', async (world) => {
    const answers: Answering = (_, response, n) =>
      n === 1
        ? json(response, 429, {}, { 'retry-after': '2' })
        : n === 2
          ? json(response, 200, 'ok')
          : json(response, 404, {})
    await withAgent(world, answers, async (node, peer) => {
      const fast = { retry_policy: { max_retries: 3, strategy: 'fixed', base_ms: 1 } } as const
      await node.agents.update('worker', fast)
      const { run_id: id } = await send(node, chat('a'), 'x')
      const run = await ended(node, id)
      expect(run).toMatchObject({ status: 'success', attempt: 2, output: 'ok' })
      expect(timeOf(run.finished_at) - timeOf(run.created_at)).toBeGreaterThanOrEqual(2_000)
      const { run_id: other } = await send(node, chat('b'), 'x')
      expect(await ended(node, other)).toMatchObject({
        ...{ status: 'failed', error_code: 'executor_http_4xx', attempt: 1 },
      })
      expect(peer.heard).toHaveLength(3)
    })
  })

  scenario('changed while it is in use is called at its new address with the next attempt', async (world) => {
    const other = await startPeer(done)
    await withAgent(world, done, async (node, peer) => {
      expect((await ended(node, (await send(node, chat('s'), 'x')).run_id)).status).toBe('success')
      await node.agents.update('worker', { executor: { kind: 'http', url: other.url } })
      expect((await ended(node, (await send(node, chat('s'), 'y')).run_id)).status).toBe('success')
      expect([peer.heard.length, other.heard.length]).toEqual([1, 1])
    })
    await other.close()
  })
})

describe.concurrent('25: every 2 s, SKIP, CANCEL_PREV, RETRY, CATCH_UP_LIMITED 3, over HTTP', () => {
  const schedule = {
    agent_id: 'worker',
    every_seconds: 2,
    concurrency_policy: 'SKIP',
    overlap_action: 'CANCEL_PREV',
    failure_action: 'RETRY',
    misfire_policy: 'CATCH_UP_LIMITED',
    catchup_limit: 3,
    timeout_seconds: 8,
  } as const

  scenario('an agent that takes longer: each occurrence supersedes the last and starts attempt 1', async (world) => {
    await withAgent(world, never, async (node, peer) => {
      const { id } = await node.schedules.create(schedule)
      // What was told to stop has a moment to do so.
      const isOver = (found: readonly RunView[]): boolean =>
        found.length >= 4 && found.slice(0, 3).every(({ status }) => status !== 'stopping')
      const runs = await runsWhen(node, id, isOver)
      expect(runs.slice(0, 3).map(({ status, reason }) => `${status}/${reason ?? ''}`)).toEqual(
        Array(3).fill('cancelled/superseded'),
      )
      expect(new Set(runs.map((run) => run.attempt))).toEqual(new Set([1]))
      await eventually(() => expect(peer.dropped()).toBeGreaterThanOrEqual(3))
      expect(new Set(peer.heard.map((heard) => dispatchOf(heard).attempt))).toEqual(new Set([1]))
    })
  })

  scenario('an agent that answers 500: attempts 1, 2, 3, … of new runs', async (world) => {
    await withAgent(
      world,
      (_, response) => json(response, 500, { error: 'broken' }),
      async (node, peer) => {
        const { id } = await node.schedules.create(schedule)
        const runs = await runsWhen(node, id, (found) => found.filter((run) => run.status === 'failed').length >= 3)
        expect(runs.slice(0, 3).map((run) => [run.status, run.first_attempt, run.attempt, run.error_code])).toEqual([
          ['failed', 1, 1, 'executor_http_5xx'],
          ['failed', 2, 2, 'executor_http_5xx'],
          ['failed', 3, 3, 'executor_http_5xx'],
        ])
        expect(peer.heard.slice(0, 3).map((heard) => dispatchOf(heard).attempt)).toEqual([1, 2, 3])
      },
    )
  })
})

describe.concurrent('26: a failing agent turn, over HTTP', () => {
  scenario(
    'is tried 4 times with waits of about 2, 4 and 8 s, the same job with another key each time',
    async (world) => {
      const at: number[] = []
      const broken: Answering = (_, response) => {
        at.push(performance.now())
        json(response, 503, {})
      }
      await withAgent(world, broken, async (node, peer) => {
        const { run_id: id } = await send(node, chat('s'), 'x')
        expect(await ended(node, id, 40_000)).toMatchObject({
          status: 'failed',
          attempt: 4,
          error_code: 'executor_http_5xx',
        })
        const told = peer.heard.map(dispatchOf)
        expect(told.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4])
        expect(new Set(told.map(({ job_run_id: job }) => job)).size).toBe(1)
        expect(new Set(peer.heard.map(({ headers }) => headers['idempotency-key'])).size).toBe(4)
        for (const [index, about] of [2_000, 4_000, 8_000].entries()) {
          const gap = (at[index + 1] ?? 0) - (at[index] ?? 0)
          expect(gap, `gap ${index + 1}`).toBeGreaterThanOrEqual(0.75 * about - 50)
          expect(gap, `gap ${index + 1}`).toBeLessThan(1.25 * about + 700)
        }
      })
    },
  )

  scenario('that fails twice and then works is a success on attempt 3', async (world) => {
    const third: Answering = (_, response, n) => (n < 3 ? response.destroy() : json(response, 200, 'at last'))
    await withAgent(world, third, async (node) => {
      const { run_id: id } = await send(node, chat('s'), 'x')
      expect(await ended(node, id, 30_000)).toMatchObject({ status: 'success', attempt: 3, output: 'at last' })
    })
  })
})

describe.concurrent('28: an agent over HTTP that reports later', () => {
  const later: Answering = (_, response) => json(response, 202, { async: true })
  const report = async (told: Dispatch, body: unknown): Promise<readonly [number, unknown]> => {
    const answer = await fetch(told.callback_url ?? '', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    })
    return [answer.status, await answer.json()]
  }
  const told = (peer: Peer, n = 0): Promise<Dispatch> =>
    eventually(() => {
      const heard = peer.heard[n]
      if (heard === undefined) throw new Error('nothing was heard yet')
      return dispatchOf(heard)
    })

  scenario('waits, is settled once by its callback, and a repetition is ignored', async (world) => {
    await withAgent(world, later, async (node, peer) => {
      const { run_id: id } = await send(node, chat('s'), 'x')
      await inState(node, id, 'awaiting_callback')
      const dispatch = await told(peer)
      const { job_run_id, attempt_id } = dispatch
      const other = { status: 'success', output: 'of another', attempt_id: 'att_other' }
      expect(await report(dispatch, other)).toEqual([200, { status: 'awaiting_callback', ignored: true }])
      const result = { job_run_id, attempt_id, status: 'success', output: 'the result', next_check: '10m' }
      expect(await report(dispatch, result)).toEqual([200, { status: 'success', ignored: false }])
      expect(await node.runs.get(id)).toMatchObject({ status: 'success', output: 'the result' })
      for (const status of ['success', 'failed'])
        expect(await report(dispatch, { status })).toEqual([200, { status: 'success', ignored: true }])
      const wrong = { ...dispatch, callback_url: `${node.url}/api/v1/callbacks/${'x'.repeat(43)}` }
      expect((await report(wrong, { status: 'success' }))[0]).toBe(404)
      expect(await node.runs.get(id)).toMatchObject({ status: 'success', output: 'the result' })
    })
  })

  scenario('may report before its 202 has been read', async (world) => {
    const quick: Answering = async ({ body }, response) => {
      const answer = await report(JSON.parse(body) as Dispatch, { status: 'success', output: 'quick' })
      expect(answer).toEqual([200, { status: 'success', ignored: false }])
      json(response, 202, { async: true })
    }
    await withAgent(world, quick, async (node) => {
      const { run_id: id } = await send(node, chat('s'), 'x')
      expect(await ended(node, id)).toMatchObject({ status: 'success', output: 'quick', attempt: 1 })
      await nothingFor(200)
      expect(await statusOf(node, id)).toBe('success')
    })
  })

  scenario('ends `timeout` when nobody reports, and counts as pending for overlap until then', async (world) => {
    await withAgent(
      world,
      (_, response) => response.writeHead(202).end(),
      async (node, peer) => {
        const { id } = await node.schedules.create({
          ...{
            agent_id: 'worker',
            every_seconds: 1,
            overlap_action: 'SKIP',
            timeout_seconds: 3,
            retry_policy: { max_retries: 0 },
          },
        })
        const runs = await runsWhen(node, id, ([first]) => first?.status === 'timeout')
        expect(runs.slice(0, 3).map(inShort)).toEqual(['timeout', 'skipped/overlap', 'skipped/overlap'])
        expect(runs[0]?.error_code).toBe('callback_timeout')
        expect(await report(await told(peer), {})).toEqual([200, { status: 'timeout', ignored: true }])
      },
      { executor: { async: true } },
    )
  })

  scenario('a 202 that says nothing of the kind is an answer like any other', async (world) => {
    await withAgent(
      world,
      (_, response) => json(response, 202, { queued: true }),
      async (node) => {
        const { run_id: id } = await send(node, chat('s'), 'x')
        expect(await ended(node, id)).toMatchObject({ status: 'success', output: { queued: true } })
      },
    )
  })

  scenario('a failure is tried again; the token of the first attempt is ignored then', async (world) => {
    await withAgent(world, later, async (node, peer) => {
      await node.agents.update('worker', { retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 50 } })
      const { run_id: id } = await send(node, chat('s'), 'x')
      await inState(node, id, 'awaiting_callback')
      const first = await told(peer)
      expect(await report(first, { status: 'failed', error_message: 'busy' })).toEqual([
        200,
        expect.objectContaining({ ignored: false }),
      ])
      const second = await told(peer, 1)
      await inState(node, id, 'awaiting_callback')
      expect(await report(first, { status: 'success' })).toEqual([200, { status: 'awaiting_callback', ignored: true }])
      expect(await report(second, { status: 'success', output: 2 })).toEqual([
        200,
        { status: 'success', ignored: false },
      ])
      expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 2, output: 2 })
    })
  })
})

describe.concurrent('a schedule that brings its executor with it', () => {
  scenario('calls it without an agent, is not repeated, and follows its changes', async (world) => {
    const peer = await startPeer((_, response) => json(response, 503, 'later'))
    const other = await startPeer(done)
    const node = await world.start({ outbound: { allow_loopback: true } })
    const made = await node.schedules.create({
      ...{
        every_seconds: 3_600,
        payload: 'go',
        executor: { kind: 'http', url: `${peer.url}/x`, headers: { 'X-Id': '{{run_id}}' } },
      },
    })
    expect(made).toMatchObject({ agent_id: null, executor: { kind: 'http', method: 'POST', async: false } })
    const { run_id: first = '' } = await node.schedules.runNow(made.id)
    expect(await ended(node, first)).toMatchObject({ status: 'failed', attempt: 1, error_code: 'executor_http_5xx' })
    expect(peer.heard[0]).toMatchObject({ url: '/x', headers: { 'x-id': first } })
    expect(dispatchOf(peer.heard[0] as Heard)).toMatchObject({
      ...{ trigger_type: 'scheduled', manual: true, session_id: `schedule:${made.id}:run:${first}` },
      schedule_id: made.id,
      message: 'go',
    })
    await node.schedules.update(made.id, {
      executor: { kind: 'http', url: other.url },
      retry_policy: { max_retries: 1 },
    })
    const again = await node.runs.retry(first)
    expect(await ended(node, again.id)).toMatchObject({ status: 'success', output: 'done' })
    const renamed = await node.schedules.update(made.id, { name: 'Renamed' })
    expect(renamed).toMatchObject({ agent_id: null, executor: { url: other.url } })
    const refusal = await refused(
      node.schedules.create({ every_seconds: 60, agent_id: 'x', executor: { kind: 'echo' } }),
      'VALIDATION',
    )
    expect(refusal.message).toContain('cannot be combined with agent_id')
    await node.agents.create({ id: 'parrot', name: 'Parrot', executor: { kind: 'echo' } })
    const named = await node.schedules.update(made.id, { agent_id: 'parrot' })
    expect(named).toMatchObject({ agent_id: 'parrot', executor: null })
    const { run_id: last = '' } = await node.schedules.runNow(made.id)
    expect(await ended(node, last)).toMatchObject({ status: 'success', output: 'go', agent_id: 'parrot' })
    expect([peer.heard.length, other.heard.length]).toEqual([1, 1])
    expect((await node.agents.list()).items.filter(({ id }) => id.includes('inline'))).toEqual([])
    await Promise.all([peer.close(), other.close()])
  })

  scenario('survives the restart of its server while a run of it waits', async (world) => {
    const peer = await startPeer((_, response, n) =>
      n === 1 ? json(response, 503, '') : json(response, 200, 'second'),
    )
    const options = { outbound: { allow_loopback: true } }
    const node = await world.start(options)
    const { id } = await node.schedules.create({
      ...{ every_seconds: 3_600, executor: { kind: 'http', url: peer.url } },
      retry_policy: { max_retries: 2, strategy: 'fixed', base_ms: 3_000 },
    })
    const { run_id: run = '' } = await node.schedules.runNow(id)
    await inState(node, run, 'waiting')
    await node.stop()
    const next = await world.start(options)
    expect(await ended(next, run)).toMatchObject({ status: 'success', attempt: 2, output: 'second' })
    await peer.close()
  })
})
