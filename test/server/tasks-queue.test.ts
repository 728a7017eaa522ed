import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runId } from '../../src/domain/ids.ts'
import { createRetention } from '../../src/features/retention/service.ts'
import { taskBatchReceipt, taskSubmitted } from '../../src/features/tasks/schema.ts'
import { ageHistory } from '../support/history.ts'
import { countRuns, createTasksWorld, errorIn, pointersOf, type TasksWorld } from './tasks-world.ts'

// Admission, order, cancelling, batches, counts and time to live, with one slot that the first task holds.

let world: TasksWorld
beforeEach(async () => {
  world = await createTasksWorld({ lanes: { task: 1 }, tasks: { max_per_agent: 3 } })
})
afterEach(() => world.close())

const ask: TasksWorld['live']['ask'] = (...asked) => world.live.ask(...asked)
const submit = async (agentId: string, action: string, more: object = {}): Promise<string> =>
  (await world.client.submit({ agentId, action, ...more })).taskId

/** Takes the one slot there is. */
async function hold(): Promise<string> {
  const id = await submit('a', 'held')
  await world.stage.begun('held')
  return id
}

describe('a full queue', () => {
  it('answers 429 with Retry-After and everything about it, and keeps the task as rejected', async () => {
    await hold()
    const positions = []
    for (const action of ['1', '2', '3']) positions.push((await world.client.submit({ agentId: 'a', action })).position)
    expect(positions).toEqual([1, 2, 3])
    const response = await ask('POST', '/tasks', { body: { agentId: 'a', action: '4', tabId: 't' } })
    const { details, retryable } = errorIn(response, 429, 'queue_full')
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(retryable).toBe(true)
    const taskId = details?.['taskId'] as string
    expect(details).toEqual({ agentId: 'a', queued: 3, maxQueue: 1_000, maxPerAgent: 3, taskId })
    const rejected = await world.client.get(taskId)
    expect(rejected).toMatchObject({ state: 'rejected', action: '4', tabId: 't', startedAt: null })
    expect(rejected.error).not.toBe('')
    expect(rejected.completedAt).not.toBeNull()
    expect((await world.client.list('?state=rejected')).tasks.map((task) => task.taskId)).toEqual([taskId])
    errorIn(await ask('POST', `/tasks/${taskId}/cancel`), 409, 'conflict')
    // Of another agent there is room.
    await submit('b', '5')
  })

  it('has a limit for all agents together, and the limits are another one after a reload', async () => {
    await hold()
    world.reload({ tasks: { max_queue: 1, max_per_agent: 0 } })
    await submit('b', '1')
    const full = errorIn(await ask('POST', '/tasks', { body: { agentId: 'a', action: '2' } }), 429, 'queue_full')
    expect(full.details).toMatchObject({ agentId: 'a', queued: 1, maxQueue: 1, maxPerAgent: 3 })
    world.reload({ tasks: { max_queue: 50, max_per_agent: 5, result_ttl_seconds: 3_725 } })
    await submit('a', '2')
    const { config } = await world.client.stats()
    expect(config).toEqual({
      ...{ strategy: 'fair-fifo', maxQueueSize: 50, maxPerAgent: 5, maxInflight: 20, maxPerAgentFlight: 10 },
      ...{ workerCount: 1, resultTTL: '1h2m5s' },
    })
    world.reload({ lanes: { task: 7 }, tasks: { max_inflight: 3, max_per_agent_inflight: 2 } })
    expect((await world.client.stats()).config).toMatchObject({ workerCount: 7, maxInflight: 3, maxPerAgentFlight: 2 })
  })
})

