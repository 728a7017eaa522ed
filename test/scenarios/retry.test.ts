import { describe, expect } from 'vitest'
import { failing, gapsOf, retryScenarios } from './both/outcomes.ts'
import { createStage } from './stage.ts'
import { chat, ended, endings, inState, nothingFor, refused, send, sendEach, statusOf, timeOf } from './support.ts'
import { scenario } from './world.ts'

const quick = { strategy: 'fixed', base_ms: 100 } as const

retryScenarios(scenario)

describe.concurrent('26: a failing agent turn', () => {
  scenario('where nothing names a policy follows the settings of the deployment', async (world) => {
    const retry = { max_retries: 1, base_ms: 50, max_ms: 60, jitter: 0 }
    const node = await world.start({ agents: { worker: failing(9) }, retry })
    const { run_id: id } = await send(node, chat('s'), 'turn')
    expect(await ended(node, id)).toMatchObject({ status: 'failed', reason: 'retries_exhausted', attempt: 2 })
    const run = await node.runs.get(id)
    expect(gapsOf(run)[0]).toBeGreaterThanOrEqual(50)
    expect(gapsOf(run)[0]).toBeLessThan(1_500)
  })

  scenario('whose agent names a policy does not ask the settings of the deployment', async (world) => {
    const node = await world.start({ agents: { worker: failing(9) }, retry: { max_retries: 0 } })
    await node.agents.update('worker', { retry_policy: { max_retries: 2, ...quick } })
    const { run_id: id } = await send(node, chat('s'), 'turn')
    expect(await ended(node, id)).toMatchObject({ status: 'failed', attempt: 3 })
  })
})

describe.concurrent('a failure', () => {
  scenario('that cannot be mended by trying again is not retried', async (world) => {
    const node = await world.start({
      agents: {
        refusing: failing(9, { status: 404 }),
        stubborn: failing(9, { retryable: false }),
        once: failing(9),
      },
    })
    await node.agents.update('once', { retry_policy: { max_retries: 0 } })
    const ids: string[] = []
    for (const agent of ['refusing', 'stubborn', 'once']) ids.push((await send(node, chat('s', agent), 'turn')).run_id)
    const runs = await Promise.all(ids.map((id) => ended(node, id)))
    expect(runs.map((run) => [run.status, run.attempt, run.error_code, run.reason])).toEqual([
      ['failed', 1, 'executor_http_4xx', 'not_retryable'],
      ['failed', 1, 'agent_error', 'not_retryable'],
      ['failed', 1, 'agent_error', 'retries_exhausted'],
    ])
    const [refused = ''] = ids
    expect(await node.runs.explain(refused)).toMatchObject({
      reason: 'not_retryable',
      sentence: 'Attempt 1 failed with executor_http_4xx, which is not retried.',
    })
  })

  scenario('that asks for patience gets it', async (world) => {
    const node = await world.start({ agents: { worker: failing(1, { status: 429, retryAfterMs: 700 }) } })
    await node.agents.update('worker', { retry_policy: { max_retries: 3, ...quick } })
    const { run_id: id } = await send(node, chat('s'), 'turn')
    expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 2 })
    expect(gapsOf(await node.runs.get(id))[0]).toBeGreaterThanOrEqual(700)
  })

  scenario('of a task is not retried unless the task asks', async (world) => {
    const node = await world.start({ agents: { plain: failing(1), asking: failing(1) } })
    const { taskId: plain } = await node.tasks.submit({ agentId: 'plain', action: 'x' })
    const { taskId: asking } = await node.tasks.submit({
      ...{ agentId: 'asking', action: 'x', retry_policy: { max_retries: 1, ...quick } },
    })
    expect(await endings(node, [plain, asking])).toEqual(['failed', 'success'])
  })

  scenario('by time: the attempt is aborted, retried, and the run ends `timeout`', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    await node.agents.update('worker', { timeout_seconds: 1, retry_policy: { max_retries: 1, ...quick } })
    const { run_id: id } = await send(node, chat('s'), 'turn')
    expect(await ended(node, id)).toMatchObject({ status: 'timeout', attempt: 2, error_code: 'timeout' })
    expect(stage.acts.map((act) => String(act.signal.reason))).toEqual([
      expect.stringMatching(/timeout/),
      expect.stringMatching(/timeout/),
    ])
  })
})

