import { existsSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ask, createServeWorld, logged, removeProgram, type Served, type ServeWorld } from './support.ts'

// A machine that is busy with other tests takes its time.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 })
const SOON = { timeout: 30_000 }

let world: ServeWorld

beforeEach(async () => {
  world = await createServeWorld()
})

afterEach(() => world.end())
afterAll(removeProgram)

/** An agent that works until it is let go, or told to stop. */
function slowAgent(): {
  readonly slow: (attempt: unknown, context: { readonly signal: AbortSignal }) => Promise<string>
  readonly begun: () => number
  readonly finish: () => void
} {
  let begun = 0
  let finish = (): void => undefined
  const gate = new Promise<void>((resolve) => (finish = resolve))
  return {
    slow: async (_attempt, { signal }) => {
      begun += 1
      await Promise.race([
        gate,
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('told to stop'))
          })
        }),
      ])
      return 'done'
    },
    begun: () => begun,
    finish: () => finish(),
  }
}

async function startRun(server: Served): Promise<string> {
  const body = { name: 'work', agent_id: 'slow', cron: '0 0 1 1 *', enabled: false, session: 'main' }
  const made = await ask(world, server, { path: '/api/v1/schedules', body })
  const path = `/api/v1/schedules/${String(made.body['id'])}/run-now`
  expect((await ask(world, server, { path, body: {} })).status).toBe(202)
  return path
}

const endings = async (): Promise<readonly unknown[]> =>
  (await world.database.outside(`select state, why ->> 'reason' as reason from escapement.run`)).map((row) => ({
    ...row,
  }))

describe('SIGTERM and SIGINT', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: lets what runs end, takes nothing new, and ends well',
    async (signal) => {
      const agent = slowAgent()
      const server = world.serve({ agents: { slow: agent.slow } })
      const runNow = await startRun(server)
      await expect.poll(agent.begun, SOON).toBe(1)
      server.signal(signal)
      await logged(server, { msg: 'Draining: no new work, active runs may finish', running: 1 })
      const refused = await ask(world, server, { path: runNow, body: {} })
      expect([refused.status, refused.body['code']]).toEqual([503, 'DRAINING'])
      expect(refused.headers.get('retry-after')).toBe('5')
      expect((await ask(world, server, { path: '/ready' })).status).toBe(503)
      expect((await ask(world, server, { path: '/health' })).status).toBe(200)
      expect((await ask(world, server, { path: '/api/v1/schedules' })).status).toBe(200)
      agent.finish()
      expect(await server.ended).toBe(0)
      expect(await endings()).toEqual([{ state: 'success', reason: null }])
      await expect(fetch(await server.url)).rejects.toThrow('fetch failed')
      expect(server.log().at(-1)?.msg).toBe('Escapement has stopped')
    },
  )

  it('aborts what has not ended within the grace', async () => {
    const agent = slowAgent()
    const server = world.serve({
      agents: { slow: agent.slow },
      variables: { ESCAPEMENT_SERVER_DRAIN_GRACE_SECONDS: '1' },
    })
    await startRun(server)
    await expect.poll(agent.begun, SOON).toBe(1)
    server.signal('SIGTERM')
    expect(await server.ended).toBe(0)
    const attempts = await world.database.outside('select state, attempt from escapement.pending')
    expect(attempts).toEqual([{ state: 'waiting', attempt: 2 }])
  })

  it('do not wait after the second', async () => {
    const agent = slowAgent()
    const server = world.serve({ agents: { slow: agent.slow } })
    await startRun(server)
    await expect.poll(agent.begun, SOON).toBe(1)
    server.signal('SIGTERM')
    await logged(server, { msg: 'Draining: no new work, active runs may finish' })
    const asked = performance.now()
    server.signal('SIGINT')
    expect(await server.ended).toBe(0)
    expect(performance.now() - asked).toBeLessThan(5_000)
    expect(await world.database.outside('select state, attempt from escapement.pending')).toEqual([
      { state: 'waiting', attempt: 2 },
    ])
  })

  it('end the second time even when what runs takes no notice', async () => {
    let begun = false
    const deaf = (): Promise<never> => {
      begun = true
      return new Promise(() => undefined)
    }
    const server = world.serve({ agents: { slow: deaf } })
    await startRun(server)
    await expect.poll(() => begun, SOON).toBe(true)
    server.signal('SIGTERM')
    server.signal('SIGINT')
    const asked = performance.now()
    expect(await server.ended).toBe(1)
    expect(performance.now() - asked).toBeLessThan(4_500)
  })
})

describe('SIGUSR1', () => {
  it('resets the sessions at work, and the server goes on', async () => {
    const agent = slowAgent()
    const server = world.serve({ agents: { slow: agent.slow } })
    await startRun(server)
    await expect.poll(agent.begun, SOON).toBe(1)
    server.signal('SIGUSR1')
    await expect.poll(endings, SOON).toEqual([{ state: 'cancelled', reason: 'lane_cleared' }])
    expect((await ask(world, server, { path: '/ready' })).status).toBe(200)
  })
})

/** Whether a process has a handler for SIGHUP, the first bit of its mask; Node by itself has none. */
const handlesHangUp = (pid: number): boolean =>
  Number.parseInt(
    /^SigCgt:\s*[0-9a-f]*([0-9a-f])$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0',
    16,
  ) %
    2 ===
  1

describe('the program', () => {
  it('hears all of them, and ends well on SIGTERM', async () => {
    const server = world.spawn()
    await server.url
    server.signal('SIGUSR1')
    await logged(server, { msg: 'Resetting the active sessions of this node' })
    server.signal('SIGHUP')
    await logged(server, { msg: 'There is no configuration file to reload' })
    server.signal('SIGTERM')
    expect(await server.ended).toBe(0)
    expect(server.stderr()).not.toContain('Debugger')
    expect(await world.database.outside('select id from escapement.node')).toEqual([])
  })

  // Which signals a process handles is only told on Linux.
  it.runIf(existsSync('/proc/self/status'))('hears those that come before it has started', async () => {
    const server = world.spawn()
    await expect.poll(() => handlesHangUp(server.child.pid ?? 0), { ...SOON, interval: 1 }).toBe(true)
    expect(server.stdout()).toBe('')
    server.signal('SIGHUP')
    server.signal('SIGUSR1')
    server.signal('SIGTERM')
    expect(await server.ended).toBe(0)
    await logged(server, { msg: 'Escapement has stopped' })
  })
})
