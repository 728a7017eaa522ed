import { Refusal } from '../../src/api/refusals.ts'
import { agentId, orgId, type RunId } from '../../src/domain/ids.ts'
import { formatInstant, instant, later } from '../../src/domain/instant.ts'
import { DEFAULT_RETRY_POLICY } from '../../src/domain/run/retry-policy.ts'
import { DEFAULT_SETTINGS, parseSettings, type EngineSettings } from '../../src/features/config/settings.ts'
import type { TransactionLimits } from '../../src/engine/transaction/limits.ts'
import { insertAgents, type AgentRow } from '../../src/features/agents/store.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { ensureOrg } from '../../src/features/access/orgs-store.ts'
import { createRandom, type Random } from '../simulation/random.ts'
import { createHandClock } from './clock.ts'
import { noFaults, serverFaultOf } from './faults.ts'
import { emptyJournal, type Request } from './journal.ts'
import { createNode } from './node.ts'
import type { About, SimulatedNode, SimulatedOrg, World } from './shapes.ts'
import { QUIET_LANE } from './start-together.ts'
import { createQuiet } from './quiet.ts'

export const START = instant(Date.parse('2026-03-28T22:00:00Z'))

export interface WorldOptions {
  readonly seed: number
  readonly database: Database
  /** A mutant of the store, put between the services and the database. */
  readonly mutate?: (database: Database) => Database
  readonly tell?: (line: string) => void
  /** More nodes are lost and fewer executors listen than usual. For mutants, which must be noticed soon. */
  readonly isHarsh?: boolean
}

const ORG_NAMES = ['org', 'neighbour', 'third', 'fourth', 'fifth'] as const

/** Every second world has several orgs, which share the nodes and their lanes; one with a lock to hold always has. */
function orgCount(seed: number): number {
  const count = [1, 2, 1, 3, 1, 2, 5][seed % 7] ?? 1
  return serverFaultOf(seed) === 'lock_held' ? Math.max(count, 2) : count
}

/** A world with its orgs and agents on record, and three nodes or more that have joined. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const random = createRandom(options.seed)
  const clock = createHandClock(START)
  const journal = emptyJournal()
  const world: World = {
    seed: options.seed,
    isHarsh: options.isHarsh ?? false,
    random,
    clock,
    quiet: createQuiet(),
    database: options.database,
    mutate: options.mutate ?? ((database) => database),
    journal,
    serverFault: serverFaultOf(options.seed),
    skewMs: 0,
    serverNow: () => instant(clock.now() + world.skewMs),
    heldLocks: new Set(),
    faults: noFaults(),
    operations: new Map(),
    orgs: ORG_NAMES.slice(0, orgCount(options.seed)).map((name) => orgOf(random, `${name}_${options.seed}`)),
    nodes: [],
    outside: { isFrozen: () => false },
    tell: (line) => options.tell?.(`${formatInstant(clock.now()).slice(11)} ${line}`),
    notify: (from) => {
      notify(world, from)
    },
    ask: (about, work) => ask(world, about, work),
    whenCalm: new Set(),
    looks: 0,
    talk: { org: 0, session: 0, sender: 'ann' },
    settings: settingsOf(random, options.seed),
    turnLimits: limitsOf(random.one([1, 2, 7, 1_000])),
    calmSince: null,
  }
  for (const org of world.orgs) await insertOrg(world, org)
  const nodes = random.one([3, 3, 3, 4])
  for (let index = 0; index < nodes; index += 1) {
    addNode(world)
    await world.quiet.settled()
  }
  return world
}

/** One more node joins. Each may lack the executor of one agent, never all of them the same. */
export function addNode(world: World): SimulatedNode {
  const index = world.nodes.length
  const agents = world.orgs.flatMap((org) => org.agents.map(({ id }) => id))
  const lacks = index < 3 && world.random.chance(0.3) ? index : -1
  const node = createNode(world, {
    name: `n${index}`,
    settings: () => world.settings,
    agents: [...new Set(agents)].filter((_, place) => place !== lacks),
  })
  world.nodes.push(node)
  world.tell(`${node.name} joins`)
  return node
}

function orgOf(random: Random, name: string): SimulatedOrg {
  const agents = ['ada', 'ben', 'cleo'].map((id, index) => ({
    id: agentId(id),
    maxConcurrent: random.one([null, null, 1, 2]),
    isFixed: index > 0,
  }))
  const sessions = ['one', 'two', 'three'].map((peer, index) => ({
    key: `agent:${agents[index % 2]?.id ?? 'ada'}:chat:direct:${peer}`,
    maxConcurrent: random.int(1, 3),
    isFixed: index > 0,
  }))
  return {
    id: orgId(name),
    agents,
    sessions,
    maxConcurrent: random.one([null, null, 3, 5]),
    schedules: [],
    runs: [],
    keyed: [],
  }
}