describe('GET /tasks', () => {
  it('lists newest first, by agent and by states, and says where to go on', async () => {
    const held = await hold()
    const [a1, b1, a2] = [await submit('a', '1'), await submit('b', '1'), await submit('a', '2')]
    const ids = async (query: string): Promise<readonly string[]> =>
      (await world.client.list(query)).tasks.map((task) => task.taskId)
    expect(await ids('')).toEqual([a2, b1, a1, held])
    expect(await world.client.list('')).not.toHaveProperty('next_cursor')
    expect((await world.client.list('?agentId=a')).count).toBe(3)
    expect(await ids('?agentId=b')).toEqual([b1])
    expect(await ids('?agentId=nobody')).toEqual([])
    expect(await ids('?agentId=&state=')).toHaveLength(4)
    expect(await ids('?state=running')).toEqual([held])
    expect(await ids('?state=running,%20queued,')).toHaveLength(4)
    expect(await world.client.list('?state=bogus')).toMatchObject({ tasks: [], count: 0 })
    expect(await ids('?state=bogus,running')).toEqual([held])
    expect(await ids('?agentId=a&state=queued')).toEqual([a2, a1])
    expect((await world.client.list('?agentId=a&state=queued')).tasks.map((task) => task.position)).toEqual([2, 1])
    const first = await world.client.list('?limit=3')
    expect(first.count).toBe(3)
    const rest = await world.client.list(`?limit=3&cursor=${first.next_cursor ?? ''}`)
    expect(rest.tasks.map((task) => task.taskId)).toEqual([held])
    expect(rest).not.toHaveProperty('next_cursor')
  })

  it('ends a page early when what is in it is large', async () => {
    await hold()
    world.reload({ tasks: { max_per_agent: 100 } })
    const params = { text: 'x'.repeat(900_000) }
    for (let n = 0; n < 30; n += 1) await submit('a', 'large', { params })
    const first = await world.client.list('?agentId=a')
    // Four of them, and not five, are less than 4 MiB.
    expect(first.count).toBe(4)
    let [seen, next] = [first.count, first.next_cursor]
    while (next !== undefined) {
      const page = await world.client.list(`?agentId=a&cursor=${next}`)
      seen += page.count
      next = page.next_cursor
    }
    expect(seen).toBe(31)
  })

  it.each([
    ['?limit=0', '/limit'],
    ['?limit=1001', '/limit'],
    ['?limit=x', '/limit'],
    ['?cursor=odd', '/cursor'],
    ['?agentId=a&agentId=b', '/agentId'],
  ])('refuses %s', async (query, pointer) => {
    expect(pointersOf(errorIn(await ask('GET', `/tasks${query}`), 400, 'error'))).toEqual([pointer])
  })
})

describe('POST /tasks/:id/cancel', () => {
  it('ends what is queued and what runs, once; limits still hold', async () => {
    const held = await hold()
    const [queued, third] = [await submit('a', 'queued'), await submit('a', 'third')]
    const cancel = (id: string) => ask('POST', `/tasks/${id}/cancel`)
    expect((await cancel(queued)).json()).toEqual({ status: 'cancelled', taskId: queued })
    // What was cancelled in the queue has freed no slot.
    expect(world.stage.busy()).toBe(1)
    const askedAt = performance.now()
    const cancelled = await cancel(held)
    expect(performance.now() - askedAt).toBeLessThan(500)
    expect([cancelled.statusCode, cancelled.json()]).toEqual([200, { status: 'cancelled', taskId: held }])
    expect((await world.client.get(held)).state).toBe('cancelled')
    await expect.poll(() => world.stage.acts[0]?.signal.aborted).toBe(true)
    errorIn(await cancel(held), 409, 'conflict')
    errorIn(await cancel(queued), 409, 'conflict')
    errorIn(await cancel('tsk_nobody'), 404, 'not_found')
    world.stage.open()
    await world.client.until(third, 'done')
    errorIn(await cancel(third), 409, 'conflict')
    expect(world.stage.most()).toBe(1)
    expect((await world.client.stats()).metrics).toMatchObject({ tasksCancelled: 2, tasksCompleted: 1 })
  })

  it('passes over whatever is sent along', async () => {
    const id = await hold()
    const response = await ask('POST', `/tasks/${id}/cancel?why=none`, { body: { reason: 'tired' } })
    expect(response.statusCode).toBe(200)
  })
})

