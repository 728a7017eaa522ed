import { expect } from 'vitest'
import { agentId, attemptId, principalId, runId, scheduleId, sessionKey } from '../../src/domain/ids.ts'
import {
  type Restrictions,
  DEFAULT_RESTRICTIONS,
  type RestrictedKey,
  type RestrictedAttempt,
} from '../../src/domain/access/restrictions.ts'
import { insertAgents } from '../../src/features/agents/store.ts'
import { createLook, type Look } from '../server/contract/fingerprint.ts'
import { connect, type McpGuest } from '../server/mcp/support.ts'
import { aPrincipal, createHttpWorld, KEYS, type HttpWorld, type Method } from '../server/support.ts'
import { anAgent, ORG, seedRun } from '../platform/db/records.ts'
import { NOW } from '../support/builders.ts'

// An org with keys of every kind of rail, and with things of theirs and of others. All of them are owners by role: what
// holds them is their rails alone.

const ended = (id: string): RestrictedAttempt => attemptOf(`run_${id}`, {})

const attemptOf = (run: string, more: Partial<RestrictedAttempt>): RestrictedAttempt => ({
  id: attemptId(`att_${run}`),
  runId: runId(run),
  agentId: agentId('writer'),
  ...{ sessionKey: sessionKey('agent:writer:web:user:9'), scheduleId: null, lineage: null },
  ...more,
})

const OWN = 'agent:writer'
const DEEP = { root: runId('run_root'), depth: 3, schedules: [scheduleId('schedule_gone')] }

/** What each key may, beside the defaults. */
const RAILS = {
  plain: {},
  rival: {},
  full: { maxSchedules: 1 },
  idle: { maxRunsPerHour: 1 },
  mortal: { maxLifetimeSeconds: 86_400 },
  asking: { approval: true },
} satisfies Record<string, Partial<Restrictions>>

/** Keys of attempts: one that works, one that is the last of a long chain, one that has ended. */
const ATTEMPTS = {
  working: () => attemptOf('run_working', { scheduleId: scheduleId(things.agents) }),
  nested: () =>
    attemptOf('run_nested', {
      lineage: { root: runId('run_root'), depth: 1, schedules: [scheduleId(things.agentsOff)] },
    }),
  deep: () => attemptOf('run_deep', { lineage: DEEP }),
  over: () => ended('over'),
  borrowed: () => attemptOf('run_working', { id: attemptId('att_of_another') }),
}

/** The keys of the table. */
export type Key = keyof typeof RAILS | keyof typeof ATTEMPTS | 'owner'

/** Things by what they are to the key `plain`. */
const things = {
  mine: '',
  mineRun: '',
  others: '',
  othersRun: 'run_others',
  othersTask: 'run_task',
  rivals: '',
  agents: '',
  agentsOff: '',
  agentsRun: 'run_agents',
  mineFailed: 'run_mine_failed',
  fulls: '',
  mortals: '',
  proposed: '',
  approved: '',
  approvedRun: 'run_approved',
  commands: '',
  /** Created by an owner, its id known to everybody. */
  target: '',
}
export type Things = Readonly<typeof things>

export interface RailWorld {
  readonly world: HttpWorld
  readonly look: Look
  readonly things: Things
  readonly mcp: (key: Key) => Promise<McpGuest>
  /** Adds a key of its own id, with rails that say nothing else. */
  readonly add: (key: string, id: string) => void
  readonly close: () => Promise<void>
}

/** What is asked of one surface. */
export interface Asked {
  readonly rest?: readonly [Method, string, unknown?]
  readonly rpc?: readonly [string, Record<string, unknown>]
  readonly mcp?: readonly [string, Record<string, unknown>]
}

const railedOf = (key: string, rails: Partial<Restrictions>, attempt: RestrictedAttempt | null): RestrictedKey => ({
  ...{ restrictions: { ...DEFAULT_RESTRICTIONS, ...rails }, owner: attempt === null ? `key_${key}` : OWN, attempt },
})

function addKey(key: string, railed: RestrictedKey): void {
  const id = railed.attempt === null ? `key_${key}` : `attempt:${railed.attempt.id}`
  KEYS.set(key, aPrincipal('owner', { id: principalId(id), restricted: railed }))
}

/** Makes the org. */
export async function createRailWorld(): Promise<RailWorld> {
  const world = await createHttpWorld()
  const { db } = world.services
  for (const [key, rails] of Object.entries(RAILS)) addKey(key, railedOf(key, rails, null))
  await db.transaction((tx) =>
    insertAgents(tx, [anAgent({ orgId: ORG, id: agentId('runner'), executor: { kind: 'command', program: 'true' } })]),
  )
  await makeThings(world)
  for (const [key, attempt] of Object.entries(ATTEMPTS)) addKey(key, railedOf(key, {}, attempt()))
  await belongs(world)
  const look = await createLook(db)
  const guests = new Map<Key, Promise<McpGuest>>()
  return {
    ...{ world, look, things },
    mcp: (key) => {
      const guest = guests.get(key) ?? connect(world, key)
      guests.set(key, guest)
      return guest
    },
    add: (key, id) => {
      const railed = { ...railedOf(key, {}, null), owner: id }
      KEYS.set(key, aPrincipal('owner', { id: principalId(id), restricted: railed }))
    },
    close: async () => {
      KEYS.delete('spent')
      for (const key of [...Object.keys(RAILS), ...Object.keys(ATTEMPTS)]) KEYS.delete(key)
      await world.close()
    },
  }
}

