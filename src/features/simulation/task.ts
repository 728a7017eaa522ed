import type { ScheduleInput } from '../../contract/schedule.ts'
import type { AssumptionInput, Intervention, OutageInput, PolicyChange, RecordedAttempt } from './result-schema.ts'
import type { BudgetAction, BudgetUnit } from '../../domain/budget/budget.ts'
import type { BudgetPeriod } from '../../domain/budget/budget-period.ts'
import type { Pace } from '../../domain/schedule/pace/pace.ts'
import { type AgentId, orgId, type ScheduleId } from '../../domain/ids.ts'
import type { Parsed } from '../../domain/input.ts'
import type { Instant } from '../../domain/instant.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { ScheduleState } from '../../domain/schedule/lifecycle.ts'
import type { Zone } from '../../core/time/zone.ts'
import type { BudgetOnRecord } from '../budgets/store.ts'
import type { ProviderRow } from '../providers/store.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { AgentOnDesk } from '../../service/desk/desk.ts'
import type { EngineSettings } from '../config/settings.ts'
import type { AgentOutage, PlanAttempt } from '../../service/simulation/attempts.ts'

/** An agent as far as it decides when its runs start and how long they may take. */
export interface SimulatedAgent {
  readonly id: string
  readonly executor_kind: string
  readonly retry_policy?: RetryPolicy | null | undefined
  readonly timeout_seconds?: number | null | undefined
  readonly max_concurrent?: number | null | undefined
  /** The provider it calls; its quotas hold only if it is among the providers of the task. */
  readonly provider?: string | null | undefined
  readonly default_session?: string | null | undefined
}

/** A provider and its quotas; its buckets are full when the window begins. */
export interface SimulatedProvider {
  readonly name: string
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly max_concurrent: number | null
}

/** Where a schedule stands when the window begins. */
export interface SimulatedStanding {
  readonly state?: ScheduleState | undefined
  /** Everything up to and including this has been decided; the beginning of the window unless given. */
  readonly watermark?: string | undefined
  readonly fires?: number | undefined
  readonly failure_streak?: number | undefined
  /** How often it comes, if its interval moves by itself; as it was given unless said. */
  readonly pace?: Pace | undefined
  readonly last_ending?:
    | {
        readonly status: 'success' | 'failed' | 'timeout' | 'cancelled'
        readonly attempt: number
        readonly ended_at: string
      }
    | undefined
  /** Runs that are under way already, oldest first. */
  readonly pending?: readonly PendingStart[] | undefined
}

/** A run that is pending when the window begins. */
export interface PendingStart {
  readonly nominal: string | null
  readonly status: 'queued' | 'running'
  readonly attempt?: number | undefined
  readonly first_attempt?: number | undefined
  readonly created_at: string
  /** Of one that is running. */
  readonly started_at?: string | undefined
}

/** A schedule that takes part. */
export interface SimulatedScheduleInput {
  readonly id: string
  /** As it would be created; read by the same rules. */
  readonly input: ScheduleInput
  /** When it was made: an interval without an anchor counts from there. The beginning of the window unless given. */
  readonly created_at?: string | undefined
  readonly standing?: SimulatedStanding | undefined
  /** What is assumed of it, over what is assumed of all. */
  readonly assume?: AssumptionInput | undefined
  /** The share of its runs that its probe starts, 0 to 1; all unless given. */
  readonly probe_started?: number | undefined
  /** How attempts went that are on record; others go as assumed. */
  readonly recorded?: readonly RecordedAttempt[] | undefined
}

/** A budget that holds in the window. */
export interface SimulatedBudget {
  readonly id: string
  readonly agent_id?: string | null | undefined
  readonly schedule_id?: string | null | undefined
  readonly unit: BudgetUnit
  /** Tokens, or whole money. */
  readonly amount: number
  readonly period: BudgetPeriod
  readonly timezone: string
  readonly on_exceed: BudgetAction
  readonly default_reserve?: number | undefined
  /** What the period in which the window begins has used already. */
  readonly spent?: number | undefined
}