describe('POST /tasks/batch', () => {
  it('keeps the order, decides each by itself, and carries everything a task can', async () => {
    await hold()
    const full = {
      ...{ action: 'click', tabId: 't', selector: '#a', ref: 'e1', params: { x: [1] }, priority: 9 },
      ...{ deadline: new Date(Date.now() + 50_000).toISOString(), callbackUrl: 'https://hooks.example/own' },
    }
    const receipt = await world.client.batch({
      ...{ agentId: 'a', callbackUrl: 'https://hooks.example/all', unknown: 1 },
      tasks: [full, { action: 'two', unknown: 1, agentId: 'b' }, { action: 'three' }, { action: 'four' }],
    })
    expect(receipt.submitted).toBe(4)
    expect(receipt.tasks.map(({ state }) => state)).toEqual(['queued', 'queued', 'queued', 'rejected'])
    expect(receipt.tasks.map(({ position }) => position)).toEqual([3, 1, 2, undefined])
    expect(receipt.tasks.map(({ error }) => error !== undefined)).toEqual([false, false, false, true])
    const tasks = await Promise.all(receipt.tasks.map(({ taskId }) => world.client.get(taskId)))
    expect(tasks.map(({ action }) => action)).toEqual(['click', 'two', 'three', 'four'])
    expect(tasks[0]).toMatchObject(full)
    expect(tasks[1]).toMatchObject({ agentId: 'a', callbackUrl: 'https://hooks.example/all' })
    expect(tasks[3]).toMatchObject({ state: 'rejected' })
  })

  it('tells what is wrong with one of it alone; when all are wrong, with all', async () => {
    await hold()
    const before = await countRuns(world)
    const past = '2020-01-01T00:00:00Z'
    const bad = [{ tabId: 't' }, { action: 'x', deadline: past }, 5, { action: 'x', params: 'y' }]
    const receipt = await world.client.batch({ agentId: 'a', tasks: [{ action: 'good' }, ...bad] })
    expect(receipt.tasks.map(({ state }) => state)).toEqual(['queued', ...Array<string>(4).fill('rejected')])
    expect(receipt.tasks.slice(1).map(({ taskId }) => taskId)).toEqual(['', '', '', ''])
    expect(receipt.tasks[1]?.error).toContain('action')
    expect(await countRuns(world)).toBe(before + 1)
    const told = errorIn(await ask('POST', '/tasks/batch', { body: { agentId: 'a', tasks: bad } }), 400, 'error')
    expect(pointersOf(told)).toEqual(['/tasks/0/action', '/tasks/1/deadline', '/tasks/2', '/tasks/3/params'])
    expect(await countRuns(world)).toBe(before + 1)
  })

  it('takes 50 and refuses 51, none, and what is no batch', async () => {
    const before = await countRuns(world)
    const of = (count: number) => ({ agentId: 'a', tasks: Array<object>(count).fill({ action: 'x' }) })
    const large = errorIn(await ask('POST', '/tasks/batch', { body: of(51) }), 400, 'batch_too_large')
    expect(large.details).toEqual({ submitted: 51, max: 50 })
    for (const [body, pointer] of [
      [of(0), '/tasks'],
      [{ agentId: 'a' }, '/tasks'],
      [{ agentId: 'a', tasks: { action: 'x' } }, '/tasks'],
      [{ tasks: [{ action: 'x' }] }, '/agentId'],
      [{ agentId: 7, tasks: [{ action: 'x' }] }, '/agentId'],
      [{ ...of(1), callbackUrl: 7 }, '/callbackUrl'],
    ] as const)
      expect(pointersOf(errorIn(await ask('POST', '/tasks/batch', { body }), 400, 'error'))).toEqual([pointer])
    expect(await countRuns(world)).toBe(before)
    world.reload({ tasks: { max_per_agent: 100 } })
    expect((await world.client.batch(of(50))).submitted).toBe(50)
  })

  it('is done once for a key', async () => {
    await hold()
    const body = { agentId: 'a', tasks: ['1', '2', '3', '4'].map((action) => ({ action })) }
    const headers = { 'idempotency-key': 'batch-1' }
    const ids = async () => (await world.client.batch(body, { headers })).tasks.map(({ taskId }) => taskId)
    const first = await ids()
    expect(await ids()).toEqual(first)
    expect(await countRuns(world)).toBe(5)
  })
})

