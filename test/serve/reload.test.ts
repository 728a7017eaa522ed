import { renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
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

const fileOf = (name: string): string => path.join(world.data, name)

/** As editors do it: a new file takes the place of the old one. */
function replaceConfig(text: string): void {
  writeFileSync(fileOf('.config.yaml.swp'), text)
  renameSync(fileOf('.config.yaml.swp'), fileOf('config.yaml'))
}

const reloads = (server: Served): readonly unknown[] =>
  server
    .log()
    .filter(({ msg }) => msg.startsWith('Configuration reloaded'))
    .map(({ changed }) => changed)

describe('a running server', () => {
  it('follows its file, whether it is written, replaced, or appears', async () => {
    const server = world.spawn()
    await server.url
    writeFileSync(fileOf('config.yaml'), 'tasks: { max_queue: 7 }\n')
    await logged(server, { msg: 'Configuration reloaded', changed: { 'tasks.max_queue': { from: 1_000, to: 7 } } })
    replaceConfig('tasks: { max_queue: 8 }\n')
    await logged(server, { changed: { 'tasks.max_queue': { from: 7, to: 8 } } })
    replaceConfig('tasks: { max_queue: 9 }\n')
    await logged(server, { changed: { 'tasks.max_queue': { from: 8, to: 9 } } })
    const events = `select e from escapement.turn t, json_array_elements(t.events) e where e ->> 0 = 'config.reloaded' order by t.no`
    await expect.poll(async () => (await world.database.outside(events)).length, SOON).toBe(3)
    expect((await world.database.outside(events)).at(-1)?.['e']).toMatchObject([
      'config.reloaded',
      expect.stringMatching(/^nod_/),
      { source: 'file', changed: { 'tasks.max_queue': { from: 8, to: 9 } } },
    ])
    const audits = `select actor, before, after from escapement.audit where action = 'config.reload' order by no`
    expect(await world.database.outside(audits)).toContainEqual({
      actor: 'system',
      before: { 'tasks.max_queue': 8 },
      after: { 'tasks.max_queue': 9 },
    })
  })

  it('reads it again on SIGHUP, and refuses a bad one whole', async () => {
    writeFileSync(fileOf('my.yaml'), 'lanes: { main: 3 }\n')
    const server = world.spawn(['--config', fileOf('my.yaml')])
    await server.url
    server.signal('SIGHUP')
    await logged(server, { msg: 'Configuration reloaded; nothing changed', file: fileOf('my.yaml') })
    writeFileSync(fileOf('my.yaml'), 'lanes: { main: 4 }\ntasks: { max_queue: -1 }\nlog: { level: loud }\n')
    await logged(server, {
      level: 'error',
      msg: 'The configuration file is invalid; keeping the current configuration',
    })
    const before = server.log().length
    server.signal('SIGHUP')
    await expect.poll(() => server.log().length, SOON).toBeGreaterThan(before)
    expect(server.log().at(-1)?.['errors']).toEqual([
      `${fileOf('my.yaml')}:2: tasks.max_queue -1: is out of range (allowed: a whole number from 0 to 100000000)`,
      `${fileOf('my.yaml')}:3: log.level "loud": is not a known value (allowed: debug, info, warn, error, silent)`,
    ])
    writeFileSync(fileOf('my.yaml'), 'lanes: { main: 5 }\n')
    await logged(server, { changed: { 'lanes.main': { from: 3, to: 5 } } })
    expect((await ask(world, server, { path: '/api/v1/schedules' })).status).toBe(200)
  })

  it('keeps its configuration when the file goes away', async () => {
    writeFileSync(fileOf('config.yaml'), 'server: { rate_limit: { per_second: 1 } }\n')
    const server = world.serve()
    await server.url
    rmSync(fileOf('config.yaml'))
    await logged(server, { level: 'error', errors: ['the configuration file no longer exists'] })
    expect(reloads(server)).toEqual([])
  })

  it('says what needs a restart, what was kept and what somebody else has the last word on', async () => {
    writeFileSync(fileOf('config.yaml'), 'sessions: { cap: 3 }\n')
    const server = world.serve({ variables: { ESCAPEMENT_LANE_MAIN: '9' } })
    await server.url
    replaceConfig('database: { pool: 20 }\nsessions: { cap: 0 }\nlanes: { main: 4 }\n')
    await logged(server, {
      msg: 'Configuration reloaded; nothing changed',
      changed: {},
      needs_restart: ['database.pool'],
      kept: ['sessions.cap'],
      overruled: ['lanes.main'],
    })
  })
})

describe('settings that are hot', () => {
  it('let more work start at once, and drop none', async () => {
    writeFileSync(fileOf('config.yaml'), 'lanes: { cron: 1 }\n')
    let running = 0
    let finish = (): void => undefined
    const gate = new Promise<void>((resolve) => (finish = resolve))
    const slow = async (): Promise<string> => {
      running += 1
      await gate
      return 'done'
    }
    const server = world.serve({ agents: { slow } })
    const made = await ask(world, server, {
      path: '/api/v1/schedules',
      body: { name: 'work', agent_id: 'slow', cron: '0 0 1 1 *', concurrency_policy: 'PARALLEL', enabled: false },
    })
    const id = String(made.body['id'])
    for (let n = 0; n < 3; n += 1)
      expect((await ask(world, server, { path: `/api/v1/schedules/${id}/run-now`, body: {} })).status).toBe(202)
    await expect.poll(() => running, SOON).toBe(1)
    replaceConfig('lanes: { cron: 2 }\n')
    await expect.poll(() => running, SOON).toBe(2)
    replaceConfig('lanes: { cron: -2 }\n')
    await logged(server, { level: 'error' })
    expect(running).toBe(2)
    replaceConfig('lanes: { cron: 3 }\n')
    await expect.poll(() => running, SOON).toBe(3)
    finish()
    const ended = `select state from escapement.run`
    await expect
      .poll(async () => (await world.database.outside(ended)).map(({ state }) => state), SOON)
      .toEqual(['success', 'success', 'success'])
  })

  it('change what the door lets in, and what is logged', async () => {
    const server = world.serve()
    // All at once: on a busy machine one after the other takes longer than a bucket takes to fill.
    const statuses = async (): Promise<readonly number[]> =>
      (await Promise.all(Array.from({ length: 8 }, () => ask(world, server, { path: '/api/v1/schedules' })))).map(
        ({ status }) => status,
      )
    expect(new Set(await statuses())).toEqual(new Set([200]))
    replaceConfig('server: { rate_limit: { per_second: 1 } }\n')
    await logged(server, { changed: { 'server.rate_limit.per_second': { from: 200, to: 1 } } })
    expect(await statuses()).toContain(429)
    replaceConfig('server: { rate_limit: { per_second: 0 } }\nlog: { level: error }\n')
    await logged(server, {
      changed: { 'server.rate_limit.per_second': { from: 1, to: 0 }, 'log.level': { from: 'info', to: 'error' } },
    })
    expect(new Set(await statuses())).toEqual(new Set([200]))
    const lines = server.log().length
    const made = await ask(world, server, { path: '/api/v1/schedules', body: { name: 'quiet', cron: '0 0 1 1 *' } })
    expect(made.status).toBe(201)
    expect(server.log()).toHaveLength(lines)
  })

  it('reach every node when they are stored, and stand above its file', async () => {
    writeFileSync(fileOf('config.yaml'), 'tasks: { max_queue: 7 }\n')
    const servers = [world.serve(), world.serve()]
    for (const server of servers) await server.url
    await world.database.outside(
      `insert into escapement.setting (path, value, updated_at) values ('tasks.max_queue', '11', '2026-11-15T12:00:00Z'), ('tasks.unheard_of', '1', '2026-11-15T12:00:00Z')`,
    )
    for (const server of servers) {
      await logged(server, { source: 'stored', changed: { 'tasks.max_queue': { from: 7, to: 11 } } })
      await logged(server, { level: 'warn', settings: ['tasks.unheard_of'] })
    }
  })
})
