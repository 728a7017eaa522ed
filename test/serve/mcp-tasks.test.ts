import {
  Client,
  specTypeSchemas,
  StreamableHTTPClientTransport,
  type Progress,
  type Tool,
} from '@modelcontextprotocol/client'
import { describe, expect } from 'vitest'
import { json, startPeer, type Heard, type Peer } from '../platform/outbound/peer.ts'
import { eventually } from '../scenarios/support.ts'
import { scenario, type Remote, type World } from '../http-scenarios/world.ts'

// Tasks and resources of the official client against a server on its own port.

const HANDSHAKE = { mode: 'legacy' } as const
const MODERN = { mode: { pin: '2026-07-28' } } as const

/** A task, as far as it is looked at. */
interface Task {
  readonly taskId: string
  readonly status: string
  readonly statusMessage?: string | undefined
}

interface Guest {
  readonly client: Client
  /** The statuses that were sent while results were awaited. */
  readonly told: Task[]
  readonly updated: string[]
  readonly start: (name: string, input: Record<string, unknown>) => Promise<Task>
  readonly get: (taskId: string) => Promise<Task>
  readonly cancel: (taskId: string) => Promise<Task>
  readonly list: () => Promise<readonly Task[]>
  readonly result: (taskId: string, progress?: (progress: Progress) => void) => Promise<Answer>
}

interface Answer {
  readonly isError?: boolean | undefined
  readonly content: readonly { readonly type: string }[]
  readonly structuredContent?: unknown
}

async function connect(
  { url }: Pick<Remote, 'url'>,
  key: string,
  versionNegotiation: typeof HANDSHAKE | typeof MODERN = HANDSHAKE,
): Promise<Guest> {
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation })
  const [told, updated]: [Task[], string[]] = [[], []]
  client.setNotificationHandler(
    'notifications/tasks/status',
    { params: specTypeSchemas.TaskStatusNotificationParams },
    (task) => {
      told.push(task)
    },
  )
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    updated.push(params.uri)
  })
  await client.connect(transport)
  const ask = (method: string, taskId: string): Promise<Task> =>
    client.request({ method, params: { taskId } }, specTypeSchemas.GetTaskResult)
  return {
    ...{ client, told, updated },
    start: async (name, input) => {
      const params = { name, arguments: input, task: { ttl: 60_000 } }
      return (await client.request({ method: 'tools/call', params }, specTypeSchemas.CreateTaskResult)).task
    },
    get: (id) => ask('tasks/get', id),
    cancel: (id) => ask('tasks/cancel', id),
    list: async () => (await client.request({ method: 'tasks/list' }, specTypeSchemas.ListTasksResult)).tasks,
    result: async (taskId, onprogress) =>
      client.request({ method: 'tasks/result', params: { taskId } }, specTypeSchemas.CallToolResult, {
        ...{ timeout: 30_000, ...(onprogress === undefined ? {} : { onprogress }) },
      }),
  }
}

/** An agent that reports later, at the address that it was given. */
async function createWorker(world: World): Promise<{ readonly peer: Peer; readonly start: () => Promise<Remote> }> {
  const peer = await startPeer((_request, response) => json(response, 202, { async: true }))
  const outbound = { allow_loopback: true, allow_hosts: [`127.0.0.1:${peer.port}`] }
  return { peer, start: () => world.start({ outbound, agents: { quick: () => 'Three mails', broken: () => fail() } }) }
}

function fail(): never {
  throw new Error('out of paper')
}

/** Reports a result with the token that the agent was given for a run. */
async function report({ raw }: Remote, heard: readonly Heard[], id: string, body: unknown): Promise<void> {
  const request = heard
    .map((one) => JSON.parse(one.body) as Record<string, unknown>)
    .find(({ run_id: run }) => run === id)
  const answer = await raw('POST', `/api/v1/callbacks/${String(request?.['callback_token'])}`, { body, key: '' })
  expect(answer.body).toMatchObject({ ignored: false })
}

