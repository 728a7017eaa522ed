import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findBinariesPackage } from '../../../src/platform/db/embedded/binaries.ts'
import { fileError } from '../../../src/platform/db/embedded/files.ts'
import { programError, whyEnded } from '../../../src/platform/db/embedded/server-process.ts'
import { createEmbeddedWorld, type EmbeddedWorld, IS_ROOT, SOMEBODY } from './embedded-world.ts'

// Each test begins with the files of a server that was stopped in good order. Nothing may be written over them.

let origin: EmbeddedWorld
let world: EmbeddedWorld
let data: string
let cluster: string

beforeAll(async () => {
  origin = createEmbeddedWorld()
  await (await origin.start()).leave()
})
afterAll(() => origin.end())

beforeEach(() => {
  world = createEmbeddedWorld()
  data = world.options().data
  cluster = path.join(data, 'postgres/data')
})
afterEach(() => world.end())

/** Moves the files of the server here and back again: a copy would belong to us and not to the server's user. */
async function withFiles(act: () => Promise<void>): Promise<void> {
  renameSync(origin.options().data, data)
  try {
    await act()
  } finally {
    renameSync(data, origin.options().data)
  }
}

const refused = (code: string, words = ''): Promise<void> =>
  expect(world.start()).rejects.toMatchObject({ code, message: expect.stringContaining(words) as string })

/** Puts something in the place of a file for as long as the act takes. */
async function without(file: string, act: () => Promise<void>): Promise<void> {
  renameSync(file, `${file}.away`)
  try {
    await act()
  } finally {
    rmSync(file, { recursive: true, force: true })
    renameSync(`${file}.away`, file)
  }
}

describe('files that are moved with their data directory', () => {
  it('are used in their new place', () =>
    withFiles(async () => {
      const server = await world.start()
      expect(server.target.host).toBe(path.join(data, 'postgres'))
      expect(server.news.map(({ kind }) => kind)).not.toContain('initialised')
      await server.leave()
    }))
})

describe('a data directory is refused', () => {
  it('when another major version wrote it, with the way out', () =>
    withFiles(() =>
      without(path.join(cluster, 'PG_VERSION'), async () => {
        writeFileSync(path.join(cluster, 'PG_VERSION'), '12\n', { mode: 0o644 })
        await refused('other_major_version', 'written by PostgreSQL 12')
        await refused('other_major_version', 'ESCAPEMENT_DATABASE_URL')
      }),
    ))

  it.each(['PG_VERSION', 'global/pg_control'])('when %s is missing', (file) =>
    withFiles(() => without(path.join(cluster, file), () => refused('directory_damaged', cluster))),
  )

  it('when PG_VERSION is nonsense', () =>
    withFiles(() =>
      without(path.join(cluster, 'PG_VERSION'), async () => {
        writeFileSync(path.join(cluster, 'PG_VERSION'), 'many\n', { mode: 0o644 })
        await refused('directory_damaged')
      }),
    ))

  it('when pg_control is damaged', () =>
    withFiles(() =>
      without(path.join(cluster, 'global/pg_control'), async () => {
        writeFileSync(path.join(cluster, 'global/pg_control'), 'x'.repeat(8192), { mode: 0o644 })
        await refused('directory_damaged', 'postgres.log')
      }),
    ))

  it('when the server files are gone, rather than filled with an empty database', () =>
    withFiles(() => without(cluster, () => refused('directory_damaged', 'is gone or empty'))))

  it('when the password is gone', () =>
    withFiles(() => without(path.join(data, 'postgres.password'), () => refused('password_missing'))))

  it('when the note about the place is damaged', () =>
    withFiles(() =>
      without(path.join(data, 'postgres.json'), async () => {
        writeFileSync(path.join(data, 'postgres.json'), '{')
        await refused('directory_damaged', 'postgres.json')
      }),
    ))

  it('when it is a file', async () => {
    writeFileSync(data, 'a file')
    await refused('directory_unusable', data)
  })

  it.runIf(IS_ROOT)('when one may not write there', async () => {
    mkdirSync(data)
    chmodSync(data, 0o755)
    const node = world.startNode({}, { uid: SOMEBODY })
    expect(await node.line('refused')).toMatchObject({ code: 'directory_unusable' })
  })

  it.runIf(IS_ROOT)('when its server files are elsewhere and it was copied', async () => {
    const hidden = path.join(world.directory, 'hidden')
    mkdirSync(hidden, { mode: 0o700 })
    const first = await world.start({ data: path.join(hidden, 'one') })
    await first.leave()
    cpSync(path.join(hidden, 'one'), path.join(hidden, 'two'), { recursive: true })
    await expect(world.start({ data: path.join(hidden, 'two') })).rejects.toMatchObject({ code: 'directory_moved' })
  })
})

