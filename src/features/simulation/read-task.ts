import { readShape } from '../../api/read-input.ts'
import { invalid } from '../../api/refusals.ts'
import { inlineAgentId } from '../../domain/agent.ts'
import { periodBounds } from '../../domain/budget/budget-period.ts'
import { type BudgetScope, toMicros } from '../../domain/budget/budget.ts'
import { createQuotaState } from '../../domain/budget/quota.ts'
import { agentId, budgetId, providerName, runId, scheduleId, sessionKey } from '../../domain/ids.ts'
import { collectFlaws, type FlawCollector } from '../../domain/input-fields.ts'
import type { Flaw } from '../../domain/input.ts'
import { earlier, type Instant, parseInstant, parseTimeOrMs } from '../../domain/instant.ts'
import { statusAfter } from '../../domain/schedule/lifecycle.ts'
import { plannedTiming } from '../../domain/schedule/pace/pace.ts'
import { parseZone, UTC, type Zone } from '../../domain/time/zone.ts'
import { executorKeyOf } from '../../engine/org-state/load.ts'
import type { LoadedAgent } from '../../engine/org-state/org-state.ts'
import type { BudgetWithPeriods } from '../budgets/store.ts'
import { parseSettings } from '../config/settings.ts'
import { ownBudgetId, newOwnBudget, ownBudgetTerms } from '../schedules/budget.ts'
import { parseOwnExecutor, parseSchedule, type ParsedSchedule, type ScheduleAgent } from '../schedules/input.ts'
import { newScheduleRow } from '../schedules/new-schedule.ts'
import { editedPlanState } from '../schedules/next-run.ts'
import { scheduleInput, type ScheduleInput, schedulePatch } from '../schedules/schema.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import { type AgentOutage, createAttemptPlanner } from './attempts.ts'
import type { OutageInput } from './result-schema.ts'
import {
  type InitialRun,
  toInstant,
  SIMULATION_ORG,
  type PlannedIntervention,
  type SimulatedAgent,
  type SimulatedBudget,
  type SimulatedProvider,
  type SimulatedScheduleInput,
  type SimulatedState,
  type SimulationPlan,
  type SimulationTask,
  type TimePeriod,
  withFieldPrefix,
} from './task.ts'

interface SimulationTaskContext {
  readonly window: TimePeriod
  readonly zone: Zone
  readonly collector: FlawCollector
}

/** The simulated schedules at the start of the window, with the changes applied, and their pending runs. */
function parseSimulatedSchedules(
  task: SimulationTask,
  context: SimulationTaskContext,
): { readonly rows: readonly ScheduleRow[]; readonly firstRuns: readonly InitialRun[] } {
  const rows: ScheduleRow[] = []
  const firstRuns: InitialRun[] = []
  const seen = new Set<string>()
  task.schedules.forEach((one, index) => {
    const path = `schedules.${index}`
    if (seen.has(one.id))
      context.collector.flaws.push({ field: `${path}.id`, value: one.id, message: 'is given twice' })
    seen.add(one.id)
    const row = parseSimulatedSchedule(task, { ...context, one, path })
    if (row === null) return
    rows.push(row)
    for (const run of one.standing?.pending ?? [])
      firstRuns.push({
        row,
        nominal: run.nominal === null ? null : toInstant(run.nominal),
        createdAt: toInstant(run.created_at),
        startedAt: run.status === 'running' ? toInstant(run.started_at ?? run.created_at) : null,
        attempts: { attempt: run.attempt ?? 1, firstAttempt: run.first_attempt ?? run.attempt ?? 1 },
      })
  })
  return { rows, firstRuns }
}

interface TaskScheduleContext extends SimulationTaskContext {
  readonly one: SimulatedScheduleInput
  readonly path: string
}

