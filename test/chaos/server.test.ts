import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientConfig } from '../../src/platform/db/postgres/target.ts'
import { startChaosServer, type Server } from './server.ts'

let directory: string
let server: Server
beforeAll(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-server-'))
  chmodSync(directory, 0o755)
  server = await startChaosServer(directory)
  await server.addUser('node_a')
}, 60_000)
afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

async function connectAs(user: string): Promise<{ readonly client: Client; readonly ended: Promise<void> }> {
  const client = new Client(clientConfig(server.url(user)))
  client.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => client.once('end', resolve))
  await client.connect()
  return { client, ended }
}

describe('the server', () => {
  it('ends the connections of one user and of nobody else', async () => {
    const other = await server.connect()
    const { ended } = await connectAs('node_a')
    expect(await server.cut('node_a')).toBe(1)
    await ended
    expect(await server.cut('node_a')).toBe(0)
    expect((await other.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await other.end()
  })

  it('restarts under every connection and keeps what was committed', async () => {
    const { client, ended } = await connectAs('node_a')
    await client.query('create table kept (n integer)')
    await client.query('insert into kept values (1)')
    await client.query('begin')
    await client.query('insert into kept values (2)')
    const started = performance.now()
    const away = server.restart(300)
    await ended
    await away
    expect(performance.now() - started).toBeGreaterThan(290)
    const again = await connectAs('node_a')
    expect((await again.client.query('select n from kept')).rows).toEqual([{ n: 1 }])
    await again.client.end()
  })

  it('stands still while it is frozen, and goes on', async () => {
    const client = await server.connect()
    const goOn = await server.freeze()
    let answered = false
    const answer = client.query<{ readonly one: number }>('select 1 as one').then(({ rows }) => {
      answered = true
      return rows
    })
    await sleep(300)
    expect(answered).toBe(false)
    goOn()
    expect(await answer).toEqual([{ one: 1 }])
    await client.end()
  })

  it('fails over to its copy, which has what was committed before it and nothing else', async () => {
    const { client, ended } = await connectAs('node_a')
    await client.query('create table copied (n integer)')
    await client.query('insert into copied values (1)')
    await server.copy()
    await client.query('insert into copied values (2)')
    const deadAt = await server.failOver()
    await ended
    expect(deadAt).toBeLessThanOrEqual(Date.now())
    const again = await connectAs('node_a')
    expect((await again.client.query('select n from copied')).rows).toEqual([{ n: 1 }])
    await again.client.end()
  })
})
