import { afterEach, describe, expect, it } from 'vitest'
import { agentId } from '../../src/domain/ids.ts'
import type { AttemptReport } from '../../src/executors/executor.ts'
import { createTabAction } from '../../src/executors/tab-action/execute.ts'
import { createInstanceFinder, type InstanceLookup } from '../../src/executors/tab-action/instances.ts'
import { createOutboundGuard } from '../../src/platform/outbound/resolve.ts'
import { createOutbound } from '../../src/platform/outbound/send.ts'
import { json, startPeer, type Answering, type Peer } from '../platform/outbound/peer.ts'
import { aContext, anAttempt } from './suite.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function peer(answer: Answering): Promise<Peer> {
  const started = await startPeer(answer)
  ends.push(started.close)
  return started
}

/** Nothing is open: the operator's own addresses are reached all the same. */
function performer(place: Partial<InstanceLookup>): (payload: unknown) => Promise<AttemptReport> {
  const outbound = createOutbound(
    createOutboundGuard({ settings: () => ({ allowHosts: [], allowLoopback: false }), closed: () => [] }),
  )
  ends.push(outbound.close)
  const run = createTabAction({
    send: outbound.send,
    find: createInstanceFinder(outbound.send, () => performance.now()),
    lookup: () => ({ instances: {}, managerUrl: null, token: null, ...place }),
  })
  return (payload) => run(anAttempt({ payload, agentId: agentId('agent-1'), trigger: 'task' }), aContext())
}

const fine: Answering = (_, response) => json(response, 200, { success: true, result: { clicked: true } })
const task = { agentId: 'agent-1', action: 'click', tabId: 'tab_1', ref: 'e5', selector: '#go', params: { text: 'hi' } }

describe('an action', () => {
  it('is sent to the instance of its tab', async () => {
    const instance = await peer(fine)
    const report = await performer({ instances: { tab_1: `${instance.url}/` }, token: 'tok' })(task)
    expect(report).toEqual({ outcome: { kind: 'succeeded' }, output: { success: true, result: { clicked: true } } })
    const [heard] = instance.heard
    expect(heard).toMatchObject({ method: 'POST', url: '/tabs/tab_1/action' })
    expect(JSON.parse(heard?.body ?? '')).toEqual({ kind: 'click', ref: 'e5', selector: '#go', text: 'hi' })
    expect(heard?.headers).toMatchObject({
      ...{ 'x-agent-id': 'agent-1', 'x-pinchtab-source': 'scheduler', 'x-pinchtab-tab-id': 'tab_1' },
      ...{ authorization: 'Bearer tok', 'content-type': 'application/json' },
    })
  })

  it('has no parameter that says what it does or to what', async () => {
    const instance = await peer(fine)
    const params = { kind: 'evil', ref: 'x', tabId: 'other', selector: 'y', text: 'kept', deep: { kind: 'kept' } }
    await performer({ instances: { '*': instance.url } })({ action: 'type', tabId: 'tab_1', params })
    expect(JSON.parse(instance.heard[0]?.body ?? '')).toEqual({ kind: 'type', text: 'kept', deep: { kind: 'kept' } })
    expect(instance.heard[0]?.headers.authorization).toBeUndefined()
  })

  it('cannot leave its path or its headers by the name of its tab', async () => {
    const instance = await peer(fine)
    const tabId = '../admin?x\r\nX-Evil: 1/ü'
    await performer({ instances: { '*': instance.url } })({ action: 'click', tabId })
    expect(instance.heard[0]?.url).toBe(`/tabs/${encodeURIComponent(tabId)}/action`)
    expect(instance.heard[0]?.headers['x-evil']).toBeUndefined()
  })

  it.each<[string, Answering, string, object]>([
    [
      '500',
      (_, r) => r.writeHead(500).end('broken\n'),
      'executor returned 500: broken',
      { errorCode: 'executor_http_5xx' },
    ],
    [
      '404',
      (_, r) => json(r, 404, { error: 'no tab' }),
      'executor returned 404: {"error":"no tab"}',
      { errorCode: 'executor_http_4xx' },
    ],
    [
      'success: false',
      (_, r) => json(r, 200, { success: false, error: 'element not found' }),
      'element not found',
      { errorCode: 'agent_error' },
    ],
    [
      'success: false without words',
      (_, r) => json(r, 200, { success: false }),
      '{"success":false}',
      { errorCode: 'agent_error' },
    ],
  ])('that ends with %s fails with those words', async (_, answer, words, outcome) => {
    const instance = await peer(answer)
    const report = await performer({ instances: { tab_1: instance.url } })(task)
    expect(report).toMatchObject({ outcome: { kind: 'failed', ...outcome }, errorMessage: words })
  })

  it('without a tab fails, and nobody is called', async () => {
    const manager = await peer(fine)
    const report = await performer({ managerUrl: manager.url })({ action: 'click' })
    expect(report).toMatchObject({
      outcome: { errorCode: 'tab_missing' },
      errorMessage: 'tabId is required for execution',
    })
    expect(manager.heard).toHaveLength(0)
  })

  it('of a dead instance fails with what went wrong', async () => {
    const gone = await startPeer(fine)
    await gone.close()
    const report = await performer({ instances: { tab_1: gone.url } })(task)
    expect(report.outcome).toMatchObject({ errorCode: 'network' })
    expect(report.errorMessage).toMatch(/^executor request failed: .*ECONNREFUSED/)
  })
})

