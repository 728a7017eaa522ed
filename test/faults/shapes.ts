import type { AgentId, OrgId, RunId } from '../../src/domain/ids.ts'
import type { Instant } from '../../src/domain/instant.ts'
import type { NodeParts } from '../../src/engine/node-parts.ts'
import type { LiveRuns } from '../../src/engine/live-port.ts'
import type { Ports } from '../../src/engine/ports.ts'
import type { EngineSettings } from '../../src/features/config/settings.ts'
import type { TransactionLimits } from '../../src/engine/transaction/limits.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { Random } from '../simulation/random.ts'
import type { HandClock, Owner } from './clock.ts'
import type { FaultyDatabase, NodeState } from './faulty-database.ts'
import type { FaultCounts, ServerFault } from './faults.ts'
import type { Journal, Request } from './journal.ts'
import type { Quiet } from './quiet.ts'

/** An org of a world, and what its users know of it. */
export interface SimulatedOrg {
  readonly id: OrgId
  readonly agents: readonly SimulatedAgent[]
  readonly maxConcurrent: number | null
  readonly sessions: readonly SimulatedSession[]
  readonly schedules: SimulatedSchedule[]
  /** Runs somebody was told of, the newest last. */
  readonly runs: RunId[]
  /** What was sent under an idempotency key, and how to send it again. */
  readonly keyed: { readonly mark: string; readonly submit: (node: SimulatedNode) => Promise<string | null> }[]
}

export interface SimulatedAgent {
  readonly id: AgentId
  readonly maxConcurrent: number | null
  /** Its limit never changes, so the tables must show that it was kept. */
  readonly isFixed: boolean
}

export interface SimulatedSession {
  readonly key: string
  readonly maxConcurrent: number
  readonly isFixed: boolean
}

export interface SimulatedSchedule {
  readonly id: string
  /** Nobody edits it, switches it off or deletes it. */
  readonly isFixed: boolean
  readonly everyMs: number | null
  readonly maxConcurrency: number | null
}

/** Everything that happens in one seed. */
export interface World {
  readonly seed: number
  /** More nodes are lost and fewer executors listen than usual. */
  readonly isHarsh: boolean
  readonly random: Random
  readonly clock: HandClock
  readonly quiet: Quiet
  readonly database: Database
  readonly mutate: (database: Database) => Database
  readonly journal: Journal
  /** What happens to the server of this world. */
  readonly serverFault: ServerFault | null
  /** How far the server's clock is from the time that really passes, which is the one of `clock`. */
  skewMs: number
  /** The present by the server's clock, which is what users and nodes live by. */
  readonly serverNow: () => Instant
  /** Locks that another client holds, by their number. */
  readonly heldLocks: Set<number>
  readonly faults: FaultCounts
  readonly operations: Map<string, number>
  readonly orgs: readonly SimulatedOrg[]
  readonly nodes: SimulatedNode[]
  /** Whoever is no node: people, callbacks. */
  readonly outside: Owner
  readonly tell: (line: string) => void
  readonly notify: (from: string) => void
  readonly ask: (about: About, work: () => Promise<string | null>) => Request
  /** What happens when traffic has ended. */
  readonly whenCalm: Set<() => void>
  /** How often the memory of a node was held against the tables. */
  looks: number
  /** Where something happens at the moment, and who talks most. */
  talk: { readonly org: number; readonly session: number; readonly sender: string }
  settings: EngineSettings
  /** How much one turn may do. */
  readonly turnLimits: TransactionLimits
  /** Since when traffic has ended: what executes now succeeds at once, and nothing goes wrong any more. */
  calmSince: Instant | null
}

/** Who asks for what, where. */
export interface About {
  readonly kind: string
  readonly orgId: OrgId
  readonly node: SimulatedNode
  readonly mark: string | null
}

/** A node of a world: the real parts over a database through which things go wrong, its passes called by the clock. */
export interface SimulatedNode extends Owner {
  readonly name: string
  readonly parts: NodeParts
  readonly ports: Ports
  readonly live: LiveRuns
  readonly faulty: FaultyDatabase
  state: NodeState
  /** How many attempts its executors work on, by lane. */
  readonly working: Map<string, number>
  /** The same by lane and org. */
  readonly workingFor: Map<string, number>
  /** The runs it has claimed, with a number that grows: answers to commits come in any order, so attempts begin in any. */
  readonly claims: Map<string, number>
  /** The largest size each lane has had here: shrinking kills nothing. */
  readonly largestLanes: Map<string, number>
  readonly freeze: () => void
  readonly thaw: () => void
  /** A notification is on its way. Several that arrive before the node looks wake it once. */
  readonly expectNotice: (at: Instant) => void
  /** It is not heard of any more. */
  readonly die: () => void
  /** What happens when its next look at the nodes is on its way back. */
  whenLooked: (() => void) | null
  /** When it last went on after it had been frozen. */
  wasFrozenAt: Instant
  /** How many renewals of its lease it will forget. */
  forgetful: number
}

export const aliveNodes = (world: World): readonly SimulatedNode[] =>
  world.nodes.filter(({ state }) => state === 'alive')

/** In every fourth world what is used is counted against a budget, which is never exhausted. */
export const hasBudget = (seed: number): boolean => seed % 4 === 1
