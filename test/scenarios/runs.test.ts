import { describe, expect } from 'vitest'
import type { EventView } from '../../src/features/events/schema.ts'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { Escapement } from '../../src/library/escapement.ts'
import { createStage } from './stage.ts'
import {
  chat,
  ended,
  endings,
  eventually,
  inMs,
  inState,
  nothingFor,
  refused,
  send,
  sendEach,
  timeOf,
} from './support.ts'
import { scenario } from './world.ts'

type Filter = Parameters<Escapement['runs']['list']>[0]

describe.concurrent('the list of runs', () => {
  scenario('is filtered by session, agent, state, trigger and time', async (world) => {
    const node = await world.start({
      agents: {
        good: () => 'done',
        bad: () => {
          throw Object.assign(new Error('no'), { retryable: false })
        },
      },
    })
    const good = await sendEach(node, chat('a', 'good'), ['1', '2'])
    const bad = await sendEach(node, chat('b', 'bad'), ['3'])
    const { taskId: task } = await node.tasks.submit({ agentId: 'good', action: '4' })
    await endings(node, [...good, ...bad, task])
    await nothingFor(30)
    const between = inMs(0)
    await nothingFor(30)
    const later = await sendEach(node, chat('c', 'good'), ['5'])
    await endings(node, later)
    const list = async (filter: Filter): Promise<readonly string[]> =>
      (await node.runs.list(filter)).items.map((run) => run.id).toSorted()
    expect(await list({})).toEqual([...good, ...bad, task, ...later].toSorted())
    expect(await list({ session: chat('a', 'good') })).toEqual(good.toSorted())
    expect(await list({ agent_id: 'bad' })).toEqual(bad)
    expect(await list({ status: 'failed' })).toEqual(bad)
    expect(await list({ status: 'failed,success', agent_id: 'good' })).toEqual([...good, task, ...later].toSorted())
    expect(await list({ trigger: 'task' })).toEqual([task])
    expect(await list({ from: between })).toEqual(later)
    expect(await list({ to: between })).toEqual([...good, ...bad, task].toSorted())
    expect(await list({ session: chat('nobody') })).toEqual([])
    await refused(node.runs.list({ status: 'nonsense' }), 'VALIDATION')
  })

  scenario('comes in pages, the newest first, without gap or repetition while more arrives', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const ids: string[] = []
    for (let n = 0; n < 7; n += 1) ids.push((await send(node, chat(String(n)), String(n))).run_id)
    await endings(node, ids)
    const seen: RunView[] = []
    let cursor: string | null = null
    do {
      const page = await node.runs.list({ limit: 3, ...(cursor === null ? {} : { cursor }) })
      seen.push(...page.items)
      cursor = page.next_cursor
      await send(node, chat('more'), 'more')
    } while (cursor !== null)
    expect(seen.map((run) => run.id)).toEqual(ids.toReversed())
  })

  scenario('accepts older words for states', async (world) => {
    const node = await world.start({ agents: { worker: createStage().handler } })
    const [running = '', queued = ''] = await sendEach(node, chat('s'), ['1', '2'])
    await inState(node, running, 'running')
    expect((await node.runs.list({ status: 'SCHEDULED' })).items.map((run) => run.id)).toEqual([queued])
    await node.runs.cancel(queued)
    expect((await node.runs.list({ status: 'CANCELED' })).items.map((run) => run.id)).toEqual([queued])
  })
})