/** What nobody but the engine could make theirs. */
async function belongs({ services: { db } }: HttpWorld): Promise<void> {
  const give = (table: string, owner: string, ids: readonly string[]): Promise<unknown> =>
    db.query(`update ${table} set owner = $1 where id = any($2::text[])`, [owner, ids])
  await give('schedule', 'key_plain', [things.commands])
  await give('schedule', OWN, [things.agents, things.agentsOff])
  await give('run', OWN, ['run_working', 'run_deep', 'run_over', 'run_nested', things.agentsRun])
  await give('run', 'key_plain', [things.mineFailed])
  await give('run', 'key_asking', [things.approvedRun])
}

export const HOURLY = { name: 'Hourly', cron: '0 * * * *', payload: { prompt: 'Look' } }

async function makeThings(world: HttpWorld): Promise<void> {
  const make = async (as: string, body: object): Promise<string> => {
    const response = await world.ask('POST', '/api/v1/schedules', { as, body })
    expect(response.statusCode, response.body).toBe(201)
    return response.json<{ readonly id: string }>().id
  }
  const hook = { name: 'Ops', kind: 'webhook', url: 'https://hooks.example.com/in' }
  things.target = (await world.ask('POST', '/api/v1/targets', { body: hook })).json<{ readonly id: string }>().id
  things.mine = await make('plain', HOURLY)
  things.others = await make('owner', HOURLY)
  things.rivals = await make('rival', HOURLY)
  things.fulls = await make('full', HOURLY)
  things.mortals = await make('mortal', HOURLY)
  things.proposed = await make('asking', HOURLY)
  things.approved = await make('asking', { ...HOURLY, cron: '30 * * * *' })
  things.commands = await make('owner', { ...HOURLY, agent_id: 'runner' })
  await make('idle', HOURLY)
  await make('plain', { name: 'Once', at: new Date(NOW + 86_400_000).toISOString(), payload: 'x' })
  things.agents = await make('owner', HOURLY)
  things.agentsOff = await make('owner', { ...HOURLY, enabled: false })
  await world.ask('POST', `/api/v1/schedules/${things.approved}/approve`)
  const { db } = world.services
  await seedRun(db, things.othersRun, { state: 'failed', schedule: things.others, session: 'agent:writer:web:user:1' })
  await seedRun(db, things.othersTask, { state: 'queued', trigger: 'task' })
  await seedRun(db, 'run_working', { state: 'running', session: 'agent:writer:web:user:9', schedule: things.agents })
  await seedRun(db, 'run_nested', { state: 'running' })
  await seedRun(db, things.agentsRun, { state: 'failed', schedule: things.agents })
  await seedRun(db, things.mineFailed, { state: 'failed', schedule: things.mine })
  await seedRun(db, things.approvedRun, { state: 'failed', schedule: things.approved, payload: { prompt: 'Look' } })
  await seedRun(db, 'run_deep', { state: 'running' })
  await seedRun(db, 'run_over', { state: 'success' })
  const woken = await world.ask('POST', `/api/v1/schedules/${things.mine}/run-now`, { as: 'plain' })
  expect(woken.statusCode, woken.body).toBe(202)
  things.mineRun = woken.json<{ readonly run_id: string }>().run_id
}

/** What somebody is told: a code and, of a rail, its name; null where nothing was refused. */
export interface Told {
  readonly code: string | null
  readonly rail: unknown
}

interface Facts {
  readonly code?: string
  readonly details?: { readonly rail?: unknown }
}

const toldOf = ({ code = 'UNKNOWN', details }: Facts): Told => ({ code: code.toUpperCase(), rail: details?.rail })
const FINE: Told = { code: null, rail: undefined }
/** What the façade calls two of our codes. */
const FACADE: Readonly<Record<string, string>> = { BAD_TOKEN: 'UNAUTHENTICATED', ERROR: 'VALIDATION' }

/** Asks each surface for the same with the same key, and answers with what each said. */
export async function askAll(
  { world, mcp }: RailWorld,
  key: Key,
  asked: Asked,
): Promise<readonly (readonly [string, Told])[]> {
  const answers: (readonly [string, Told])[] = []
  if (asked.rest !== undefined) {
    const [method, url, body] = asked.rest
    const response = await world.ask(method, url, { as: key, ...(body === undefined ? {} : { body }) })
    const told = response.statusCode < 400 ? FINE : toldOf(response.json<Facts>())
    answers.push(['REST', { ...told, code: FACADE[told.code ?? ''] ?? told.code }])
  }
  if (asked.rpc !== undefined) {
    const [method, params] = asked.rpc
    const body = { jsonrpc: '2.0', id: 1, method, params }
    const { error } = (await world.ask('POST', '/rpc', { as: key, body })).json<{
      readonly error?: { readonly data?: Facts }
    }>()
    answers.push(['RPC', error === undefined ? FINE : toldOf(error.data ?? {})])
  }
  if (asked.mcp !== undefined) {
    const { problem } = await (await mcp(key)).call(...asked.mcp)
    answers.push(['MCP', problem === null ? FINE : toldOf(problem as Facts)])
  }
  return answers
}
