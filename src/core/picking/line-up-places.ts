import type { BudgetLoad, Candidate, Load, Reserve, SessionLoad } from '../../domain/queue/gates.ts'
import type { AgentId, BudgetId, LaneName, ProviderName, RunId, SessionKey } from '../../domain/ids.ts'
import type { Seated, SeatHeap } from './heap.ts'
import type { RunFacts } from '../../domain/run/run.ts'
import type { ProviderLoad, ProviderStanding } from './provider-gate.ts'
import type { RankedList } from './ranked-list.ts'
import type { WideMap } from '../../domain/queue/large-map.ts'

/** A pending run as the line-up is told of it. */
export interface Standee extends Pick<
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
  /** Parked: it waits for a slot of its schedule. */
  readonly slot: 'held' | 'parked' | null
  /** It interrupted its session and must not overlap what it interrupted. */
  readonly interrupts: boolean
  /** Belongs to the session's present generation; others count in the session no more. */
  readonly inGeneration: boolean
  readonly executorKey: string
  /** What it sets aside in each budget that queues. */
  readonly reserves: readonly Reserve[]
}

/** The same, to be written by the line-up alone. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * What the line-up remembers of a run. Everything that decides is copied, because the caller may change the object it
 * handed in: whatever a run was counted for must be taken back, and a heap must not change under its own feet.
 */
export interface Entry extends Mutable<Candidate>, Seated {
  readonly run: Standee
  readonly share: AgentInLane
  readonly session: Session | null
  readonly executorKey: string
  isQueued: boolean
  inFlight: boolean
  /** Active, and so counted, in its session. */
  isActive: boolean
  readonly isStopping: boolean
  /** Where it stands: behind the head of its session, in a bundle, or among those whose time has not come. */
  heap: SeatHeap<Entry> | null
  bundle: Bundle | null
}

/** Work that has limits of its own stands apart, so that a limit that is reached is found once and not once per run. */
export const KINDS = ['ordinary', 'task', 'catchup'] as const
/** One of `KINDS`. */
export type Kind = (typeof KINDS)[number]

/** The runs of one agent, lane and kind that their sessions let compete. */
export interface Line extends Seated {
  readonly share: AgentInLane
  readonly kind: Kind
  readonly bundles: SeatHeap<Bundle>
  readonly byReserves: Map<string, Bundle>
  /** A limit of the agent or its provider is reached: not listed in the lane until whoever holds it lets go. */
  isHeld: boolean
}

/** Those of a line that set the same aside: a budget that has no room for one has none for any. */
export interface Bundle extends Seated {
  readonly line: Line
  readonly key: string
  readonly runs: SeatHeap<Entry>
  isShort: boolean
}

/** An agent in a lane: what decides whose turn it is there. */
export interface AgentInLane {
  readonly id: AgentId
  readonly agent: Agent
  readonly lane: Lane
  readonly lines: Map<Kind, Line>
  inFlight: number
  servedAt: number
  runs: number
}

/** An agent in all lanes: what its own limits count. */
export interface Agent {
  readonly id: AgentId
  readonly load: Mutable<Load>
  readonly tasks: Mutable<Load>
  readonly shares: Map<LaneName, AgentInLane>
  /** Its queued runs in the order of picking, wherever they stand. */
  readonly queued: RankedList<Entry>
  readonly held: Set<Line>
  /** What it calls; null: nothing with quotas. */
  provider: Provider | null
}

/** A provider: what all agents that call it have in flight, and whom it holds up. */
export interface Provider extends ProviderStanding {
  load: ProviderLoad
  inFlight: number
  readonly agents: Set<Agent>
  readonly held: Set<Line>
}

/** A lane as far as this org uses it. */
export interface Lane {
  readonly name: LaneName
  readonly lines: Readonly<Record<Kind, SeatHeap<Line>>>
  /** When agents that have no run left here were served last, in the order they left. */
  readonly left: Map<AgentId, number>
  inFlight: number
  queued: number
}

/** A session: its order, and how much of it is active. */
export interface Session {
  readonly key: SessionKey
  readonly load: Mutable<SessionLoad>
  /** The run whose turn it is; the only one that ever competes. */
  head: Entry | null
  readonly behind: SeatHeap<Entry>
  runs: number
  /** Its limits were set by the caller and stay until they are forgotten. */
  isSet: boolean
}

/** Everything the line-up of one org knows. */
export interface Places {
  readonly runs: WideMap<RunId, Entry>
  readonly lanes: Map<LaneName, Lane>
  readonly agents: Map<AgentId, Agent>
  readonly sessions: Map<SessionKey, Session>
  readonly load: Mutable<Load>
  readonly tasks: Mutable<Load>
  readonly budgets: Map<BudgetId, BudgetLoad>
  readonly short: Set<Bundle>
  readonly providers: Map<ProviderName, Provider>
  /** Queued runs whose not-before was still to come when they were looked at, the earliest first. */
  readonly early: SeatHeap<Entry>
  readonly executable: Map<string, boolean>
  can: (executorKey: string) => boolean
  laneNames: ReadonlyMap<LaneName, unknown>
  tasksPerAgent: number | null
  served: number
}
