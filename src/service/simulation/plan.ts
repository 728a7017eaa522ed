import type { Intervention } from '../../contract/simulation.ts'
import type { SimulationTask } from './task.ts'
import type { AgentId, ScheduleId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import type { Zone } from '../../core/time/zone.ts'
import type { BudgetOnRecord } from '../../store/budgets.ts'
import type { ProviderRow } from '../../store/providers.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { AgentOnDesk } from '../desk/desk.ts'
import type { EngineSettings } from '../settings.ts'
import type { AgentOutage, PlanAttempt } from './attempts.ts'

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
