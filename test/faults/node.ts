import { attemptId, runId, type AgentId, type RunId } from '../../src/domain/ids.ts'
import { instant, later, type Instant } from '../../src/domain/instant.ts'
import { loadAndPublish, applyChangedOrgs } from '../../src/engine/loops/changes.ts'
import { firePass, leasePass, watchPass } from '../../src/engine/loops/loops.ts'
import { nodeRecordOf, createNodeParts } from '../../src/engine/node.ts'
import type { NodeParts } from '../../src/engine/node-parts.ts'
import { limitOrgs } from '../../src/engine/org-limits.ts'
import { createDatabaseClock } from '../../src/engine/clock.ts'
import { newId, type IdKind } from '../../src/engine/ids.ts'
import { loadLaneRules } from '../../src/features/lanes/service.ts'
import type { MemoryWindow } from '../../src/engine/org-state/memory.ts'
import type { LiveRuns } from '../../src/engine/live-port.ts'
import { joinDeployment } from '../../src/features/nodes/membership.ts'
import type { Ports } from '../../src/engine/ports.ts'
import type { EngineSettings } from '../../src/features/config/settings.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createRandom, type Random } from '../simulation/random.ts'
import { executorsFor } from './executors.ts'
import { createFaultyDatabase } from './faulty-database.ts'
import { awaitLock, noteLeases } from './server.ts'
import { NO_VAULT } from '../support/no-vault.ts'
import type { SimulatedNode, World } from './shapes.ts'
import { NO_CHANNELS } from '../support/no-channels.ts'

const WATCH_EVERY_MS = 5_000
const LATE_MS = 1_500

export interface NodeWishes {
  readonly name: string
  readonly settings: () => EngineSettings
  readonly agents: readonly AgentId[]
}

/** Puts a node into the world. It joins the others with its first lease. */
export function createNode(world: World, wishes: NodeWishes): SimulatedNode {
  const { clock, quiet, journal } = world
  const random = createRandom(world.random.int(0, 2_000_000_000))
  let melt: () => void = () => undefined
  let thawing = Promise.resolve()
  let claimed = 0
  const isFrozen = (): boolean => node.state === 'frozen'
  const faulty = createFaultyDatabase({
    real: world.database,
    quiet,
    now: world.serverNow,
    state: () => node.state,
    thawed: () => thawing,
    dawdle: (atLeastMs, atMostMs) =>
      new Promise((resolve) => {
        clock.at(later(clock.now(), random.int(atLeastMs, atMostMs)), node, resolve)
      }),
    awaitLock: (lock) => awaitLock(world, node, lock),
    carriedOut: (text, params, rows) => {
      noteLeases(world, text, { params, rows })
    },
    int: random.int,
    happened: (fault) => {
      world.faults[fault] += 1
      if (fault === 'answer_late' || fault === 'commit_late')
        journal.lateAnswers.add(`${wishes.name} ${world.serverNow()}`)
      world.tell(`${wishes.name}: ${fault}`)
      if (fault !== 'look_late') return
      node.whenLooked?.()
      node.whenLooked = null
    },
    notify: () => {
      world.notify(wishes.name)
    },
    die: () => {
      node.die()
    },
    claimed: (id) => {
      claimed += 1
      node.claims.set(id, claimed)
    },
  })
  const database = world.mutate(faulty.database)
  const parts = partsOf(world, { wishes, database, random, node: () => node })
  const ports: Ports = {
    database,
    commands: parts.commands,
    clock: parts.ctx.clock,
    newId: idsFrom(random),
    settings: wishes.settings,
    vault: NO_VAULT,
    channels: NO_CHANNELS,
    // Nobody in these worlds delivers anything.
    outbound: { check: () => Promise.resolve(null), post: () => Promise.reject(new Error('nothing is sent')) },
  }
  const node: SimulatedNode = {
    name: wishes.name,
    parts,
    ports,
    live: liveOf(parts),
    faulty,
    state: 'alive',
    forgetful: 0,
    whenLooked: null,
    wasFrozenAt: instant(0),
    working: new Map(),
    workingFor: new Map(),
    claims: new Map(),
    largestLanes: new Map(wishes.settings().lanes.byName),
    isFrozen,
    freeze: () => {
      node.state = 'frozen'
      thawing = new Promise((resolve) => {
        melt = resolve
      })
    },
    thaw: () => {
      node.state = 'alive'
      node.wasFrozenAt = clock.now()
      melt()
    },
    expectNotice: () => undefined,
    die: () => {
      node.state = 'gone'
      clock.forget(node)
    },
  }
  parts.listeners.add((orgId, turn) => {
    const key = `${wishes.name} ${orgId}`
    const heard = journal.heard.get(key)
    if (heard === undefined) journal.heard.set(key, [turn.no])
    else heard.push(turn.no)
  })
  // As a node does when it starts, before its first look.
  parts.state.hasManyOrgs = world.orgs.length > 1
  limitOrgs(parts)
  const hearNotice = startPasses(world, node, random)
  let expected: Instant | null = null
  const expectNotice = (at: Instant): void => {
    if (expected !== null) return
    expected = at
    clock.at(at, node, () => {
      expected = null
      hearNotice()
    })
  }
  return Object.assign(node, { expectNotice })
}

