import { amountsUsed, type Amounts } from '../../core/budget/amounts.ts'
import type { AgentId, OrgId, ScheduleId } from '../../core/ids.ts'
import { loadHabitsOfAgents, loadHabitsOfSchedules, type RunUsage } from '../../store/usages.ts'
import type { Connection } from '../../store/database.ts'
import { HABIT_RUNS } from '../desk/budget-book.ts'

/** What the last runs used, by schedule and by agent. */
export interface Habits {
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
