import { agentId, laneName, orgId, scheduleId, sessionKey } from '../../src/domain/ids.ts'
import { durationMs, instant, later } from '../../src/domain/instant.ts'
import {
  CONCURRENCY_POLICIES,
  DEFAULT_SCHEDULE_RULES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../src/domain/schedule/rules.ts'
import { SESSION_MODES } from '../../src/domain/session/session.ts'
import { UTC } from '../../src/domain/time/zone.ts'
import { nextDueTime } from '../../src/engine/transaction/pass-time.ts'
import { applyCapabilities, type MemoryWindow } from '../../src/engine/org-state/memory.ts'
import { changeSchedule, fireDue } from './commands.ts'
import { createWorld, type Plan, type PlannedOrg, type PlannedSchedule } from './create-world.ts'
import { deliverReports, nextOutside, recover } from './executions.ts'
import { createRandom, type Random } from './random.ts'
import { happen, revive, schedulesOf, type OperationKind } from './traffic.ts'
import { passTime, startWhatMay } from './transactions.ts'
import { isAlive, type Observer, type World } from './world.ts'

const START = instant(Date.parse('2026-03-28T22:00:00Z'))

/** Rounds after the traffic has ended; each brings the next timer. More than any world needs to come to rest. */
const MAX_REST_ROUNDS = 3_000

export interface Simulation {
  readonly world: World
  /** What happened, in order. The last one is what broke it, if anything did. */
  readonly operations: readonly OperationKind[]
}

/** Lets a whole small world happen. The same seed and number of events give the same world. */
export function simulate(seed: number, options: { readonly events: number; readonly observer: Observer }): Simulation {
  const world = createWorld(planWorld(createRandom(seed)), options.observer)
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

/** The next time at which something is due by itself. */
export function nextTimer(world: World): number {
  let next = nextOutside(world)
  for (const { memory } of world.orgs) {
    const own = nextDueTime(memory) ?? Infinity
    if (own > world.now) next = Math.min(next, own)
  }
  return next
}

/** Everything that follows from the present time, on every node. */
export function work(world: World): void {
  deliverReports(world)
  recover(world)
  passTime(world)
  if (world.nodes.some(isAlive)) fireDue(world)
  startWhatMay(world)
  world.observer.settledDown(world)
}

/** No more traffic, no more occurrences, everybody alive: whatever is left must end by itself. */
export function comeToRest(world: World): void {
  for (const schedule of schedulesOf(world)) changeSchedule(world, schedule, 'disable')
  for (const org of world.orgs) {
    for (const agent of org.agents) agent.online = true
    applyCapabilities(org.memory, org.facts(null))
  }
  for (let round = 0; round < MAX_REST_ROUNDS && isBusy(world); round += 1) {
    revive(world)
    const next = nextTimer(world)
    world.now = Number.isFinite(next) && next > world.now ? instant(next) : later(world.now, 1_000)
    work(world)
  }
  world.observer.finished(world)
}

const isBusy = (world: World): boolean =>
  world.orgs.some(({ memory, backlog }) => memory.state.runs.size + backlog.size > 0)

function planWorld(random: Random): Plan {
  const orgs = names(random, 'org', 2).map((name) => planOrg(random, name))
  return {
    ...{ random, start: START, catchupMaxActive: 2, pace: 1, window: planWindow(random) },
    nodes: names(random, 'node', 3).map((name) => ({
      name,
      sizes: new Map(['main', 'cron', 'task'].map((lane) => [laneName(lane), random.int(1, 4)])),
    })),
    orgs: names(random, 'schedule', 4).reduce((all, name) => {
      const [chosen, schedule] = planSchedule(random, name, all)
      return all.map((org) => (org.id === chosen.id ? { ...org, schedules: [...org.schedules, schedule] } : org))
    }, orgs),
  }
}

/** Small enough that most of what waits is not in memory. */
const planWindow = (random: Random): MemoryWindow => ({
  line: random.one([1, 2, 3, 8]),
  session: random.one([1, 2, 3, 8]),
  org: 50_000,
})

const names = (random: Random, prefix: string, most: number): readonly string[] =>
  Array.from({ length: random.int(1, most) }, (_, index) => `${prefix}_${index}`)

const planOrg = (random: Random, name: string): PlannedOrg => ({
  id: orgId(name),
  maxConcurrent: random.one([null, null, 2, 4]),
  agents: names(random, 'agent', 3).map((agent) => ({
    id: agentId(agent),
    maxConcurrent: random.one([null, null, 1, 2]),
    timeoutSeconds: random.int(2, 8),
  })),
  sessions: names(random, 'session', 3).map((key) => ({
    key: sessionKey(key),
    own: {
      mode: random.one([...SESSION_MODES, 'queue'] as const),
      cap: random.int(1, 5),
      drop: random.one(['old', 'new']),
      maxConcurrent: random.int(1, 3),
    },
  })),
  schedules: [],
})

function planSchedule(
  random: Random,
  name: string,
  orgs: readonly PlannedOrg[],
): readonly [PlannedOrg, PlannedSchedule] {
  const org = random.one(orgs)
  const schedule: PlannedSchedule = {
    id: scheduleId(name),
    agentId: random.one(org.agents).id,
    sessionKey: random.chance(0.3) ? random.one(org.sessions).key : null,
    timing: {
      ...{ kind: 'every', intervalMs: durationMs(random.one([1_000, 3_000, 10_000, 60_000])), anchor: START },
      ...{ zone: UTC, startsAt: null, endsAt: null, exclude: null },
    },
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
  }
  return [org, schedule]
}
