import type { ScheduleInput } from '../schedules/schema.ts'
import type { AssumptionInput, Intervention, OutageInput, PolicyChange, RecordedAttempt } from './result-schema.ts'
import type { BudgetAction, BudgetUnit } from '../../domain/budget/budget.ts'
import type { BudgetPeriod } from '../../domain/budget/budget-period.ts'
import type { Pace } from '../../domain/schedule/pace/pace.ts'
import { type AgentId, orgId, type ScheduleId } from '../../domain/ids.ts'
import type { Parsed } from '../../domain/input.ts'
import type { Instant } from '../../domain/instant.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { ScheduleState } from '../../domain/schedule/lifecycle.ts'
import type { Zone } from '../../domain/time/zone.ts'
import type { BudgetWithPeriods } from '../budgets/store.ts'
import type { ProviderRow } from '../providers/store.ts'
import type { RunRow } from '../runs/store.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import type { LoadedAgent } from '../../engine/org-state/org-state.ts'
import type { EngineSettings } from '../config/settings.ts'
import type { AgentOutage, PlanAttempt } from './attempts.ts'

/** The fields of an agent that affect when its runs start and how long they may take. */
export interface SimulatedAgent {
  readonly id: string
  readonly executor_kind: string
  readonly retry_policy?: RetryPolicy | null | undefined
  readonly timeout_seconds?: number | null | undefined
  readonly max_concurrent?: number | null | undefined
  /** Provider that the agent calls. Its quotas apply only if the task includes the provider. */
  readonly provider?: string | null | undefined
  readonly default_session?: string | null | undefined
}

/** A provider with its quotas. Its buckets are full at the start of the window. */
export interface SimulatedProvider {
  readonly name: string
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly max_concurrent: number | null
}

/** The state of a schedule at the start of the window. */
export interface SimulatedState {
  readonly state?: ScheduleState | undefined
  /** All occurrences up to and including this time are decided. Default: the start of the window. */
  readonly watermark?: string | undefined
  readonly fires?: number | undefined
  readonly failure_streak?: number | undefined
  /** The current interval of a schedule with a cadence. Default: the configured interval. */
  readonly pace?: Pace | undefined
  readonly last_ending?:
    | {
        readonly status: 'success' | 'failed' | 'timeout' | 'cancelled'
        readonly attempt: number
        readonly ended_at: string
      }
    | undefined
  /** Pending runs, oldest first. */
  readonly pending?: readonly InitialPendingRun[] | undefined
}

/** A run that is pending at the start of the window. */
export interface InitialPendingRun {
  readonly nominal: string | null
  readonly status: 'queued' | 'running'
  readonly attempt?: number | undefined
  readonly first_attempt?: number | undefined
  readonly created_at: string
  /** Only of a running run. */
  readonly started_at?: string | undefined
}

/** A simulated schedule. */
export interface SimulatedScheduleInput {
  readonly id: string
  /** The same input as for creating it. */
  readonly input: ScheduleInput
  /** An interval without an anchor counts from this time. Default: the start of the window. */
  readonly created_at?: string | undefined
  readonly standing?: SimulatedState | undefined
  /** Assumptions that override those about all schedules. */
  readonly assume?: AssumptionInput | undefined
  /** The share of its runs that its probe starts, 0 to 1. Default: 1. */
  readonly probe_started?: number | undefined
  /** Recorded attempts to replay; other attempts follow the assumptions. */
  readonly recorded?: readonly RecordedAttempt[] | undefined
}

/** A budget that applies in the window. */
export interface SimulatedBudget {
  readonly id: string
  readonly agent_id?: string | null | undefined
  readonly schedule_id?: string | null | undefined
  readonly unit: BudgetUnit
  /** Tokens, or whole units of money. */
  readonly amount: number
  readonly period: BudgetPeriod
  readonly timezone: string
  readonly on_exceed: BudgetAction
  readonly default_reserve?: number | undefined
  /** The usage so far in the period that contains the start of the window. */
  readonly spent?: number | undefined
}

