import type { BudgetLoad, Candidate, Load, SessionLoad } from '../../../src/domain/queue/gates.ts'
import type { Share } from '../../../src/core/picking/picking-order.ts'
import type { ProviderStanding } from '../../../src/core/picking/provider-gate.ts'
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
  readonly candidates: readonly Candidate[]
}

export interface OrgFacts {
  readonly load: Load
  readonly tasks: Load
  readonly shares: ReadonlyMap<LaneName, Share>
  readonly agents: ReadonlyMap<AgentId, AgentFacts>
  readonly sessions: ReadonlyMap<SessionKey, Omit<SessionLoad, 'head'>>
  readonly budgets: ReadonlyMap<BudgetId, BudgetLoad>
  /** What agents call, with quotas. Left out: nothing. */
  readonly providers?: ReadonlyMap<ProviderName, ProviderFacts>
}

/** A provider and how many more requests it lets through in this turn; null: any number. */
export interface ProviderFacts extends ProviderStanding {
  readonly requests: number | null
}

export interface AgentFacts {
  readonly load: Load
  readonly tasks: Load
  readonly shares: ReadonlyMap<LaneName, Share>
  readonly provider?: ProviderName | null
}
