import type { LaneView } from '../contract/lane.ts'
import type { DeploymentCounts } from '../service/deployment-counts.ts'
import type { Tally } from './tally.ts'

/** The work of an agent, as this node remembers it. */
export interface AgentWork {
  readonly orgId: string
  readonly agentId: string
  readonly queued: number
  readonly inFlight: number
}

/** The work of a provider, as this node remembers it. */
export interface ProviderUse {
  readonly orgId: string
  readonly provider: string
  readonly waiting: number
  readonly inFlight: number
  readonly closedSeconds: number
}

/** The connections of one pool. */
export interface PoolUse {
  readonly pool: string
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

/** How the process is. */
export interface ProcessUse {
  readonly cpuSeconds: number
  readonly residentBytes: number
  readonly startedAtSeconds: number
  readonly heapBytes: number
  readonly eventLoopUtilization: number
}

/** Where the numbers come from: everything but the tally is asked when somebody wants to see them. */
export interface Sources {
  readonly tally: Tally
  readonly version: string
  readonly nodeId: () => string
  /** The lanes with the work of every org on all nodes. */
  readonly lanes: () => readonly LaneView[]
  /** Slots of a lane that this node's own attempts hold. */
  readonly held: (lane: string) => number
  /** Slots of a lane that the org with the most of them holds on this node. */
  readonly largestOrg: (lane: string) => number
  readonly agents: () => readonly AgentWork[]
  readonly providers: () => readonly ProviderUse[]
  readonly pools: () => readonly PoolUse[]
  /** Whether metrics that have a name without prefix are shown under it too. */
  readonly showsUnprefixed: () => boolean
  readonly isDraining: () => boolean
  readonly isDatabaseUp: () => boolean
  readonly process: () => ProcessUse
  /** Null: they could not be counted in time. */
  readonly counts: () => Promise<{ readonly value: DeploymentCounts; readonly ageMs: number } | null>
  /** Milliseconds by a clock that never goes back. */
  readonly counter: () => number
}
