import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { Readable, Writable } from 'node:stream'
import { expect, vi } from 'vitest'
import { runServe, type Build, type ServeOptions } from '../../src/cli/serve.ts'
import type { Signal } from '../../src/cli/terminal.ts'
import { instant } from '../../src/domain/instant.ts'
import { urlOf } from '../scenarios/url.ts'
import { compileProgram, type CompiledProgram } from '../support/compile-program.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { makeScratch } from '../support/scratch.ts'
import { ROOT } from '../tooling/root.ts'

export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string }

/** A server that a test talks to. */
export interface Served {
  /** Where it listens; resolves when it says so. */
  readonly url: Promise<string>
  readonly stdout: () => string
  readonly log: () => readonly LogLine[]
  readonly stderr: () => string
  readonly signal: (signal: Signal) => void
  /** How it ended. */
  readonly ended: Promise<number | string | null>
}

/** A directory and a database for servers, which are gone when the world ends. */
export interface ServeWorld {
  readonly data: string
  readonly database: TestDatabase
  readonly databaseUrl: string
  /** Runs the command in this process, on the database of the world. */
  readonly serve: (options?: ServeOptions & Partial<Build> & Surroundings) => Served
  /** Runs the program in a process of its own, on the same database. */
  readonly spawn: (
    args?: readonly string[],
    variables?: Readonly<Record<string, string>>,
    how?: SpawnOptions,
  ) => Served & { readonly child: ChildProcess }
  readonly end: () => Promise<void>
}

interface SpawnOptions {
  /** Another program than the one that is shipped. */
  readonly entry?: string
  /** On a server of its own in the data directory instead. */
  readonly embedded?: boolean
}

interface Surroundings {
  readonly variables?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Whether a person seems to sit there. */
  readonly tty?: boolean
}

export async function createServeWorld(): Promise<ServeWorld> {
  const data = makeScratch('escapement-serve-')
  // As root an embedded server runs as another user, who has to get in.
  chmodSync(data, 0o755)
  const database = await createTestDatabase()
  const databaseUrl = urlOf(database.target)
  const running: Served[] = []
  const keep = <T extends Served>(served: T): T => {
    running.push(served)
    return served
  }
  return {
    data,
    database,
    databaseUrl,
    serve: (options = {}) => keep(serveHere({ port: '0', data, databaseUrl, ...options })),
    spawn: (args = [], variables = {}, { entry = 'src/cli/main.ts', embedded = false } = {}) =>
      keep(
        spawnServer(entry, ['serve', '--port', '0', '--data', data, ...args], {
          ...(embedded ? {} : { ESCAPEMENT_DATABASE_URL: databaseUrl }),
          ...variables,
        }),
      ),
    end: async () => {
      for (const served of running) {
        served.signal('SIGTERM')
        served.signal('SIGINT')
        await served.ended
      }
      await database.drop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

function serveHere({
  variables = {},
  cwd,
  tty = false,
  agents,
  version = '0.0.0-test',
  ...options
}: ServeOptions & Partial<Build> & Surroundings): Served {
  const out = collector(tty)
  const err = collector(false)
  const early: Signal[] = []
  let hear: (signal: Signal) => void = (signal) => void early.push(signal)
  const ended = runServe(
    {
      ...{ stdin: Readable.from([]), stdout: out.stream, stderr: err.stream, now: () => instant(Date.now()) },
      ...{ variables, cwd: cwd ?? options.data ?? ROOT },
      signals: {
        listen: (listener) => {
          hear = listener
          for (const signal of early.splice(0)) listener(signal)
        },
      },
    },
    options,
    { version, agents },
  )
  ended.catch(() => undefined)
  return served({ stdout: out.text, stderr: err.text, ended, signal: (signal) => hear(signal) })
}

function collector(tty: boolean): { readonly stream: Writable; readonly text: () => string } {
  let text = ''
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString('utf8')
      done()
    },
  })
  return { stream: tty ? Object.assign(stream, { isTTY: true }) : stream, text: () => text }
}

function served(parts: Pick<Served, 'stdout' | 'stderr' | 'ended' | 'signal'>): Served {
  const { stdout, stderr, ended } = parts
  let over = false
  void ended.catch(() => undefined).then(() => (over = true))
  const url = (async () => {
    const said = (): string | undefined => /listens on (\S+)/.exec(stdout())?.[1]
    await vi.waitFor(() => expect(said() !== undefined || over, stderr()).toBe(true), { timeout: 60_000, interval: 10 })
    return said() ?? ''
  })()
  url.catch(() => undefined)
  return { ...parts, url, log: () => linesOf(stderr()) }
}

const linesOf = (text: string): readonly LogLine[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine)

const programs = new Map<string, CompiledProgram>()

/** For `afterAll`. */
export function removeProgram(): void {
  for (const program of programs.values()) program.remove()
  programs.clear()
}

/** Compiles a program before servers of this process are started: compiling holds up everything else in it. */
export function prepareProgram(entry: string): void {
  compiled(entry)
}

function compiled(entry: string): CompiledProgram {
  const program = programs.get(entry) ?? compileProgram(entry)
  programs.set(entry, program)
  return program
}

function spawnServer(
  entry: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): Served & { readonly child: ChildProcess } {
  const child = spawn(process.execPath, [compiled(entry).entry, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString('utf8')))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString('utf8')))
  const ended = new Promise<number | string | null>((resolve) => {
    child.once('close', (code, signal) => {
      resolve(signal ?? code)
    })
  })
  const parts = { stdout: () => out, stderr: () => err, ended, signal: (signal: Signal) => void child.kill(signal) }
  return { ...served(parts), child }
}

/** Asks the server with the owner's key. */
export async function ask(
  world: Pick<ServeWorld, 'data'>,
  server: Served,
  request: { readonly method?: string; readonly path: string; readonly body?: unknown },
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>>; readonly headers: Headers }> {
  const url = await server.url
  const key = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
  const answer = await fetch(`${url}${request.path}`, {
    method: request.method ?? (request.body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${key}`,
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
  })
  const body = (answer.status === 204 ? {} : await answer.json()) as Readonly<Record<string, unknown>>
  return { status: answer.status, body, headers: answer.headers }
}

/** Waits until the log has a line like this. */
export const logged = (server: Served, like: Readonly<Record<string, unknown>>): Promise<void> =>
  vi.waitFor(() => expect(server.log(), server.stderr()).toContainEqual(expect.objectContaining(like)), {
    timeout: 30_000,
    interval: 10,
  })
