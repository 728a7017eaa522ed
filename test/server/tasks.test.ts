import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { USUAL_SETTINGS } from './support.ts'
import { countRuns, createTasksWorld, errorIn, pointersOf, type TasksWorld } from './tasks-world.ts'

// The façade's section of the surfaces, line by line, as a client of PinchTab's scheduler sees it.

let world: TasksWorld
beforeAll(async () => {
  world = await createTasksWorld()
  world.stage.open()
})
afterAll(() => world.close())

const ask: TasksWorld['live']['ask'] = (...asked) => world.live.ask(...asked)

describe('the token', () => {
  const ROUTES = [
    ['POST', '/tasks'],
    ['GET', '/tasks'],
    ['GET', '/tasks/tsk_1'],
    ['POST', '/tasks/tsk_1/cancel'],
    ['POST', '/tasks/batch'],
    ['GET', '/scheduler/stats'],
  ] as const

  it.each(ROUTES)('is needed for %s %s', async (method, url) => {
    const missing = await ask(method, url, { as: null })
    expect(errorIn(missing, 401, 'missing_token').retryable).toBeUndefined()
    expect(missing.headers['www-authenticate']).toMatch(/^Bearer/)
    errorIn(await ask(method, url, { as: 'nobody' }), 401, 'bad_token')
    errorIn(await ask(method, url, { as: null, headers: { authorization: 'Basic eA==' } }), 401, 'bad_token')
  })

  it('must allow it: who may read does not write', async () => {
    const body = { agentId: 'a', action: 'click' }
    errorIn(await ask('POST', '/tasks', { as: 'viewer', body }), 403, 'forbidden')
    expect((await ask('GET', '/tasks', { as: 'viewer' })).statusCode).toBe(200)
  })
})

describe('POST /tasks', () => {
  it('answers 202 with id, state, position and time, and the task is done', async () => {
    const body = {
      ...{ agentId: 'a', action: 'click', tabId: 'tab-1', selector: '#go', ref: 'e14', params: { x: 1 } },
      ...{ priority: 3, deadline: new Date(Date.now() + 60_000).toISOString() },
    }
    const receipt = await world.client.submit(body)
    expect(receipt).toMatchObject({ taskId: expect.stringMatching(/^tsk_/) as string })
    expect(Object.keys(receipt).toSorted()).toEqual(['createdAt', 'position', 'state', 'taskId'])
    const done = await world.client.until(receipt.taskId, 'done')
    expect(done).toMatchObject({ ...body, taskId: receipt.taskId, state: 'done', createdAt: receipt.createdAt })
    expect(done.result).toBe('click')
    expect(done.latencyMs).toBeGreaterThanOrEqual(0)
    expect(Date.parse(done.completedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(done.startedAt ?? ''))
    expect(done).not.toHaveProperty('error')
    expect(done).not.toHaveProperty('position')
  })

  it('passes over what it does not know, and takes null and nothing for nothing', async () => {
    const odd = { unknown: 1, Priority: 'high', __typename: 'Task', tabId: null, ref: '', params: null, deadline: '' }
    const { taskId } = await world.client.submit({
      agentId: 'a',
      action: 'x',
      ...odd,
      callbackUrl: ' ',
      selector: null,
    })
    const task = await world.client.until(taskId, 'done')
    for (const name of ['unknown', 'tabId', 'ref', 'params', 'selector', 'callbackUrl'])
      expect(task).not.toHaveProperty(name)
    expect(Date.parse(task.deadline ?? '') - Date.parse(task.createdAt)).toBe(60_000)
    expect((await ask('GET', '/tasks?unknown=1&limit=1')).statusCode).toBe(200)
    expect((await ask('POST', `/tasks?trace=1`, { body: { agentId: 'a', action: 'x' } })).statusCode).toBe(202)
  })

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'application/json; charset=utf-8'])(
    'reads JSON that is sent as %s',
    async (type) => {
      const raw = JSON.stringify({ agentId: 'a', action: 'x' })
      await world.client.submit({}, { raw, headers: { 'content-type': type } })
    },
  )

  it('takes anybody as agent, and names them as they are', async () => {
    for (const agentId of ['__proto__', 'Ünïcode 👋', 'a/b?c#d', 'x'.repeat(512)]) {
      const { taskId } = await world.client.submit({ agentId, action: 'x' })
      expect((await world.client.get(taskId)).agentId).toBe(agentId)
      const { tasks } = await world.client.list(`?agentId=${encodeURIComponent(agentId)}`)
      expect(tasks.map((task) => task.taskId)).toEqual([taskId])
      expect((await ask('GET', '/scheduler/stats')).body).toContain(`${JSON.stringify(agentId)}:{"queued":1,`)
    }
  })

  it('does it once for a key, and answers the same again', async () => {
    const body = { agentId: 'a', action: 'once' }
    const headers = { 'idempotency-key': 'once-1' }
    const first = await world.client.submit(body, { headers })
    const again = await world.client.submit(body, { headers })
    expect(again.taskId).toBe(first.taskId)
    expect(again.createdAt).toBe(first.createdAt)
    const other = await ask('POST', '/tasks', { body: { ...body, action: 'other' }, headers })
    errorIn(other, 422, 'idempotency_mismatch')
  })

  const GOOD = { agentId: 'a', action: 'x' }
  it.each([
    [{ action: 'x' }, '/agentId'],
    [{ agentId: 'a' }, '/action'],
    [{ agentId: '', action: 'x' }, '/agentId'],
    [{ agentId: null, action: 'x' }, '/agentId'],
    [{ agentId: 5, action: 'x' }, '/agentId'],
    [{ agentId: 'a', action: ['x'] }, '/action'],
    [{ agentId: 'x'.repeat(513), action: 'x' }, '/agentId'],
    [{ ...GOOD, tabId: 7 }, '/tabId'],
    [{ ...GOOD, selector: {} }, '/selector'],
    [{ ...GOOD, ref: false }, '/ref'],
    [{ ...GOOD, params: [] }, '/params'],
    [{ ...GOOD, params: 'x' }, '/params'],
    [{ ...GOOD, priority: 'high' }, '/priority'],
    [{ ...GOOD, priority: 1.5 }, '/priority'],
    [{ ...GOOD, priority: 2 ** 40 }, '/priority'],
    [{ ...GOOD, deadline: 'soon' }, '/deadline'],
    [{ ...GOOD, deadline: true }, '/deadline'],
    [{ ...GOOD, deadline: '2020-01-01T00:00:00Z' }, '/deadline'],
    [{ ...GOOD, callbackUrl: 5 }, '/callbackUrl'],
    [{ ...GOOD, retry_policy: { max_retries: -1 } }, '/retry_policy/max_retries'],
  ])('refuses %j and stores nothing', async (body, pointer) => {
    const before = await countRuns(world)
    const told = errorIn(await ask('POST', '/tasks', { body }), 400, 'error')
    expect(pointersOf(told)).toEqual([pointer])
    expect(await countRuns(world)).toBe(before)
  })

  it.each(['', '{', '[]', '"text"', 'null', '5', "{'a':1}", '{"agentId":"a","action":"\\ud83d"}', '\u0000'])(
    'refuses the body %j and stores nothing',
    async (raw) => {
      const before = await countRuns(world)
      errorIn(await ask('POST', '/tasks', { raw }), 400, 'error')
      expect(await countRuns(world)).toBe(before)
    },
  )

  it('refuses more than a mebibyte with 413', async () => {
    const before = await countRuns(world)
    const body = { agentId: 'a', action: 'x', params: { text: 'x'.repeat(1_048_576) } }
    errorIn(await ask('POST', '/tasks', { body }), 413, 'error')
    expect(await countRuns(world)).toBe(before)
  })

  it('asks the guard about callbacks, and keeps those that may be called', async () => {
    const asked: string[] = []
    const { ports } = world.live.engine
    const check = (url: string, purpose: string): Promise<string | null> => {
      asked.push(`${purpose} ${url}`)
      return Promise.resolve(url.includes('127.0.0.1') ? '127.0.0.1 is an address of this machine' : null)
    }
    world.live.change({ ports: { ...ports, outbound: { ...ports.outbound, check } } })
    try {
      const before = await countRuns(world)
      const forbidden = { agentId: 'a', action: 'x', callbackUrl: 'http://127.0.0.1:9/' }
      const told = errorIn(await ask('POST', '/tasks', { body: forbidden }), 400, 'error')
      expect(pointersOf(told)).toEqual(['/callbackUrl'])
      expect(told.error).toContain('an address of this machine')
      expect(await countRuns(world)).toBe(before)
      const callbackUrl = 'https://hooks.example/done'
      const { taskId } = await world.client.submit({ agentId: 'a', action: 'x', callbackUrl })
      expect((await world.client.get(taskId)).callbackUrl).toBe(callbackUrl)
      expect(asked).toEqual(['callback http://127.0.0.1:9/', `callback ${callbackUrl}`])
    } finally {
      world.live.change({ ports })
    }
  })
})