function parseSimulatedSchedule(task: SimulationTask, context: TaskScheduleContext): ScheduleRow | null {
  const { one, path, window, zone, collector } = context
  const id = scheduleId(one.id)
  const createdAt = one.created_at === undefined ? window.from : toInstant(one.created_at)
  const input = collector.keep(readShape(scheduleInput, one.input, path))
  const agent = input === null ? null : simulatedAgentFor(task, { ...context, input })
  if (input === null || agent === null) return null
  const parsed = parseSchedule(input, { now: createdAt, defaultZone: zone, agent, existing: null })
  const read = collector.keep(withFieldPrefix(path, parsed))
  if (read === null) return null
  const created = newScheduleRow(read, { caller: { orgId: SIMULATION_ORG, principal: null }, now: createdAt, id })
  const standing = initialStateOf(created, { standing: one.standing, from: window.from, createdAt })
  return applyPolicyChanges({ ...created, ...standing }, task, { ...context, agent })
}

/** The state at the start of the window: as recorded, or as a new schedule. */
function initialStateOf(
  row: ScheduleRow,
  at: { readonly standing: SimulatedState | undefined; readonly from: Instant; readonly createdAt: Instant },
): Partial<ScheduleRow> {
  const { standing, from, createdAt } = at
  const fires = standing?.fires ?? 0
  const ending = standing?.last_ending
  const pace = row.pace === null ? null : (standing?.pace ?? row.pace)
  const timing = plannedTiming({ timing: row.timing, pace })
  const plan = { timing, maxFires: row.rules.maxFires, fires }
  // For a schedule created before the window, an occurrence at the start of the window counts.
  const before = standing?.watermark === undefined ? null : toInstant(standing.watermark)
  const watermark = before ?? (createdAt < from ? earlier(from, 1) : createdAt)
  const state = standing?.state ?? row.state
  const life = state === 'active' || state === 'finished' ? statusAfter(plan, watermark) : { state, nextRunAt: null }
  return {
    ...life,
    pace,
    watermark,
    fires,
    failureStreak: standing?.failure_streak ?? 0,
    lastEnding:
      ending === undefined
        ? null
        : {
            id: runId(`${row.id} before`),
            status: ending.status,
            attempt: ending.attempt,
            endedAt: toInstant(ending.ended_at),
          },
  }
}

function simulatedAgentFor(
  task: SimulationTask,
  { one, input, path, collector }: TaskScheduleContext & { readonly input: ScheduleInput },
): ScheduleAgent | null {
  const { keep, flaws } = collector
  const executor = parseOwnExecutor(input, null)
  if (!executor.ok) {
    keep(withFieldPrefix(path, executor))
    return null
  }
  if (executor.value !== null)
    return {
      id: inlineAgentId(executor.value.kind, scheduleId(one.id)),
      executor: executor.value,
      defaultSession: null,
    }
  const named = input.agent_id ?? task.default_agent_id ?? null
  const agent = task.agents.find(({ id }) => id === named)
  const field = `${path}.agent_id`
  if (agent === undefined) {
    const flaw: Flaw =
      named === null
        ? { field, value: undefined, message: 'is missing, and there is no default agent' }
        : { field, value: named, message: 'is not an agent of the simulation' }
    flaws.push(flaw)
    return null
  }
  const { default_session: session } = agent
  return {
    id: agentId(agent.id),
    executor: { kind: agent.executor_kind },
    defaultSession: typeof session === 'string' ? sessionKey(session) : null,
  }
}

/** Applies all `changes` for the schedule in order, as edits at the start of the window. */
function applyPolicyChanges(
  row: ScheduleRow,
  task: SimulationTask,
  { window, zone, collector, agent }: TaskScheduleContext & { readonly agent: ScheduleAgent },
): ScheduleRow | null {
  let current = row
  for (const [index, { schedules, set }] of (task.changes ?? []).entries()) {
    if (schedules !== undefined && !schedules.includes(row.id) && !schedules.includes(row.name)) continue
    const path = `changes.${index}.set`
    if (set.agent_id !== undefined || set.executor !== undefined) {
      const message = 'cannot be changed in a simulation; simulate another schedule instead'
      const field = set.agent_id === undefined ? 'executor' : 'agent_id'
      collector.flaws.push({ field: `${path}.${field}`, value: set[field], message })
      return null
    }
    const change = collector.keep(readShape(schedulePatch, set, path))
    if (change === null) return null
    const parsed = parseSchedule(change, { now: window.from, defaultZone: zone, agent, existing: current })
    const read = collector.keep(withFieldPrefix(path, parsed))
    if (read === null) return null
    current = applyEdit(current, read, window.from)
  }
  return current
}

