import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect } from 'vitest'
import type { RunView } from '../../src/features/runs/schema.ts'
import { createStage } from '../scenarios/stage.ts'
import {
  chat,
  ended,
  endings,
  eventually,
  inState,
  nothingFor,
  runsOf,
  runsWhen,
  send,
  sendEach,
  timeOf,
} from '../scenarios/support.ts'
import { logged } from '../serve/support.ts'
import { scenario, type Remote, type World } from './world.ts'

// Real processes, which are killed. Leases are short, so that what they held is free again soon.

const LEASE_MS = 3_000
const node = { lease_ms: LEASE_MS, renew_ms: 800 } as const
const VARIABLES = {
  ...{ ESCAPEMENT_NODE_LEASE_MS: String(LEASE_MS), ESCAPEMENT_NODE_RENEW_MS: '800', ESCAPEMENT_DATABASE_POOL: '4' },
}

interface Process extends Remote {
  /** `kill -9`. */
  readonly kill: () => Promise<void>
}

async function spawn(world: World, args: readonly string[] = [], embedded = false): Promise<Process> {
  const served = world.spawn(args, VARIABLES, { entry: 'test/http-scenarios/program.ts', embedded })
  return {
    ...(await world.join(served)),
    kill: async () => {
      served.child.kill('SIGKILL')
      await served.ended
    },
  }
}

const openGate = (world: World): void => {
  writeFileSync(path.join(world.data, 'gate'), '')
}

describe.concurrent('8: text that is buffered in the window, over HTTP', () => {
  scenario('runs after the server was killed and started again', async (world) => {
    const before = await spawn(world)
    const message = { sender: 'ann', debounce_ms: 6_000 }
    const { run_id: id } = await send(before, chat('s'), { ...message, text: 'a' })
    expect((await send(before, chat('s'), { ...message, text: 'b' })).merged_into).toBe(id)
    await before.kill()
    const stage = createStage({ open: true })
    const after = await world.start({ agents: { worker: stage.handler }, node })
    expect((await ended(after, id, 20_000)).status).toBe('success')
    expect(stage.started()).toEqual(['a\nb'])
  })
})

describe.concurrent('13: draining over HTTP', () => {
  scenario('SIGTERM: new work 503, what runs ends, what waits survives into the next process', async (world) => {
    const old = await spawn(world)
    const ids = await sendEach(old, chat('s'), ['gate', 'waiting'])
    await inState(old, ids[0] ?? '', 'running')
    old.served.signal('SIGTERM')
    await logged(old.served, { msg: 'Draining: no new work, active runs may finish' })
    const target = `/api/v1/sessions/${encodeURIComponent(chat('s'))}/messages`
    const refusal = await old.raw('POST', target, { body: { text: 'new' } })
    expect([refusal.status, refusal.body['code']]).toEqual([503, 'DRAINING'])
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await old.raw('GET', '/ready', { key: '' })).status).toBe(503)
    openGate(world)
    expect(await old.served.ended).toBe(0)

    const stage = createStage({ open: true })
    const next = await world.start({ agents: { worker: stage.handler }, node })
    expect(await endings(next, ids)).toEqual(['success', 'success'])
    expect(stage.started()).toEqual(['waiting'])
    expect((await next.runs.get(ids[0] ?? '')).attempts).toHaveLength(1)
    expect((await next.runs.list({ session: chat('s') })).items).toHaveLength(2)
  })

  scenario('reset: what waits is `lane_cleared`; a late completion changes no counter', async (world) => {
    const stage = createStage({ deaf: true })
    const server = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    const old = await sendEach(server, key, ['old', 'waiting 1', 'waiting 2'])
    await stage.begun('old')
    const asked = server.sessions.ask(key, 'asked')
    await eventually(async () => expect(await server.sessions.get(key)).toMatchObject({ waiting: 3 }))
    expect(await server.sessions.reset(key)).toEqual({ stopped: 1, drained: 3 })
    // Whoever waits for it hears of it at once.
    expect(await asked).toMatchObject({ status: 'cancelled', reason: 'lane_cleared' })
    const fresh = await sendEach(server, key, ['new 1', 'new 2'])
    await stage.begun('new 1')
    stage.release('old')
    expect(await endings(server, old)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    await nothingFor(200)
    expect(stage.started()).toEqual(['old', 'new 1'])
    expect(await server.sessions.get(key)).toMatchObject({ generation: 1, active: 1, waiting: 1 })
    stage.open()
    expect(await endings(server, fresh)).toEqual(['success', 'success'])
  })
})