const createSchedule = async ({ raw }: Remote, agent: string): Promise<string> => {
  const made = await raw('POST', '/api/v1/schedules', {
    body: { name: `Of ${agent}`, agent_id: agent, cron: '0 0 1 1 *', payload: 'x' },
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return String(made.body['id'])
}

const createRestrictedKey = async ({ client }: Remote): Promise<string> =>
  (await client.keys.create({ name: 'Desk', role: 'admin', guard_rails: {} })).key ?? ''

describe.concurrent('tasks', () => {
  scenario('survive a restart of the server and of the client, and report progress', async (world) => {
    const { peer, start } = await createWorker(world)
    try {
      const before = await start()
      await before.agents.create({ id: 'worker', name: 'Worker', executor: { kind: 'http', url: `${peer.url}/work` } })
      const schedule_id = await createSchedule(before, 'worker')
      const first = await connect(before, before.key)
      const { tools } = await first.client.listTools()
      const supportOf = (tool: Tool): string | undefined => tool.execution?.taskSupport
      expect(tools.filter((tool) => supportOf(tool) === 'optional').map(({ name }) => name)).toEqual([
        'run_now',
        'task_submit',
      ])
      const task = await first.start('run_now', { schedule_id })
      expect(task).toMatchObject({ status: 'working', ttl: null, pollInterval: 1_000 })
      await eventually(async () => {
        expect((await first.get(task.taskId)).statusMessage).toContain('awaiting_callback')
      })
      const cut = first.result(task.taskId).catch((error: unknown) => error)
      await eventually(() => {
        expect(first.told.length).toBeGreaterThan(0)
      })
      await before.stop()
      expect(await cut).toBeInstanceOf(Error)
      await first.client.close()

      const after = await start()
      const second = await connect(after, after.key)
      expect(await second.get(task.taskId)).toMatchObject({ taskId: task.taskId, status: 'working' })
      expect((await second.list()).map(({ taskId }) => taskId)).toContain(task.taskId)
      const progress: Progress[] = []
      const result = second.result(task.taskId, (one) => progress.push(one))
      await eventually(() => {
        expect(progress.length).toBeGreaterThan(0)
      })
      await report(after, peer.heard, task.taskId, {
        status: 'success',
        output: 'Three mails',
        usage: { input_tokens: 3 },
      })
      const answer = await result
      expect(answer).toMatchObject({
        content: [{ type: 'text', text: 'Three mails' }],
        structuredContent: { run_id: task.taskId, outcome: { status: 'success', output: 'Three mails' } },
        _meta: { 'io.modelcontextprotocol/related-task': { taskId: task.taskId } },
      })
      expect(second.told[0]).toMatchObject({ taskId: task.taskId, status: 'working' })
      expect(await second.get(task.taskId)).toMatchObject({ status: 'completed' })
      expect(await second.result(task.taskId)).toEqual(answer)
      await second.client.close()
    } finally {
      await peer.close()
    }
  })

  scenario('are cancelled, fail, expire, and are not found', async (world) => {
    const { peer, start } = await createWorker(world)
    try {
      const node = await start()
      await node.agents.create({ id: 'worker', name: 'Worker', executor: { kind: 'http', url: `${peer.url}/work` } })
      await node.agents.update('broken', { retry_policy: { max_retries: 0, strategy: 'fixed', base_ms: 20 } })
      const guest = await connect(node, node.key)
      const task = await guest.start('run_now', { schedule_id: await createSchedule(node, 'worker') })
      await eventually(async () => {
        expect((await guest.get(task.taskId)).statusMessage).toContain('awaiting_callback')
      })
      const waiting = guest.result(task.taskId)
      expect(await guest.cancel(task.taskId)).toMatchObject({ status: 'cancelled' })
      expect(await waiting).toMatchObject({ isError: true, structuredContent: { outcome: { status: 'cancelled' } } })
      await expect(guest.cancel(task.taskId)).rejects.toMatchObject({ code: -32_602 })

      const failing = await guest.start('task_submit', { agent_id: 'broken', action: 'print' })
      const failed = await guest.result(failing.taskId)
      expect(failed).toMatchObject({ isError: true, structuredContent: { task_id: failing.taskId, state: 'failed' } })
      expect(JSON.stringify(failed.content)).toContain('out of paper')
      expect(await guest.get(failing.taskId)).toMatchObject({ status: 'failed', statusMessage: 'out of paper' })

      const quick = await guest.start('task_submit', { agent_id: 'quick', action: 'count' })
      expect(await guest.result(quick.taskId)).toMatchObject({ content: [{ text: 'Three mails' }] })

      await expect(guest.get('run_none')).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringContaining('NOT_FOUND') as string,
      })
      await expect(guest.result('run_none')).rejects.toMatchObject({ code: -32_602 })
      await expect(guest.start('schedule_list', {})).rejects.toMatchObject({ code: -32_601 })
      await expect(guest.start('run_now', { schedule_id: 'sch_none' })).rejects.toMatchObject({ code: -32_602 })
      await expect(guest.start('task_submit', { agent_id: 'quick' })).rejects.toMatchObject({ code: -32_602 })

      // Nothing takes this one before its deadline.
      await node.agents.create({ id: 'remote', name: 'Remote', executor: { kind: 'worker' } })
      const deadline = new Date(Date.now() + 1_500).toISOString()
      const expiring = await guest.start('task_submit', { agent_id: 'remote', action: 'count', deadline })
      expect(await guest.result(expiring.taskId)).toMatchObject({
        ...{ isError: true, structuredContent: { outcome: { status: 'expired' } } },
      })
      expect(await guest.get(expiring.taskId)).toMatchObject({ status: 'failed' })
      await guest.client.close()
    } finally {
      await peer.close()
    }
  })

  scenario('hold the permissions and restrictions of the key, and end with it', async (world) => {
    const { peer, start } = await createWorker(world)
    try {
      const node = await start()
      await node.agents.create({ id: 'worker', name: 'Worker', executor: { kind: 'http', url: `${peer.url}/work` } })
      const owner = await connect(node, node.key)
      const schedule_id = await createSchedule(node, 'worker')
      const { taskId } = await owner.start('run_now', { schedule_id })
      const restricted = await connect(node, await createRestrictedKey(node))
      await expect(restricted.get(taskId)).rejects.toMatchObject({ code: -32_602 })
      await expect(restricted.cancel(taskId)).rejects.toMatchObject({ code: -32_602 })
      await expect(restricted.result(taskId)).rejects.toMatchObject({ code: -32_602 })
      expect(await restricted.list()).toEqual([])
      expect((await restricted.client.listResources()).resources).toEqual([])
      await expect(restricted.client.readResource({ uri: `escapement://runs/${taskId}` })).rejects.toMatchObject({
        code: -32_602,
      })

      const made = await node.raw('POST', '/api/v1/keys', { body: { name: 'Viewer', role: 'viewer' } })
      const viewer = await connect(node, String(made.body['key']))
      await expect(viewer.cancel(taskId)).rejects.toThrow('FORBIDDEN')
      await expect(viewer.start('run_now', { schedule_id })).rejects.toThrow('FORBIDDEN')
      const waiting = viewer.result(taskId).catch((error: unknown) => String(error))
      await eventually(() => {
        expect(viewer.told.length).toBeGreaterThan(0)
      })
      await node.raw('DELETE', `/api/v1/keys/${String(made.body['id'])}`)
      expect(await waiting).toMatch(/BUSY|401|UNAUTHENTICATED|closed/i)
      for (const { client } of [owner, restricted, viewer]) await client.close()
    } finally {
      await peer.close()
    }
  })
})

