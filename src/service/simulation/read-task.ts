import { invalid } from '../../api/refusals.ts'
import type { OutageInput } from '../../features/simulation/result-schema.ts'
import {
  NOBODYS_ORG,
  type PlannedIntervention,
  type SimulatedAgent,
  type SimulatedBudget,
  type SimulatedProvider,
  type SimulationPlan,
  type SimulationTask,
  type Stretch,
  under,
} from '../../features/simulation/task.ts'
import { periodBounds } from '../../domain/budget/budget-period.ts'
import { toMicros, type BudgetScope } from '../../domain/budget/budget.ts'
import { agentId, budgetId, providerName, scheduleId } from '../../domain/ids.ts'
import { parseInstant, parseMoment } from '../../domain/instant.ts'
import { fullBuckets } from '../../core/quota/quota.ts'
import { parseZone, UTC, type Zone } from '../../core/time/zone.ts'
import type { BudgetOnRecord } from '../../features/budgets/store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { AgentOnDesk } from '../desk/desk.ts'
import { collectFlaws, type Collector } from '../../domain/input-fields.ts'
import { ownBudgetId, ownBudgetOf, termsIn } from '../schedule-budget.ts'
import { parseSettings } from '../../features/config/settings.ts'
import { executorKeyOf } from '../turn/recall.ts'
import { createAttempts, type AgentOutage } from './attempts.ts'
import { readSchedules } from './read-schedules.ts'

/** Reads what is to be simulated. Throws a refusal that says everything that is wrong. */
export function readTask(task: SimulationTask): SimulationPlan {
  const collector = collectFlaws()
  const { keep, flaws } = collector
  const from = keep(parseInstant('from', task.from))
  const to = keep(parseInstant('to', task.to))
  const zone = keep(parseZone('timezone', task.timezone)) ?? UTC
  const settings = keep(under('settings', parseSettings(task.settings ?? {})))
  if (from !== null && to !== null && to <= from)
    flaws.push({ field: 'to', value: task.to, message: 'must be later than from' })
  if (from === null || to === null || settings === null) throw invalid(flaws)
  const window = { from, to }
  const { rows, firstRuns } = readSchedules(task, { window, zone, collector })
  const outages = readOutages(task.outages ?? [], collector)
  const interventions = readInterventions(task, collector)
  if (flaws.length > 0) throw invalid(flaws)
  const agentOutages = outages.agent
  return {
    ...{ task, window, zone, settings, schedules: rows, firstRuns, agentOutages, interventions },
    agents: task.agents.map(agentOf),
    budgets: withOwnBudgets(task, rows, readBudgets(task.budgets ?? [], window)),
    providers: readProviders(task.providers ?? [], window),
    orgLimit: task.org?.max_concurrent ?? null,
    runsPerDay: task.org?.runs_per_day ?? null,
    engineOutages: joined(outages.engine),
    stalls: joined(outages.stall),
    planAttempt: createAttempts({
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

const agentOf = (agent: SimulatedAgent): AgentOnDesk => {
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

const readProviders = (given: readonly SimulatedProvider[], { from }: Stretch): SimulationPlan['providers'] =>
  given.map((provider) => {
    const quotas = {
      requestsPerMinute: provider.requests_per_minute,
      tokensPerMinute: provider.tokens_per_minute,
      maxConcurrent: provider.max_concurrent,
    }
    return { name: providerName(provider.name), quotas, state: fullBuckets(quotas, from) }
  })

interface Outages {
  readonly engine: Stretch[]
  readonly stall: Stretch[]
  readonly agent: AgentOutage[]
}

function readOutages(given: readonly OutageInput[], { keep, flaws }: Collector): Outages {
  const outages: Outages = { engine: [], stall: [], agent: [] }
  given.forEach((outage, index) => {
    const place = `outages.${index}`
    const from = keep(parseInstant(`${place}.from`, outage.from))
    const to = keep(parseInstant(`${place}.to`, outage.to))
    if (from === null || to === null) return
    if (to <= from) flaws.push({ field: `${place}.to`, value: outage.to, message: 'must be later than from' })
    if (outage.kind === 'agent') {
      const id = outage.agent_id === undefined ? null : agentId(outage.agent_id)
      outages.agent.push({ from, to, agentId: id, effect: outage.effect ?? 'network' })
      return
    }
    for (const name of ['agent_id', 'effect'] as const)
      if (outage[name] !== undefined)
        flaws.push({ field: `${place}.${name}`, value: outage[name], message: 'belongs to an outage of an agent' })
    outages[outage.kind].push({ from, to })
  })
  return outages
}

/** In order, and those that touch as one. */
function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  const found: Stretch[] = []
  for (const one of stretches.toSorted((a, b) => a.from - b.from)) {
    const last = found.at(-1)
    if (last === undefined || one.from > last.to) found.push(one)
    else if (one.to > last.to) found[found.length - 1] = { from: last.from, to: one.to }
  }
  return found
}

function readInterventions(task: SimulationTask, { keep, flaws }: Collector): readonly PlannedIntervention[] {
  const known = new Set(task.schedules.map(({ id }) => id))
  const read: PlannedIntervention[] = []
  ;(task.interventions ?? []).forEach((one, index) => {
    const at = keep(parseMoment(`interventions.${index}.at`, one.at))
    if (!known.has(one.schedule_id))
      flaws.push({
        field: `interventions.${index}.schedule_id`,
        value: one.schedule_id,
        message: 'names no schedule of the simulation',
      })
    if (at !== null) read.push({ at, scheduleId: scheduleId(one.schedule_id), action: one.action })
  })
  return read.sort((a, b) => a.at - b.at)
}

function readBudgets(given: readonly SimulatedBudget[], { from }: Stretch): readonly BudgetOnRecord[] {
  return given.map((one) => {
    const zone = zoneOf(one.timezone)
    const amount = (value: number): number => (one.unit === 'money' ? toMicros(value) : value)
    const { start } = periodBounds(one.period, zone, from)
    return {
      id: budgetId(one.id),
      orgId: NOBODYS_ORG,
      scope: scopeOf(one),
      ...{ unit: one.unit, period: one.period, timezone: zone, onExceed: one.on_exceed },
      amount: amount(one.amount),
      defaultReserve: amount(one.default_reserve ?? 0),
      ...{ pausedAt: null, alerts: null, createdAt: from },
      uses: one.spent === undefined ? [] : [{ start, used: amount(one.spent) }],
    }
  })
}

/** The budgets that schedules bring with them are there as well; one that is on record is there already. */
function withOwnBudgets(
  { own_budgets: holds = true }: SimulationTask,
  rows: readonly ScheduleRow[],
  given: readonly BudgetOnRecord[],
): readonly BudgetOnRecord[] {
  if (!holds) return given
  const known = new Set(given.map(({ id }) => id))
  const own = rows.flatMap((row) => {
    const terms = termsIn(row)
    return terms === null || known.has(ownBudgetId(row.id))
      ? []
      : [{ ...ownBudgetOf(row, terms, row.createdAt), uses: [] }]
  })
  return [...given, ...own]
}

function scopeOf({ agent_id: agent, schedule_id: schedule }: SimulatedBudget): BudgetScope {
  if (typeof schedule === 'string') return { kind: 'schedule', scheduleId: scheduleId(schedule) }
  return typeof agent === 'string' ? { kind: 'agent', agentId: agentId(agent) } : { kind: 'org' }
}

function zoneOf(name: string): Zone {
  const zone = parseZone('timezone', name)
  return zone.ok ? zone.value : UTC
}
