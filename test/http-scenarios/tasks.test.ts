import { writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import type { TaskReceipt, TaskStats, TaskView } from '../../src/features/tasks/schema.ts'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { eventually, nothingFor } from '../scenarios/support.ts'
import { startInstance, type BrowserInstance } from './browser-instance.ts'
import { scenario, type RawAnswer, type Remote, type World } from './world.ts'

// Tasks as somebody uses them who has PinchTab: a server, a browser instance, a client that knows only the façade.

interface Setting {
  readonly node: Remote
  readonly browser: BrowserInstance
}

/** A server whose tasks are performed by an instance that holds each until it is let go. */
async function withBrowser(
  world: World,
  config: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  play: (setting: Setting) => Promise<void>,
): Promise<void> {
  const browser = await startInstance()
  try {
    const tasks = { ...config['tasks'], executor: { instances: { tab: browser.url } } }
    await play({ node: await world.start({ ...config, tasks }), browser })
  } finally {
    browser.open()
    await browser.close()
  }
}

const post = (node: Remote, body: object, target = '/tasks'): Promise<RawAnswer> => node.raw('POST', target, { body })

async function submit(node: Remote, agentId: string, action: string, more: object = {}): Promise<string> {
  const answer = await post(node, { agentId, action, tabId: 'tab', ...more })
  expect([answer.status, answer.body]).toMatchObject([202, { taskId: expect.any(String) as string }])
  return (answer.body as unknown as TaskReceipt).taskId
}

const get = async (node: Remote, id: string): Promise<TaskView> =>
  (await node.raw('GET', `/tasks/${id}`)).body as unknown as TaskView
const stats = async (node: Remote): Promise<TaskStats> =>
  (await node.raw('GET', '/scheduler/stats')).body as unknown as TaskStats
const ended = (node: Remote, id: string): Promise<TaskView> =>
  eventually(async () => {
    const task = await get(node, id)
    if (task.completedAt === null) throw new Error(`${id} is ${task.state}`)
    return task
  })
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()

describe.concurrent('33: the order of tasks', () => {
  scenario('of one agent: the lower priority first, equals as they came', (world) =>
    withBrowser(world, { lanes: { task: 1 } }, async ({ node, browser }) => {
      await submit(node, 'a', 'held')
      await browser.begun('held')
      const ids = [
        ...[await submit(node, 'a', 'five', { priority: 5 }), await submit(node, 'a', 'one', { priority: 1 })],
        ...[await submit(node, 'a', 'zero'), await submit(node, 'a', 'one again', { priority: 1 })],
      ]
      browser.open()
      for (const id of ids) expect(await ended(node, id)).toMatchObject({ state: 'done' })
      expect(browser.acted.map(({ kind }) => kind)).toEqual(['held', 'zero', 'one', 'one again', 'five'])
    }),
  )

  scenario(
    'that reach a browser, of two agents, one with 3 and one with 1: the first two are of different agents',
    (world) =>
      withBrowser(world, { lanes: { task: 2 }, tasks: { max_inflight: 2 } }, async ({ node, browser }) => {
        await submit(node, 'x', 'held one')
        await submit(node, 'x', 'held two')
        await browser.begun('held two')
        for (const action of ['a1', 'a2', 'a3']) await submit(node, 'a', action)
        await submit(node, 'b', 'b1')
        browser.release('held one')
        browser.release('held two')
        await eventually(() => expect(browser.acted).toHaveLength(4))
        expect(
          browser.acted
            .slice(2)
            .map(({ agent }) => agent)
            .toSorted(),
        ).toEqual(['a', 'b'])
      }),
  )
})

describe.concurrent('34: a queue that is full', () => {
  scenario('three may wait, the fourth is refused with its id and listed as rejected', (world) =>
    withBrowser(world, { lanes: { task: 1 }, tasks: { max_per_agent: 3 } }, async ({ node, browser }) => {
      await submit(node, 'a', 'held')
      await browser.begun('held')
      const body = { agentId: 'a', action: 'x', tabId: 'tab' }
      const answers = await Promise.all(Array.from({ length: 4 }, () => post(node, body)))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 202, 429])
      const full = answers.find(({ status }) => status === 429)
      const details = full?.body['details'] as Readonly<Record<string, unknown>>
      expect(full?.body).toMatchObject({ code: 'queue_full', retryable: true })
      expect(Number(full?.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(details).toMatchObject({ agentId: 'a', queued: 3, maxQueue: 1_000, maxPerAgent: 3 })
      const { body: list } = await node.raw('GET', '/tasks?agentId=a&state=rejected')
      expect(list).toMatchObject({ count: 1, tasks: [{ taskId: details['taskId'], state: 'rejected' }] })
    }),
  )
})

describe.concurrent('35: a deadline', () => {
  scenario('that the instance does not keep: failed at the deadline, and the connection is dropped', (world) =>
    withBrowser(world, {}, async ({ node, browser }) => {
      const deadline = inMs(900)
      const id = await submit(node, 'a', 'slow', { deadline })
      const task = await ended(node, id)
      expect(task).toMatchObject({ state: 'failed', error: 'deadline exceeded while running' })
      const late = Date.parse(task.completedAt ?? '') - Date.parse(deadline)
      expect(late).toBeGreaterThanOrEqual(0)
      expect(late).toBeLessThan(1_500)
      await eventually(() => expect(browser.dropped()).toBe(1))
      expect((await stats(node)).metrics).toMatchObject({ tasksFailed: 1, tasksExpired: 0 })
    }),
  )

  scenario('that passes in the queue: `deadline exceeded while queued`', (world) =>
    withBrowser(world, { lanes: { task: 1 } }, async ({ node, browser }) => {
      await submit(node, 'a', 'held')
      await browser.begun('held')
      const deadline = inMs(700)
      const task = await ended(node, await submit(node, 'a', 'late', { deadline }))
      expect(task).toMatchObject({ state: 'failed', error: 'deadline exceeded while queued', completedAt: deadline })
      expect((await stats(node)).metrics).toMatchObject({ tasksFailed: 0, tasksExpired: 1 })
      browser.open()
      await nothingFor(100)
      expect(browser.acted.map(({ kind }) => kind)).toEqual(['held'])
    }),
  )
})

describe.concurrent('36: cancelling a task that runs', () => {
  scenario('200 at once, the instance sees it, one callback, counted once, limits hold', async (world) => {
    const hook = await startPeer((_, response) => json(response, 200, {}))
    const config = {
      tasks: { max_per_agent_inflight: 1 },
      outbound: { allow_hosts: [`127.0.0.1:${hook.port}`] },
    }
    await withBrowser(world, config, async ({ node, browser }) => {
      const callbackUrl = `${hook.url}/done`
      const id = await submit(node, 'a', 'running', { callbackUrl })
      const next = await submit(node, 'a', 'next')
      await browser.begun('running')
      const askedAt = performance.now()
      const answer = await node.raw('POST', `/tasks/${id}/cancel`)
      // At once: half of the 5 s that an instance has to give up is left for a busy machine.
      expect(performance.now() - askedAt).toBeLessThan(2_500)
      expect([answer.status, answer.body]).toEqual([200, { status: 'cancelled', taskId: id }])
      expect((await get(node, id)).state).toBe('cancelled')
      await eventually(() => expect(browser.dropped()).toBe(1))
      expect((await node.raw('POST', `/tasks/${id}/cancel`)).status).toBe(409)
      await browser.begun('next')
      expect(browser.most()).toBe(1)
      browser.open()
      await ended(node, next)
      await eventually(() => expect(hook.heard).toHaveLength(1))
      await nothingFor(300)
      expect(hook.heard).toHaveLength(1)
      const [heard] = hook.heard
      expect(heard?.headers).toMatchObject({ 'x-pinchtab-event': 'task.completed', 'x-pinchtab-task-id': id })
      expect(heard?.headers['webhook-id']).toBeTruthy()
      expect(JSON.parse(heard?.body ?? '')).toMatchObject({ taskId: id, state: 'cancelled', callbackUrl })
      const { metrics } = await stats(node)
      expect(metrics).toMatchObject({ tasksSubmitted: 2, tasksCancelled: 1, tasksCompleted: 1, tasksFailed: 0 })
    })
    await hook.close()
  })
})

describe.concurrent('37: batches and callbacks', () => {
  scenario('51 are too many; of those for which there is no room, each is told', (world) =>
    withBrowser(world, { lanes: { task: 1 }, tasks: { max_per_agent: 2 } }, async ({ node, browser }) => {
      await submit(node, 'a', 'held')
      await browser.begun('held')
      const of = (count: number) => ({ agentId: 'a', tasks: Array<object>(count).fill({ action: 'x', tabId: 'tab' }) })
      const large = await post(node, of(51), '/tasks/batch')
      expect([large.status, large.body]).toMatchObject([400, { code: 'batch_too_large' }])
      const part = await post(node, of(4), '/tasks/batch')
      expect([part.status, part.body['submitted']]).toEqual([202, 4])
      const items = part.body['tasks'] as readonly { readonly state: string; readonly error?: string }[]
      expect(items.map(({ state }) => state)).toEqual(['queued', 'queued', 'rejected', 'rejected'])
      expect((await stats(node)).metrics).toMatchObject({ tasksSubmitted: 3, tasksRejected: 2 })
    }),
  )

  scenario('a callback to where nobody may call is refused and nothing is stored', async (world) => {
    const node = await world.start({ outbound: { allow_hosts: ['127.0.0.1:9', '10.1.2.3:80'] } })
    const forbidden = [
      ...['http://127.0.0.1/', 'http://localhost:1/', 'http://[::1]/', 'http://2130706433/', 'http://0x7f.1/'],
      ...['http://169.254.169.254/latest', 'http://10.0.0.1/', 'http://192.168.1.1/', 'http://172.16.0.1/'],
      ...['http://[64:ff9b::7f00:1]/', 'http://[::ffff:10.0.0.1]/', 'http://240.0.0.1/', 'http://0.0.0.0/'],
      ...['http://100.64.0.1/', 'http://[fd00::1]/', 'ftp://example.com/', 'http://u:p@example.com/', 'nonsense'],
    ]
    for (const callbackUrl of forbidden) {
      const answer = await post(node, { agentId: 'a', action: 'x', callbackUrl })
      expect([callbackUrl, answer.status, answer.body['code']]).toEqual([callbackUrl, 400, 'error'])
      const batch = await post(node, { agentId: 'a', callbackUrl, tasks: [{ action: 'x' }] }, '/tasks/batch')
      expect([callbackUrl, batch.status]).toEqual([callbackUrl, 400])
    }
    expect((await node.raw('GET', '/tasks')).body).toEqual({ tasks: [], count: 0 })
    for (const callbackUrl of ['http://127.0.0.1:9/hook', 'http://10.1.2.3/'])
      expect((await post(node, { agentId: 'a', action: 'x', callbackUrl })).status).toBe(202)
  })
})

describe.concurrent('what an instance is asked, and what comes of its answers', () => {
  scenario('is the action of the tab, with everything the task has', (world) =>
    withBrowser(world, {}, async ({ node, browser }) => {
      browser.open()
      const params = { text: 'Ann', kind: 'evil', tabId: 'evil', ref: 'evil', selector: 'evil' }
      const id = await submit(node, 'agent-1', 'type', { ref: 'e12', selector: '#name', params })
      expect(await ended(node, id)).toMatchObject({ state: 'done', result: { success: true, did: 'type' } })
      const [acted] = browser.acted
      expect(acted).toMatchObject({ tab: 'tab', agent: 'agent-1' })
      expect(acted?.body).toEqual({ kind: 'type', ref: 'e12', selector: '#name', text: 'Ann' })
      expect(acted?.headers).toMatchObject({ 'x-pinchtab-source': 'scheduler', 'x-pinchtab-tab-id': 'tab' })
    }),
  )

  scenario('a tab nobody names, one nobody knows, and a dead instance are told in words', async (world) => {
    const dead = await startInstance()
    await dead.close()
    const node = await world.start({ tasks: { executor: { instances: { dead: dead.url } } } })
    const errorOf = async (tabId?: string): Promise<string | undefined> =>
      (await ended(node, await submit(node, 'a', 'click', { tabId }))).error
    expect(await errorOf('')).toBe('tabId is required for execution')
    expect(await errorOf('unknown')).toMatch(/^could not resolve tab "unknown": /)
    expect(await errorOf('dead')).toMatch(/^executor request failed: /)
    expect((await stats(node)).metrics).toMatchObject({ tasksSubmitted: 3, tasksFailed: 3 })
  })
})

describe.concurrent('two nodes', () => {
  scenario('share queue, limits and counts: each says the same of both', async (world) => {
    const browser = await startInstance()
    const tasks = { executor: { instances: { tab: browser.url } }, max_inflight: 2, max_per_agent: 3 }
    const [one, two] = [await world.start({ tasks }), await world.start({ tasks })]
    const nodes = [one, two, one, two, one] as const
    for (const [index, node] of nodes.entries()) await submit(node, 'a', `action ${index}`)
    await eventually(() => expect(browser.acted).toHaveLength(2))
    expect((await post(two, { agentId: 'a', action: 'x', tabId: 'tab' })).status).toBe(429)
    for (const node of [one, two]) {
      const { queue, metrics } = await stats(node)
      expect(queue).toEqual({ totalQueued: 3, totalInflight: 2, agents: { a: { queued: 3, inflight: 2 } } })
      expect(metrics).toMatchObject({ tasksSubmitted: 5, tasksRejected: 1, dispatchCount: 2 })
    }
    browser.open()
    await eventually(async () => expect((await stats(one)).metrics.tasksCompleted).toBe(5))
    expect(browser.most()).toBe(2)
    const [ofOne, ofTwo] = [(await stats(one)).metrics, (await stats(two)).metrics]
    expect(ofTwo).toEqual(ofOne)
    expect(ofOne).toMatchObject({ tasksSubmitted: 5, dispatchCount: 5 })
    await browser.close()
  })
})

describe.concurrent('limits', () => {
  scenario('are changed by the file, by SIGHUP and by PATCH, and the counts outlive the server', async (world) => {
    const browser = await startInstance()
    const executor = { instances: { tab: browser.url } }
    const node = await world.start({ tasks: { executor, max_per_agent: 1 }, lanes: { task: 1 } })
    await submit(node, 'a', 'held')
    await browser.begun('held')
    await submit(node, 'a', 'one')
    const isFull = async (): Promise<boolean> =>
      (await post(node, { agentId: 'a', action: 'more', tabId: 'tab' })).status === 429
    expect(await isFull()).toBe(true)
    const write = (limit: number): void =>
      writeFileSync(
        node.file,
        JSON.stringify({ tasks: { executor, max_per_agent: limit }, lanes: { task: 1 }, database: { pool: 4 } }),
      )
    write(2)
    node.served.signal('SIGHUP')
    await eventually(async () => expect((await stats(node)).config.maxPerAgent).toBe(2))
    await submit(node, 'a', 'two')
    expect(await isFull()).toBe(true)
    write(3)
    await eventually(async () => expect((await stats(node)).config.maxPerAgent).toBe(3))
    await submit(node, 'a', 'three')
    const change = { tasks: { max_per_agent: 4, result_ttl_seconds: 61 } }
    expect((await node.raw('PATCH', '/api/v1/config', { body: change })).status).toBe(200)
    await submit(node, 'a', 'four')
    expect((await stats(node)).config).toMatchObject({ maxPerAgent: 4, resultTTL: '1m1s' })
    expect(await isFull()).toBe(true)
    const before = (await stats(node)).metrics
    browser.open()
    await eventually(async () => expect((await stats(node)).metrics.tasksCompleted).toBe(5))
    await node.stop()
    const again = await world.start({ tasks: { executor } })
    const { metrics } = await stats(again)
    expect(metrics).toMatchObject({ tasksSubmitted: 5, tasksCompleted: 5, tasksRejected: before.tasksRejected })
    expect(metrics.agents['a']).toMatchObject({ submitted: 5, completed: 5, rejected: before.tasksRejected })
    await browser.close()
  })
})
