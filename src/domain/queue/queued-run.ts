import type { BudgetLoad, GateCandidate, Load, ProviderLoad, ProviderStatus, Reserve, SessionLoad } from './gates.ts'
import type { AgentId, BudgetId, LaneName, ProviderName, RunId, SessionKey } from '../ids.ts'
import type { RankedList, HeapItem, IndexedHeap } from './heap.ts'
import type { RunFacts } from '../run/run.ts'

/** A pending run as it is put into the ready queue. */
export interface QueuedRun extends Pick<
  RunFacts,
  | 'id'
  | 'orgId'
  | 'agentId'
  | 'sessionKey'
  | 'trigger'
  | 'lane'
  | 'priority'
  | 'createdAt'
  | 'seq'
  | 'notBefore'
  | 'state'
  | 'attempt'
  | 'firstAttempt'
> {
  /** `parked`: it waits for a slot of its schedule. */
  readonly slot: 'held' | 'parked' | null
  /** It interrupted its session and must not overlap the runs it interrupted. */
  readonly interrupts: boolean
  /** Whether it belongs to the session's current generation; other runs no longer count in the session. */
  readonly inGeneration: boolean
  readonly executorKey: string
  /** Its reserve in each budget with action `queue`. */
  readonly reserves: readonly Reserve[]
}

/** A writable version of a type, for the ready queue only. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * The ready queue's own copy of a run. Everything that decides is copied, because the caller may change its object:
 * counts must be reversible, and keys must not change while the run is in a heap.
 */
export interface QueueEntry extends Mutable<GateCandidate>, HeapItem {
  readonly run: QueuedRun
  readonly agentInLane: AgentInLane
  readonly session: Session | null
  readonly executorKey: string
  isQueued: boolean
  inFlight: boolean
  /** Whether it counts as active in its session. */
  isActive: boolean
  readonly isStopping: boolean
  /**
   * The heap that contains it: the runs behind the head of its session, a group, or the runs whose time has not come.
   */
  heap: IndexedHeap<QueueEntry> | null
  group: ReserveGroup | null
}

/**
 * Kinds with limits of their own are queued separately, so that a reached limit is checked once and not once per run.
 */
export const QUEUE_KINDS = ['ordinary', 'task', 'catchup'] as const
export type QueueKind = (typeof QUEUE_KINDS)[number]

/** The competing runs of one agent, lane and kind. */
export interface AgentQueue extends HeapItem {
  readonly agentInLane: AgentInLane
  readonly kind: QueueKind
  readonly groups: IndexedHeap<ReserveGroup>
  readonly byReserves: Map<string, ReserveGroup>
  /** A limit of the agent or its provider is reached: not in the lane until it is released. */
  isHeld: boolean
  /** Its lines with more runs in the backlog. */
  readonly tails: Set<Tail>
  /** Budgets refuse so many of its runs that no more are loaded until budgets change. */
  isCapped: boolean
}

/** Runs that the backlog keeps in one order: executed by the same nodes, in the same lane, for the same agent. */
export interface LineKey {
  readonly agentId: AgentId
  readonly lane: LaneName
  readonly executorKey: string
  readonly kind: QueueKind
}

/** The key by which a line orders its runs. */
export type PickingKey = Pick<QueuedRun, 'id' | 'priority' | 'createdAt'>

/** The part of a line that is in the backlog. No run in it sorts before `bound`. */
export interface Tail {
  readonly line: LineKey
  bound: PickingKey
  /** Null: this node cannot execute the line. */
  queue: AgentQueue | null
}

/** The part of a session that is in the backlog: how many runs, none with a position before `from`. */
export interface SessionTail {
  readonly count: number
  readonly from: number
}

/** What must be loaded from the backlog before the next run can be picked. */
export interface Shortage {
  readonly lines: readonly LineKey[]
  readonly sessions: readonly SessionKey[]
}

/** The runs of a line with equal reserves: a budget without room for one of them has none for any. */
export interface ReserveGroup extends HeapItem {
  readonly queue: AgentQueue
  readonly key: string
  readonly runs: IndexedHeap<QueueEntry>
  isOutOfBudget: boolean
}

/** An agent in a lane, with the facts that decide the order there. */
export interface AgentInLane {
  readonly id: AgentId
  readonly agent: Agent
  readonly lane: Lane
  readonly queues: Map<QueueKind, AgentQueue>
  inFlight: number
  servedAt: number
  runs: number
  queued: number
}

/** An agent in all lanes, with the counters of its limits. */
export interface Agent {
  readonly id: AgentId
  readonly load: Mutable<Load>
  readonly tasks: Mutable<Load>
  readonly lanes: Map<LaneName, AgentInLane>
  /** All its queued runs in picking order. */
  readonly queued: RankedList<PickingKey>
  readonly heldQueues: Set<AgentQueue>
  /** The provider it calls; null: none with quotas. */
  provider: Provider | null
}

/** A provider: the runs in flight of all agents that call it, and the lines it blocks. */
export interface Provider extends ProviderStatus {
  load: ProviderLoad
  inFlight: number
  readonly agents: Set<Agent>
  readonly heldQueues: Set<AgentQueue>
}

/** The runs of this org in a lane. */
export interface Lane {
  readonly name: LaneName
  readonly queues: Readonly<Record<QueueKind, IndexedHeap<AgentQueue>>>
  /** When agents without remaining runs here were last served, in the order in which they left. */
  readonly lastServed: Map<AgentId, number>
  inFlight: number
  queued: number
}

/** A session: the order of its runs, and how many are active. */
export interface Session {
  readonly key: SessionKey
  readonly load: Mutable<SessionLoad>
  /** The next run, the only one that competes. */
  head: QueueEntry | null
  readonly waiting: IndexedHeap<QueueEntry>
  runs: number
  /** Its limits were set by the caller and stay until they are reset. */
  hasLimits: boolean
  /** Its runs in the backlog; null: none. */
  tail: SessionTail | null
  /** All its queued and active runs are in the backlog, so that one of them competes there. */
  isTailOnly: boolean
}

/** The state of the ready queue of one org. */
export interface QueueState {
  readonly runs: Map<RunId, QueueEntry>
  readonly lanes: Map<LaneName, Lane>
  readonly agents: Map<AgentId, Agent>
  readonly sessions: Map<SessionKey, Session>
  readonly load: Mutable<Load>
  readonly tasks: Mutable<Load>
  readonly budgets: Map<BudgetId, BudgetLoad>
  readonly outOfBudget: Set<ReserveGroup>
  readonly providers: Map<ProviderName, Provider>
  /** Queued runs whose not-before was in the future when they were last checked, earliest first. */
  readonly notYetDue: IndexedHeap<QueueEntry>
  readonly executable: Map<string, boolean>
  isExecutable: (executorKey: string) => boolean
  laneNames: ReadonlyMap<LaneName, unknown>
  tasksPerAgent: number | null
  servedCount: number
  /** The lines with runs in the backlog, by name. */
  readonly tails: Map<string, Tail>
  /** Lines of which no more is loaded because budgets refuse `maxBlocked` of their runs in memory. */
  readonly capped: Set<AgentQueue>
  readonly maxBlocked: number
  /** Sessions with room whose next run is in the backlog. Empty between transactions. */
  readonly shortSessions: Set<Session>
  /** Why the last pick found nothing; null: nothing may start. */
  shortage: Shortage | null
}
