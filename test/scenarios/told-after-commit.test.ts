import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from 'pg'
import { createEscapement } from '../../src/index.ts'
import { startChaosServer, type Server } from '../chaos/server.ts'
import { chat, ended, eventually, send } from './support.ts'

// A transaction that sends a notification holds a lock of the whole server while it commits, so that commits of all
// orgs and nodes come one after the other. Here another client holds that lock for good: it waits for a standby server that
// does not exist.

const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-told-'))
// As root the server runs as another user, who has to get in.
chmodSync(directory, 0o755)
let server: Server
let holder: Client

beforeAll(async () => {
  server = await startChaosServer(path.join(directory, 'server'))
  const client = await server.connect()
  for (const setting of ["wal_level = 'replica'", 'max_wal_senders = 1', "synchronous_standby_names = 'nobody'"])
    await client.query(`alter system set ${setting}`)
  await client.query('alter role all set synchronous_commit = local')
  await client.end()
  await server.restart(0)
  holder = await server.connect()
}, 60_000)
afterAll(async () => {
  await holder.end().catch(() => undefined)
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

describe('a node beside another one', () => {
  it('commits while another client holds the lock of notifications', async () => {
    const database = { url: server.url(), pool: 4 }
    const nodes = [1, 2].map(() => createEscapement({ database, agents: { worker: () => 'done' } }))
    const [node, other] = nodes
    const watcher = await server.connect()
    if (node === undefined || other === undefined) throw new Error('there are two nodes')
    try {
      await node.start()
      await other.start()
      await holder.query('set synchronous_commit = on')
      // Both in one transaction: only what has written something waits for a standby.
      void holder.query("create table held (); select pg_notify('anything', '')").catch(() => undefined)
      await eventually(async () => {
        const { rows } = await watcher.query("select 1 from pg_stat_activity where wait_event = 'SyncRep'")
        expect(rows).toHaveLength(1)
      })
      // It knows that there is another node since it has started.
      const { run_id: id } = await send(other, chat('s'), 'turn')
      expect(await ended(other, id)).toMatchObject({ status: 'success' })
    } finally {
      await watcher.query("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
      await watcher.end()
      await Promise.all(nodes.map((one) => one.stop()))
    }
  }, 60_000)
})
