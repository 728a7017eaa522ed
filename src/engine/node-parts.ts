import type { OrgId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { ContextUse } from '../domain/session/session.ts'
import type { Executor } from '../executors/executor.ts'
import type { DatabaseClock } from '../service/clock.ts'
import type { Chance } from '../service/desk/desk.ts'
import { createLeaseWatch, type LeaseWatch } from '../service/lease-watch.ts'
import type { NodeLanes } from '../service/node-lanes.ts'
import type { EngineSettings } from '../features/config/settings.ts'
import type { Turns } from '../service/turn-port.ts'
import { notifyNodes } from '../service/turn/lookups.ts'
import type { NodeFacts } from '../service/turn/memory.ts'
import type { TurnContext, TurnResult } from '../service/turn/turn.ts'
import type { TurnLimits } from '../service/turn/turn-limits.ts'
import type { Executions, ExecutionsContext } from './executions.ts'
import { createHandedIn, type HandedIn } from './handed-in.ts'
import type { DatabaseHealth, Log } from './loops/health.ts'
import type { Meter } from './meter.ts'
import { createNotifier, type Notifier } from './loops/notifier.ts'
import type { Office, OfficeContext } from './office-context.ts'
import type { Progress } from './progress.ts'
import type { EngineTracing } from './tracing-port.ts'
import type { Workers } from './workers.ts'

type Database = TurnContext['database']
/** A turn as it stands in the history of its org. */
export type HistoryRow = NonNullable<TurnResult['written']>

/** What a node is made of. Everything that touches the world is handed in. */
export interface NodeContext {
  readonly database: Database
  /** Connections for leases and looks, which never wait behind turns. Left out: the same as for turns. */
  readonly control?: Database
  readonly clock: DatabaseClock
  readonly chance: Chance
  readonly newNodeId: () => string
  readonly newToken: () => string
  readonly settings: () => EngineSettings
  readonly executors: Map<string, Executor>
  readonly estimate: (() => ((key: SessionKey) => ContextUse | null) | null) | null
  /** Where nodes tell each other that an org has changed, and that a plan has. */
  readonly channels: { readonly turn: string; readonly plan: string }
  readonly program: string
  readonly log: Log
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly random: () => number
  readonly load: OfficeContext['load']
  /** Opens secrets of an org for one address. Left out: there are none. */
  readonly expose?: ExecutionsContext['expose']
  /** What an attempt of an agent with `self_service` is handed. Left out: nothing. */
  readonly invite?: ExecutionsContext['invite']
  /** Asks before somebody is woken. Left out: nobody is ever asked. */
  readonly gate?: ExecutionsContext['gate']
  /** The keys this node opens sealed texts with. Left out: none. */
  readonly keyIds?: (() => readonly string[]) | undefined
  /** Left out: nobody counts. */
  readonly meter?: Meter | undefined
  /** Left out: nothing is traced. */
  readonly tracing?: EngineTracing | undefined
  /** What the time is when the database has said so: the database's word, except in simulations. */
  readonly hearClock?: (said: Instant) => Instant
  /** Left out: real time passes. */
  readonly ringAt?: OfficeContext['ringAt']
  readonly after?: OfficeContext['after']
  /** How much one turn may do. Left out: as much as is good for a node at work. */
  readonly turnLimits?: TurnLimits
}

/** How far a node has come with looking at orgs. */
export interface Looks {
  /** When changed orgs were last looked for. */
  changesAt: Instant | null
  /** When loaded orgs are compared with the record again, by the counter. */
  compareAt: number
  /** The last org whose pending runs were found; null when all were. */
  pendingAfter: string | null
  /** When idle orgs are looked for again, by the counter. */
  idleAt: number
  /** Orgs that were idle at the last look, with their versions. */
  idle: ReadonlyMap<OrgId, number>
}

/** The inside of a node that its loops share. */
export interface NodeParts {
  readonly ctx: NodeContext
  /** Connections for leases and looks. */
  readonly control: Database
  readonly id: () => string
  readonly setId: (id: string) => void
  readonly facts: NodeFacts
  readonly lanes: NodeLanes
  readonly executions: Executions
  readonly progress: Progress
  /** Workers elsewhere, and those that wait here. */
  readonly workers: Workers
  readonly health: DatabaseHealth
  /** Waits after a failure, and no longer than until the database is back. */
  readonly pause: NodeContext['sleep']
  readonly offices: Map<OrgId, Office>
  readonly officeOf: (orgId: OrgId) => Office
  /** Follows work of one kind that a loop hands in. */
  readonly handedIn: (kind: string) => HandedIn
  /** What the loops of the node have handed in: schedules that are due, what lost nodes and workers held, orphans. */
  readonly handed: Readonly<Record<'fire' | 'nodes' | 'workers' | 'orphans', HandedIn>>
  readonly nodeLeases: LeaseWatch
  readonly workerLeases: LeaseWatch
  /** Wakes orgs that have to be loaded, a few at a time. */
  readonly wakes: WakeQueue
  /** Tells other nodes which orgs have changed. */
  readonly notifier: Notifier
  /** Orgs that had something ready after their last turn. */
  readonly ready: Set<OrgId>
  readonly turns: Turns
  /** Whether other nodes are alive, so that they have to be told, and what they can execute. */
  readonly company: { others: boolean; executors: ReadonlySet<string> }
  readonly state: {
    draining: boolean
    stopped: boolean
    wakingWaiting: boolean
    /** Which orgs have left slots since others were last woken for them; null: an attempt has ended. */
    readonly freed: Set<OrgId | null>
    /** Whether the deployment had more than one org at the last look. */
    hasManyOrgs: boolean
    /** Attempts that this node holds by the tables and did not execute when it last looked. */
    readonly orphans: Set<string>
    /** When this node last looked at what is due, by the database's clock and by its own; null before it has begun. */
    scan: { readonly at: Instant; readonly counter: number } | null
    /** No schedule has a next moment before this. */
    decidedUpTo: Instant
    /** When this node joined; null before it has. */
    joinedAt: Instant | null
    /** How far the node has come with looking at orgs. */
    readonly looks: Looks
    /** The earliest time that is due in each org that decides about its schedules. */
    readonly firing: Map<OrgId, Instant>
  }
  /** Everybody who wants to hear of turns, own and others'. */
  readonly hearers: Set<(orgId: OrgId, turn: HistoryRow) => void>
  /** Everybody who has to look at the record when turns could not be told. */
  readonly gapHearers: Set<() => void>
  readonly published: Map<OrgId, number>
  /** Woken when a plan has changed, or when an org has decided what was due. */
  readonly plans: { wake: () => void }
  /** Woken when this node has put something on record that is to be sent. */
  readonly outbox: { wake: () => void }
  /** Aborted when the node stops. */
  readonly stopping: AbortController
}

interface LoopPartsContext extends Pick<NodeParts, 'id' | 'officeOf'> {
  readonly stopping: AbortSignal
  readonly failed: (error: unknown) => void
}

type LoopParts = Pick<
  NodeParts,
  | ('control' | 'handedIn' | 'handed' | 'nodeLeases' | 'workerLeases' | 'wakes' | 'notifier')
  | ('ready' | 'hearers' | 'gapHearers' | 'published' | 'outbox' | 'plans')
>

/** What the loops of a node work with. */
export function loopParts(ctx: NodeContext, { id, officeOf, stopping, failed }: LoopPartsContext): LoopParts {
  const { sleep, log, channels } = ctx
  const { counter } = ctx.clock
  const control = ctx.control ?? ctx.database
  const handedIn = (kind: string): HandedIn => createHandedIn({ officeOf, counter, log, sleep, stopping }, kind)
  return {
    control,
    handedIn,
    handed: {
      fire: handedIn('due schedules'),
      nodes: handedIn('runs of lost nodes'),
      workers: handedIn('runs of lost workers'),
      orphans: handedIn('runs that never started'),
    },
    nodeLeases: createLeaseWatch(),
    workerLeases: createLeaseWatch(),
    wakes: createWakeQueue({ officeOf, sleep, stopping }),
    notifier: createNotifier({
      ...{ nodeId: id, channels, sleep, stopping, failed },
      send: (channel, payloads) => notifyNodes(control, channel, payloads),
    }),
    ready: new Set(),
    hearers: new Set(),
    gapHearers: new Set(),
    published: new Map(),
    outbox: { wake: () => undefined },
    plans: { wake: () => undefined },
  }
}

/** Wakes orgs a few at a time: thousands that have to be loaded at once would only wait for each other. */
interface WakeQueue {
  readonly add: (orgId: OrgId) => void
}

const AT_ONCE = 8

/** An org that takes longer than this keeps its place from nobody. */
const LONGEST_MS = 1_000

function createWakeQueue(ctx: {
  readonly officeOf: (orgId: OrgId) => Office
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
}): WakeQueue {
  const queue = new Set<OrgId>()
  let underWay = 0
  const wakeNext = async (): Promise<void> => {
    underWay += 1
    for (let [orgId] = queue; orgId !== undefined && !ctx.stopping.aborted; [orgId] = queue) {
      queue.delete(orgId)
      const office = ctx.officeOf(orgId)
      office.wake()
      const over = new AbortController()
      await Promise.race([office.idle(), ctx.sleep(LONGEST_MS, over.signal)])
      over.abort()
    }
    underWay -= 1
  }
  return {
    add: (orgId) => {
      queue.add(orgId)
      if (underWay < AT_ONCE) void wakeNext()
    },
  }
}
