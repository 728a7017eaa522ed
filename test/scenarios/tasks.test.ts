import { describe, expect } from 'vitest'
import type { Escapement } from '../../src/library/escapement.ts'
import { createStage } from './stage.ts'
import { ended, endings, eventually, inMs, nothingFor, refused, timeOf } from './support.ts'
import { scenario } from './world.ts'

const submit = async (node: Escapement, agentId: string, action: string, priority?: number): Promise<string> =>
  (await node.tasks.submit({ agentId, action, ...(priority === undefined ? {} : { priority }) })).taskId

describe.concurrent('33: the order of tasks', () => {
  scenario('of one agent: the lower priority first, equals in order of arrival', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler }, lanes: { task: 1 } })
    await submit(node, 'a', 'held')
    await stage.begun('held')
    const ids = []
    for (const [action, priority] of [
      ['five', 5],
      ['one', 1],
      ['zero', 0],
      ['zero again', undefined],
      ['one again', 1],
    ] as const)
      ids.push(await submit(node, 'a', action, priority))
    stage.open()
    await endings(node, ids)
    expect(stage.started()).toEqual(['held', 'zero', 'zero again', 'one', 'one again', 'five'])
  })

  scenario('of two agents, one with 3 and one with 1: the first two are of different agents', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler, b: stage.handler }, lanes: { task: 1 } })
    await submit(node, 'a', 'held')
    await stage.begun('held')
    const ids = [await submit(node, 'a', 'a1'), await submit(node, 'a', 'a2'), await submit(node, 'a', 'a3')]
    ids.push(await submit(node, 'b', 'b1'))
    stage.release('held')
    const second = (await stage.begunMany(2))[1]
    second?.release()
    const third = (await stage.begunMany(3))[2]
    stage.open()
    await endings(node, ids)
    expect([second?.attempt.agentId, third?.attempt.agentId].toSorted()).toEqual(['a', 'b'])
  })

  scenario('two agents with the same amount take turns', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler, b: stage.handler }, lanes: { task: 1 } })
    await submit(node, 'a', 'held')
    await stage.begun('held')
    const ids: string[] = []
    for (const agent of ['a', 'b']) for (let n = 1; n <= 4; n += 1) ids.push(await submit(node, agent, `${agent}${n}`))
    stage.open()
    await endings(node, ids)
    const agents = stage.acts.slice(1).map((act) => act.attempt.agentId)
    for (let n = 0; n < agents.length; n += 2)
      expect(agents.slice(n, n + 2).toSorted(), `turn ${n}`).toEqual(['a', 'b'])
  })

  scenario('is told by `position`', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler, b: stage.handler }, lanes: { task: 1 } })
    await submit(node, 'a', 'held')
    await stage.begun('held')
    const positions = []
    for (const [agentId, priority] of [
      ['a', 5],
      ['a', 5],
      ['a', 1],
      ['b', 0],
    ] as const)
      positions.push((await node.tasks.submit({ agentId, action: 'x', priority })).position)
    expect(positions).toEqual([1, 2, 1, 1])
  })
})

describe.concurrent('34: the limits of tasks', () => {
  scenario('3 queued per agent: the fourth is refused with its id and listed as rejected', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler }, lanes: { task: 1 }, tasks: { max_per_agent: 3 } })
    await submit(node, 'b', 'of another agent')
    await submit(node, 'a', 'held')
    await stage.begun('held')
    for (const action of ['1', '2', '3']) await submit(node, 'a', action)
    const refusal = await refused(node.tasks.submit({ agentId: 'a', action: '4' }), 'QUEUE_FULL')
    expect(refusal.retryAfterMs).toBeGreaterThan(0)
    expect(await node.tasks.get(refusal.runId ?? '')).toMatchObject({ state: 'rejected', action: '4' })
    const { tasks: rejected } = await node.tasks.list({ agentId: 'a', state: 'rejected' })
    expect(rejected.map((task) => task.taskId)).toEqual([refusal.runId])
    await submit(node, 'b', 'of another agent')
  })

  scenario('queued in all', async (world) => {
    const stage = createStage()
    const node = await world.start({
      ...{ agents: { a: stage.handler, b: stage.handler }, lanes: { task: 1 }, tasks: { max_queue: 2 } },
    })
    await submit(node, 'a', 'held')
    await stage.begun('held')
    await submit(node, 'a', '1')
    await submit(node, 'b', '2')
    await refused(node.tasks.submit({ agentId: 'b', action: '3' }), 'QUEUE_FULL')
  })

  scenario('in flight per agent and in all, exactly, on two nodes together', async (world) => {
    const stage = createStage()
    const options = {
      agents: { a: stage.handler, b: stage.handler },
      tasks: { max_per_agent_inflight: 2, max_inflight: 3 },
    }
    const [one, two] = [await world.start(options), await world.start(options)]
    const ids: string[] = []
    for (let n = 1; n <= 4; n += 1)
      for (const agent of ['a', 'b']) ids.push(await submit(n % 2 === 0 ? one : two, agent, `${agent}${n}`))
    await stage.begunMany(3)
    await nothingFor(250)
    expect(stage.acts).toHaveLength(3)
    const ofAgent = (agent: string): number => stage.acts.filter((act) => act.attempt.agentId === agent).length
    expect([ofAgent('a'), ofAgent('b')].toSorted()).toEqual([1, 2])
    stage.open()
    expect(await endings(one, ids)).toEqual(Array(8).fill('success'))
    expect(stage.most()).toBeLessThanOrEqual(3)
  })

  scenario('can be changed while running', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler }, tasks: { max_per_agent_inflight: 1 } })
    for (const action of ['1', '2', '3']) await submit(node, 'a', action)
    await stage.begunMany(1)
    await nothingFor(100)
    expect(stage.busy()).toBe(1)
    node.reload({ tasks: { max_per_agent_inflight: 3 } })
    await stage.begunMany(3)
    expect(() => node.reload({ tasks: { max_per_agent_inflight: -1 } })).toThrow(/max_per_agent_inflight/)
  })
})

