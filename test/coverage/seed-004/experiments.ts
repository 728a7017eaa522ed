import { expect } from 'vitest'
import type { TaskStats, TaskView } from '../../../src/features/tasks/schema.ts'
import { startInstance, type BrowserInstance } from '../../http-scenarios/browser-instance.ts'
import type { RawAnswer, Remote } from '../../http-scenarios/world.ts'
import { json, startPeer, type Answering, type Peer } from '../../platform/outbound/peer.ts'
import { eventually } from '../../scenarios/support.ts'
import { onceAlone } from '../experiment.ts'

export const post = (node: Remote, target: string, body?: unknown): Promise<RawAnswer> =>
  node.raw('POST', target, { body })

/** Hands a task in and answers with its id. */
export async function submit(node: Remote, body: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await post(node, '/tasks', { agentId: 'a', tabId: 'tab', ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return String(answer.body['taskId'])
}

export const taskOf = async (node: Remote, id: string): Promise<TaskView> =>
  (await node.raw('GET', `/tasks/${id}`)).body as unknown as TaskView

export const statsOf = async (node: Remote): Promise<TaskStats> =>
  (await node.raw('GET', '/scheduler/stats')).body as unknown as TaskStats

export const over = (node: Remote, id: string): Promise<TaskView> =>
  eventually(async () => {
    const task = await taskOf(node, id)
    expect(task.completedAt, task.state).not.toBeNull()
    return task
  })

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString()

/** An instance whose answer depends on the action; `held` and `slow` are never answered. */
const acting: Answering = ({ body }, response) => {
  const { kind } = JSON.parse(body) as { readonly kind: string }
  if (kind === 'broken') response.writeHead(500).end('out of order')
  else if (kind === 'missing') json(response, 200, { success: false, error: 'element not found' })
  else if (kind !== 'held' && kind !== 'slow') json(response, 200, { success: true, did: kind })
}

const bodyIn = ({ heard }: Peer, index: number): Readonly<Record<string, unknown>> =>
  JSON.parse(heard[index]?.body ?? '{}') as Readonly<Record<string, unknown>>

/** Tasks that end in every way, one after the other, with a receiver for callbacks that fails first. */
export const life = onceAlone(async ({ start }) => {
  const instance = await startPeer(acting)
  const hook = await startPeer((_, response, n) => json(response, n === 1 ? 503 : 200, {}))
  try {
    const node = await start({
      ...{ tasks: { executor: { instances: { tab: instance.url } } } },
      outbound: { allow_hosts: [`127.0.0.1:${hook.port}`] },
    })
    const callbackUrl = `${hook.url}/done`
    const type = { action: 'type', ref: 'e12', params: { text: 'Ann' }, callbackUrl }
    const answer = await post(node, '/tasks', { agentId: 'a', tabId: 'tab', ...type })
    const done = await over(node, String(answer.body['taskId']))
    const acted = { url: instance.heard[0]?.url, method: instance.heard[0]?.method, body: bodyIn(instance, 0) }
    const held = await submit(node, { action: 'held' })
    const running = await eventually(async () => {
      const task = await taskOf(node, held)
      expect([task.state, instance.heard.length]).toEqual(['running', 2])
      return task
    })
    const cancel = await post(node, `/tasks/${held}/cancel`)
    const cancelled = await over(node, held)
    await eventually(() => expect(instance.dropped()).toBe(1))
    const again = await post(node, `/tasks/${held}/cancel`)
    const broken = await over(node, await submit(node, { action: 'broken', agentId: 'b' }))
    const missing = await over(node, await submit(node, { action: 'missing' }))
    const unknown = await over(node, await submit(node, { action: 'click', tabId: 'unknown' }))
    const deadline = inMs(3_000)
    const late = await over(node, await submit(node, { action: 'slow', deadline }))
    await eventually(() => expect(instance.dropped()).toBe(2))
    await eventually(() => expect(hook.heard).toHaveLength(2))
    const list = await node.raw('GET', '/tasks?agentId=a')
    const stats = await statsOf(node)
    const log = await eventually(() => {
      const lines = node.served.log()
      expect(lines.map(({ msg }) => msg)).toContain('A message was delivered')
      return lines
    })
    const tabs = await post(node, '/tabs/tab/action', { kind: 'click' })
    const bare = await node.raw('POST', '/tasks', { key: '', body: { agentId: 'a', action: 'x' } })
    const refused = await Promise.all(
      ['ftp://example.com/', 'file:///etc/passwd', 'http://localhost:3000/hook'].map((callback) =>
        post(node, '/tasks', { agentId: 'a', action: 'x', callbackUrl: callback }),
      ),
    )
    return {
      ...{ answer, done, acted, running, cancel, cancelled, again, broken, missing, unknown, late, deadline },
      ...{ list, stats, log, tabs, bare, refused, hooked: hook.heard, after: await taskOf(node, done.taskId) },
    }
  } finally {
    await Promise.all([instance.close(), hook.close()])
  }
})

const LIMITS = { max_queue: 6, max_per_agent: 3, max_inflight: 4, max_per_agent_inflight: 2, result_ttl_seconds: 300 }

async function startHeld(node: Remote, browser: BrowserInstance, agentId: string): Promise<void> {
  for (const n of [1, 2]) await submit(node, { agentId, action: `${agentId}${n}` })
  await browser.begun(`${agentId}2`)
}

/** A queue filled to each of its limits, then changed at run time, then emptied. */
export const limits = onceAlone(async ({ start }) => {
  const browser = await startInstance()
  try {
    const node = await start({ tasks: { ...LIMITS, executor: { instances: { tab: browser.url } } } })
    await startHeld(node, browser, 'a')
    const items = Array.from({ length: 4 }, (_, n) => ({ action: `batch ${n}`, tabId: 'tab' }))
    const batch = await post(node, '/tasks/batch', { agentId: 'a', tasks: items })
    await startHeld(node, browser, 'b')
    const third = await submit(node, { agentId: 'b', action: 'b3' })
    for (const action of ['b4', 'b5']) await submit(node, { agentId: 'b', action })
    const queued = await taskOf(node, third)
    const perAgent = await post(node, '/tasks', { agentId: 'b', action: 'b6', tabId: 'tab' })
    const inAll = await post(node, '/tasks', { agentId: 'c', action: 'c1', tabId: 'tab' })
    const full = await statsOf(node)
    const rejected = await node.raw('GET', '/tasks?state=rejected')
    const cancel = await post(node, `/tasks/${third}/cancel`)
    const deadline = inMs(3_000)
    const expired = await over(node, await submit(node, { agentId: 'c', action: 'late', deadline }))
    const change = (tasks: object): Promise<RawAnswer> => node.raw('PATCH', '/api/v1/config', { body: { tasks } })
    await change({ max_queue: 20, max_per_agent: 10, max_inflight: 5, result_ttl_seconds: 1 })
    const raised = (await statsOf(node)).config
    for (const action of ['b7', 'b8']) await submit(node, { agentId: 'b', action })
    const waiting = (await statsOf(node)).queue.agents['b']?.queued
    await submit(node, { agentId: 'c', action: 'c2' })
    await browser.begun('c2')
    await change({ max_inflight: 0 })
    const unchanged = (await statsOf(node)).config
    const most = browser.most()
    browser.open()
    const evicted = await eventually(async () => {
      const answer = await node.raw('GET', `/tasks/${expired.taskId}`)
      expect(answer.status).toBe(404)
      return answer
    })
    const log = node.served.log()
    return {
      batch,
      queued,
      perAgent,
      inAll,
      full,
      rejected,
      cancel,
      expired,
      deadline,
      raised,
      waiting,
      unchanged,
      most,
      evicted,
      log,
    }
  } finally {
    browser.open()
    await browser.close()
  }
})

/** One slot, held; what waits starts in its order. */
export const order = onceAlone(async ({ start }) => {
  const browser = await startInstance()
  try {
    const node = await start({ lanes: { task: 1 }, tasks: { executor: { instances: { tab: browser.url } } } })
    await submit(node, { action: 'held' })
    await browser.begun('held')
    const ids: string[] = []
    for (const [action, priority] of [
      ['five', 5],
      ['one', 1],
      ['zero', 0],
      ['one again', 1],
    ] as const)
      ids.push(await submit(node, { action, priority }))
    browser.open()
    for (const id of ids) await over(node, id)
    return browser.acted.map(({ kind }) => kind)
  } finally {
    browser.open()
    await browser.close()
  }
})

/** A manager that lists one tab; another tab is not on its list. */
export const managed = onceAlone(async ({ start }) => {
  const instance = await startPeer(acting)
  const manager = await startPeer(({ url }, response) => {
    if (url === '/instances/tabs') json(response, 200, [{ id: 'tab', instanceId: 'i1', port: instance.port }])
    else if (url === '/instances') json(response, 200, [{ id: 'i1', port: String(instance.port), status: 'running' }])
    else json(response, 404, {})
  })
  try {
    const node = await start({ tasks: { executor: { manager_url: manager.url } } })
    const listed = await over(node, await submit(node, { action: 'click' }))
    const other = await over(node, await submit(node, { action: 'click', tabId: 'other' }))
    return { listed, other, acted: instance.heard.map(({ url }) => url) }
  } finally {
    await Promise.all([instance.close(), manager.close()])
  }
})

/** A server is stopped while one task runs and one waits, and another is started. */
export const restarted = onceAlone(async ({ start }) => {
  const browser = await startInstance()
  const config = {
    ...{ lanes: { task: 1 }, server: { drain_grace_seconds: 1 } },
    tasks: { executor: { instances: { tab: browser.url } } },
  }
  try {
    const before = await start(config)
    const deadline = inMs(60_000)
    const running = await submit(before, { action: 'held', deadline })
    await browser.begun('held')
    const waiting = await submit(before, { action: 'waits', deadline })
    await before.stop()
    browser.open()
    const after = await start(config)
    return { stopped: await over(after, running), recovered: await over(after, waiting), dropped: browser.dropped() }
  } finally {
    browser.open()
    await browser.close()
  }
})