/** Everything a simulation needs, as plain data: it may be computed elsewhere. */
export interface SimulationTask {
  readonly from: string
  readonly to: string
  /** The zone of the org, for schedules that name none. */
  readonly timezone: string
  readonly seed: number
  readonly schedules: readonly SimulatedScheduleInput[]
  readonly agents: readonly SimulatedAgent[]
  /** The agent of schedules that name none. */
  readonly default_agent_id?: string | null | undefined
  readonly assume?: AssumptionInput | undefined
  readonly outages?: readonly OutageInput[] | undefined
  readonly changes?: readonly PolicyChange[] | undefined
  readonly interventions?: readonly Intervention[] | undefined
  readonly budgets?: readonly SimulatedBudget[] | undefined
  /** Whether the budgets that schedules bring with them hold, too. They do unless told otherwise. */
  readonly own_budgets?: boolean | undefined
  readonly providers?: readonly SimulatedProvider[] | undefined
  /** Settings of the engine that differ from the defaults, in the names of the configuration: lanes, schedules, … */
  readonly settings?: Readonly<Record<string, unknown>> | undefined
  readonly org?:
    | { readonly max_concurrent?: number | null | undefined; readonly runs_per_day?: number | null | undefined }
    | undefined
  /** More rows than this are counted and not kept; 10,000 unless given. */
  readonly max_rows?: number | undefined
}

/** The org of whatever is only thought of. */
export const NOBODYS_ORG = orgId('simulation')

/** The same, with its flaws told where they are. */
export const under = <T>(place: string, read: Parsed<T>): Parsed<T> =>
  read.ok ? read : { ok: false, flaws: read.flaws.map((flaw) => ({ ...flaw, field: `${place}.${flaw.field}` })) }

/** A moment that somebody else has read and written. */
export const momentOf = (text: string): Instant => Date.parse(text) as Instant

/** A stretch of time: from inclusive, to exclusive. */
export interface Stretch {
  readonly from: Instant
  readonly to: Instant
}

/** Something that somebody does. */
export interface PlannedIntervention {
  readonly at: Instant
  readonly scheduleId: ScheduleId
  readonly action: Intervention['action']
}

/** A run that is under way when the window begins; `startedAt` of one that is being executed. */
export interface FirstRun {
  readonly row: ScheduleRow
  readonly nominal: Instant | null
  readonly createdAt: Instant
  readonly startedAt: Instant | null
  readonly attempts: Pick<RunRow, 'attempt' | 'firstAttempt'>
}

/** A simulation that was read: everything in the words of the core. */
export interface SimulationPlan {
  readonly task: SimulationTask
  readonly window: Stretch
  readonly zone: Zone
  readonly settings: EngineSettings
  readonly schedules: readonly ScheduleRow[]
  readonly agents: readonly AgentOnDesk[]
  readonly budgets: readonly BudgetOnRecord[]
  readonly providers: readonly Pick<ProviderRow, 'name' | 'quotas' | 'state'>[]
  readonly orgLimit: number | null
  readonly runsPerDay: number | null
  readonly firstRuns: readonly FirstRun[]
  /** Nothing works in these, in order and apart from each other. */
  readonly engineOutages: readonly Stretch[]
  readonly stalls: readonly Stretch[]
  readonly agentOutages: readonly AgentOutage[]
  readonly interventions: readonly PlannedIntervention[]
  readonly planAttempt: PlanAttempt
}

/** The agents that nobody can execute at the moment. */
export function offlineAt(plan: Pick<SimulationPlan, 'agents' | 'agentOutages'>, now: Instant): ReadonlySet<AgentId> {
  const found = new Set<AgentId>()
  for (const { effect, from, to, agentId } of plan.agentOutages) {
    if (effect !== 'offline' || now < from || now >= to) continue
    if (agentId !== null) found.add(agentId)
    else for (const { id } of plan.agents) found.add(id)
  }
  return found
}