describe('POST /tasks/many', () => {
  const transactions = async (): Promise<number> => {
    const [row] = await world.live.engine.ports.database.query('select max(no) as no from turn', [])
    return Number(row?.['no'] ?? 0)
  }
  const many = async (body: unknown, more: Parameters<typeof ask>[2] = {}) => {
    const response = await ask('POST', '/tasks/many', { body, ...more })
    expect(response.statusCode, response.body).toBe(202)
    return taskBatchReceipt.parse(response.json())
  }

  it('takes tasks of any agents in one transaction, and decides each by itself', async () => {
    await hold()
    const tasks = [
      { agentId: 'a', action: 'one' },
      { agentId: 'b', action: 'two', callbackUrl: 'https://hooks.example/own' },
      { action: 'three' },
      ...['4', '5', '6'].map((action) => ({ agentId: 'a', action })),
    ]
    const receipt = await many({ tasks })
    expect(receipt.submitted).toBe(6)
    expect(receipt.tasks.map(({ state }) => state)).toEqual([
      ...['queued', 'queued', 'rejected', 'queued', 'queued', 'rejected'],
    ])
    expect(receipt.tasks.map(({ taskId }) => taskId === '')).toEqual([false, false, true, false, false, false])
    expect(receipt.tasks[2]?.error).toContain('tasks.2.agentId')
    expect(receipt.tasks[5]?.error).toBe('the queue of the agent is full')
    const [, second] = receipt.tasks
    expect(await world.client.get(second?.taskId ?? '')).toMatchObject({ agentId: 'b', ...tasks[1] })
  })

  it('takes 1,000 and refuses 1,001, none, and what is no list', async () => {
    world.reload({ tasks: { max_per_agent: 2_000, max_queue: 2_000 } })
    const of = (count: number) => ({ tasks: Array<object>(count).fill({ agentId: 'a', action: 'x' }) })
    const large = errorIn(await ask('POST', '/tasks/many', { body: of(1_001) }), 400, 'batch_too_large')
    expect(large.details).toEqual({ submitted: 1_001, max: 1_000 })
    for (const body of [of(0), {}, { tasks: { action: 'x' } }])
      expect(pointersOf(errorIn(await ask('POST', '/tasks/many', { body }), 400, 'error'))).toEqual(['/tasks'])
    const [before, version] = [await countRuns(world), await transactions()]
    const { tasks } = await many(of(1_000))
    const [write] = await world.live.engine.ports.database.query(
      `select count(*)::int as count from turn where events::text like '%"queued"%' and no > $1`,
      [version],
    )
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(1_000)
    expect(await countRuns(world)).toBe(before + 1_000)
    expect(write?.['count']).toBe(1)
  })

  it('is done once for a key', async () => {
    await hold()
    const body = { tasks: ['1', '2'].map((action) => ({ agentId: 'a', action })) }
    const headers = { 'idempotency-key': 'many-1' }
    const first = await many(body, { headers })
    expect((await many(body, { headers })).tasks.map(({ taskId }) => taskId)).toEqual(
      first.tasks.map(({ taskId }) => taskId),
    )
    expect(await countRuns(world)).toBe(3)
  })
})