describe('a socket is refused', () => {
  const long = (): string => path.join(world.directory, 'l'.repeat(120), 'data')

  it('when the directory for it is not private', async () => {
    const first = await world.start({ data: long() })
    await first.leave()
    chmodSync(first.target.host, 0o755)
    await expect(world.start({ data: long() })).rejects.toMatchObject({ code: 'socket_unusable' })
  })

  it('when not even the temporary directory is short enough', async () => {
    const temporaryDirectory = path.join(world.directory, 't'.repeat(100))
    await expect(world.start({ data: long(), temporaryDirectory })).rejects.toMatchObject({ code: 'socket_unusable' })
  })
})

describe('a server is refused', () => {
  it('when it has another password than ours', () =>
    withFiles(async () => {
      const server = await world.start()
      await without(path.join(data, 'postgres.password'), async () => {
        writeFileSync(path.join(data, 'postgres.password'), 'another\n')
        await refused('server_foreign')
      })
      await server.leave()
    }))
})

describe('a platform', () => {
  it('without binaries is told to use a database URL', () => {
    expect(() => findBinariesPackage('win32-x64')).toThrow('Set ESCAPEMENT_DATABASE_URL to a PostgreSQL server')
  })

  it('whose binaries are not installed is told how to get them', () => {
    const other = process.arch === 'arm64' ? 'linux-x64' : 'linux-arm64'
    expect(() => findBinariesPackage(other)).toThrow('Install again without --omit=optional')
  })

  it('that cannot run the binaries is told so', () => {
    const failure = (code: string): Error => Object.assign(new Error(code), { code })
    expect(programError(failure('ENOENT'), '/postgres').code).toBe('platform_unsupported')
    expect(programError(failure('EPERM'), '/postgres').message).toContain(
      'is not allowed to start a process as another user',
    )
    expect(programError(failure('EACCES'), '/postgres').code).toBe('server_failed')
  })
})

describe('what a server says when it ends at once', () => {
  const place = { log: '/data/postgres.log', socketDirectory: '/data' } as Parameters<typeof whyEnded>[1]

  it.each([
    ['FATAL:  could not write lock file "postmaster.pid": No space left on device', 'disk_full'],
    ['FATAL:  could not create any Unix-domain sockets', 'socket_unusable'],
    ['FATAL:  database files are incompatible with server', 'directory_damaged'],
    ['PANIC:  could not locate a valid checkpoint record', 'directory_damaged'],
    ['FATAL:  something new', 'server_failed'],
  ])('is understood: %s', (said, code) => {
    expect(whyEnded(`2026-01-01 00:00:00.000 UTC [7] ${said}\n`, place)).toMatchObject({ code })
  })

  it.each([
    'FATAL:  lock file "postmaster.pid" already exists',
    'FATAL:  pre-existing shared memory block (key 1, ID 2) is still in use',
  ])('is a reason to look again: %s', (said) => {
    expect(whyEnded(said, place)).toBeUndefined()
  })

  it('is a full disk when we hear it first', () => {
    expect(fileError(Object.assign(new Error('full'), { code: 'ENOSPC' }), '/data')).toMatchObject({
      code: 'disk_full',
    })
  })
})