describe.concurrent('30: kill -9 over HTTP', () => {
  scenario('with 1 running and 2 queued: the queued run once, the running is settled by policy', async (world) => {
    const child = await spawn(world)
    await child.agents.update('worker', { retry_policy: { max_retries: 2, strategy: 'fixed', base_ms: 100 } })
    const ids = await sendEach(child, chat('s'), ['hold', 'q1', 'q2'])
    const { id: schedule } = await child.schedules.create({ agent_id: 'worker', every_seconds: 1, payload: 'tick' })
    await inState(child, ids[0] ?? '', 'running')
    await child.kill()

    const stage = createStage({ open: true })
    const next = await world.start({ agents: { worker: stage.handler }, node })
    const restartedAt = Date.now()
    expect(await endings(next, ids)).toEqual(['success', 'success', 'success'])
    const [held, ...queued] = await Promise.all(ids.map((id) => next.runs.get(id)))
    expect(held?.attempts.map(({ number, status, error_code }) => [number, status, error_code])).toEqual([
      [1, 'failed', 'node_lost'],
      [2, 'success', null],
    ])
    for (const run of queued) expect(run.attempts).toHaveLength(1)
    expect(stage.started().filter((label) => label !== 'tick')).toEqual(['hold', 'q1', 'q2'])
    const runs = await runsWhen(next, schedule, (found) =>
      found.some((run) => run.status === 'success' && timeOf(run.nominal_time) > restartedAt),
    )
    expect(new Set(runs.map((run) => run.nominal_time)).size).toBe(runs.length)
  })
})

describe.concurrent('31: two servers in one data directory', () => {
  const lateness = (run: RunView): number => timeOf(run.started_at) - timeOf(run.nominal_time)

  scenario(
    'an every-second cron: one run per second, also while either of them is killed',
    async (world) => {
      const first = await spawn(world, [], true)
      const second = await spawn(world, [], true)
      const count = 14
      const start = Math.ceil(Date.now() / 1_000) * 1_000 + 1_000
      const { id } = await first.schedules.create({
        ...{ agent_id: 'worker', cron: '* * * * * *', payload: 'tick', misfire_policy: 'FIRE_NOW' },
        ...{ concurrency_policy: 'PARALLEL', retry_policy: { max_retries: 3, strategy: 'fixed', base_ms: 50 } },
        starts_at: new Date(start).toISOString(),
        ends_at: new Date(start + (count - 1) * 1_000).toISOString(),
      })
      const fired = (remote: Remote, least: number): Promise<readonly RunView[]> =>
        runsWhen(remote, id, (found) => found.filter((run) => run.status === 'success').length >= least)
      await fired(second, 3)
      // The one that began the database server, too.
      await first.kill()
      await fired(second, 6)
      const third = await spawn(world, [], true)
      await second.kill()
      await eventually(async () => expect((await third.schedules.get(id)).state).toBe('finished'), 30_000)
      await fired(third, count)
      const runs = await runsOf(third, id)
      expect(runs.map((run) => timeOf(run.nominal_time))).toEqual(
        Array.from({ length: count }, (_, index) => start + index * 1_000),
      )
      expect(new Set(runs.map((run) => run.output)).size).toBeGreaterThan(1)
      // The lease, a poll, and a machine that is busy starting servers.
      expect(Math.max(...runs.map(lateness))).toBeLessThan(LEASE_MS + 4_000)
    },
    120_000,
  )
})

describe.concurrent('SIGHUP', () => {
  scenario('with new limits changes them without dropping work; an invalid file changes nothing', async (world) => {
    const file = path.join(world.data, 'limits.yaml')
    writeFileSync(file, 'lanes: { main: 1 }\nsessions: { cap: 3 }\n')
    const server = await spawn(world, ['--config', file])
    const ids: string[] = []
    for (const peer of ['a', 'b', 'c']) ids.push((await send(server, chat(peer), 'gate')).run_id)
    const running = async (): Promise<number> => (await server.runs.list({ status: 'running' })).items.length
    await eventually(async () => expect(await running()).toBe(1))
    writeFileSync(file, 'lanes: { main: 2 }\nsessions: { cap: 4 }\n')
    server.served.signal('SIGHUP')
    await eventually(async () => expect(await running()).toBe(2))
    const before = await server.client.config.get()

    writeFileSync(file, 'lanes: { main: 3 }\nsessions: { cap: -1 }\n')
    server.served.signal('SIGHUP')
    await logged(server.served, { msg: 'The configuration file is invalid; keeping the current configuration' })
    expect(await server.client.config.get()).toEqual(before)
    expect(before.values).toMatchObject({ 'lanes.main': { value: 2, source: 'file' } })
    expect(await running()).toBe(2)
    openGate(world)
    expect(await endings(server, ids)).toEqual(['success', 'success', 'success'])
  })
})
