import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import { camelCaseSettings } from '../../src/platform/config/in-code.ts'
import { CONFIG_KEYS } from '../../src/platform/config/keys.ts'
import { buildTree, defaultLayer } from '../../src/platform/config/tree.ts'
import type { OperationSpec } from '../../src/api/operation.ts'
import type { OperationTable } from '../../src/operations/handler.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import type { Problem } from '../../src/api/problem.ts'
import { REFUSAL_CODES, type RefusalCode } from '../../src/api/refusals.ts'
import { facadeCodeOf, taskError } from '../../src/features/tasks/schema.ts'
import { OPERATOR_ORG, type Principal, type Role } from '../../src/domain/access/access.ts'
import { agentId, principalId } from '../../src/domain/ids.ts'
import { readTraceparent } from '../../src/domain/trace-context.ts'
import type { AnswerMemory } from '../../src/server/http/answer-memory.ts'
import type { HttpContext, HttpSettings, SignedIn } from '../../src/server/http/context.ts'
import { createEventStreams } from '../../src/server/events/streams.ts'
import { createHttpServer } from '../../src/server/http/server.ts'
import type { LiveWork } from '../../src/engine/live-port.ts'
import { ensureOrg } from '../../src/features/access/orgs-store.ts'
import { insertAgents } from '../../src/features/agents/store.ts'
import { createServiceWorld, type ServiceWorld } from '../features/database/world.ts'
import { anAgent, ORG, OTHER_ORG } from '../platform/db/records.ts'

/** The HTTP side of a node on services with a real database; requests come in process. */
export interface HttpWorld {
  readonly services: ServiceWorld
  readonly app: FastifyInstance
  /** Changes what the server is made of, from the next request on. */
  readonly change: (change: Partial<HttpContext>) => void
  readonly set: (settings: Partial<HttpSettings>) => void
  /** Asks as the owner of `acme`, unless headers say otherwise. */
  readonly ask: (method: Method, url: string, more?: More) => Promise<LightMyRequestResponse>
  readonly logged: { readonly level: string; readonly message: string; readonly facts: unknown }[]
  readonly close: () => Promise<void>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS'

export interface More {
  /** Becomes the body as JSON. */
  readonly body?: unknown
  /** Becomes the body as it is. */
  readonly raw?: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
  /** The text of a key: `owner` unless given, and none at all for null. */
  readonly as?: string | null
}

/** Somebody who asks. */
export const aPrincipal = (role: Role, more: Partial<Principal> = {}): Principal => ({
  id: principalId(`key_${role}`),
  orgId: ORG,
  role,
  scopes: null,
  expiresAt: null,
  revokedAt: null,
  ...more,
})

/** The keys that are known in tests, by their text. */
export const KEYS = new Map<string, Principal>([
  ['owner', aPrincipal('owner')],
  ['admin', aPrincipal('admin')],
  ['member', aPrincipal('member')],
  ['viewer', aPrincipal('viewer')],
  ['stranger', aPrincipal('owner', { id: principalId('key_stranger'), orgId: OTHER_ORG })],
  ['operator', aPrincipal('owner', { id: principalId('key_operator'), orgId: OPERATOR_ORG })],
])

/** The cookies that are known in tests. */
export const SESSIONS = new Map<string, SignedIn>([
  ['cookie-of-member', { principal: aPrincipal('member', { id: principalId('mem_1') }), csrfToken: 'csrf-1' }],
])

/** What a server is set to when nobody says anything, but for the rate: tests ask as fast as they can. */
export const USUAL_SETTINGS: HttpSettings = {
  ...camelCaseSettings(CONFIG_KEYS.server, buildTree(CONFIG_KEYS.server, defaultLayer(CONFIG_KEYS.server))),
  ratePerSecond: 0,
  rateBurst: null,
  tasksEnabled: true,
}

/** A node that remembers nothing: everything is asked of the database. */
const NO_WORK: LiveWork = { ownersOf: () => undefined, workOf: () => null, providersOf: () => [], lanes: () => [] }

export async function createHttpWorld(
  operations: OperationTable = OPERATIONS,
  answers?: AnswerMemory,
): Promise<HttpWorld> {
  const services = await createServiceWorld()
  await makeOperator(services)
  const logged: HttpWorld['logged'] = []
  let settings = USUAL_SETTINGS
  let counter = 0
  const context: HttpContext = {
    operations,
    ports: services.ports,
    live: {
      stateOf: () => undefined,
      positionOf: () => null,
      queuedBefore: () => null,
      explainOutside: () => null,
      explain: () => null,
    },
    work: NO_WORK,
    version: '0.0.0-test',
    settings: () => settings,
    config: { view: () => ({ file: null, values: {} }), refresh: () => Promise.resolve() },
    authenticate: (text) => KEYS.get(text) ?? null,
    consoleSession: (cookie) => SESSIONS.get(cookie) ?? null,
    forgetSession: () => undefined,
    events: createEventStreams({ ports: services.ports, work: NO_WORK, failed: () => undefined }),
    metrics: {
      render: () => Promise.resolve('up 1\n'),
      isPrivate: () => Promise.resolve(false),
      countRefusal: () => undefined,
    },
    workers: {
      wait: () => Promise.resolve({ attempts: [], cancel: [] }),
      publish: () => undefined,
      settle: () => null,
    },
    traceSubmission: (_name, given, work) => work(readTraceparent(given)),
    onAccessChange: () => () => undefined,
    health: () => ({ ready: true, database: 'up', away_since: null, engine: 'up', draining: false, node_id: 'nod_1' }),
    hasManyOrgs: () => false,
    queriesPerOrg: 2,
    isDraining: () => false,
    defaultAgent: () => agentId('writer'),
    ended: () => ({ promise: Promise.resolve(), give: () => undefined }),
    wakeSchedules: () => undefined,
    counter: () => counter++,
    log: (entry) => void logged.push(entry),
  }
  const app = await createOrDrop(services, () => createHttpServer(context, answers))
  return {
    services,
    app,
    change: (change) => void Object.assign(context, change),
    set: (change) => {
      settings = { ...settings, ...change }
    },
    ask: (method, url, more = {}) => app.inject(requestOf(method, url, more)),
    logged,
    close: async () => {
      await app.close()
      await services.drop()
    },
  }
}

/** A server that cannot be made leaves no database behind. */
async function createOrDrop<T>(services: ServiceWorld, create: () => T): Promise<T> {
  try {
    return create()
  } catch (error) {
    await services.drop()
    throw error
  }
}

async function makeOperator({ db, now }: ServiceWorld): Promise<void> {
  const org = { id: OPERATOR_ORG, name: 'operator', defaultTimezone: 'UTC', defaultAgentId: agentId('writer'), at: now }
  await ensureOrg(db, org)
  await db.transaction((tx) => insertAgents(tx, [anAgent({ orgId: OPERATOR_ORG })]))
}

function requestOf(method: Method, url: string, { body, raw, headers = {}, as = 'owner' }: More): InjectOptions {
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  return {
    ...{ method, url },
    headers: {
      ...(as === null ? {} : { authorization: `Bearer ${as}` }),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload }),
  }
}