describe('waiting for the end of a task', () => {
  const waits = { open: 0 }
  beforeEach(() => {
    waits.open = 0
    world.live.change({
      ended: (id) => {
        const { promise, give } = world.live.waiters.ended(id)
        const wait = { open: true }
        waits.open += 1
        return {
          promise,
          give: () => {
            waits.open -= wait.open ? 1 : 0
            wait.open = false
            give()
          },
        }
      },
    })
  })
  const body = (action: string) => ({ agentId: 'b', action })
  const released = async (): Promise<void> => {
    await world.stage.begun('held')
    world.stage.release('held')
  }

  it('answers POST /tasks with the task that has ended, else with the receipt', async () => {
    const waiting = ask('POST', '/tasks?wait=20s', { body: body('held') })
    await released()
    const ended = await waiting
    expect(ended.statusCode).toBe(200)
    const receipt = taskSubmitted.parse(ended.json())
    expect(receipt).toMatchObject({ state: 'done', position: 0, task: { state: 'done', taskId: receipt.taskId } })
    await submit('b', 'blocker')
    await world.stage.begun('blocker')
    const late = await ask('POST', '/tasks?wait=50ms', { body: body('x') })
    expect(late.statusCode).toBe(202)
    expect(taskSubmitted.parse(late.json())).toMatchObject({ state: 'queued', position: 1 })
    expect(taskSubmitted.parse(late.json()).task).toBeUndefined()
    errorIn(await ask('POST', '/tasks?wait=301', { body: body('x') }), 400, 'error')
  })

  it('repeats the answer of a key, however long either waits', async () => {
    const headers = { 'idempotency-key': 'waited' }
    const waiting = ask('POST', '/tasks?wait=20', { body: body('held'), headers })
    await released()
    const { taskId } = taskSubmitted.parse((await waiting).json())
    const again = await ask('POST', '/tasks', { body: body('held'), headers })
    expect(again.json<{ readonly taskId: string }>().taskId).toBe(taskId)
    const ended = await ask('POST', '/tasks?wait=5', { body: body('held'), headers })
    expect(taskSubmitted.parse(ended.json())).toMatchObject({ taskId, task: { state: 'done' } })
  })

  it('answers GET of a task and of a run when it has ended, or at the end of the wait', async () => {
    const id = await hold()
    const task = ask('GET', `/tasks/${id}?wait=20`)
    const run = ask('GET', `/api/v1/runs/${id}?wait=20`)
    expect((await ask('GET', `/tasks/${id}?wait=0.05`)).json()).toMatchObject({ state: 'running' })
    world.stage.release('held')
    expect((await task).json()).toMatchObject({ state: 'done' })
    expect((await run).json()).toMatchObject({ status: 'success' })
    for (const path of [`/tasks/${id}`, `/api/v1/runs/${id}`])
      expect((await ask('GET', `${path}?wait=60`)).statusCode).toBe(200)
    errorIn(await ask('GET', '/tasks/tsk_none?wait=60'), 404, 'not_found')
  })

  it('of one caller ends without that of another', async () => {
    const id = await hold()
    const first = world.live.waiters.ended(runId(id))
    first.give()
    const second = world.live.waiters.ended(runId(id))
    first.give()
    world.stage.release('held')
    await second.promise
  })

  it('ends when the node shuts down, also for requests that come later', async () => {
    const id = await hold()
    const waiting = ask('GET', `/tasks/${id}?wait=60`)
    await expect.poll(() => waits.open, { interval: 5 }).toBe(1)
    world.live.waiters.rejectAll()
    expect((await waiting).json()).toMatchObject({ state: 'running' })
    expect((await ask('GET', `/tasks/${id}?wait=60`)).json()).toMatchObject({ state: 'running' })
    expect(waits.open).toBe(0)
  })

  it('asks the database once, however long it takes', async () => {
    const id = await hold()
    const { database } = world.live.engine.ports
    const texts: string[] = []
    world.live.change({
      ports: {
        ...world.live.engine.ports,
        database: {
          ...database,
          query: (text, params) => {
            texts.push(text)
            return database.query(text, params)
          },
        },
      },
    })
    const waiting = ask('GET', `/tasks/${id}?wait=20`)
    await expect.poll(() => waits.open, { interval: 5 }).toBe(1)
    world.stage.release('held')
    expect((await waiting).json()).toMatchObject({ state: 'done' })
    expect(texts.filter((text) => text.includes('from run'))).toHaveLength(1)
  })
})

