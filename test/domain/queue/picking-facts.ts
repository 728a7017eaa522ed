import type { BudgetLoad, GateCandidate, Load, ProviderStatus, SessionLoad } from '../../../src/domain/queue/gates.ts'
import type { LaneUsage } from '../../../src/domain/queue/ready-lines.ts'
import type { AgentId, BudgetId, LaneName, OrgId, ProviderName, SessionKey } from '../../../src/domain/ids.ts'
import type { Instant } from '../../../src/domain/instant.ts'

/** What a turn of picking looks at. The store loads exactly these. */
export interface PickingFacts {
  readonly now: Instant
  /** Slots of the lanes on this node. */
  readonly lanes: ReadonlyMap<LaneName, { readonly size: number; readonly held: number }>
  /** Catch-up runs on this node, against `catchup_max_active`. */
  readonly catchup: Load
  readonly orgs: ReadonlyMap<OrgId, OrgFacts>
  readonly candidates: readonly GateCandidate[]
}

export interface OrgFacts {
  readonly load: Load
  readonly tasks: Load
  readonly shares: ReadonlyMap<LaneName, LaneUsage>
  readonly agents: ReadonlyMap<AgentId, AgentFacts>
  readonly sessions: ReadonlyMap<SessionKey, Omit<SessionLoad, 'head'>>
  readonly budgets: ReadonlyMap<BudgetId, BudgetLoad>
  /** What agents call, with quotas. Left out: nothing. */
  readonly providers?: ReadonlyMap<ProviderName, ProviderFacts>
}

/** A provider and how many more requests it lets through in this turn; null: any number. */
export interface ProviderFacts extends ProviderStatus {
  readonly requests: number | null
}

export interface AgentFacts {
  readonly load: Load
  readonly tasks: Load
  readonly shares: ReadonlyMap<LaneName, LaneUsage>
  readonly provider?: ProviderName | null
}
