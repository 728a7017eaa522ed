import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { run, type Ran } from '../cli/run.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

// Secrets from the terminal; the key is the one that the server makes itself.

const VALUE = 'hunter2-hunter2'
let world: ServeWorld

beforeAll(async () => {
  world = await createServeWorld()
  await world.serve().url
}, 60_000)
afterAll(() => world.end())

const type = (stdin: string, ...args: readonly string[]): Promise<Ran> =>
  run(args, stdin, { cwd: '/', now: () => instant(Date.now()), variables: { ESCAPEMENT_DATA: world.data } })
const file = (): string => path.join(world.data, 'secret.key')

describe('secrets in the terminal', () => {
  it('are set from a pipe, listed, changed and deleted, and their values are shown nowhere', async () => {
    expect(existsSync(file())).toBe(false)
    const unbound = await type(VALUE, 'secrets', 'set', 'API_KEY')
    expect([unbound.code, unbound.stderr]).toEqual([1, expect.stringContaining('--host')])
    const set = await type(`${VALUE}\n`, 'secrets', 'set', 'API_KEY', '--host', 'api.example.com', 'b.example.com')
    expect([set.code, set.stderr]).toEqual([0, ''])
    expect(set.stdout).toContain('api.example.com, b.example.com')
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    const executor = JSON.stringify({ kind: 'http', url: 'https://api.example.com/', body: '{{secret:API_KEY}}' })
    expect(await type('', 'agents', 'create', '--id', 'far', '--name', 'Far', '--executor', executor)).toMatchObject({
      code: 0,
    })
    expect((await type('', 'secrets', 'list')).stdout).toMatch(/API_KEY +api\.example\.com b\.example\.com +far/)
    const kept = await type('', 'secrets', 'set', 'API_KEY', '--keep-value', '--host', 'api.example.com', '--json')
    expect(JSON.parse(kept.stdout)).toMatchObject({ hosts: ['api.example.com'], version: 2, used_by: ['far'] })
    expect(await type('', 'secrets', 'set', 'API_KEY', '--keep-value')).toMatchObject({ code: 2 })
    expect(await type('another-value', 'secrets', 'set', 'API_KEY')).toMatchObject({ code: 0, stderr: '' })
    const used = await type('', 'secrets', 'delete', 'API_KEY')
    expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('Agents use API_KEY: far')])
    await type('', 'agents', 'delete', 'far')
    expect((await type('', 'secrets', 'delete', 'API_KEY')).stdout).toBe('Deleted API_KEY.\n')
    expect((await type('', 'secrets', 'get', 'API_KEY')).code).toBe(1)
  })

  it('are sealed anew, and another machine without the key is told what to do', async () => {
    await type(VALUE, 'secrets', 'set', 'API_KEY', '--host', 'api.example.com')
    const rotated = await type('', 'secrets', 'rotate')
    expect([rotated.code, rotated.stdout]).toEqual([
      0,
      expect.stringMatching(/^Encrypted \d+ again with key [0-9a-f]{16}\.\n$/),
    ])
    const made = await type('', 'secrets', 'rotate', '--new-key')
    expect([made.code, made.stderr]).toEqual([1, expect.stringContaining('first line of secret.key')])

    const elsewhere = world.serve({ data: path.join(world.data, 'elsewhere') })
    expect(await elsewhere.ended).toBe(1)
    expect(elsewhere.stderr()).toContain('this node has no key: give it that key as ESCAPEMENT_SECRET_KEY')
    const ESCAPEMENT_SECRET_KEY = readFileSync(file(), 'utf8').trim()
    const told = world.serve({ data: path.join(world.data, 'told'), variables: { ESCAPEMENT_SECRET_KEY } })
    expect(await told.url).toMatch(/^http/)
    expect(JSON.stringify([told.log(), told.stdout(), told.stderr()])).not.toContain(ESCAPEMENT_SECRET_KEY)
    told.signal('SIGTERM')
    await told.ended
  })
})
