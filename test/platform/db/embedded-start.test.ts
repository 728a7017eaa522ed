import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { trimLog } from '../../../src/platform/db/embedded/server-process.ts'
import { runOn } from '../../support/server-databases.ts'
import { createEmbeddedWorld, type EmbeddedWorld, IS_ROOT, modeOf } from './embedded-world.ts'

let world: EmbeddedWorld

beforeEach(() => {
  world = createEmbeddedWorld()
})
afterEach(() => world.end())

const kinds = (news: readonly { readonly kind: string }[]): readonly string[] => news.map(({ kind }) => kind)
const settingsOf = (names: readonly string[]): string =>
  `select ${names.map((name) => `current_setting('${name}') as ${name}`).join(', ')}`

describe('an empty directory', () => {
  it('becomes a database that is durable, private and ours', async () => {
    const server = await world.start()
    expect(kinds(server.news)).toEqual([...(IS_ROOT ? ['account_assumed'] : []), 'initialised', 'started'])
    const names = ['listen_addresses', 'fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'jit']
    expect(await runOn(server.target, settingsOf(names))).toEqual([
      {
        ...{ listen_addresses: '', fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
        ...{ data_checksums: 'on', jit: 'off' },
      },
    ])
    expect(await runOn(server.target, 'select distinct auth_method from pg_hba_file_rules')).toEqual([
      { auth_method: 'scram-sha-256' },
    ])
    expect(server.target).toMatchObject({ user: 'escapement', database: 'postgres', port: 5432 })
    const { data } = world.options()
    expect(modeOf(path.join(data, 'postgres.password'))).toBe('600')
    expect(modeOf(path.join(data, 'postgres'))).toBe('700')
    expect(modeOf(path.join(data, 'postgres.log'))).toBe('600')
    expect(readFileSync(path.join(data, 'postgres.log'), 'utf8')).toContain('ready to accept connections')
    await expect(runOn({ ...server.target, password: 'guessed' }, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    expect(await server.leave()).toBe('stopped')
    expect(world.serverPid()).toBeUndefined()
  })

  it('is the same database at the next start', async () => {
    const first = await world.start()
    await runOn(first.target, 'create table remembered as select 7 as n')
    await first.leave()
    const second = await world.start()
    expect(kinds(second.news)).not.toContain('initialised')
    expect(await runOn(second.target, 'select n from remembered')).toEqual([{ n: 7 }])
    expect(second.target.password).toBe(first.target.password)
    await second.leave()
  })

  it('may have a path of 150 characters and more; then the socket is elsewhere', async () => {
    const data = path.join(world.directory, 'a'.repeat(70), 'b'.repeat(80), 'data')
    const server = await world.start({ data })
    expect(data.length).toBeGreaterThan(150)
    expect(path.dirname(server.target.host)).toBe(path.join(world.directory, 'tmp'))
    expect(modeOf(server.target.host)).toBe('700')
    expect(await runOn(server.target, 'select 1 as one')).toEqual([{ one: 1 }])
    await server.leave()
    // The place is kept, whatever the temporary directory of the next process is.
    const again = await world.start({ data, temporaryDirectory: world.directory })
    expect(again.target.host).toBe(server.target.host)
    await again.leave()
  })

  it('may have blanks, commas and quotes in its path', async () => {
    const server = await world.start({ data: path.join(world.directory, `it's "a, b"`) })
    expect(await runOn(server.target, 'select 1 as one')).toEqual([{ one: 1 }])
    await server.leave()
  })

  it('is finished by the next start when a process died while making it', async () => {
    const { data } = world.options()
    const left = path.join(data, 'postgres/init-999999999-abcd/data')
    mkdirSync(left, { recursive: true })
    chmodSync(path.join(data, 'postgres'), 0o700)
    writeFileSync(path.join(left, 'PG_VERSION'), '18\n')
    const server = await world.start()
    expect(existsSync(left)).toBe(false)
    await server.leave()
  })
})

describe("the server's log", () => {
  it('is kept small, and the part before is kept once', async () => {
    const file = path.join(world.directory, 'some.log')
    writeFileSync(file, 'x'.repeat(1000))
    await trimLog(file, 2000)
    expect(statSync(file).size).toBe(1000)
    await trimLog(file, 500)
    expect(statSync(file).size).toBe(0)
    expect(statSync(`${file}.1`).size).toBe(1000)
  })
})