/** Everything a simulation needs, as plain data that can be sent to another thread. */
export interface SimulationTask {
  readonly from: string
  readonly to: string
  /** The org's zone, for schedules without one. */
  readonly timezone: string
  readonly seed: number
  readonly schedules: readonly SimulatedScheduleInput[]
  readonly agents: readonly SimulatedAgent[]
  /** The agent of schedules without one. */
  readonly default_agent_id?: string | null | undefined
  readonly assume?: AssumptionInput | undefined
  readonly outages?: readonly OutageInput[] | undefined
  readonly changes?: readonly PolicyChange[] | undefined
  readonly interventions?: readonly Intervention[] | undefined
  readonly budgets?: readonly SimulatedBudget[] | undefined
  /** Whether the schedules' own budgets apply. Default: true. */
  readonly own_budgets?: boolean | undefined
  readonly providers?: readonly SimulatedProvider[] | undefined
  /** Engine settings that differ from the defaults, in configuration names: lanes, schedules, … */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  readonly org?:
    | { readonly max_concurrent?: number | null | undefined; readonly runs_per_day?: number | null | undefined }
    | undefined
  /** Maximum rows to list; further rows are only counted. Default: 10,000. */
  readonly max_rows?: number | undefined
}

/** The org id of simulations. */
export const SIMULATION_ORG = orgId('simulation')

/** Prefixes the fields of the flaws with their path. */
export const withFieldPrefix = <T>(path: string, read: Parsed<T>): Parsed<T> =>
  read.ok ? read : { ok: false, flaws: read.flaws.map((flaw) => ({ ...flaw, field: `${path}.${flaw.field}` })) }

/** Parses a time that is already validated. */
export const toInstant = (text: string): Instant => Date.parse(text) as Instant

/** A period of time: `from` is inclusive, `to` exclusive. */
export interface TimePeriod {
  readonly from: Instant
  readonly to: Instant
}

/** A parsed user action. */
export interface PlannedIntervention {
  readonly at: Instant
  readonly scheduleId: ScheduleId
  readonly action: Intervention['action']
}

/** A run that is pending at the start of the window; `startedAt` is set if it is running. */
export interface InitialRun {
  readonly row: ScheduleRow
  readonly nominal: Instant | null
  readonly createdAt: Instant
  readonly startedAt: Instant | null
  readonly attempts: Pick<RunRow, 'attempt' | 'firstAttempt'>
}

/** A parsed simulation task, in the engine's types. */
export interface SimulationPlan {
  readonly task: SimulationTask
  readonly window: TimePeriod
  readonly zone: Zone
  readonly settings: EngineSettings
  readonly schedules: readonly ScheduleRow[]
  readonly agents: readonly LoadedAgent[]
  readonly budgets: readonly BudgetWithPeriods[]
  readonly providers: readonly Pick<ProviderRow, 'name' | 'quotas' | 'state'>[]
  readonly orgLimit: number | null
  readonly runsPerDay: number | null
  readonly firstRuns: readonly InitialRun[]
  /** Periods without a node, sorted and not overlapping. */
  readonly engineOutages: readonly TimePeriod[]
  readonly stalls: readonly TimePeriod[]
  readonly agentOutages: readonly AgentOutage[]
  readonly interventions: readonly PlannedIntervention[]
  readonly planAttempt: PlanAttempt
}

/** The agents that no executor can run at the given time. */
export function offlineAt(plan: Pick<SimulationPlan, 'agents' | 'agentOutages'>, now: Instant): ReadonlySet<AgentId> {
  const found = new Set<AgentId>()
  for (const { effect, from, to, agentId } of plan.agentOutages) {
    if (effect !== 'offline' || now < from || now >= to) continue
    if (agentId !== null) found.add(agentId)
    else for (const { id } of plan.agents) found.add(id)
  }
  return found
}
