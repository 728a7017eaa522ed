import { describe, expect } from 'vitest'
import { chat, ended, eventually, inState, refused, send, timeOf } from './support.ts'
import { createStage } from './stage.ts'
import { scenario } from './world.ts'

const RETRIES = { retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 300, jitter: 0 } } as const

/** An agent that fails once for each run, and then succeeds. */
function failsOnce(): (run: { readonly runId: string }) => string {
  const seen = new Set<string>()
  return ({ runId }) => {
    if (seen.has(runId)) return 'done'
    seen.add(runId)
    throw Object.assign(new Error('not yet'), { code: 'E_NOT_YET' })
  }
}

describe.concurrent('how long a run took', () => {
  scenario('is counted from the start of its first attempt, waits included, on every node', async (world) => {
    const agents = { worker: failsOnce() }
    const [node, other] = [await world.start({ agents }), await world.start()]
    const { id } = await node.schedules.create({ agent_id: 'worker', every_seconds: 86_400, ...RETRIES })
    const { run_id: first = '' } = await node.schedules.runNow(id)
    const run = await ended(node, first)
    const { attempts } = await other.runs.get(first)
    const [one, two] = attempts
    expect(attempts).toHaveLength(2)
    expect(one).toMatchObject({ error_code: 'agent_error', agent_error_code: 'E_NOT_YET' })
    expect([run.started_at, run.finished_at]).toEqual([one?.started_at, two?.finished_at])
    expect(run.duration_ms).toBe(timeOf(run.finished_at) - timeOf(run.started_at))
    expect(run.duration_ms).toBeGreaterThanOrEqual(300)
    expect(timeOf(two?.started_at ?? null)).toBeGreaterThan(timeOf(one?.finished_at ?? null))
    const [listed] = (await other.runs.list({ schedule_id: id })).items
    expect(listed).toMatchObject({ started_at: run.started_at, duration_ms: run.duration_ms })
  })

  scenario('is not said before it has ended, or when it never started', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const { run_id: running } = await send(node, chat('s'), 'running')
    const { run_id: waiting } = await send(node, chat('s'), 'waiting')
    await inState(node, running, 'running')
    expect(await node.runs.get(running)).toMatchObject({ duration_ms: null })
    await node.runs.cancel(waiting)
    expect(await node.runs.get(waiting)).toMatchObject({ started_at: null, duration_ms: null, status: 'cancelled' })
    stage.open()
  })
})

describe.concurrent('a run of a schedule that is tried again by hand', () => {
  scenario('keeps the time limit, the retries and the delivery of the schedule', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    const target = await node.targets.create({ name: 'Out', kind: 'webhook', url: 'https://example.com/hook' })
    const { id } = await node.schedules.create({
      ...{ agent_id: 'worker', every_seconds: 86_400, payload: 'x', timeout_seconds: 1 },
      ...{ retry_policy: { max_retries: 0 }, delivery: { target_id: target.id } },
    })
    const { run_id: first = '' } = await node.schedules.runNow(id)
    expect(await ended(node, first)).toMatchObject({ status: 'timeout', attempt: 1 })
    const again = await node.runs.retry(first)
    expect(await ended(node, again.id)).toMatchObject({ status: 'timeout', attempt: 1, retry_of: first })
    const { deliveries } = await eventually(() => node.runs.get(again.id))
    expect(deliveries).toMatchObject([{ target_id: target.id }])
    const { items } = await node.runs.list({ schedule_id: id })
    expect(items.map((run) => run.id)).toEqual([again.id, first])
    stage.open()
  })
})

describe.concurrent('the id of a message', () => {
  scenario('is one message for 24 hours, merged or not, whatever is said under it again', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const say = (text: string, message_id: string, more: object = {}) =>
      send(node, chat('s'), { text, message_id, sender: 'ann', debounce_ms: 60_000, ...more })
    const first = await say('one', 'm-1')
    const second = await say('two', 'm-2')
    expect(second.merged_into).toBe(first.run_id)
    const repeats = await Promise.all([say('one', 'm-1'), say('other', 'm-2'), say('other', 'm-1')])
    for (const repeat of repeats) expect(repeat).toMatchObject({ run_id: first.run_id, duplicate: true })
    // A message that does not wait lets those before it go, too.
    await say('three', 'm-3', { debounce_ms: 0 })
    expect(await ended(node, first.run_id)).toMatchObject({ payload: { text: 'one\ntwo' } })
    expect(await say('late', 'm-1')).toMatchObject({ run_id: first.run_id, duplicate: true, state: 'success' })
    const elsewhere = await send(node, chat('t'), { text: 'one', message_id: 'm-1' })
    expect(elsewhere.duplicate).toBeUndefined()
    expect((await node.runs.list()).items).toHaveLength(3)
  })

  scenario('is not bound by a message that was refused', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, sessions: { cap: 1, drop: 'new' } })
    await send(node, chat('s'), 'running')
    await stage.begun('running')
    const { run_id: waiting } = await send(node, chat('s'), 'waiting')
    const message = { text: 'hello', message_id: 'm-1' }
    await refused(node.sessions.send(chat('s'), message), 'SESSION_QUEUE_FULL')
    await node.runs.cancel(waiting)
    expect((await send(node, chat('s'), message)).duplicate).toBeUndefined()
    stage.open()
  })
})
