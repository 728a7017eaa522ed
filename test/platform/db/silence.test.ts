import path from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Database, ReceivedNotification } from '../../../src/platform/db/database.ts'
import { openPostgres } from '../../../src/platform/db/postgres/postgres.ts'
import { limitsWithin } from '../../../src/platform/db/postgres/session.ts'
import type { ConnectionTarget } from '../../../src/platform/db/postgres/target.ts'
import { openProxy, type Proxy } from '../../chaos/network/proxy.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

// A network that drops packets tells nobody. The connections are there, and nothing comes back on them.

const LIMITS = { statementMs: 900, answerMarginMs: 100, connectMs: 2_000 }
const POOL = 4

let world: TestDatabase
let proxy: Proxy
let db: Database
beforeEach(async () => {
  world = await createTestDatabase()
  proxy = await openProxy(placeOf(world.target))
  db = await world.open({ target: through(world.target, proxy.port), pool: POOL, limits: LIMITS, random: () => 0 })
})
afterEach(async () => {
  await world.drop()
  await proxy.close()
})

const placeOf = (target: ConnectionTarget) =>
  typeof target === 'string'
    ? { host: new URL(target).hostname, port: Number(new URL(target).port) }
    : { path: path.join(target.host, `.s.PGSQL.${target.port}`) }

function through(target: ConnectionTarget, port: number): string {
  const parts = typeof target === 'string' ? new URL(target) : null
  const user = parts?.username ?? (typeof target === 'string' ? '' : target.user)
  const password = parts?.password ?? (typeof target === 'string' ? '' : target.password)
  const database = parts?.pathname.slice(1) ?? (typeof target === 'string' ? '' : target.database)
  return `postgres://${user}:${password}@127.0.0.1:${port}/${database}`
}

const askAll = () => Promise.all(Array.from({ length: POOL }, () => db.query('select 1 as one, pg_sleep(0.02)', [])))

it('finds out once that nobody answers any more, and not once for each connection', async () => {
  const heard: ReceivedNotification[] = []
  await db.listen('turns', (said) => heard.push(said))
  await askAll()
  expect(proxy.forget()).toBe(POOL + 1)
  const from = performance.now()
  await expect(db.query('select 1', [])).rejects.toMatchObject({ code: 'connection_lost' })
  await vi.waitFor(askAll, 5_000)
  expect(performance.now() - from).toBeLessThan((POOL - 1) * (LIMITS.statementMs + LIMITS.answerMarginMs))
  // Whoever only listens never waits for an answer: it would never have found out.
  await vi.waitFor(() => expect(heard).toEqual([{ kind: 'was_away' }]), 5_000)
  await db.query("select pg_notify('turns', 'again')", [])
  await vi.waitFor(() => expect(heard.at(-1)).toEqual({ kind: 'notified', payload: 'again' }), 5_000)
})

it('keeps connections that were heard of while another waited in vain', async () => {
  const pids = async () => (await world.outside(OURS)).map(({ pid }) => pid)
  await askAll()
  const before = await pids()
  // Longer than the limit, and the answer to it is lost: everybody else goes on meanwhile.
  const waiting = db.transaction((tx) => tx.query('select pg_sleep(30)', []), { statementMs: 0 }).catch(String)
  const others = setInterval(() => void askAll().catch(() => undefined), 50)
  await new Promise((resolve) => setTimeout(resolve, LIMITS.statementMs + 200))
  await world.outside("select pg_terminate_backend(pid) from pg_stat_activity where query like 'select pg_sleep(30)%'")
  expect(await waiting).toContain('lost')
  clearInterval(others)
  await askAll()
  expect((await pids()).filter((pid) => before.includes(pid))).toHaveLength(POOL - 1)
})

it('is closed although nobody answers any more', async () => {
  const other = await openPostgres({ target: through(world.target, proxy.port), limits: LIMITS })
  await other.listen('turns', () => undefined)
  await other.query('select 1', [])
  proxy.forget()
  const from = performance.now()
  await other.close()
  expect(performance.now() - from).toBeLessThan(5_000)
})

const OURS = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'escapement' and pid <> pg_backend_pid()`

it('gives who holds a lease about as long to wait as the lease lasts', () => {
  expect(limitsWithin(15_000)).toEqual({ statementMs: 15_000, connectMs: 10_000 })
  expect(limitsWithin(4_000)).toEqual({ statementMs: 6_000, connectMs: 4_000 })
  expect(limitsWithin(3_600_000)).toEqual({ statementMs: 30_000, connectMs: 10_000 })
})