describe.concurrent('the wait before a retry', () => {
  scenario('keeps the place in the session: nothing overtakes', async (world) => {
    const order: string[] = []
    const fails = failing(1)
    const node = await world.start({
      agents: {
        worker: (attempt, context) => {
          const { text } = attempt.payload as { readonly text: string }
          order.push(text)
          return text === 'first' ? fails(attempt, context) : 'done'
        },
      },
    })
    await node.agents.update('worker', { retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 500 } })
    const ids = await sendEach(node, chat('s'), ['first', 'second'])
    await inState(node, ids[0] ?? '', 'waiting')
    expect(await node.sessions.get(chat('s'))).toMatchObject({ active: 1, waiting: 1 })
    expect(await endings(node, ids)).toEqual(['success', 'success'])
    expect(order).toEqual(['first', 'first', 'second'])
  })

  scenario('can be cancelled', async (world) => {
    const node = await world.start({ agents: { worker: failing(9) } })
    const { run_id: id } = await send(node, chat('s'), 'turn')
    await inState(node, id, 'waiting')
    expect(await node.runs.cancel(id)).toMatchObject({ status: 'cancelled' })
    expect(await statusOf(node, id)).toBe('cancelled')
  })

  scenario('survives a restart', async (world) => {
    const before = await world.start({ agents: { worker: failing(9) } })
    await before.agents.update('worker', { retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 1_000 } })
    const { run_id: id } = await send(before, chat('s'), 'turn')
    await inState(before, id, 'waiting')
    await before.stop()
    const after = await world.start({ agents: { worker: () => 'works' } })
    expect(await ended(after, id)).toMatchObject({ status: 'success', attempt: 2 })
    expect(gapsOf(await after.runs.get(id))[0]).toBeGreaterThanOrEqual(1_000)
  })

  scenario('is not begun when the deadline would pass in it', async (world) => {
    const node = await world.start({ agents: { worker: failing(9) } })
    const deadline = new Date(Date.now() + 1_200).toISOString()
    const { run_id: id } = await send(node, chat('s'), { text: 'turn', deadline })
    const run = await ended(node, id)
    expect(run).toMatchObject({ status: 'failed', reason: 'no_time_left', attempt: 1 })
    expect(timeOf(run.finished_at)).toBeLessThan(timeOf(deadline))
  })
})

describe.concurrent('trying again by hand', () => {
  scenario('makes a new run of the same payload, linked to the old one', async (world) => {
    const node = await world.start({ agents: { worker: failing(1, { retryable: false }) } })
    const { run_id: id } = await send(node, chat('s'), 'turn')
    expect((await ended(node, id)).status).toBe('failed')
    const retry = await node.runs.retry(id)
    expect(retry).toMatchObject({ trigger: 'retry', retry_of: id, agent_id: 'worker', session_id: chat('s') })
    expect(retry.id).not.toBe(id)
    const run = await ended(node, retry.id)
    const old = await node.runs.get(id)
    expect(run).toMatchObject({ status: 'success', lane: old.lane, payload: old.payload })
    expect(old).toMatchObject({ status: 'failed' })
  })

  scenario('of a success needs `force`, of what goes on is refused', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { run_id: id } = await send(node, chat('s'), 'turn')
    await stage.begun('turn')
    await refused(node.runs.retry(id), 'NOT_RETRYABLE')
    stage.open()
    expect((await ended(node, id)).status).toBe('success')
    await refused(node.runs.retry(id), 'NOT_RETRYABLE')
    const forced = await node.runs.retry(id, { force: true })
    expect((await ended(node, forced.id)).status).toBe('success')
    await refused(node.runs.retry('run_unknown'), 'NOT_FOUND')
  })

  scenario('works for cancelled, dropped, rejected and expired runs, too', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { cap: 1 } })
    const key = chat('s')
    const [, dropped = ''] = await sendEach(node, key, ['running', 'dropped', 'waiting'])
    await node.sessions.update(key, { drop: 'new' })
    const rejected = (await refused(node.sessions.send(key, 'rejected'), 'SESSION_QUEUE_FULL')).runId ?? ''
    await node.sessions.stopAll(key)
    await nothingFor(50)
    stage.open()
    for (const id of [dropped, rejected]) {
      const retry = await node.runs.retry(id)
      expect((await ended(node, retry.id)).status, id).toBe('success')
    }
  })
})