describe.concurrent('35: the deadline of a task', () => {
  scenario('that its function does not keep: failed at the deadline', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler } })
    const deadline = inMs(3_000)
    const { taskId: id } = await node.tasks.submit({ agentId: 'a', action: 'slow', deadline })
    expect(await ended(node, id)).toMatchObject({ status: 'timeout' })
    const late = timeOf((await node.runs.get(id)).finished_at) - timeOf(deadline)
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThan(1_200)
    expect(await node.tasks.get(id)).toMatchObject({ state: 'failed' })
    expect(stage.acts[0]?.signal.aborted).toBe(true)
  })

  scenario('that passes in the queue: `deadline exceeded while queued`, ended at the deadline', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler }, lanes: { task: 1 } })
    await submit(node, 'a', 'held')
    await stage.begun('held')
    const deadline = inMs(800)
    const { taskId: id } = await node.tasks.submit({ agentId: 'a', action: 'late', deadline })
    expect(await ended(node, id)).toMatchObject({ status: 'expired', finished_at: deadline })
    expect(await node.tasks.get(id)).toMatchObject({
      ...{ state: 'failed', error: 'deadline exceeded while queued', completedAt: deadline },
    })
    stage.open()
    await nothingFor(100)
    expect(stage.started()).toEqual(['held'])
  })

  scenario('is a minute unless it says otherwise', async (world) => {
    const node = await world.start({ agents: { a: () => 'done' } })
    const id = await submit(node, 'a', 'x')
    const task = await node.tasks.get(id)
    expect(timeOf(task.deadline) - timeOf(task.createdAt)).toBe(60_000)
  })
})

describe.concurrent('36: cancelling a task', () => {
  scenario('that runs: answered at once, its function sees it, and the limits still hold', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler }, tasks: { max_per_agent_inflight: 1 } })
    const [running, waiting, third] = [
      await submit(node, 'a', 'running'),
      await submit(node, 'a', 'waiting'),
      await submit(node, 'a', 'third'),
    ]
    const act = await stage.begun('running')
    // Cancelling what waits frees no slot of what runs.
    expect(await node.tasks.cancel(waiting)).toEqual({ status: 'cancelled', taskId: waiting })
    await nothingFor(100)
    expect(stage.busy()).toBe(1)
    const askedAt = performance.now()
    expect(await node.tasks.cancel(running)).toEqual({ status: 'cancelled', taskId: running })
    expect(performance.now() - askedAt).toBeLessThan(500)
    await eventually(() => expect(act.signal.aborted).toBe(true))
    stage.open()
    expect(await endings(node, [running, waiting, third])).toEqual(['cancelled', 'cancelled', 'success'])
    expect(stage.started()).toEqual(['running', 'third'])
    expect(await node.tasks.get(running)).toMatchObject({ state: 'cancelled' })
    await refused(node.tasks.cancel(running), 'CONFLICT')
    await refused(node.tasks.cancel('tsk_unknown'), 'NOT_FOUND')
    await refused(node.tasks.get('tsk_unknown'), 'NOT_FOUND')
  })
})

describe.concurrent('37: a batch', () => {
  scenario('keeps its order, and each item is decided by itself', async (world) => {
    const stage = createStage()
    const node = await world.start({ agents: { a: stage.handler }, lanes: { task: 1 }, tasks: { max_per_agent: 2 } })
    await submit(node, 'a', 'held')
    await stage.begun('held')
    const { tasks: answers } = await node.tasks.batch({
      agentId: 'a',
      tasks: ['1', '2', '3', '4'].map((action) => ({ action, priority: 1 })),
    })
    expect(answers.map((answer) => answer.state)).toEqual(['queued', 'queued', 'rejected', 'rejected'])
    expect(answers.map((answer) => answer.error !== undefined)).toEqual([false, false, true, true])
    const actions = await Promise.all(answers.map(async ({ taskId }) => (await node.tasks.get(taskId)).action))
    expect(actions).toEqual(['1', '2', '3', '4'])
    stage.open()
    await endings(
      node,
      answers.slice(0, 2).map((answer) => answer.taskId),
    )
    expect(stage.started()).toEqual(['held', '1', '2'])
  })

  scenario('of none, or of 51, is refused', async (world) => {
    const node = await world.start({ agents: { a: () => 'done' } })
    const many = (count: number) => ({
      agentId: 'a',
      tasks: Array(count).fill({ action: 'x' }) as { action: string }[],
    })
    await refused(node.tasks.batch(many(0)), 'VALIDATION')
    await refused(node.tasks.batch(many(51)), 'BATCH_TOO_LARGE')
    expect((await node.tasks.list()).tasks).toEqual([])
    expect((await node.tasks.batch(many(50))).tasks).toHaveLength(50)
  })

  scenario('a finished task shows its result', async (world) => {
    const node = await world.start({ agents: { a: (attempt) => ({ echo: attempt.payload }) } })
    const { taskId: id } = await node.tasks.submit({
      ...{ agentId: 'a', action: 'click', selector: '#go', params: { x: 1 }, priority: 3 },
    })
    await ended(node, id)
    const task = await node.tasks.get(id)
    expect(task).toMatchObject({
      ...{ state: 'done', agentId: 'a', action: 'click', selector: '#go', params: { x: 1 }, priority: 3 },
    })
    expect(task.latencyMs).toBeGreaterThanOrEqual(0)
    expect(JSON.stringify(task.result)).toContain('#go')
  })
})
