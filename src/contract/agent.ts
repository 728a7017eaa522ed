import type { ExecutorInput } from './executor.ts'
import type { GuardRailsInput, GuardRailsView } from './guard-rails.ts'
import type { RetryPolicyView } from './schedule.ts'

export interface AgentInput {
  readonly id?: string
  readonly name: string
  readonly description?: string
  readonly executor: ExecutorInput
  readonly retry_policy?: Readonly<Record<string, unknown>> | null
  readonly timeout_seconds?: number | null
  readonly max_concurrent?: number | null
  readonly context_window?: number | null
  readonly default_session?: string | null
  /** How far what its attempts make by themselves may go; null, or left out: they are given no key and make nothing. */
  readonly self_service?: GuardRailsInput | null
  /** The provider it calls; its quotas are shared by all agents that name it. */
  readonly provider?: string | null
}

export interface AgentView extends Required<Omit<AgentInput, 'id' | 'retry_policy' | 'self_service'>> {
  readonly self_service: GuardRailsView | null
  readonly id: string
  readonly org_id: string
  /** Null: what is usual for its executor. */
  readonly retry_policy: RetryPolicyView | null
  readonly version: number
  readonly created_at: string
  readonly updated_at: string
}