interface Making {
  readonly wishes: NodeWishes
  readonly database: Database
  readonly random: Random
  readonly node: () => SimulatedNode
}

function partsOf(world: World, { wishes, database, random, node }: Making): NodeParts {
  const { clock } = world
  const makeId = idsFrom(random)
  const serverClock = createDatabaseClock(clock.now, world.serverNow())
  const parts: NodeParts = createNodeParts({
    database,
    clock: serverClock,
    randomSource: {
      random: random.next,
      newRunId: (kind, now) => runId(makeId(kind, now)),
      newAttemptId: (now) => attemptId(makeId('attempt', now)),
    },
    newNodeId: () => `${wishes.name}_${makeId('node', clock.now())}`,
    newToken: () => `${wishes.name}-${random.next()}-${random.next()}`,
    settings: wishes.settings,
    executors: executorsFor(world, node, wishes.agents),
    estimate: null,
    channels: { turn: 'turn', plan: 'plan' },
    program: 'a simulation',
    log: ({ level, message, facts }) => {
      if (level !== 'debug') world.tell(`${wishes.name} says: ${message} ${JSON.stringify(facts)}`)
    },
    sleep: (ms, signal) => sleepBy(world, node(), { ms, signal }),
    random: random.next,
    load: (orgId) => loadAndPublish(parts, database, orgId),
    transactionLimits: world.turnLimits,
    window: windowOf(world.seed),
    after: (ms, call) => clock.at(later(clock.now(), Math.ceil(ms)), node(), call),
    // Soon after the moment: what becomes due meanwhile is done in the same turn, or was done by somebody else.
    callAt: (at, ring) => {
      const inMs = at - serverClock.now()
      return clock.at(later(clock.now(), inMs > 0 ? inMs + random.int(0, LATE_MS) : 1), node(), ring)
    },
  })
  return parts
}

const WINDOWS = [1, 2, 3, 8]

/** Small enough that much of what waits is not in memory. */
const windowOf = (seed: number): MemoryWindow => ({
  line: WINDOWS[seed % 4] ?? 1,
  session: WINDOWS[(seed >> 2) % 4] ?? 1,
  org: 50_000,
})

/** Ids that chance would make, but the same ones for the same seed. */
function idsFrom(random: Random): (kind: IdKind, now: Instant) => string {
  return (kind, now) =>
    newId(
      kind,
      now,
      Uint8Array.from({ length: 10 }, () => random.int(0, 255)),
    )
}

function sleepBy(
  world: World,
  node: SimulatedNode,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      callOff()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const callOff = world.clock.at(instant(Math.ceil(world.clock.now() + ms)), node, end)
    signal.addEventListener('abort', end)
  })
}

const liveOf = (parts: NodeParts): LiveRuns => ({
  stateOf: (orgId, id) => parts.actors.get(orgId)?.loaded()?.state.runs.get(id)?.state,
  positionOf: (orgId, id: RunId) => parts.actors.get(orgId)?.loaded()?.readyQueue.positionOf(id) ?? null,
  queuedBefore: () => null,
  explain: () => null,
  explainOutside: () => null,
})

/** Its loops, as the real ones would call the passes. Answers with what wakes those that a notification wakes. */
function startPasses(world: World, node: SimulatedNode, random: Random): () => void {
  const { clock } = world
  const { parts, ports } = node
  const leaseMs = (): number => ports.settings().node.leaseMs
  const watch = pacemaker(node, async () => {
    const rules = await loadLaneRules(ports)
    const { sizes } = rules
    for (const [name, size] of sizes) node.largestLanes.set(name, Math.max(size, node.largestLanes.get(name) ?? 0))
    await watchPass(parts, () => Promise.resolve({ ...rules, hasManyOrgs: world.orgs.length > 1 }))
  })
  const fire = pacemaker(node, () => firePass(parts))
  parts.plans.wake = fire
  const renew = pacemaker(node, async () => {
    node.forgetful -= 1
    if (node.forgetful < 0) await leasePass(parts)
  })
  const again = (everyMs: () => number, pass: () => void): void => {
    clock.at(instant(Math.floor(clock.now() + everyMs())), node, () => {
      pass()
      again(everyMs, pass)
    })
  }
  const jitter = (): number => WATCH_EVERY_MS * (0.5 + random.next())
  parts.state.joinedAt = world.serverNow()
  void joinDeployment(parts.ctx.database, nodeRecordOf(parts), leaseMs()).catch(() => undefined)
  again(jitter, () => {
    watch()
    fire()
  })
  again(() => ports.settings().node.renewMs, renew)
  watch()
  return pacemaker(node, () => applyChangedOrgs(parts))
}

/** A pass is called again only when the last one is over; one that fails is health's business, and is called again. */
function pacemaker(node: SimulatedNode, pass: () => Promise<unknown>): () => void {
  let underWay = false
  let again = false
  const call = (): void => {
    if (underWay) {
      again = true
      return
    }
    underWay = true
    pass()
      .catch((error: unknown) => {
        node.parts.health.failed(error)
      })
      .finally(() => {
        underWay = false
        if (!again) return
        again = false
        call()
      })
  }
  return call
}
