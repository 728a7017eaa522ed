import {
  type AgentId,
  agentId,
  type BudgetId,
  budgetId,
  type LaneName,
  laneName,
  type OrgId,
  orgId,
  type ProviderName,
  providerName,
  type RunId,
  runId,
  type SessionKey,
} from '../../../src/domain/ids.ts'
import { type Instant, later } from '../../../src/domain/instant.ts'
import { resolveLane } from '../../../src/domain/queue/lanes.ts'
import type { BudgetLoad, GateCandidate, Load, ProviderLoad, GateFacts } from '../../../src/domain/queue/gates.ts'
import type { ReadyQueue, OrgLimits } from '../../../src/domain/queue/ready-queue.ts'
import type { PickContext } from '../../../src/domain/queue/fairness.ts'
import type { QueuedRun } from '../../../src/domain/queue/queued-run.ts'
import type { LaneUsage } from '../../../src/domain/queue/ready-lines.ts'
import { isActive, isInFlight, isRetrying } from '../../../src/domain/run/run.ts'
import { type ContextUse, inSessionOrder } from '../../../src/domain/session/session.ts'
import { NOW } from '../../support/builders.ts'
import type { AgentFacts, PickingFacts, ProviderFacts } from './picking-facts.ts'

/**
 * A world in which everything is looked up again whenever it is asked for: what a line-up is told of step by step is
 * derived here from the runs as they are.
 */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export interface World {
  now: Instant
  readonly runs: Map<RunId, Mutable<QueuedRun>>
  readonly sessions: Map<SessionKey, { readonly maxConcurrent: number; readonly context: ContextUse | null }>
  readonly agents: Map<AgentId, number | null>
  lanes: ReadonlyMap<LaneName, number>
  limits: OrgLimits
  budgets: Map<BudgetId, BudgetLoad>
  /** Their loads are those the line-up looks at; requests are what each has left. */
  readonly providers: Map<ProviderName, { readonly load: Mutable<ProviderLoad>; requests: number | null }>
  /** Which agent calls which provider. */
  readonly calls: Map<AgentId, ProviderName>
  offline: ReadonlySet<string>
  catchupLimit: number
  served: number
  /** By agent and lane. */
  readonly servedAt: Map<string, number>
  made: number
}

export const ORG: OrgId = orgId('org')
export const AGENTS = ['a', 'b', 'c', 'd'].map(agentId)
export const BUDGETS = ['tokens', 'money'].map(budgetId)
export const PROVIDERS = ['model', 'search'].map(providerName)

export const aWorld = (): World => ({
  now: NOW,
  runs: new Map(),
  sessions: new Map(),
  agents: new Map(),
  lanes: new Map([
    [laneName('main'), 3],
    [laneName('cron'), 2],
    [laneName('task'), 3],
    [laneName('team'), 1],
  ]),
  limits: { maxConcurrent: null, tasksInflight: null, tasksPerAgentInflight: null },
  budgets: new Map(),
  providers: new Map(),
  calls: new Map(),
  offline: new Set(),
  catchupLimit: 2,
  served: 0,
  servedAt: new Map(),
  made: 0,
})

export const aStandee = (id: string, over: Partial<QueuedRun> = {}): Mutable<QueuedRun> => ({
  id: runId(id),
  orgId: ORG,
  agentId: agentId('a'),
  sessionKey: null,
  trigger: 'message',
  lane: laneName('main'),
  priority: 0,
  createdAt: NOW,
  seq: null,
  notBefore: null,
  state: 'queued',
  attempt: 1,
  firstAttempt: 1,
  slot: null,
  interrupts: false,
  inGeneration: true,
  executorKey: 'here',
  reserves: [],
  ...over,
})

const all = (world: World, keep: (run: QueuedRun) => boolean): readonly Mutable<QueuedRun>[] =>
  [...world.runs.values()].filter(keep)

export const flying = (world: World): readonly Mutable<QueuedRun>[] => all(world, (run) => isInFlight(run.state))
export const queued = (world: World): readonly Mutable<QueuedRun>[] => all(world, (run) => run.state === 'queued')

export const laneIn = (world: World, run: Pick<QueuedRun, 'lane'>): LaneName => resolveLane(run.lane, world.lanes)

const catchups = (world: World): Load => ({
  inFlight: flying(world).filter((run) => run.trigger === 'catchup').length,
  limit: world.catchupLimit,
})

const heldIn = (world: World, lane: LaneName): number =>
  flying(world).filter((run) => laneIn(world, run) === lane && run.state !== 'awaiting_callback').length

/** What a node of this world says when it asks for a run. */
export const momentIn = (world: World, lane: LaneName): PickContext => ({
  now: world.now,
  lane: { name: lane, size: world.lanes.get(lane) ?? 0, held: heldIn(world, lane) },
  catchup: catchups(world),
})

export const candidateOf = (world: World, run: QueuedRun): GateCandidate => ({
  ...run,
  retrying: isRetrying(run),
  parkedBehind: run.slot === 'parked' ? 1 : null,
  executable: !world.offline.has(run.executorKey),
})

const loadOf = (runs: readonly QueuedRun[], limit: number | null): Load => ({ inFlight: runs.length, limit })
const tasksAmong = (runs: readonly QueuedRun[]): readonly QueuedRun[] => runs.filter((run) => run.trigger === 'task')

