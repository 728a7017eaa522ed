import { agentId, laneName, orgId, scheduleId, sessionKey } from '../../src/core/ids.ts'
import { durationMs, instant, later } from '../../src/core/instant.ts'
import {
  CONCURRENCY_POLICIES,
  DEFAULT_SCHEDULE_RULES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../src/core/schedule/schedule-rules.ts'
import { DEFAULT_SESSION_RULES, SESSION_MODES } from '../../src/core/session/session-rules.ts'
import type { Timing } from '../../src/core/time/timing.ts'
import { UTC } from '../../src/core/time/zone.ts'
import { passTime } from './attempts.ts'
import type { Core } from './core.ts'
import { disable, scan } from './firing.ts'
import { createRandom, type Random } from './random.ts'
import { happen, type OperationKind } from './traffic.ts'
import { nextTimer, takeTurn } from './turn.ts'
import type { Agent, Node, Observer, Schedule, Session, World } from './world.ts'

const START = instant(Date.parse('2026-03-28T22:00:00Z'))

/** Rounds after the traffic has ended; each brings the next timer. More than any world needs to come to rest. */
const MAX_REST_ROUNDS = 3_000

export interface Simulation {
  readonly world: World
  /** What happened, in order. The last one is what broke it, if anything did. */
  readonly operations: readonly OperationKind[]
}

/** Lets a whole small world happen. The same seed, core and number of events give the same world. */
export function simulate(
  seed: number,
  core: Core,
  options: { readonly events: number; readonly observer: Observer },
): Simulation {
  const world = createWorld(createRandom(seed), core, options.observer)
  const operations: OperationKind[] = []
  for (let event = 0; event < options.events; event += 1) {
    const idle = world.random.int(0, world.random.chance(0.1) ? 4_000 : 600)
    advance(world, later(world.now, idle))
    operations.push(happen(world))
    work(world)
  }
  comeToRest(world)
  return { world, operations }
}

/** Time passes, stopping at everything that is due on the way. */
function advance(world: World, until: World['now']): void {
  for (let round = 0; round < 50; round += 1) {
    const next = nextTimer(world)
    if (next > until) break
    if (next > world.now) world.now = instant(next)
    work(world)
  }
  if (until > world.now) world.now = until
}

/** Everything that follows from the present moment, on every node. */
export function work(world: World): void {
  passTime(world)
  if (world.nodes.some((node) => node.diedAt === null)) scan(world)
  for (const node of world.nodes) takeTurn(world, node)
  world.observer.settledDown(world)
}

/** No more traffic, no more occurrences, everybody alive: whatever is left must end by itself. */
export function comeToRest(world: World): void {
  for (const schedule of world.schedules) disable(world, schedule)
  for (const agent of world.agents) agent.online = true
  for (let round = 0; round < MAX_REST_ROUNDS && world.pending.size > 0; round += 1) {
    revive(world)
    const next = nextTimer(world)
    world.now = Number.isFinite(next) && next > world.now ? instant(next) : later(world.now, 1_000)
    work(world)
  }
  world.observer.finished(world)
}

/** Dead and drained nodes come back once nothing hangs on them. */
export function revive(world: World): void {
  for (const node of world.nodes) {
    if ([...world.pending.values()].some((run) => run.node === node)) continue
    node.diedAt = null
    node.draining = false
  }
}

function createWorld(random: Random, core: Core, observer: Observer): World {
  const orgs = names(random, 'org', 2).map((name) => ({
    id: orgId(name),
    maxConcurrent: random.one([null, null, 2, 4]),
  }))
  const agents: readonly Agent[] = orgs.flatMap((org) =>
    names(random, 'agent', 3).map((name) => ({
      orgId: org.id,
      id: agentId(name),
      maxConcurrent: random.one([null, null, 1, 2]),
      online: true,
    })),
  )
  const sessions = orgs.flatMap((org) => names(random, 'session', 3).map((name) => createSession(random, org.id, name)))
  return {
    core,
    random,
    observer,
    orgs,
    agents,
    sessions,
    settings: {
      stopGraceMs: 5_000,
      leaseMs: 15_000,
      catchupMaxActive: 2,
      maxQueue: 8,
      maxPerAgent: 5,
      maxInflight: 4,
      maxPerAgentInflight: 2,
      pace: 1,
    },
    nodes: names(random, 'node', 3).map((name) => createNode(random, name)),
    schedules: names(random, 'schedule', 4).map((name) => createSchedule(random, name, { agents, sessions })),
    runs: new Map(),
    pending: new Map(),
    executions: [],
    now: START,
    counters: { run: 0, attempt: 0, seq: 0, served: 0, submission: 0, ended: 0, decided: 0 },
  }
}

const names = (random: Random, prefix: string, most: number): readonly string[] =>
  Array.from({ length: random.int(1, most) }, (_, index) => `${prefix}_${index}`)

const createNode = (random: Random, name: string): Node => ({
  name,
  lanes: new Map(['main', 'cron', 'task'].map((lane) => [laneName(lane), random.int(1, 4)])),
  diedAt: null,
  draining: false,
})

const createSession = (random: Random, org: Session['orgId'], name: string): Session => ({
  orgId: org,
  key: sessionKey(name),
  rules: {
    ...DEFAULT_SESSION_RULES,
    mode: random.one([...SESSION_MODES, 'queue'] as const),
    cap: random.int(1, 5),
    drop: random.one(['old', 'new']),
    maxConcurrent: random.int(1, 3),
  },
  cutoff: null,
  generation: 0,
  context: null,
})

function createSchedule(
  random: Random,
  name: string,
  of: { readonly agents: readonly Agent[]; readonly sessions: readonly Session[] },
): Schedule {
  const agent = random.one(of.agents)
  const sessions = of.sessions.filter((session) => session.orgId === agent.orgId)
  const timing: Timing = {
    kind: 'every',
    intervalMs: durationMs(random.one([1_000, 3_000, 10_000, 60_000])),
    anchor: START,
    zone: UTC,
    startsAt: null,
    endsAt: null,
    exclude: null,
  }
  return {
    id: scheduleId(name),
    orgId: agent.orgId,
    agentId: agent.id,
    sessionKey: random.chance(0.3) ? random.one(sessions).key : null,
    timing,
    runs: new Set(),
    pending: new Set(),
    rules: {
      ...DEFAULT_SCHEDULE_RULES,
      misfirePolicy: random.one(MISFIRE_POLICIES),
      catchupLimit: random.int(1, 4),
      catchupWindowSeconds: random.one([3, 10, 30]),
      overlapAction: random.one(OVERLAP_ACTIONS),
      maxParallel: random.one([null, 2]),
      failureAction: random.one(FAILURE_ACTIONS),
      concurrencyPolicy: random.one(CONCURRENCY_POLICIES),
      maxConcurrency: random.int(1, 2),
      queueDepth: random.int(0, 3),
    },
    enabled: true,
    watermark: START,
    failureStreak: 0,
    skippedFor: null,
    fires: 0,
    next: null,
  }
}
