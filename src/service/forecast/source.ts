import type { ForecastSource } from '../../contract/forecast.ts'
import { type Amounts, amountsStated, amountsUsed } from '../../core/budget/amounts.ts'
import { type BudgetUnit, reserveUnder } from '../../core/budget/budget.ts'
import { type ExpectedUse, guessUse, type UseSource } from '../../core/forecast/expected-use.ts'
import type { ForecastDay, PlannedSchedule, RunsPerDay } from '../../core/forecast/runs-per-day.ts'
import type { AgentId, OrgId, ScheduleId } from '../../core/ids.ts'
import { largest } from '../../core/long-lists.ts'
import type { BudgetOnRecord } from '../../store/budgets.ts'
import type { Connection } from '../../store/database.ts'
import { loadHabitsOfAgents, loadHabitsOfSchedules, type RunUsage } from '../../store/usages.ts'
import { covers, HABIT_RUNS, type Spender } from '../desk/budget-book.ts'

/** Something that makes runs, how many on given days, and what each is expected to use. */
export interface Source extends Spender {
  readonly kind: ForecastSource['kind']
  readonly name: string
  readonly runsOn: (days: readonly ForecastDay[]) => RunsPerDay
  /** Set for a recurrence rule, whose occurrences may take long to count: then it is counted elsewhere. */
  readonly rule?: PlannedSchedule | undefined
  /** The share of its runs whose probe starts the agent; the others use nothing. Left out: all. */
  readonly started?: number | undefined
  /** How many of its runs may wait at once for a budget that queues; left out: any number. */
  readonly maxWaiting?: number | undefined
  readonly use: Readonly<Record<BudgetUnit, ExpectedUse | null>>
  readonly basis: Readonly<Record<BudgetUnit, UseSource>>
  /** How many runs were looked at. */
  readonly seen: number
  /** What has to be left of a budget for a run of it to start. */
  readonly reserveUnder: (budget: BudgetOnRecord) => number
}

/** What a source is before anybody has looked at what its runs use. */
export interface Origin extends Spender {
  readonly kind: ForecastSource['kind']
  readonly name: string
  readonly payload: unknown
  readonly runsOn: Source['runsOn']
  readonly started?: Source['started']
  readonly rule?: Source['rule']
  readonly maxWaiting?: Source['maxWaiting']
}

/** Adds what is known about the use of its runs. */
export function sourceOf(origin: Origin, habits: Habits, budgets: readonly BudgetOnRecord[]): Source {
  const { payload, ...made } = origin
  const own = made.scheduleId === null ? [] : (habits.schedules.get(made.scheduleId) ?? [])
  const usual = habits.agents.get(made.agentId) ?? []
  const stated = amountsStated(payload)
  const guess = (unit: BudgetUnit): ReturnType<typeof guessUse> =>
    guessUse({
      ofSchedule: own.flatMap((used) => used[unit] ?? []),
      ofAgent: usual.flatMap((used) => used[unit] ?? []),
      stated: stated[unit],
      defaultReserve: reserveOf(budgets, made, unit),
    })
  const [tokens, money] = [guess('tokens'), guess('money')]
  return {
    ...made,
    use: { tokens: tokens.use, money: money.use },
    basis: { tokens: tokens.source, money: money.source },
    seen: own.length > 0 ? own.length : usual.length,
    reserveUnder: (budget) => {
      const last = budget.scope.kind === 'schedule' ? own : usual
      const used = last.flatMap((amounts) => amounts[budget.unit] ?? [])
      return reserveUnder(budget, stated[budget.unit], used)
    },
  }
}

/** Of the budgets that cover the spender, the one that sets most aside says what a run is expected to use. */
function reserveOf(budgets: readonly BudgetOnRecord[], spender: Spender, unit: BudgetUnit): number | null {
  const found = budgets.filter((budget) => budget.unit === unit && covers(budget.scope, spender))
  return found.length === 0 ? null : largest(found.map(({ defaultReserve }) => defaultReserve))
}

/** What the last runs used, by schedule and by agent. */
interface Habits {
  readonly schedules: ReadonlyMap<ScheduleId, readonly Amounts[]>
  readonly agents: ReadonlyMap<AgentId, readonly Amounts[]>
}

/** So many schedules are asked about in one statement. */
const AT_ONCE = 500

/** Of somebody who reports nothing so many runs are looked through: there may be thousands of them. */
const LOOKED_THROUGH = 60

/** Reads what the last runs of these schedules and agents used, as many of each as budgets look at. */
export async function loadHabits(
  connection: Connection,
  orgId: OrgId,
  wanted: { readonly schedules: readonly ScheduleId[]; readonly agents: readonly AgentId[] },
): Promise<Habits> {
  const schedules = new Map<ScheduleId, Amounts[]>()
  const agents = new Map<AgentId, Amounts[]>()
  for (const ids of inParts(wanted.schedules))
    for (const run of await loadHabitsOfSchedules(connection, {
      orgId,
      ids,
      each: HABIT_RUNS,
      lookThrough: LOOKED_THROUGH,
    }))
      if (run.scheduleId !== null) add(schedules, run.scheduleId, run)
  for (const ids of inParts(wanted.agents))
    for (const run of await loadHabitsOfAgents(connection, {
      orgId,
      ids,
      each: HABIT_RUNS,
      lookThrough: LOOKED_THROUGH,
    }))
      add(agents, run.agentId, run)
  return { schedules, agents }
}

function add<Id>(habits: Map<Id, Amounts[]>, id: Id, { usage }: RunUsage): void {
  const known = habits.get(id)
  if (known === undefined) habits.set(id, [amountsUsed(usage)])
  else known.push(amountsUsed(usage))
}

function* inParts<Id>(ids: readonly Id[]): Generator<readonly Id[]> {
  for (let from = 0; from < ids.length; from += AT_ONCE) yield ids.slice(from, from + AT_ONCE)
}
