import type { OrgId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { ContextUse } from '../domain/session/session.ts'
import type { Executor } from '../executors/executor.ts'
import type { DatabaseClock } from './clock.ts'
import type { RandomSource } from './org-state/org-state.ts'
import { createLeaseWatch, type LeaseWatch } from '../features/nodes/lease.ts'
import type { NodeLanes } from '../features/lanes/node-lanes.ts'
import type { EngineSettings } from '../features/config/settings.ts'
import type { Commands } from './commands-port.ts'
import { notifyNodes } from './transaction/reads.ts'
import type { NodeCapabilities, MemoryWindow } from './org-state/memory.ts'
import type { TransactionContext, TransactionResult } from './transaction/transaction.ts'
import type { TransactionLimits } from './transaction/limits.ts'
import type { Executions, ExecutionsContext } from './executions.ts'
import { createLoopCommands, type LoopCommands } from './handed-in.ts'
import type { DatabaseHealth, Log } from './loops/health.ts'
import type { EngineTracing, Meter } from './tracing-port.ts'
import { createNotifier, type Notifier } from './loops/notifier.ts'
import type { OrgActor, OrgActorContext } from './org-actor.ts'
import type { Progress } from './progress.ts'
import type { Workers } from './loops/workers.ts'

type NodeDatabase = TransactionContext['database']
/** A transaction as a row of its org's history. */
export type HistoryRow = NonNullable<TransactionResult['written']>

/** The dependencies of a node. Everything that does I/O or reads the time is injected. */
export interface NodeContext {
  readonly database: NodeDatabase
  /** Connections for leases and queries of loops, which must not wait behind transactions. Left out: the same ones. */
  readonly control?: NodeDatabase
  readonly clock: DatabaseClock
  readonly randomSource: RandomSource
  readonly newNodeId: () => string
  readonly newToken: () => string
  readonly settings: () => EngineSettings
  readonly executors: Map<string, Executor>
  readonly estimate: (() => ((key: SessionKey) => ContextUse | null) | null) | null
  /** The channels on which nodes announce changed orgs and changed schedules. */
  readonly channels: { readonly turn: string; readonly plan: string }
  readonly program: string
  readonly log: Log
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly random: () => number
  readonly load: OrgActorContext['load']
  /** Opens secrets of an org for one address. Left out: there are none. */
  readonly expose?: ExecutionsContext['expose']
  /** Creates the API key for an attempt of an agent with `self_service`. Left out: no attempt gets one. */
  readonly createAttemptKey?: ExecutionsContext['createAttemptKey']
  /** Runs the probe before an executor. Left out: no attempt has a probe. */
  readonly gate?: ExecutionsContext['gate']
  /** The keys this node opens sealed texts with. Left out: none. */
  readonly keyIds?: (() => readonly string[]) | undefined
  /** Left out: nothing is counted. */
  readonly meter?: Meter | undefined
  /** Left out: nothing is traced. */
  readonly tracing?: EngineTracing | undefined
  /** Maps the database's time to the engine's; only simulations change it. */
  readonly syncClock?: (databaseTime: Instant) => Instant
  /** Left out: real time. */
  readonly callAt?: OrgActorContext['callAt']
  readonly after?: OrgActorContext['after']
  /** How much one transaction may do. Left out: the limits of a running node. */
  readonly transactionLimits?: TransactionLimits
  /** How much of an org is in memory. Left out: the default. */
  readonly window?: MemoryWindow
}

/** How far the node's queries over all orgs have come. */
export interface QueryProgress {
  /** When changed orgs were last looked for. */
  changesAt: Instant | null
  /** When loaded orgs are compared with the database next, by the counter. */
  compareAt: number
  /** The last org whose pending runs were found; null when all were. */
  pendingAfter: string | null
  /** When idle orgs are looked for next, by the counter. */
  idleAt: number
  /** Orgs that were idle at the last check, with their versions. */
  idle: ReadonlyMap<OrgId, number>
}

/** The parts of a node that its loops share. */
export interface NodeParts {
  readonly ctx: NodeContext
  /** Connections for leases and queries of loops. */
  readonly control: NodeDatabase
  readonly id: () => string
  readonly setId: (id: string) => void
  readonly capabilities: NodeCapabilities
  readonly lanes: NodeLanes
  readonly executions: Executions
  readonly progress: Progress
  /** Workers of the deployment, and those that wait at this node. */
  readonly workers: Workers
  readonly health: DatabaseHealth
  /** Waits after a failure, at most until the database is back. */
  readonly pause: NodeContext['sleep']
  readonly actors: Map<OrgId, OrgActor>
  readonly actorOf: (orgId: OrgId) => OrgActor
  /** Tracks the commands of one kind that a loop submits. */
  readonly loopCommands: (kind: string) => LoopCommands
  /** Commands of the loops: due schedules, runs of lost nodes and workers, and orphans. */
  readonly submitted: Readonly<Record<'fire' | 'nodes' | 'workers' | 'orphans', LoopCommands>>
  readonly nodeLeases: LeaseWatch
  readonly workerLeases: LeaseWatch
  /** Wakes orgs that have to be loaded, a few at a time. */
  readonly wakes: WakeQueue
  /** Announces changed orgs to other nodes. */
  readonly notifier: Notifier
  /** Orgs that had a ready run after their last transaction. */
  readonly ready: Set<OrgId>
  readonly commands: Commands
  /** Whether other nodes are alive, so that changes must be announced to them, and what they can execute. */
  readonly peers: { others: boolean; executors: ReadonlySet<string> }
  readonly state: {
    draining: boolean
    stopped: boolean
    wakingWaiting: boolean
    /** Orgs that have released slots since waiting orgs were last woken; null: an attempt has ended. */
    readonly freed: Set<OrgId | null>
    /** No live node is of a release without the backlog. It stays so, because such a node cannot join any more. */
    allReadBacklog: boolean
    /** Whether the deployment had more than one org at the last check. */
    hasManyOrgs: boolean
    /** Attempts that this node holds in the database and was not executing at the last check. */
    readonly orphans: Set<string>
    /**
     * When this node last looked for due schedules, by the database's clock and by its counter; null before the first
     * pass.
     */
    scan: { readonly at: Instant; readonly counter: number } | null
    /** No schedule has its next occurrence before this time. */
    decidedUpTo: Instant
    /** When this node joined; null before it has. */
    joinedAt: Instant | null
    /** How far the node's queries over all orgs have come. */
    readonly looks: QueryProgress
    /** The earliest due time in each org that is deciding about its schedules. */
    readonly firing: Map<OrgId, Instant>
  }
  /** Listeners for transactions, of this node and of others. */
  readonly listeners: Set<(orgId: OrgId, transaction: HistoryRow) => void>
  /** Listeners that must query the database, called when transactions could not be passed on. */
  readonly gapListeners: Set<() => void>
  readonly published: Map<OrgId, number>
  /** Woken when a schedule has changed, or when an org has decided what was due. */
  readonly plans: { wake: () => void }
  /** Woken when this node has recorded something to deliver. */
  readonly outbox: { wake: () => void }
  /** The loop that fetches work in the background. */
  readonly background: { wake: () => void }
  /** Aborted when the node stops. */
  readonly stopping: AbortController
}

interface LoopPartsContext extends Pick<NodeParts, 'id' | 'actorOf'> {
  readonly stopping: AbortSignal
  readonly failed: (error: unknown) => void
}

type LoopParts = Pick<
  NodeParts,
  | ('control' | 'loopCommands' | 'submitted' | 'nodeLeases' | 'workerLeases' | 'wakes' | 'notifier')
  | ('ready' | 'listeners' | 'gapListeners' | 'published' | 'outbox' | 'background' | 'plans')
>

/** Creates the parts that the loops of a node use. */
export function loopParts(ctx: NodeContext, { id, actorOf, stopping, failed }: LoopPartsContext): LoopParts {
  const { sleep, log, channels } = ctx
  const { counter } = ctx.clock
  const control = ctx.control ?? ctx.database
  const handedIn = (kind: string): LoopCommands => createLoopCommands({ actorOf, counter, log, sleep, stopping }, kind)
  return {
    control,
    loopCommands: handedIn,
    submitted: {
      fire: handedIn('due schedules'),
      nodes: handedIn('runs of lost nodes'),
      workers: handedIn('runs of lost workers'),
      orphans: handedIn('runs that never started'),
    },
    nodeLeases: createLeaseWatch(),
    workerLeases: createLeaseWatch(),
    wakes: createWakeQueue({ officeOf: actorOf, sleep, stopping }),
    notifier: createNotifier({
      ...{ nodeId: id, channels, sleep, stopping, failed },
      send: (channel, payloads) => notifyNodes(control, channel, payloads),
    }),
    ready: new Set(),
    listeners: new Set(),
    gapListeners: new Set(),
    published: new Map(),
    outbox: { wake: () => undefined },
    background: { wake: () => undefined },
    plans: { wake: () => undefined },
  }
}

/** Wakes orgs a few at a time: loading thousands at once would only make them wait for each other. */
interface WakeQueue {
  readonly add: (orgId: OrgId) => void
}

const MAX_CONCURRENT_WAKES = 8

/** An org that takes longer than this no longer blocks its slot of the queue. */
const MAX_WAKE_MS = 1_000

function createWakeQueue(ctx: {
  readonly officeOf: (orgId: OrgId) => OrgActor
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
}): WakeQueue {
  const queue = new Set<OrgId>()
  let underWay = 0
  const wakeNext = async (): Promise<void> => {
    underWay += 1
    for (let [orgId] = queue; orgId !== undefined && !ctx.stopping.aborted; [orgId] = queue) {
      queue.delete(orgId)
      const actor = ctx.officeOf(orgId)
      actor.wake()
      const over = new AbortController()
      await Promise.race([actor.idle(), ctx.sleep(MAX_WAKE_MS, over.signal)])
      over.abort()
    }
    underWay -= 1
  }
  return {
    add: (orgId) => {
      queue.add(orgId)
      if (underWay < MAX_CONCURRENT_WAKES) void wakeNext()
    },
  }
}
