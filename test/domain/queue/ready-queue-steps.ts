import { MAIN_LANE } from '../../../src/domain/queue/lanes.ts'
import { laneName, sessionKey, type SessionKey } from '../../../src/domain/ids.ts'
import { earlier, later } from '../../../src/domain/instant.ts'
import type { ReadyQueue } from '../../../src/domain/queue/ready-queue.ts'
import type { QueuedRun } from '../../../src/domain/queue/queued-run.ts'
import { isInFlight } from '../../../src/domain/run/run.ts'
import { NOW } from '../../support/builders.ts'
import type { Random } from '../../simulation/random.ts'
import {
  AGENTS,
  aStandee,
  BUDGETS,
  change,
  flying,
  PROVIDERS,
  queued,
  type Mutable,
  type World,
} from './ready-queue-world.ts'

/** What may happen between two turns. Each tells the world and the line-up the same. */
export type Step = (world: World, lineUp: ReadyQueue, random: Random) => void

const aKey = (random: Random): SessionKey => sessionKey(`s${random.int(0, 4)}`)

const LANES = ['main', 'cron', 'task', 'nowhere', 'team', 'delegate'].map(laneName)

function newcomer(world: World, random: Random): Mutable<QueuedRun> {
  world.made += 1
  const isParked = random.chance(0.12)
  const state = random.chance(0.15) ? random.one(['waiting', 'running', 'awaiting_callback'] as const) : 'queued'
  return aStandee(`r${random.int(0, 99)}-${world.made}`, {
    agentId: random.one(AGENTS),
    sessionKey: random.chance(0.35) ? null : aKey(random),
    trigger: random.one(['message', 'task', 'task', 'catchup', 'schedule', 'retry'] as const),
    lane: random.one(LANES),
    priority: random.int(-1, 1),
    createdAt: later(NOW, random.int(0, 4)),
    seq: isParked || random.chance(0.15) ? null : world.made,
    notBefore: random.chance(0.12) ? later(world.now, random.int(-2, 3)) : null,
    state,
    attempt: random.chance(0.12) ? 2 : 1,
    slot: isParked ? 'parked' : null,
    interrupts: random.chance(0.15),
    inGeneration: !isInFlight(state) || random.chance(0.8),
    executorKey: random.one(['here', 'here', 'there', 'elsewhere']),
    reserves: BUDGETS.filter(() => random.chance(0.2)).map((id) => ({ budgetId: id, amount: random.int(0, 4) })),
  })
}

const arrive: Step = (world, lineUp, random) => {
  for (let left = random.int(1, 4); left > 0; left -= 1) change(world, lineUp, newcomer(world, random), {})
}

/** Many at once that compete with each other, so that most of them are beyond any window. */
export const crowd: Step = (world, lineUp, random) => {
  const [agentId, trigger] = [random.one(AGENTS.slice(0, 2)), random.one(['message', 'task'] as const)]
  for (let left = random.int(3, 12); left > 0; left -= 1) {
    const run = newcomer(world, random)
    const isAlone = random.chance(0.6)
    change(world, lineUp, run, {
      ...{ agentId, trigger, lane: MAIN_LANE, state: 'queued', attempt: 1, slot: null, notBefore: null },
      ...{
        interrupts: false,
        inGeneration: true,
        executorKey: 'here',
        sessionKey: isAlone ? null : run.sessionKey,
        seq: world.made,
      },
      reserves: random.chance(0.8) ? [] : run.reserves,
    })
  }
}

function pickOne(runs: readonly Mutable<QueuedRun>[], random: Random, act: (run: Mutable<QueuedRun>) => void): void {
  if (runs.length > 0) act(random.one(runs))
}

function vanish(world: World, lineUp: ReadyQueue, run: Mutable<QueuedRun>): void {
  world.runs.delete(run.id)
  // Either way of saying that it is gone; and whoever says it with a state may have changed the object before.
  if (run.priority > 0) lineUp.remove(run.id)
  else lineUp.put(Object.assign(run, { state: 'cancelled', lane: laneName('task'), priority: 9 }))
}

const end: Step = (world, lineUp, random) => pickOne(flying(world), random, (run) => vanish(world, lineUp, run))

const cancel: Step = (world, lineUp, random) => pickOne(queued(world), random, (run) => vanish(world, lineUp, run))

const stop: Step = (world, lineUp, random) =>
  pickOne(flying(world), random, (run) =>
    change(world, lineUp, run, { state: random.one(['stopping', 'awaiting_callback', 'running'] as const) }),
  )

const backOff: Step = (world, lineUp, random) =>
  pickOne(flying(world), random, (run) =>
    change(world, lineUp, run, {
      state: random.one(['waiting', 'queued'] as const),
      attempt: run.attempt + random.int(0, 1),
      // What a reset left behind only ends; nothing of an older generation waits.
      inGeneration: true,
    }),
  )

const fallDue: Step = (world, lineUp, random) => {
  const waiting = [...world.runs.values()].filter((run) => run.state === 'waiting')
  pickOne(waiting, random, (run) => {
    world.made += 1
    change(world, lineUp, run, { state: 'queued', seq: run.seq ?? world.made })
  })
}

