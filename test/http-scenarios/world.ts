import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, it, vi } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import { removeProgram, createServeWorld, type Served, type ServeWorld } from '../serve/support.ts'
import type { Surface } from '../scenarios/both/world.ts'
import { createCheckedClient, surfaceOf } from './remote.ts'

// They wait more than they work.
vi.setConfig({ maxConcurrency: 6 })

/** A server, spoken to over its socket. */
export interface Remote extends Surface {
  readonly client: Client
  readonly url: string
  /** The text of the owner's key. */
  readonly key: string
  readonly served: Served
  /** The file its configuration was read from. */
  readonly file: string
  /** Asks without the client, for what no client would send and for what it does not show. */
  readonly raw: (method: string, target: string, request?: RawRequest) => Promise<RawAnswer>
  /** Drains, and resolves when the server is gone. */
  readonly stop: () => Promise<void>
}

export interface RawRequest {
  readonly body?: unknown
  /** Sent as it is. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly key?: string
}

export interface RawAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers: Headers
}

/** A server of this process: its agents are functions, the rest is what a configuration file says. */
export interface StartOptions {
  readonly agents?: Readonly<Record<string, Handler>>
  readonly variables?: Readonly<Record<string, string>>
  readonly [section: string]: unknown
}

export interface World extends Pick<ServeWorld, 'data' | 'database' | 'databaseUrl' | 'serve' | 'spawn'> {
  readonly start: (options?: StartOptions) => Promise<Remote>
  /** Speaks to a server that was started otherwise. */
  readonly join: (served: Served) => Promise<Remote>
}

/** A test on a database of its own, side by side with others. */
export const scenario = (name: string, play: (world: World) => Promise<void>, timeoutMs = 90_000): void =>
  it.concurrent(name, () => inWorld(play), timeoutMs)

afterAll(removeProgram)

/** Plays on a database of its own. */
export async function inWorld(play: (world: World) => Promise<void>): Promise<void> {
  const inner = await createServeWorld()
  const { data, database, databaseUrl, serve, spawn } = inner
  let started = 0
  const servers: Served[] = []
  const join = (served: Served, file = ''): Promise<Remote> => {
    servers.push(served)
    return remoteOf(inner, served, file)
  }
  const start: World['start'] = ({ agents, variables, ...config } = {}) => {
    const file = path.join(data, `config-${(started += 1)}.yaml`)
    // What is JSON is YAML.
    writeFileSync(file, JSON.stringify({ ...config, database: { pool: 4 } }))
    const given = { ...(agents === undefined ? {} : { agents }), ...(variables === undefined ? {} : { variables }) }
    return join(serve({ config: file, ...given }), file)
  }
  try {
    await play({ data, database, databaseUrl, serve, spawn, start, join })
  } catch (error) {
    // What went wrong first is what the test has to tell, and what the servers have said about it.
    await inner.end().catch(() => undefined)
    const said = servers.flatMap((served) => served.log().filter(({ level }) => level === 'error'))
    if (error instanceof Error && said.length > 0)
      error.message += `\n${said.map((line) => JSON.stringify(line)).join('\n')}`
    throw error
  }
  await inner.end()
}

/** Speaks to a server over its socket. */
export async function remoteOf({ data }: Pick<ServeWorld, 'data'>, served: Served, file: string): Promise<Remote> {
  const url = await served.url
  if (url === '') throw new Error(`the server has ended with ${String(await served.ended)}: ${served.stderr()}`)
  const key = readFileSync(path.join(data, 'owner.key'), 'utf8').trim()
  const client = createCheckedClient(url, key)
  return {
    ...{ ...surfaceOf(client), client, url, key, served, file },
    raw: (method, target, request = {}) => ask(`${url}${target}`, method, { key, ...request }),
    stop: async () => {
      served.signal('SIGTERM')
      await served.ended
    },
  }
}

async function ask(url: string, method: string, { body, text, headers, key }: RawRequest): Promise<RawAnswer> {
  const content = text ?? (body === undefined ? undefined : JSON.stringify(body))
  const answer = await fetch(url, {
    method,
    headers: {
      ...(key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  })
  const said = await answer.text()
  return {
    status: answer.status,
    body: (said === '' ? {} : JSON.parse(said)) as RawAnswer['body'],
    headers: answer.headers,
  }
}