describe.concurrent('a run', () => {
  scenario('tells its whole way: attempts, timeline, decision', async (world) => {
    const node = await world.start({ agents: { worker: (attempt) => `answer to ${JSON.stringify(attempt.payload)}` } })
    const { run_id: id, message_id } = await send(node, chat('s'), { text: 'question', message_id: 'm-1' })
    expect(message_id).toBe('m-1')
    const waited = await ended(node, id)
    const run = await node.runs.get(id)
    expect(run).toMatchObject({
      ...{ id, status: 'success', trigger: 'message', agent_id: 'worker', session_id: chat('s'), lane: 'main' },
      ...{ attempt: 1, first_attempt: 1, error_code: null, retry_of: null, decision: { reason: 'accepted' } },
    })
    expect(run.output).toContain('question')
    expect(waited).toMatchObject({ id, output: run.output, finished_at: run.finished_at })
    expect(run.attempts).toHaveLength(1)
    expect(run.attempts[0]).toMatchObject({ number: 1, status: 'success', started_at: run.started_at })
    expect(run.timeline.map((entry) => entry.status)).toEqual(['queued', 'running', 'success'])
    const times = [run.created_at, run.started_at, run.finished_at].map(timeOf)
    expect(times.toSorted((a, b) => a - b)).toEqual(times)
    expect(run.duration_ms).toBe((times[2] ?? 0) - (times[1] ?? 0))
    const nodes = (await node.nodes.list()).items
    expect(nodes.map((each) => each.id)).toContain(run.attempts[0]?.node_id)
  })

  scenario('that waits for its time is `waiting`, and starts then', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const at = inMs(5_000)
    const { run_id: id, state } = await send(node, chat('s'), { text: 'later', not_before: at })
    expect(state).toBe('waiting')
    expect(await node.runs.explain(id)).toMatchObject({ reason: 'not_before' })
    const { run_id: now } = await send(node, chat('s'), 'now')
    const run = await ended(node, id)
    expect(timeOf(run.started_at)).toBeGreaterThanOrEqual(timeOf(at))
    expect((await ended(node, now)).status).toBe('success')
    expect(stage.started()).toEqual(['now', 'later'])
  })

  scenario('publishes each change once, in order', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const events: EventView[] = []
    const stopHearing = node.on('run.changed', (event) => void events.push(event))
    const { run_id: id } = await send(node, chat('s'), 'work')
    await ended(node, id)
    const ofRun = (): readonly unknown[] =>
      events.filter((event) => event.subject === id).map((event) => event.data['status'])
    await eventually(() => expect(ofRun().at(-1)).toBe('success'))
    expect(ofRun()).toEqual([...new Set(ofRun())])
    stopHearing()
    const heard = events.length
    await send(node, chat('s'), 'work').then(({ run_id: next }) => ended(node, next))
    await nothingFor(100)
    expect(events).toHaveLength(heard)
  })

  scenario('is unknown by a wrong id, and waiting for it has an end', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler } })
    for (const call of [node.runs.get, node.runs.explain, node.runs.wait, node.runs.cancel])
      await refused(call('run_unknown'), 'NOT_FOUND')
    const { run_id: id } = await send(node, chat('s'), 'work')
    await expect(node.runs.wait(id, { timeoutMs: 100 })).rejects.toThrow()
  })

  scenario('keeps 16 KiB of its output, cut between characters and marked', async (world) => {
    const node = await world.start({ agents: { worker: () => `x${'é'.repeat(20_000)}` } })
    const { run_id: id } = await send(node, chat('s'), 'work')
    const run = await ended(node, id)
    const text = JSON.stringify(run.output)
    expect(Buffer.byteLength(text)).toBeLessThan(17_000)
    expect(Buffer.byteLength(text)).toBeGreaterThan(15_000)
    expect(text).not.toContain('\uFFFD')
  })
})

describe.concurrent('orgs', () => {
  scenario('see nothing of each other', async (world) => {
    const handler = (): string => 'done'
    const mine = await world.start({ agents: { worker: handler } })
    const theirs = await world.start({ agents: { worker: handler }, org: 'other' })
    const { run_id: id } = await send(mine, chat('s'), 'secret')
    await ended(mine, id)
    const { id: schedule } = await mine.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'x' })
    await refused(theirs.runs.get(id), 'NOT_FOUND')
    await refused(theirs.runs.cancel(id), 'NOT_FOUND')
    await refused(theirs.schedules.get(schedule), 'NOT_FOUND')
    await refused(theirs.schedules.runNow(schedule), 'NOT_FOUND')
    expect((await theirs.runs.list()).items).toEqual([])
    expect((await theirs.schedules.list()).items).toEqual([])
    const { run_id: other } = await send(theirs, chat('s'), 'theirs')
    expect((await ended(theirs, other)).org_id).toBe('other')
    expect((await mine.runs.list()).items.map((run) => run.id)).toEqual([id])
  })
})

describe.concurrent('a node', () => {
  scenario('that has not started, or has stopped, says so', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    expect(node.health()).toMatchObject({ ready: true, database: 'up', away_since: null, draining: false })
    await node.stop()
    await node.stop()
    expect(node.health()).toMatchObject({ ready: false })
    await refused(node.runs.list(), 'NOT_STARTED')
  })

  scenario('asks for settings again and again, and takes what is valid', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { worker: stage.handler }, lanes: { main: 1 } })
    for (const peer of ['a', 'b', 'c']) await send(node, chat(peer), peer)
    await stage.begunMany(1)
    let size = 1
    const stopWatching = node.watchConfig(() => ({ lanes: { main: size } }), 30)
    await nothingFor(100)
    expect(stage.busy()).toBe(1)
    size = 3
    await stage.begunMany(3)
    stopWatching()
  })
})