function applyEdit(row: ScheduleRow, read: ParsedSchedule, from: Instant): ScheduleRow {
  const { timingChanged: _timing, enabled: _enabled, ...fields } = read
  return { ...row, ...fields, ...editedPlanState(row, read, from) }
}

/** Parses a simulation task. Throws a refusal with all flaws. */
export function parseSimulationTask(task: SimulationTask): SimulationPlan {
  const collector = collectFlaws()
  const { keep, flaws } = collector
  const from = keep(parseInstant('from', task.from))
  const to = keep(parseInstant('to', task.to))
  const zone = keep(parseZone('timezone', task.timezone)) ?? UTC
  const settings = keep(withFieldPrefix('settings', parseSettings(task.settings ?? {})))
  if (from !== null && to !== null && to <= from)
    flaws.push({ field: 'to', value: task.to, message: 'must be later than from' })
  if (from === null || to === null || settings === null) throw invalid(flaws)
  const window = { from, to }
  const { rows, firstRuns } = parseSimulatedSchedules(task, { window, zone, collector })
  const outages = parseOutages(task.outages ?? [], collector)
  const interventions = parseInterventions(task, collector)
  if (flaws.length > 0) throw invalid(flaws)
  const agentOutages = outages.agent
  return {
    ...{ task, window, zone, settings, schedules: rows, firstRuns, agentOutages, interventions },
    agents: task.agents.map(simulatedAgentState),
    budgets: withOwnBudgets(task, rows, simulatedBudgets(task.budgets ?? [], window)),
    providers: simulatedProviders(task.providers ?? [], window),
    orgLimit: task.org?.max_concurrent ?? null,
    runsPerDay: task.org?.runs_per_day ?? null,
    engineOutages: mergePeriods(outages.engine),
    stalls: mergePeriods(outages.stall),
    planAttempt: createAttemptPlanner({
      seed: task.seed,
      assume: task.assume ?? {},
      outages: agentOutages,
      schedules: task.schedules.map((one) => ({
        ...{ id: scheduleId(one.id), assume: one.assume, recorded: one.recorded, started: one.probe_started ?? 1 },
        isPaced: rows.some(({ id, pace }) => pace !== null && id === one.id),
      })),
    }),
  }
}

const simulatedAgentState = (agent: SimulatedAgent): LoadedAgent => {
  const executor = { kind: agent.executor_kind }
  return {
    id: agentId(agent.id),
    executorKey: executorKeyOf({ id: agentId(agent.id), executor }),
    executorKind: agent.executor_kind,
    retryPolicy: agent.retry_policy ?? null,
    timeoutSeconds: agent.timeout_seconds ?? null,
    maxConcurrent: agent.max_concurrent ?? null,
    provider: agent.provider === null || agent.provider === undefined ? null : providerName(agent.provider),
  }
}

const simulatedProviders = (given: readonly SimulatedProvider[], { from }: TimePeriod): SimulationPlan['providers'] =>
  given.map((provider) => {
    const quotas = {
      requestsPerMinute: provider.requests_per_minute,
      tokensPerMinute: provider.tokens_per_minute,
      maxConcurrent: provider.max_concurrent,
    }
    return { name: providerName(provider.name), quotas, state: createQuotaState(quotas, from) }
  })

interface OutagesByKind {
  readonly engine: TimePeriod[]
  readonly stall: TimePeriod[]
  readonly agent: AgentOutage[]
}

