import { attemptId, runId, type AttemptId, type OrgId, type RunId, type ScheduleId } from '../../src/domain/ids.ts'
import { later, type Instant } from '../../src/domain/instant.ts'
import { nodeRecordOf, createNodeParts } from '../../src/engine/node.ts'
import type { NodeParts } from '../../src/engine/node-parts.ts'
import type { AttemptReport, Executor } from '../../src/executors/executor.ts'
import { joinDeployment } from '../../src/features/nodes/membership.ts'
import type { Ports } from '../../src/engine/ports.ts'
import type { EngineSettings } from '../../src/features/config/settings.ts'
import type { AttemptPlan, PlanAttempt } from '../../src/features/simulation/attempts.ts'
import { createRetryRandom } from '../../src/features/simulation/draws.ts'
import { loadOrgState } from '../../src/engine/org-state/load.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { NO_CHANNELS } from '../support/no-channels.ts'
import { NO_VAULT } from '../support/no-vault.ts'

/** Everything about a history that outlives its nodes. */
export interface RealWorld {
  readonly orgId: OrgId
  readonly seed: number
  readonly database: Database
  readonly settings: EngineSettings
  readonly planAttempt: PlanAttempt
  readonly agents: readonly string[]
  /** Ids that are about to be given, and how many were given. */
  readonly nextIds: Map<string, string>
  readonly bornAt: Map<RunId, Instant>
  now: Instant
  ids: number
  nodes: number
}

/** An attempt that its executor works on. */
interface Performed {
  readonly report: (said: AttemptReport) => void
  plan: AttemptPlan
}

/** A timer of the node. It fires when the clock has been moved there. */
interface ExpectedCall {
  readonly at: Instant
  readonly happen: () => void
}

/** A real node whose executors go as planned. */
export interface RealNode {
  readonly parts: NodeParts
  readonly ports: Ports
  /** When the next attempt ends by itself. */
  readonly nextEnd: () => Instant | null
  /** Ends everything that ends by now, in the order in which it began. */
  readonly endDue: () => void
  /** The next call that the node has asked for; null: it expects none. */
  readonly nextCall: () => ExpectedCall | null
  readonly connect: (agent: string) => void
  readonly disconnect: (agent: string) => void
}

/** Puts a node into the world. It has a lease that outlives every history. */
export async function startNode(world: RealWorld): Promise<RealNode> {
  const performed = new Map<AttemptId, Performed>()
  const executors = new Map<string, Executor>()
  const executor = executorOf(world, performed)
  const calls = createCalls()
  const parts = partsOf(world, executors, calls)
  const keyOf = (agent: string): string => `in-process:${agent}`
  for (const agent of world.agents) executors.set(keyOf(agent), executor)
  await joinDeployment(world.database, nodeRecordOf(parts), LEASE_MS)
  return {
    parts,
    ports: portsOf(world, parts),
    nextCall: calls.next,
    nextEnd: () => {
      let first: Instant | null = null
      for (const { plan } of performed.values())
        if (plan.endsAt !== null && (first === null || plan.endsAt < first)) first = plan.endsAt
      return first
    },
    endDue: () => {
      const due = [...performed].filter(([, { plan }]) => plan.endsAt !== null && plan.endsAt <= world.now)
      for (const [id, { plan, report }] of due.sort(([a], [b]) => (a < b ? -1 : 1))) {
        performed.delete(id)
        report({ outcome: plan.outcome, ...(plan.usage === null ? {} : { usage: plan.usage }), ...plan.said })
      }
    },
    connect: (agent: string) => executors.set(keyOf(agent), executor),
    disconnect: (agent: string) => executors.delete(keyOf(agent)),
  }
}

/** The timers of a node. */
interface Calls {
  readonly add: (at: Instant, happen: () => void) => () => void
  readonly next: () => ExpectedCall | null
}

/** What is expected at the same time happens in the order in which it was asked for. */
function createCalls(): Calls {
  const expected = new Set<ExpectedCall>()
  return {
    add: (at, happen) => {
      const call: ExpectedCall = {
        at,
        happen: () => {
          expected.delete(call)
          happen()
        },
      }
      expected.add(call)
      return () => expected.delete(call)
    },
    next: () => {
      let first: ExpectedCall | null = null
      for (const call of expected) if (first === null || call.at < first.at) first = call
      return first
    },
  }
}

const LEASE_MS = 400 * 86_400_000

function executorOf(world: RealWorld, performed: Map<AttemptId, Performed>): Executor {
  return (attempt, context) =>
    new Promise((resolve) => {
      const { scheduleId, nominalTime } = attempt
      const plan = world.planAttempt({
        scheduleId: scheduleId as ScheduleId,
        agentId: attempt.agentId,
        attempt: attempt.attempt,
        time: nominalTime ?? world.bornAt.get(attempt.runId) ?? world.now,
        startedAt: world.now,
        // An executor is reached after its probe.
        isProbed: false,
      })
      const one: Performed = { plan, report: resolve }
      performed.set(attempt.attemptId, one)
      context.signal.addEventListener('abort', () => {
        if (plan.stopsInMs === null) return
        one.plan = { ...plan, endsAt: later(world.now, plan.stopsInMs), outcome: { kind: 'stopped' }, usage: null }
      })
    })
}

function partsOf(world: RealWorld, executors: Map<string, Executor>, calls: Calls): NodeParts {
  const { database, settings } = world
  const count = (): string => {
    world.ids += 1
    return world.ids.toString(36).padStart(9, '0')
  }
  world.nodes += 1
  const name = `${world.orgId}_node_${world.nodes}`
  const parts: NodeParts = createNodeParts({
    database,
    clock: { now: () => world.now, counter: () => world.now, sync: () => undefined },
    randomSource: {
      random: createRetryRandom(world.seed),
      newRunId: (_, now) => {
        const id = runId(`run_${count()}`)
        world.bornAt.set(id, now)
        return id
      },
      newAttemptId: () => attemptId(`att_${count()}`),
    },
    newNodeId: () => name,
    newToken: () => `${name} ${count()}`,
    settings: () => settings,
    executors,
    estimate: null,
    channels: { turn: 'turn', plan: 'plan' },
    program: 'a history',
    log: () => undefined,
    // In a history no time passes by itself: a wait ends only when it is called off.
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          resolve()
        })
      }),
    random: () => 0,
    load: (orgId) => loadOrgState(database, parts.capabilities, orgId),
    callAt: calls.add,
    // Otherwise the event loop decides whether what a free slot wakes comes before or after the answers of the server.
    after: (ms, happen) => calls.add(later(world.now, ms), happen),
  })
  return parts
}

const portsOf = (world: RealWorld, parts: NodeParts): Ports => ({
  database: world.database,
  commands: parts.commands,
  clock: { now: () => world.now },
  newId: (kind) => {
    const wanted = world.nextIds.get(kind)
    world.nextIds.delete(kind)
    world.ids += 1
    return wanted ?? `${kind}_${world.ids}`
  },
  settings: () => world.settings,
  vault: NO_VAULT,
  channels: NO_CHANNELS,
  outbound: { check: () => Promise.resolve(null), post: () => Promise.reject(new Error('nothing is sent')) },
})
