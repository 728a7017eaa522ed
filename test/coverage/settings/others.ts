import { Client } from 'pg'
import { expect } from 'vitest'
import { clientConfig } from '../../../src/platform/db/postgres/target.ts'
import type { World } from '../../http-scenarios/world.ts'
import { json, startPeer } from '../../platform/outbound/peer.ts'
import { chat, ended, eventually, nothingFor, send } from '../../scenarios/support.ts'
import type { Effect, Effects } from './effect.ts'
import { beginsWithTls, sendsMail } from './mail.ts'

const COMMAND: Effect = [
  'test/plane/command.test.ts',
  'an agent that is a program of this machine › is made by an owner of the operator org alone, among the programs of its file',
]

/** Whether a schedule has raised an alert after one failure. */
const alertsAtOnce = async ({ start }: World): Promise<void> => {
  const failing = (): never => {
    throw new Error('out of paper')
  }
  const node = await start({ agents: { worker: failing }, alerts: { failures_in_a_row: 1 }, retry: { max_retries: 0 } })
  const { id } = await node.schedules.create({ agent_id: 'worker', every_seconds: 3_600, payload: 'x' })
  await node.schedules.runNow(id)
  await eventually(async () => expect(await node.schedules.get(id)).toMatchObject({ alerts: ['failures_in_a_row'] }))
}

/** A browser instance, and what it was asked with. */
const asksInstance =
  (by: 'instances' | 'manager_url') =>
  async ({ start }: World): Promise<void> => {
    const peer = await startPeer(({ url }, response) =>
      json(response, 200, url === '/instances/tabs' ? [{ id: 't1', url: peer.url }] : { success: true }),
    )
    const executor = { token: 'sesame', [by]: by === 'instances' ? { t1: peer.url } : peer.url }
    const node = await start({ tasks: { executor }, outbound: { allow_hosts: [`127.0.0.1:${peer.port}`] } })
    await node.raw('POST', '/tasks', { body: { agentId: 'a', action: 'click', tabId: 't1' } })
    await eventually(() => expect(peer.heard.length).toBeGreaterThan(0))
    expect(peer.heard[0]?.headers['authorization']).toBe('Bearer sesame')
    await peer.close()
  }

const agentOn = (url: string): object => ({ id: 'near', name: 'Near', executor: { kind: 'http', url } })

export const OTHER_EFFECTS: Effects = {
  'tasks.executor.kind': async ({ start }) => {
    const node = await start({ agents: { worker: () => 'done' }, tasks: { executor: { kind: 'none' } } })
    const submit = async (agentId: string): Promise<string> =>
      String((await node.raw('POST', '/tasks', { body: { agentId, action: 'click', tabId: 't1' } })).body['taskId'])
    const [stranger, known] = [await submit('a'), await submit('worker')]
    await ended(node, known)
    expect((await node.raw('GET', `/tasks/${stranger}`)).body).toMatchObject({ state: 'queued' })
  },
  'tasks.executor.instances': asksInstance('instances'),
  'tasks.executor.manager_url': asksInstance('manager_url'),
  'tasks.executor.token': asksInstance('instances'),
  'retention.run_days': [
    'test/features/database/retention.test.ts',
    'a pass of retention › keeps runs for ever when it is told to',
  ],
  'retention.runs_per_schedule': [
    'test/features/database/retention.test.ts',
    'a pass of retention › removes what its setting says, however much that is',
  ],
  'retention.max_runs_per_schedule': [
    'test/features/database/retention.test.ts',
    'a pass of retention › keeps no more runs of a schedule than its setting says, however young they are',
  ],
  'retention.output_bytes': async ({ start }) => {
    const node = await start({ agents: { worker: () => 'x'.repeat(1_000) }, retention: { output_bytes: 100 } })
    const run = await ended(node, (await send(node, chat('s'), 'hello')).run_id)
    expect(JSON.stringify(run.output).length).toBeLessThan(400)
  },
  'alerts.failures_in_a_row': alertsAtOnce,
  'alerts.stall_periods': async ({ start, database }) => {
    const node = await start({ agents: { worker: () => 'done' }, alerts: { stall_periods: 1_000 } })
    await node.schedules.create({ agent_id: 'worker', every_seconds: 1 })
    const client = new Client(clientConfig(database.target))
    await client.connect()
    try {
      await client.query('begin; lock table schedule in access exclusive mode')
      // Longer than the three periods of a second after which the engine counts as stalled by default.
      await nothingFor(5_000)
      expect((await node.raw('GET', '/ready')).body).toMatchObject({ engine: 'up' })
    } finally {
      await client.end()
    }
  },
  'outbound.allow_hosts': async ({ start }) => {
    const [shut, open] = [await start(), await start({ outbound: { allow_hosts: ['127.0.0.1:9'] } })]
    const input = { name: 'ops', url: 'http://127.0.0.1:9/in' }
    expect((await shut.raw('POST', '/api/v1/targets', { body: input })).status).toBe(400)
    expect((await open.raw('POST', '/api/v1/targets', { body: input })).status).toBe(201)
  },
  'outbound.allow_loopback': async ({ start }) => {
    const [shut, open] = [await start(), await start({ outbound: { allow_loopback: true } })]
    const body = agentOn('http://127.0.0.1:9/work')
    expect((await shut.raw('POST', '/api/v1/agents', { body })).status).toBe(400)
    expect((await open.raw('POST', '/api/v1/agents', { body })).status).toBe(201)
  },
  'smtp.host': sendsMail,
  'smtp.port': sendsMail,
  'smtp.from': sendsMail,
  'smtp.secure': beginsWithTls,
  'smtp.user': sendsMail,
  'smtp.password': sendsMail,
  'channels.telegram_api': [
    'test/plane/telegram.test.ts',
    'a bot of Telegram › shows that it is at it, and /stop clears what it showed',
  ],
  'channels.slack_api': [
    'test/plane/slack.test.ts',
    'an app of Slack › answers in the thread it is named in, and in private, once for each event',
  ],
  'executors.command.enabled': COMMAND,
  'executors.command.programs': COMMAND,
  'executors.command.directories': async ({ start }) => {
    const command = { enabled: true, programs: ['/bin/cat'], directories: ['/srv'] }
    const node = await start({ executors: { command } })
    const statusIn = async (cwd: string): Promise<number> => {
      const executor = { kind: 'command', program: '/bin/cat', cwd }
      return (await node.raw('POST', '/api/v1/agents', { body: { name: 'Cat', executor } })).status
    }
    expect([await statusIn('/srv/cats'), await statusIn('/opt')]).toEqual([201, 400])
  },
  'heartbeat.checklist_dir': [
    'test/plane/heartbeats.test.ts',
    '43: when a model is called › is not for headings, empty boxes and comments, nor for files that are not there',
  ],
}
