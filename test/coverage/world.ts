import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { RunView } from '../../src/contract/run.ts'
import { inWorld, remoteOf, type RawAnswer, type RawRequest, type Remote } from '../http-scenarios/world.ts'
import type { World as OwnServers } from '../http-scenarios/world.ts'
import { eventually } from '../scenarios/support.ts'
import { createServeWorld } from '../serve/support.ts'
import type { TestDatabase } from '../support/database.ts'
import { startAgentStub, type AgentStub } from './agent-stub.ts'

/** A started server that all checks share, and what one check creates on it under names of its own. */
export interface World {
  /** Differs from check to check: part of the name of everything a check creates. */
  readonly name: string
  /** The shared server with the owner's key: `client`, `schedules`, `sessions`, `runs`, `agents`, `raw`, `url`, `key`. */
  readonly server: Remote
  /** Its database, for making time pass. */
  readonly database: TestDatabase
  /** Requests to the shared server with the owner's key, unless another is given. */
  readonly get: (target: string, request?: RawRequest) => Promise<RawAnswer>
  readonly post: (target: string, body?: unknown, request?: RawRequest) => Promise<RawAnswer>
  readonly put: (target: string, body?: unknown, request?: RawRequest) => Promise<RawAnswer>
  readonly patch: (target: string, body?: unknown, request?: RawRequest) => Promise<RawAnswer>
  readonly del: (target: string, request?: RawRequest) => Promise<RawAnswer>
  /** The result of a call of `/rpc`; throws on an error. */
  readonly rpc: <T = Readonly<Record<string, unknown>>>(method: string, params?: object) => Promise<T>
  /** Creates an agent behind an HTTP server that the check controls; `more` goes into its `POST /agents`. */
  readonly agent: (more?: Readonly<Record<string, unknown>>) => Promise<AgentStub>
  /** Looks again until the look neither throws nor answers false, and answers with what it saw. */
  readonly until: <T>(look: () => T | Promise<T>, timeoutMs?: number) => Promise<T>
  /** The run when it has ended. */
  readonly ended: (runId: string) => Promise<RunView>
  /** The runs of a schedule when they satisfy the condition, oldest first. */
  readonly runsOf: (scheduleId: string, isEnough: (runs: readonly RunView[]) => boolean) => Promise<readonly RunView[]>
  /** Plays on servers and a database of the check's own, for checks that need another configuration or a restart. */
  readonly alone: (play: (servers: OwnServers) => Promise<void>) => Promise<void>
}

/** The server that the checks of a file share. */
export interface SharedServer {
  /** Runs one check in a world of its own. */
  readonly check: (play: (world: World) => Promise<void>) => Promise<void>
  readonly end: () => Promise<void>
}

/** Long enough for a busy machine; nothing that works waits so long. */
const PATIENCE_MS = 30_000

/** The configuration of the shared server: agents live on this machine, and due work is looked for often. */
const CONFIG = { outbound: { allow_loopback: true }, schedules: { poll_ms: 200 }, database: { pool: 6 } }

export async function startSharedServer(): Promise<SharedServer> {
  const inner = await createServeWorld()
  const file = path.join(inner.data, 'config.yaml')
  writeFileSync(file, JSON.stringify(CONFIG))
  const server = await remoteOf(inner, inner.serve({ config: file }), file)
  let checks = 0
  return {
    check: async (play) => {
      const stubs: AgentStub[] = []
      try {
        await play(worldOf({ name: `c${(checks += 1)}`, server, database: inner.database, stubs }))
      } finally {
        await Promise.all(stubs.map((stub) => stub.close()))
      }
    },
    end: inner.end,
  }
}

interface Parts extends Pick<World, 'name' | 'server' | 'database'> {
  readonly stubs: AgentStub[]
}

function worldOf({ name, server, database, stubs }: Parts): World {
  const { raw } = server
  const until: World['until'] = (look, timeoutMs = PATIENCE_MS) =>
    eventually(async () => {
      const seen = await look()
      if (seen === false) throw new Error('not yet')
      return seen
    }, timeoutMs)
  return {
    ...{ name, server, database, until },
    get: (target, request) => raw('GET', target, request),
    post: (target, body, request) => raw('POST', target, { body, ...request }),
    put: (target, body, request) => raw('PUT', target, { body, ...request }),
    patch: (target, body, request) => raw('PATCH', target, { body, ...request }),
    del: (target, request) => raw('DELETE', target, request),
    rpc: (method, params) => call(server, method, params),
    agent: async (more = {}) => {
      const id = `${name}-agent-${stubs.length + 1}`
      const stub = await startAgentStub(id)
      stubs.push(stub)
      const body = { id, name: id, executor: { kind: 'http', url: stub.url }, ...more }
      const created = await raw('POST', '/api/v1/agents', { body })
      expect(created.status, JSON.stringify(created.body)).toBe(201)
      return stub
    },
    ended: (runId) => server.runs.wait(runId, { timeoutMs: PATIENCE_MS }),
    runsOf: (scheduleId, isEnough) =>
      until(async () => {
        const { items } = await server.schedules.runs(scheduleId, { limit: 200 })
        if (!isEnough(items.toReversed())) throw new Error(`so far: ${JSON.stringify(items)}`)
        return items.toReversed()
      }),
    alone: inWorld,
  }
}

/** One call of `/rpc` over HTTP. */
async function call<T>({ raw }: Remote, method: string, params: object = {}): Promise<T> {
  const { body } = await raw('POST', '/rpc', { body: { jsonrpc: '2.0', id: 1, method, params } })
  if (body['error'] !== undefined) throw new Error(JSON.stringify(body['error']))
  return body['result'] as T
}