/** So much in a turn and no more. The stopwatch counts how often it is asked, since no time passes in a turn here. */
const limitsOf = (maxChanges: number): TransactionLimits => ({
  maxChanges,
  stopwatch: () => {
    let asked = 0
    return () => (asked += 1) > 1 + maxChanges
  },
})

/** In every fourth world an org may hold a whole lane. */
const shareOf = (seed: number): number => (seed % 4 === 3 ? 1 : 0.8)

function settingsOf(random: Random, seed: number): EngineSettings {
  const read = parseSettings(
    {
      node: { lease_ms: 5_000, renew_ms: 2_000, stop_grace_ms: random.one([0, 1_000, 5_000]) },
      lanes: {
        ...{ main: random.int(1, 3), subagent: 1, cron: random.int(1, 2), task: random.int(1, 2), [QUIET_LANE]: 4 },
        max_org_share: shareOf(seed),
      },
      sessions: { cap: 4 },
      tasks: {
        max_queue: 12,
        max_per_agent: 6,
        max_inflight: random.int(2, 4),
        max_per_agent_inflight: random.int(1, 2),
        default_deadline_seconds: 20,
      },
      // Polled as often as nodes really look: a look that comes late judges no lease.
      schedules: { poll_ms: 5_000, catchup_window_seconds: 30, catchup_max_active: 2 },
    },
    DEFAULT_SETTINGS,
  )
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return read.value
}

async function insertOrg({ database, random }: World, org: SimulatedOrg): Promise<void> {
  await ensureOrg(database, {
    id: org.id,
    name: org.id,
    defaultTimezone: 'UTC',
    defaultAgentId: org.agents[0]?.id ?? null,
    at: START,
  })
  await database.query('update org set max_concurrent = $2 where id = $1', [org.id, org.maxConcurrent])
  const rows = org.agents.map(({ id, maxConcurrent }): AgentRow => ({
    ...{ orgId: org.id, id, name: id, description: '', executor: { kind: 'in-process' } },
    ...{ maxConcurrent, contextWindow: null, defaultSession: null, provider: null, selfService: null, version: 1 },
    ...{ createdAt: START, updatedAt: START },
    retryPolicy: { ...DEFAULT_RETRY_POLICY, baseMs: random.one([100, 1_000]) },
    // Of some, what a lost node holds must not time out before anybody has missed the node.
    timeoutSeconds: id === 'cleo' ? 60 : random.int(2, id === 'ada' ? 5 : 20),
  }))
  await database.transaction((tx) => insertAgents(tx, rows))
}

/** Everybody else is told that something has changed, mostly. */
function notify(world: World, from: string): void {
  const { random, clock } = world
  for (const node of world.nodes) {
    if (node.name === from || node.state === 'gone' || node.state === 'cut_off') continue
    const times = world.calmSince !== null ? 1 : random.chance(0.15) ? 0 : random.chance(0.08) ? 2 : 1
    if (times === 0) world.faults.notice_lost += 1
    if (times === 2) world.faults.notice_doubled += 1
    for (let time = 0; time < times; time += 1) node.expectNotice(later(clock.now(), random.int(1, 7_000)))
  }
}

function ask(world: World, { kind, orgId: org, node, mark }: About, work: () => Promise<string | null>): Request {
  const { journal, clock } = world
  const request: Request = {
    ...{ kind, orgId: org, node: node.name, at: clock.now(), mark, outcome: 'open' },
    ...{ answeredAt: null, runId: null, error: null },
  }
  journal.requests.push(request)
  world.operations.set(kind, (world.operations.get(kind) ?? 0) + 1)
  world.tell(`${node.name} is asked for ${kind} ${mark ?? ''}`)
  work().then(
    (id) => {
      request.answeredAt = clock.now()
      request.outcome = 'acknowledged'
      request.runId = id as RunId | null
      if (id !== null) world.orgs.find((one) => one.id === org)?.runs.push(id as RunId)
    },
    (error: unknown) => {
      request.answeredAt = clock.now()
      request.outcome = error instanceof Refusal ? 'refused' : 'failed'
      request.error = error instanceof Refusal ? error.code : String(error)
      if (error instanceof Refusal && error.runId !== null) request.runId = error.runId as RunId
      if (!(error instanceof Refusal)) world.tell(`${node.name} failed at ${kind}: ${String(error)}`)
    },
  )
  return request
}