describe('GET /tasks/:id', () => {
  it('answers 404 for what is not there, what is no task and what is of another org', async () => {
    const { taskId } = await world.client.submit({ agentId: 'a', action: 'x' })
    errorIn(await ask('GET', '/tasks/tsk_nobody'), 404, 'not_found')
    errorIn(await ask('GET', `/tasks/${taskId}`, { as: 'stranger' }), 404, 'not_found')
    errorIn(await ask('POST', `/tasks/${taskId}/cancel`, { as: 'stranger' }), 404, 'not_found')
    errorIn(await ask('GET', '/tasks/a/b/c'), 404, 'not_found')
    errorIn(await ask('GET', '/tasks/%zz'), 400, 'error')
  })

  it('says which methods there are', async () => {
    const response = await ask('DELETE', '/tasks/tsk_1')
    errorIn(response, 405, 'method_not_allowed')
    expect(response.headers['allow']).toBe('GET, HEAD')
  })
})

describe('tasks.enabled: false', () => {
  it('answers 404 to everything, whoever asks', async () => {
    const settings = { ...USUAL_SETTINGS, allowedHosts: ['localhost'], tasksEnabled: false }
    world.live.change({ settings: () => settings })
    try {
      const before = await countRuns(world)
      errorIn(await ask('POST', '/tasks', { body: { agentId: 'a', action: 'x' } }), 404, 'not_found')
      errorIn(await ask('POST', '/tasks/batch', { as: null }), 404, 'not_found')
      errorIn(await ask('GET', '/tasks'), 404, 'not_found')
      errorIn(await ask('GET', '/tasks/tsk_1'), 404, 'not_found')
      errorIn(await ask('POST', '/tasks/tsk_1/cancel'), 404, 'not_found')
      errorIn(await ask('GET', '/scheduler/stats'), 404, 'not_found')
      expect(await countRuns(world)).toBe(before)
    } finally {
      world.live.change({ settings: () => ({ ...settings, tasksEnabled: true }) })
    }
  })
})

describe('whoever cannot be served now', () => {
  it('is told to come again while the node goes down', async () => {
    world.live.change({ isDraining: () => true })
    try {
      const response = await ask('POST', '/tasks', { body: { agentId: 'a', action: 'x' } })
      expect(errorIn(response, 503, 'draining').retryable).toBe(true)
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
      expect((await ask('GET', '/tasks')).statusCode).toBe(200)
    } finally {
      world.live.change({ isDraining: () => false })
    }
  })
})
