import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import type { RunView } from '../../src/features/runs/schema.ts'
import {
  inWorld,
  type World as OwnServers,
  type RawAnswer,
  type RawRequest,
  type Remote,
  remoteOf,
} from '../http-scenarios/world.ts'
import { json, startPeer, type Heard, type Peer } from '../platform/outbound/peer.ts'
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
  /** Its directory; checklists of heartbeats are in `checklists` below it. */
  readonly data: string
  /** Its database, for making time pass. */
  readonly database: TestDatabase
  /** A server that results may be sent to: its address for this check, and the requests that came there. */
  readonly receiver: { readonly url: string; readonly heard: () => readonly Heard[] }
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
  /** The runs of a schedule when they satisfy the condition, in the order of their moments. */
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

/** The configuration of the shared server: agents and one receiver on this machine, and due work is looked for often. */
const configOf = (receiver: Peer): object => ({
  outbound: { allow_loopback: true, allow_hosts: [`127.0.0.1:${receiver.port}`] },
  schedules: { poll_ms: 200 },
  heartbeat: { checklist_dir: 'checklists' },
  database: { pool: 6 },
})

export async function startSharedServer(): Promise<SharedServer> {
  const inner = await createServeWorld()
  const receiver = await startPeer((_, response) => json(response, 200, {}))
  const file = path.join(inner.data, 'config.yaml')
  writeFileSync(file, JSON.stringify(configOf(receiver)))
  const server = await remoteOf(inner, inner.serve({ config: file }), file)
  let checks = 0
  return {
    check: async (play) => {
      const stubs: AgentStub[] = []
      try {
        await play(worldOf({ ...inner, name: `c${(checks += 1)}`, server, receiver, stubs }))
      } finally {
        await Promise.all(stubs.map((stub) => stub.close()))
      }
    },
    end: async () => {
      await inner.end()
      await receiver.close()
    },
  }
}

interface Parts extends Pick<World, 'name' | 'server' | 'data' | 'database'> {
  readonly receiver: Peer
  readonly stubs: AgentStub[]
}

function worldOf({ name, server, data, database, receiver, stubs }: Parts): World {
  const { raw } = server
  const until: World['until'] = (look, timeoutMs = PATIENCE_MS) =>
    eventually(async () => {
      const seen = await look()
      if (seen === false) throw new Error('not yet')
      return seen
    }, timeoutMs)
  return {
    ...{ name, server, data, database, until },
    receiver: {
      url: `${receiver.url}/${name}`,
      heard: () => receiver.heard.filter(({ url }) => url === `/${name}`),
    },
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
        const runs = items.toSorted((a, b) => momentOf(a) - momentOf(b))
        if (!isEnough(runs)) throw new Error(`so far: ${JSON.stringify(runs)}`)
        return runs
      }),
    alone: inWorld,
  }
}

/** When a run was due: those of several moments may be made at once, and in any order. */
const momentOf = (run: RunView): number => Date.parse(run.nominal_time ?? run.created_at)

/** One call of `/rpc` over HTTP. */
async function call<T>({ raw }: Remote, method: string, params: object = {}): Promise<T> {
  const { body } = await raw('POST', '/rpc', { body: { jsonrpc: '2.0', id: 1, method, params } })
  if (body['error'] !== undefined) throw new Error(JSON.stringify(body['error']))
  return body['result'] as T
}