describe('GET /scheduler/stats', () => {
  it('begins with nothing', async () => {
    const { queue, metrics } = await world.client.stats()
    expect(queue).toEqual({ totalQueued: 0, totalInflight: 0, agents: {} })
    expect(metrics).toEqual({
      ...{ tasksSubmitted: 0, tasksCompleted: 0, tasksFailed: 0, tasksCancelled: 0, tasksRejected: 0 },
      ...{ tasksExpired: 0, dispatchCount: 0, dispatchLatencyTotalMs: 0, avgDispatchLatencyMs: 0, agents: {} },
    })
  })

  it('counts each task once, by agent and in all, and adds up', async () => {
    await hold()
    const gone = await submit('b', 'gone')
    for (const action of ['1', '2', '3']) await submit('a', action)
    const submittedBy = Date.now()
    errorIn(await ask('POST', '/tasks', { body: { agentId: 'a', action: '4' } }), 429, 'queue_full')
    expect((await world.client.stats()).queue).toEqual({
      ...{ totalQueued: 4, totalInflight: 1 },
      agents: { a: { queued: 3, inflight: 1 }, b: { queued: 1, inflight: 0 } },
    })
    await ask('POST', `/tasks/${gone}/cancel`)
    expect((await world.client.stats()).queue).toMatchObject({ totalQueued: 3, totalInflight: 1 })
    const late = await submit('b', 'late', { deadline: new Date(Date.now() + 400).toISOString() })
    expect((await world.client.until(late, 'failed')).error).toBe('deadline exceeded while queued')
    const { metrics, queue } = await world.client.stats()
    const a = { submitted: 4, completed: 0, failed: 0, cancelled: 0, rejected: 1, expired: 0 }
    const b = { submitted: 2, completed: 0, failed: 0, cancelled: 1, rejected: 0, expired: 1 }
    expect(metrics.agents).toEqual({ a, b })
    expect(metrics).toMatchObject({ tasksSubmitted: 6, tasksCancelled: 1, tasksRejected: 1, tasksExpired: 1 })
    expect(metrics).toMatchObject({ tasksFailed: 0, dispatchCount: 1 })
    expect(queue).toMatchObject({ totalQueued: 3, totalInflight: 1 })
    const queuedFor = Date.now() - submittedBy
    world.stage.open()
    await expect.poll(async () => (await world.client.stats()).metrics.tasksCompleted).toBe(4)
    const after = (await world.client.stats()).metrics
    expect(after).toMatchObject({ tasksSubmitted: 6, dispatchCount: 4 })
    expect(after.agents['a']).toEqual({ ...a, completed: 4 })
    // The three that waited for the slot waited at least from their submission until it was free.
    expect(after.dispatchLatencyTotalMs).toBeGreaterThanOrEqual(3 * (queuedFor - 20))
    expect(after.avgDispatchLatencyMs).toBeCloseTo(after.dispatchLatencyTotalMs / 4)
  })

  it("outlives tasks and history, counts nothing twice, and is nobody else's", async () => {
    world.stage.open()
    const ids = [await submit('a', '1'), await submit('b', '2')]
    for (const id of ids) await world.client.until(id, 'done')
    const before = (await world.client.stats()).metrics
    // This one is counted by nobody before its history goes.
    await world.client.until(await submit('a', '3'), 'done')
    const { ports } = world.live.engine
    await ageHistory(ports.database)
    await ports.database.query(
      `update run set created_at = created_at - interval '1 day', finished_at = finished_at - interval '1 day'
        where state is not null`,
      [],
    )
    await createRetention(ports).pass()
    await createRetention(ports).pass()
    expect(await countRuns(world)).toBe(0)
    errorIn(await ask('GET', `/tasks/${ids[0] ?? ''}`), 404, 'not_found')
    expect((await world.client.list()).tasks).toEqual([])
    const { metrics } = await world.client.stats()
    expect(metrics).toMatchObject({ tasksSubmitted: before.tasksSubmitted + 1, tasksCompleted: 3, dispatchCount: 3 })
    expect(metrics.agents['a']).toMatchObject({ submitted: 2, completed: 2 })
    const others = await world.client.stats({ as: 'stranger' })
    expect(others).toMatchObject({ queue: { agents: {} }, metrics: { tasksSubmitted: 0, agents: {} } })
  })

  it('counts a task that is tried again once, with its first start', async () => {
    const flaky = await createTasksWorld(
      {},
      {
        flaky: ({ attempt }) => {
          if (attempt === 1) throw new Error('not yet')
          return 'done'
        },
      },
    )
    try {
      const policy = { max_retries: 1, strategy: 'fixed', base_ms: 600, jitter: 0 }
      const { taskId } = await flaky.client.submit({ agentId: 'flaky', action: 'x', retry_policy: policy })
      await flaky.client.until(taskId, 'queued')
      const waiting = await flaky.client.stats()
      expect(waiting.queue).toMatchObject({ totalQueued: 1, totalInflight: 0 })
      expect(waiting.metrics).toMatchObject({ tasksSubmitted: 1, tasksFailed: 0, dispatchCount: 1 })
      await flaky.client.until(taskId, 'done')
      const { metrics } = await flaky.client.stats()
      expect(metrics).toMatchObject({ tasksSubmitted: 1, tasksCompleted: 1, tasksFailed: 0, dispatchCount: 1 })
      // What it waited before it was tried again is no time in the queue.
      expect(metrics.dispatchLatencyTotalMs).toBe(waiting.metrics.dispatchLatencyTotalMs)
    } finally {
      await flaky.close()
    }
  })
})

describe('the time to live of a task', () => {
  it('begins with its end, and is another one after a reload', async () => {
    const held = await hold()
    const gone = await submit('a', 'gone')
    await ask('POST', `/tasks/${gone}/cancel`)
    expect((await world.client.get(gone)).state).toBe('cancelled')
    world.reload({ tasks: { result_ttl_seconds: 1 } })
    await expect.poll(async () => (await ask('GET', `/tasks/${gone}`)).statusCode, { timeout: 5_000 }).toBe(404)
    errorIn(await ask('POST', `/tasks/${gone}/cancel`), 404, 'not_found')
    expect((await world.client.list()).tasks.map((task) => task.taskId)).toEqual([held])
    expect((await world.client.list('?state=cancelled')).count).toBe(0)
    expect((await world.client.stats()).metrics.tasksCancelled).toBe(1)
  })
})
