import type { LaneView } from '../features/lanes/schema.ts'
import type { AgentId, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { ProviderStanding } from '../core/picking/provider-gate.ts'
import type { RunState } from '../domain/run/run-machine.ts'
import type { Wait } from '../domain/queue/gates.ts'

/** What this node knows of pending runs without asking the database. */
export interface Live {
  /** Undefined: not pending, as far as this node knows. */
  readonly stateOf: (orgId: OrgId, id: RunId) => RunState | undefined
  /** Place among the queued runs of the same agent. */
  readonly positionOf: (orgId: OrgId, id: RunId) => number | null
  /** Why a queued run has not started. */
  readonly explain: (orgId: OrgId, id: RunId) => Wait | null
}

/** What this node knows of the work of orgs without asking the database. */
export interface LiveWork {
  /** Whose run it is. Undefined: not pending, as far as this node knows. */
  readonly ownersOf: (orgId: OrgId, id: RunId) => RunOwners | undefined
  /** What an org has to do; null when this node does not know at the moment. */
  readonly workOf: (orgId: OrgId) => OrgWork | null
  /** What an org's providers have to do, by name; none when this node does not know at the moment. */
  readonly providersOf: (orgId: OrgId) => readonly ProviderStanding[]
  /** The lanes of this node with the work of an org on all nodes, or, for null, of every org. */
  readonly lanes: (orgId: OrgId | null) => readonly LaneView[]
}

/** Whose a run is. None of it ever changes. */
export interface RunOwners {
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly scheduleId: ScheduleId | null
  /** The key or the agent under whose guard rails it was made. */
  readonly owner: string | null
}

/** What an org has to do, on all nodes. */
export interface OrgWork {
  readonly waiting: number
  readonly queued: number
  readonly active: number
  /** Those that have something queued or active. */
  readonly agents: readonly { readonly id: AgentId; readonly queued: number; readonly active: number }[]
}
