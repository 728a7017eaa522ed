import { amountsUsed } from '../../core/budget/amounts.ts'
import type { AgentId, ProviderName, RunId } from '../../domain/ids.ts'
import type { ProviderLoad } from '../../core/picking/provider-gate.ts'
import type { Quotas, QuotaState } from '../../core/quota/quota.ts'
import type { RunUsage } from '../../features/budgets/usage-store.ts'

/** What is known of the providers of an org that has any. */
export interface QuotaBook {
  readonly providers: Map<ProviderName, ProviderOnDesk>
  /** Tokens that the newest runs used, newest first, of agents whose provider counts tokens. */
  readonly habits: Map<AgentId, TokenUse[]>
}

interface TokenUse {
  readonly id: RunId
  readonly tokens: number
}

/** A provider on the desk. Whoever picks looks at its load, which is brought in line with every change. */
export interface ProviderOnDesk {
  readonly name: ProviderName
  quotas: Quotas
  state: QuotaState
  readonly load: { -readonly [Key in keyof ProviderLoad]: ProviderLoad[Key] }
}

/** How many runs the usual use of an agent is read from. */
export const TOKEN_HABIT_RUNS = 20

/** Takes in what the newest runs of agents used, oldest first; of those that reported nothing, nothing is known then. */
export function bookHabits(book: QuotaBook, ids: readonly AgentId[], runs: readonly RunUsage[]): void {
  for (const id of ids) book.habits.set(id, [])
  for (const run of runs) bookTokens(book, run)
}

/** A run has ended and said what it used. Heard twice it counts once. */
export function bookTokens(book: QuotaBook, { id, agentId, usage }: Pick<RunUsage, 'id' | 'agentId' | 'usage'>): void {
  const habit = book.habits.get(agentId)
  const { tokens } = amountsUsed(usage)
  if (habit === undefined || tokens === null || habit.some((known) => known.id === id)) return
  habit.unshift({ id, tokens })
  habit.length = Math.min(habit.length, TOKEN_HABIT_RUNS)
}