/** The problem that a request was refused with; it has the code, the status of that code, and everything a problem has. */
export function problemIn(response: LightMyRequestResponse, code: RefusalCode): Problem {
  const problem = response.json<Problem>()
  expect(problem).toMatchObject({ code, status: REFUSAL_CODES[code], type: `/docs/errors#${code}` })
  expect(response.statusCode).toBe(REFUSAL_CODES[code])
  expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  expect(problem.request_id).toBe(response.headers['x-request-id'])
  expect(problem.title).not.toBe('')
  expect(problem.detail).not.toBe('')
  return problem
}

/** What an operation was refused with, in whichever shape it tells so. */
export function refusedIn(
  { facade }: Pick<OperationSpec, 'facade'>,
  response: LightMyRequestResponse,
  code: RefusalCode,
): Pick<Problem, 'detail' | 'details'> {
  if (facade !== true) return problemIn(response, code)
  const { error: detail, details, code: told } = taskError.parse(response.json())
  const isSilent = code === 'UNAUTHENTICATED' && told === 'missing_token'
  expect([response.statusCode, isSilent ? 'bad_token' : told]).toEqual([REFUSAL_CODES[code], facadeCodeOf(code)])
  expect(detail).not.toBe('')
  return { detail, details }
}

/** The fields that a request was refused for, as pointers. */
export const pointersIn = (response: LightMyRequestResponse): readonly string[] =>
  (problemIn(response, 'VALIDATION').errors ?? []).map(({ pointer }) => pointer)
