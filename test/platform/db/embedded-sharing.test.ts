import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { isAlive } from '../../../src/platform/db/embedded/pid-file.ts'
import { LOCK_SPACE } from '../../../src/platform/db/advisory-locks.ts'
import type { ConnectionTarget } from '../../../src/platform/db/postgres/target.ts'
import { runOn } from '../../support/server-databases.ts'
import { createEmbeddedWorld, type EmbeddedWorld, IS_ROOT } from './embedded-world.ts'
import type { NodeProcess } from './node-processes.ts'

let origin: EmbeddedWorld
let world: EmbeddedWorld

beforeAll(async () => {
  origin = createEmbeddedWorld()
  await (await origin.start()).leave()
})
afterAll(() => origin.end())

beforeEach(() => {
  world = createEmbeddedWorld()
  world.copyFrom(origin)
})
afterEach(() => world.end())

const pidFile = (): string => path.join(world.options().data, 'postgres/data/postmaster.pid')
const answers = async (target: ConnectionTarget): Promise<boolean> => (await runOn(target, 'select 1')).length === 1

/** Starts a process and waits until it has its server. */
async function ready(): Promise<NodeProcess & { readonly target: ConnectionTarget }> {
  const node = world.startNode()
  const { target } = await node.line('ready')
  return { ...node, target }
}

/** How many processes have a share of the server. */
const SHARES = `select count(*)::int as shares from pg_locks
  where locktype = 'advisory' and classid = ${LOCK_SPACE.embeddedReference}`

describe('a process that was killed', () => {
  it('leaves a server that the next one adopts, and later stops', async () => {
    const first = await ready()
    await runOn(first.target, 'create table kept as select 1 as n')
    const pid = world.serverPid() ?? 0
    await first.kill()
    expect(isAlive(pid)).toBe(true)
    const second = await ready()
    await second.news('adopted')
    expect(world.serverPid()).toBe(pid)
    expect(await runOn(second.target, 'select n from kept')).toEqual([{ n: 1 }])
    expect(await second.leave()).toBe('stopped')
    expect(world.serverPid()).toBeUndefined()
  })

  it('does not count as somebody who still uses the server', async () => {
    const [first, second] = [await ready(), await ready()]
    await first.kill()
    // The server notices in its own time that nobody is at the other end any more.
    await vi.waitFor(async () => {
      expect(await runOn(second.target, SHARES)).toEqual([{ shares: 1 }])
    }, 10_000)
    expect(await second.leave()).toBe('stopped')
  })
})

describe('processes that share a server', () => {
  it('leave it to each other; the last one stops it', async () => {
    const [first, second] = [await ready(), await ready()]
    const pid = world.serverPid() ?? 0
    expect(await first.leave()).toBe('left')
    expect(isAlive(pid)).toBe(true)
    expect(await answers(second.target)).toBe(true)
    expect(await second.leave()).toBe('stopped')
    expect(world.serverPid()).toBeUndefined()
  })

  it('may be five that start together on nothing, and leave together', async () => {
    const nodes = Array.from({ length: 5 }, () => world.startNode(world.options('nothing')))
    const lines = await Promise.all(nodes.map((node) => node.line('ready')))
    expect(lines.flatMap(({ news }) => news).filter(({ kind }) => kind === 'started')).toHaveLength(1)
    expect(await Promise.all(lines.map(({ target }) => answers(target)))).toEqual(Array(5).fill(true))
    const left = await Promise.all(nodes.map((node) => node.leave()))
    expect(left.filter((how) => how === 'stopped')).toHaveLength(1)
    expect(world.serverPid('nothing')).toBeUndefined()
  })

  it('never lose it to one that leaves while another joins', async () => {
    let present = await world.start()
    for (let round = 0; round < 8; round += 1) {
      const [, next] = await Promise.all([present.leave(), world.start()])
      expect(await answers(next.target), `round ${round}`).toBe(true)
      present = next
    }
    expect(await present.leave()).toBe('stopped')
  })

  it('can be two in one process, and leaving twice is leaving once', async () => {
    const [first, second] = await Promise.all([world.start(), world.start()])
    expect([await first.leave(), await first.leave()]).toEqual(['left', 'left'])
    expect(await answers(second.target)).toBe(true)
    expect(await second.leave()).toBe('stopped')
  })
})

describe('a server that dies under a process', () => {
  it('is started again', async () => {
    const node = await ready()
    await runOn(node.target, 'create table kept as select 1 as n')
    const pid = world.serverPid() ?? 0
    process.kill(pid, 'SIGKILL')
    await node.news('returned')
    expect(world.serverPid()).not.toBe(pid)
    expect(await runOn(node.target, 'select n from kept')).toEqual([{ n: 1 }])
    expect(await node.leave()).toBe('stopped')
  })

  it('is joined again when only the connection broke', async () => {
    const node = await ready()
    const pid = world.serverPid()
    await runOn(
      node.target,
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like '%reference'",
    )
    await node.news('returned')
    expect(world.serverPid()).toBe(pid)
    expect(await node.leave()).toBe('stopped')
  })
})

describe('a postmaster.pid that belongs to nobody', () => {
  const leave = (text: string): void => writeFileSync(pidFile(), text, { mode: 0o600 })
  const fullFile = (pid: number): string =>
    `${pid}\n${path.dirname(pidFile())}\n1700000000\n5432\n${world.options().data}/postgres\n\n  1234  5678\nready   \n`

  it.each([
    ['names a process that is gone', () => fullFile(999_999_999)],
    ['is garbage', () => 'not a pid file\n\0\0'],
    ['is empty', () => ''],
    ['names process 1', () => fullFile(1)],
    ['has a negative number, as a standalone server writes it', () => fullFile(-7)],
  ])('does not stop a start when it %s', async (_, text) => {
    leave(text())
    const server = await world.start()
    expect(await answers(server.target)).toBe(true)
    expect(await server.leave()).toBe('stopped')
  })

  it('does not stop a start when its number was given to another process of the same user', async () => {
    const other = spawn('sleep', ['60'], { stdio: 'ignore', ...(IS_ROOT ? { uid: 65534, gid: 65534 } : {}) })
    try {
      leave(fullFile(other.pid ?? 0))
      const server = await world.start()
      expect(await answers(server.target)).toBe(true)
      expect(readFileSync(pidFile(), 'utf8')).not.toContain(`${other.pid}\n`)
      expect(await server.leave()).toBe('stopped')
      expect(isAlive(other.pid ?? 0)).toBe(true)
    } finally {
      other.kill('SIGKILL')
    }
  })
})