describe.concurrent('resources', () => {
  scenario('are listed, read, and subscribed to', async (world) => {
    const { peer, start } = await createWorker(world)
    try {
      const node = await start()
      const schedule = await createSchedule(node, 'quick')
      const other = await createSchedule(node, 'broken')
      const { client } = await connect(node, node.key)
      const { client: modern, updated } = await connect(node, node.key, MODERN)
      for (const one of [client, modern]) {
        const { resourceTemplates } = await one.listResourceTemplates()
        expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
          'escapement://schedules/{id}',
          'escapement://runs/{id}',
        ])
        const { resources } = await one.listResources()
        expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining([`escapement://schedules/${schedule}`]))
        const { contents } = await one.readResource({ uri: `escapement://schedules/${schedule}` })
        const [{ text = '' } = {}] = contents as readonly { readonly text?: string }[]
        expect(JSON.parse(text)).toEqual((await node.raw('GET', `/api/v1/schedules/${schedule}`)).body)
        await expect(one.readResource({ uri: 'escapement://schedules/sch_none' })).rejects.toThrow('NOT_FOUND')
        await expect(one.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow('NOT_FOUND')
      }
      expect(modern.getServerCapabilities()?.resources).toMatchObject({ subscribe: true, listChanged: false })
      expect(client.getServerCapabilities()?.resources).toEqual({ listChanged: false })
      const uris = [`escapement://schedules/${schedule}`]
      const subscription = await modern.listen({ resourceSubscriptions: uris })
      await node.raw('PATCH', `/api/v1/schedules/${other}`, { body: { name: 'Not subscribed' } })
      await node.raw('PATCH', `/api/v1/schedules/${schedule}`, { body: { name: 'Subscribed' } })
      await eventually(() => {
        expect(updated).toEqual(uris)
      })
      await subscription.close()
      const many = Array.from({ length: 101 }, (_, index) => `escapement://runs/run_${index}`)
      await expect(modern.listen({ resourceSubscriptions: many })).rejects.toThrow()
      // A revoked key ends its subscription.
      const made = await node.raw('POST', '/api/v1/keys', { body: { name: 'Viewer', role: 'viewer' } })
      const { client: viewer } = await connect(node, String(made.body['key']), MODERN)
      const watched = await viewer.listen({ resourceSubscriptions: uris })
      await node.raw('DELETE', `/api/v1/keys/${String(made.body['id'])}`)
      expect(await watched.closed).not.toBe('local')
      for (const one of [client, modern, viewer]) await one.close()
    } finally {
      await peer.close()
    }
  })
})