function agentFacts(world: World, id: AgentId): AgentFacts {
  const mine = flying(world).filter((run) => run.agentId === id)
  const shares = [...world.lanes.keys()].map((lane): [LaneName, LaneUsage] => {
    const inFlight = mine.filter((run) => laneIn(world, run) === lane).length
    return [lane, { inFlight, servedAt: world.servedAt.get(`${id} ${lane}`) ?? -1 }]
  })
  return {
    load: loadOf(mine, world.agents.get(id) ?? null),
    tasks: loadOf(tasksAmong(mine), world.limits.tasksPerAgentInflight),
    shares: new Map(shares),
    provider: world.calls.get(id) ?? null,
  }
}

function providerFacts(world: World, name: ProviderName): ProviderFacts {
  const provider = world.providers.get(name)
  const calling = (runs: readonly QueuedRun[]): number =>
    runs.filter(({ agentId: id }) => world.calls.get(id) === name).length
  return {
    load: { ...(provider?.load ?? { name, until: null, quota: 'requests_per_minute', limit: null }) },
    requests: provider?.requests ?? null,
    inFlight: calling(flying(world)),
    waiting: calling(queued(world)),
  }
}

/** An attempt of an agent begins: with the last request its provider closes, as whoever counts them says. */
function call(world: World, id: AgentId): void {
  const provider = world.providers.get(world.calls.get(id) ?? providerName(''))
  if (provider === undefined || provider.requests === null) return
  provider.requests -= 1
  if (provider.requests <= 0) provider.load.until = later(world.now, 3)
}

function sessionFacts(
  world: World,
  key: SessionKey,
): { active: number; stopping: number; maxConcurrent: number; context: ContextUse | null } {
  const runs = all(world, (run) => run.sessionKey === key && run.inGeneration)
  const { maxConcurrent, context } = world.sessions.get(key) ?? { maxConcurrent: 1, context: null }
  const stopping = runs.filter((run) => run.state === 'stopping').length
  return { active: runs.filter(isActive).length, stopping, maxConcurrent, context }
}

const keysOf = (world: World): ReadonlySet<SessionKey> =>
  new Set([...world.runs.values()].flatMap((run) => (run.sessionKey === null ? [] : [run.sessionKey])))

/** The facts a picker that starts from nothing would load. */
export function factsOf(world: World): PickingFacts {
  const flown = flying(world)
  const org = {
    load: loadOf(flown, world.limits.maxConcurrent),
    tasks: loadOf(tasksAmong(flown), world.limits.tasksInflight),
    shares: new Map(),
    agents: new Map(AGENTS.map((id) => [id, agentFacts(world, id)])),
    sessions: new Map([...keysOf(world)].map((key) => [key, sessionFacts(world, key)])),
    budgets: world.budgets,
    providers: new Map(PROVIDERS.map((name) => [name, providerFacts(world, name)])),
  }
  return {
    now: world.now,
    lanes: new Map([...world.lanes].map(([name, size]) => [name, { size, held: heldIn(world, name) }])),
    catchup: catchups(world),
    orgs: new Map([[ORG, org]]),
    candidates: queued(world).map((run) => candidateOf(world, run)),
  }
}

/** Where one run stands, from scratch. */
export function standingOf(world: World, run: QueuedRun): GateFacts {
  const up = flying(world)
  const agent = agentFacts(world, run.agentId)
  const called = world.calls.get(run.agentId)
  const [head] = queued(world)
    .filter((other) => other.sessionKey === run.sessionKey && other.slot !== 'parked')
    .toSorted(inSessionOrder)
  return {
    ...momentIn(world, laneIn(world, run)),
    session: run.sessionKey === null ? null : { ...sessionFacts(world, run.sessionKey), head: head?.id ?? null },
    agent: agent.load,
    agentTasks: agent.tasks,
    org: loadOf(up, world.limits.maxConcurrent),
    orgTasks: loadOf(tasksAmong(up), world.limits.tasksInflight),
    budgets: world.budgets,
    provider: called === undefined ? null : providerFacts(world, called),
  }
}

/** A run changes, or enters: the world and the line-up are told alike. */
export function change(world: World, lineUp: ReadyQueue, run: Mutable<QueuedRun>, over: Partial<QueuedRun>): void {
  const flew = world.runs.has(run.id) && isInFlight(run.state)
  Object.assign(run, over)
  world.runs.set(run.id, run)
  if (isInFlight(run.state) && !flew) {
    world.served += 1
    world.servedAt.set(`${run.agentId} ${laneIn(world, run)}`, world.served)
    call(world, run.agentId)
    for (const { budgetId: id, amount } of run.reserves) {
      const budget = world.budgets.get(id)
      if (budget !== undefined) world.budgets.set(id, { ...budget, remaining: budget.remaining - amount })
    }
  }
  lineUp.put(run)
}

/** One turn over all lanes, one run each, until none has any left. */
export function takeTurn(world: World, lineUp: ReadyQueue): readonly RunId[] {
  const picked: RunId[] = []
  lineUp.reviewProviders(world.now)
  for (let before = -1; before < picked.length;) {
    before = picked.length
    for (const lane of world.lanes.keys()) {
      const wakesAt = lineUp.wakesAt()
      const hadReady = lineUp.hasReady(lane) || (wakesAt !== null && wakesAt <= world.now)
      const next = lineUp.next(momentIn(world, lane))
      if (next === null) continue
      const run = world.runs.get(next.id)
      if (run === undefined || !hadReady) throw new Error(`${next.id} came from nowhere`)
      picked.push(run.id)
      change(world, lineUp, run, { state: 'running', notBefore: null })
    }
  }
  return picked
}