function parseOutages(given: readonly OutageInput[], { keep, flaws }: FlawCollector): OutagesByKind {
  const outages: OutagesByKind = { engine: [], stall: [], agent: [] }
  given.forEach((outage, index) => {
    const path = `outages.${index}`
    const from = keep(parseInstant(`${path}.from`, outage.from))
    const to = keep(parseInstant(`${path}.to`, outage.to))
    if (from === null || to === null) return
    if (to <= from) flaws.push({ field: `${path}.to`, value: outage.to, message: 'must be later than from' })
    if (outage.kind === 'agent') {
      const id = outage.agent_id === undefined ? null : agentId(outage.agent_id)
      outages.agent.push({ from, to, agentId: id, effect: outage.effect ?? 'network' })
      return
    }
    for (const name of ['agent_id', 'effect'] as const)
      if (outage[name] !== undefined)
        flaws.push({
          field: `${path}.${name}`,
          value: outage[name],
          message: 'is only allowed for an outage of kind agent',
        })
    outages[outage.kind].push({ from, to })
  })
  return outages
}

/** Sorts periods, and merges those that touch or overlap. */
function mergePeriods(stretches: readonly TimePeriod[]): readonly TimePeriod[] {
  const found: TimePeriod[] = []
  for (const one of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = found.at(-1)
    if (last === undefined || one.from > last.to) found.push(one)
    else if (one.to > last.to) found[found.length - 1] = { from: last.from, to: one.to }
  }
  return found
}

function parseInterventions(task: SimulationTask, { keep, flaws }: FlawCollector): readonly PlannedIntervention[] {
  const known = new Set(task.schedules.map(({ id }) => id))
  const read: PlannedIntervention[] = []
  ;(task.interventions ?? []).forEach((one, index) => {
    const at = keep(parseTimeOrMs(`interventions.${index}.at`, one.at))
    if (!known.has(one.schedule_id))
      flaws.push({
        field: `interventions.${index}.schedule_id`,
        value: one.schedule_id,
        message: 'is not a schedule of the simulation',
      })
    if (at !== null) read.push({ at, scheduleId: scheduleId(one.schedule_id), action: one.action })
  })
  return read.sort((a, b) => a.at - b.at)
}

function simulatedBudgets(given: readonly SimulatedBudget[], { from }: TimePeriod): readonly BudgetWithPeriods[] {
  return given.map((one) => {
    const zone = budgetZone(one.timezone)
    const amount = (value: number): number => (one.unit === 'money' ? toMicros(value) : value)
    const { start } = periodBounds(one.period, zone, from)
    return {
      id: budgetId(one.id),
      orgId: SIMULATION_ORG,
      scope: simulatedBudgetScope(one),
      ...{ unit: one.unit, period: one.period, timezone: zone, onExceed: one.on_exceed },
      amount: amount(one.amount),
      defaultReserve: amount(one.default_reserve ?? 0),
      ...{ pausedAt: null, alerts: null, createdAt: from },
      uses: one.spent === undefined ? [] : [{ start, used: amount(one.spent) }],
    }
  })
}

/** Adds the schedules' own budgets, except those already among the given ones. */
function withOwnBudgets(
  { own_budgets: usesOwnBudgets = true }: SimulationTask,
  rows: readonly ScheduleRow[],
  given: readonly BudgetWithPeriods[],
): readonly BudgetWithPeriods[] {
  if (!usesOwnBudgets) return given
  const known = new Set(given.map(({ id }) => id))
  const own = rows.flatMap((row) => {
    const terms = ownBudgetTerms(row)
    return terms === null || known.has(ownBudgetId(row.id))
      ? []
      : [{ ...newOwnBudget(row, terms, row.createdAt), uses: [] }]
  })
  return [...given, ...own]
}

function simulatedBudgetScope({ agent_id: agent, schedule_id: schedule }: SimulatedBudget): BudgetScope {
  if (typeof schedule === 'string') return { kind: 'schedule', scheduleId: scheduleId(schedule) }
  return typeof agent === 'string' ? { kind: 'agent', agentId: agentId(agent) } : { kind: 'org' }
}

function budgetZone(name: string): Zone {
  const zone = parseZone('timezone', name)
  return zone.ok ? zone.value : UTC
}