const park: Step = (world, lineUp, random) =>
  pickOne(queued(world), random, (run) => {
    world.made += 1
    if (run.slot === 'parked') change(world, lineUp, run, { slot: 'held', seq: world.made })
    else change(world, lineUp, run, { slot: 'parked', seq: null })
  })

const alter: Step = (world, lineUp, random) =>
  pickOne([...world.runs.values()], random, (run) => {
    // Another object for the same run must do as well as the same object.
    const other = random.chance(0.5) ? run : { ...run }
    if (random.chance(0.3)) change(world, lineUp, other, { lane: random.one(LANES) })
    else if (random.chance(0.3) && isInFlight(run.state)) change(world, lineUp, other, { inGeneration: false })
    else if (random.chance(0.3)) change(world, lineUp, other, { agentId: random.one(AGENTS) })
    else if (random.chance(0.3)) change(world, lineUp, other, { sessionKey: random.chance(0.5) ? null : aKey(random) })
    else change(world, lineUp, other, { priority: random.int(-2, 2), createdAt: later(NOW, random.int(0, 4)) })
  })

const limitSession: Step = (world, lineUp, random) => {
  const key = aKey(random)
  if (random.chance(0.2)) {
    world.sessions.delete(key)
    lineUp.forgetSession(key)
    return
  }
  const context = random.chance(0.3) ? { tokens: random.int(3, 9), contextWindow: random.one([10, 0]) } : null
  const limits = { maxConcurrent: random.int(1, 3), context }
  world.sessions.set(key, limits)
  lineUp.setSession(key, limits)
}

const limitAgent: Step = (world, lineUp, random) => {
  const maxConcurrent = random.chance(0.3) ? null : random.int(0, 4)
  const id = random.one(AGENTS)
  world.agents.set(id, maxConcurrent)
  lineUp.setAgent(id, { maxConcurrent, provider: world.calls.get(id) ?? null })
}

const callProvider: Step = (world, lineUp, random) => {
  const id = random.one(AGENTS)
  if (random.chance(0.3)) world.calls.delete(id)
  else world.calls.set(id, random.one(PROVIDERS))
  lineUp.setAgent(id, { maxConcurrent: world.agents.get(id) ?? null, provider: world.calls.get(id) ?? null })
}

const fillQuotas: Step = (world, lineUp, random) => {
  world.providers.clear()
  for (const name of PROVIDERS.filter(() => random.chance(0.8)))
    world.providers.set(name, {
      load: {
        ...{ name, quota: 'requests_per_minute', limit: random.chance(0.5) ? null : random.int(1, 4) },
        until: random.chance(0.6) ? null : later(world.now, random.int(-1, 4)),
      },
      requests: random.chance(0.4) ? null : random.int(1, 4),
    })
  lineUp.setProviders(new Map([...world.providers].map(([name, { load }]) => [name, load])))
}

const limitOrg: Step = (world, lineUp, random) => {
  const some = (max: number): number | null => (random.chance(0.4) ? null : random.int(1, max))
  world.limits = { maxConcurrent: some(12), tasksInflight: some(4), tasksPerAgentInflight: some(2) }
  lineUp.setLimits(world.limits)
}

const fillBudgets: Step = (world, lineUp, random) => {
  const known = BUDGETS.filter(() => random.chance(0.8))
  world.budgets = new Map(known.map((id) => [id, { remaining: random.int(0, 9), unit: 'tokens', until: NOW }]))
  lineUp.setBudgets(world.budgets)
}

const connect: Step = (world, lineUp, random) => {
  const offline = new Set(['here', 'there', 'elsewhere'].filter(() => random.chance(0.2)))
  world.offline = offline
  lineUp.setExecutable((key) => !offline.has(key))
}

const relane: Step = (world, lineUp, random) => {
  const names = LANES.filter((name) => name === 'main' || (name !== 'delegate' && random.chance(0.7)))
  world.lanes = new Map(names.map((name) => [name, random.int(0, 6)]))
  lineUp.setLanes(new Set(names))
}

const pass: Step = (world, _, random) => {
  world.now = random.chance(0.8) ? later(world.now, random.int(0, 3)) : earlier(world.now, 1)
}

/** What may happen, and how often beside the others. */
export const STEPS: Readonly<Record<string, { readonly step: Step; readonly weight: number }>> = {
  arrive: { step: arrive, weight: 30 },
  end: { step: end, weight: 40 },
  cancel: { step: cancel, weight: 5 },
  stop: { step: stop, weight: 4 },
  'back off': { step: backOff, weight: 4 },
  'fall due': { step: fallDue, weight: 5 },
  park: { step: park, weight: 3 },
  alter: { step: alter, weight: 5 },
  'limit a session': { step: limitSession, weight: 3 },
  'limit an agent': { step: limitAgent, weight: 2 },
  'limit the org': { step: limitOrg, weight: 6 },
  'fill budgets': { step: fillBudgets, weight: 2 },
  'call a provider': { step: callProvider, weight: 2 },
  'fill quotas': { step: fillQuotas, weight: 4 },
  connect: { step: connect, weight: 1 },
  relane: { step: relane, weight: 1 },
  pass: { step: pass, weight: 3 },
}