describe('the instance of a tab', () => {
  const managing =
    (tabs: unknown, instances: unknown = []): Answering =>
    (heard, response, n) => {
      if (heard.url === '/instances/tabs') json(response, 200, tabs)
      else if (heard.url === '/instances') json(response, 200, instances)
      else fine(heard, response, n)
    }

  it('is where the manager says, asked once for many, with the token', async () => {
    const instance = await peer(fine)
    const manager = await peer(
      managing([{ id: 'tab_1', instanceId: 'i1', url: 'https://page.example/', port: instance.port }]),
    )
    const perform = performer({ managerUrl: manager.url, token: 'tok' })
    await Promise.all(Array.from({ length: 10 }, () => perform(task)))
    expect(instance.heard).toHaveLength(10)
    expect(manager.heard.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/instances/tabs', 'Bearer tok'],
    ])
  })

  it('is found by the list of instances when tabs are listed with their instance alone', async () => {
    const instance = await peer(fine)
    const tabs = { tabs: [{ id: 'tab_1', instanceId: 'i1', url: 'https://page.example/', title: 'A page' }] }
    const manager = await peer(managing(tabs, [{ id: 'i1', port: String(instance.port), status: 'running' }]))
    expect((await performer({ managerUrl: manager.url })(task)).outcome.kind).toBe('succeeded')
    expect(instance.heard).toHaveLength(1)
  })

  it.each<[string, Answering]>([
    ['knows the tab and not where it is', managing([{ id: 'tab_1' }])],
    ['knows the instance and not where it is', managing([{ id: 'tab_1', instanceId: 'i1' }])],
    [
      'keeps no list',
      (heard, response, n) => (heard.method === 'GET' ? json(response, 404, {}) : fine(heard, response, n)),
    ],
  ])('is the manager itself when it %s', async (_, answer) => {
    const manager = await peer(answer)
    expect((await performer({ managerUrl: manager.url })(task)).outcome.kind).toBe('succeeded')
    expect(manager.heard.at(-1)?.url).toBe('/tabs/tab_1/action')
  })

  it.each<[string, Answering, string, boolean]>([
    ['answers 500', (_, r) => json(r, 500, {}), 'could not resolve tab "tab_1": the manager answered 500', true],
    ['answers 401', (_, r) => json(r, 401, {}), 'could not resolve tab "tab_1": the manager answered 401', false],
    [
      'answers with something else',
      (_, r) => json(r, 200, 5),
      'could not resolve tab "tab_1": the manager did not answer with a list of tabs',
      true,
    ],
    [
      'lists others',
      managing([{ id: 'other', port: 1 }]),
      'could not resolve tab "tab_1": the manager does not list it',
      false,
    ],
    ['lists none', managing({ tabs: [] }), 'could not resolve tab "tab_1": the manager does not list it', false],
  ])('cannot be found when the manager %s', async (_, answer, words, retryable) => {
    const manager = await peer(answer)
    const report = await performer({ managerUrl: manager.url })(task)
    expect(report).toMatchObject({ outcome: { errorCode: 'tab_unresolved', retryable }, errorMessage: words })
  })

  it('is looked for again when it was opened after the last list', async () => {
    const instance = await peer(fine)
    const tabs: unknown[] = [{ id: 'other', port: instance.port }]
    const manager = await peer(managing(tabs))
    const perform = performer({ managerUrl: manager.url })
    expect((await perform({ ...task, tabId: 'other' })).outcome.kind).toBe('succeeded')
    tabs.push({ id: 'tab_1', port: instance.port })
    expect((await perform(task)).outcome.kind).toBe('succeeded')
    expect(manager.heard.map(({ url }) => url)).toEqual(['/instances/tabs', '/instances/tabs'])
  })

  it('cannot be found when nobody has said where', async () => {
    const report = await performer({})(task)
    expect(report.outcome).toMatchObject({ errorCode: 'tab_unresolved', retryable: false })
    expect(report.errorMessage).toMatch(/^could not resolve tab "tab_1": neither an instance/)
  })

  it('cannot be found when the manager is gone', async () => {
    const gone = await startPeer(fine)
    await gone.close()
    expect((await performer({ managerUrl: gone.url })(task)).errorMessage).toMatch(
      /^could not resolve tab "tab_1": .*ECONNREFUSED/,
    )
  })
})
