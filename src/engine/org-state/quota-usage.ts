import { amountsUsed } from '../../domain/budget/amounts.ts'
import type { AgentId, ProviderName, RunId } from '../../domain/ids.ts'
import type { ProviderLoad } from '../../domain/queue/gates.ts'
import type { Quotas, QuotaState } from '../../domain/budget/quota.ts'
import type { RunUsage } from '../../features/budgets/usage-store.ts'

/** The providers of an org that has any, with their usage. */
export interface OrgQuotas {
  readonly providers: Map<ProviderName, LoadedProvider>
  /** Tokens used by the latest runs, newest first, of agents whose provider counts tokens. */
  readonly typicalTokens: Map<AgentId, TokenUse[]>
}

interface TokenUse {
  readonly id: RunId
  readonly tokens: number
}

/** A provider in the org state. The ready queue reads `load`, which is updated with every change. */
export interface LoadedProvider {
  readonly name: ProviderName
  quotas: Quotas
  state: QuotaState
  readonly load: { -readonly [Key in keyof ProviderLoad]: ProviderLoad[Key] }
}

/** How many runs the typical token usage of an agent is computed from. */
export const TYPICAL_TOKENS_RUNS = 20

/** Stores the token usage of agents' latest runs, oldest first; an agent without reports gets an empty list. */
export function storeTypicalTokens(orgQuotas: OrgQuotas, ids: readonly AgentId[], runs: readonly RunUsage[]): void {
  for (const id of ids) orgQuotas.typicalTokens.set(id, [])
  for (const run of runs) recordTokens(orgQuotas, run)
}

/** Records the tokens of a run that has ended; a repetition is ignored. */
export function recordTokens(
  orgQuotas: OrgQuotas,
  { id, agentId, usage }: Pick<RunUsage, 'id' | 'agentId' | 'usage'>,
): void {
  const typical = orgQuotas.typicalTokens.get(agentId)
  const { tokens } = amountsUsed(usage)
  if (typical === undefined || tokens === null || typical.some((known) => known.id === id)) return
  typical.unshift({ id, tokens })
  typical.length = Math.min(typical.length, TYPICAL_TOKENS_RUNS)
}
