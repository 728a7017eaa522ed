import type { AgentId, BudgetId, ProviderName, RunId, ScheduleId, SessionKey } from '../../core/ids.ts'
import { isTerminal, type RunState } from '../../core/run/run-machine.ts'
import type { StoredEvent, TurnRow } from '../../store/turns.ts'

/** What turns of others have changed. */
export interface Touched {
  readonly runs: Set<RunId>
  /** Those of the runs that have ended: there is nothing left to read. */
  readonly ended: Set<RunId>
  /** Those of the runs that may have been given something else to do. */
  readonly merged: Set<RunId>
  readonly sessions: Set<SessionKey>
  readonly schedules: Set<ScheduleId>
  readonly agents: Set<AgentId>
  readonly budgets: Set<BudgetId>
  readonly providers: Set<ProviderName>
  org: boolean
}

const ABOUT_RUNS = /^(?:run|message)\.|^outbound$/

/** What the events of turns are about. */
export function subjectsOf(turns: readonly TurnRow[]): Touched {
  const touched: Touched = {
    ...{ runs: new Set(), ended: new Set(), merged: new Set(), sessions: new Set(), schedules: new Set() },
    ...{ agents: new Set(), budgets: new Set(), providers: new Set(), org: false },
  }
  for (const { events } of turns)
    for (const [kind, subject, data] of events) {
      if (kind.startsWith('session.')) touched.sessions.add(subject as SessionKey)
      else if (kind.startsWith('schedule.')) touched.schedules.add(subject as ScheduleId)
      else if (kind.startsWith('agent.')) touched.agents.add(subject as AgentId)
      else if (kind.startsWith('budget.')) touched.budgets.add(subject as BudgetId)
      else if (kind.startsWith('provider.')) touched.providers.add(subject as ProviderName)
      else if (kind.startsWith('org.')) touched.org = true
      // What a run says on its way changes nothing about it, and keys, members and lanes are in nobody's memory.
      else if (kind !== 'run.output' && ABOUT_RUNS.test(kind)) touchRun(touched, subject as RunId, { kind, data })
    }
  return touched
}

function touchRun(
  { runs, ended, merged }: Touched,
  id: RunId,
  { kind, data }: { readonly kind: string; readonly data: StoredEvent[2] },
): void {
  runs.add(id)
  if (kind === 'run.changed' && isTerminal(data['status'] as RunState)) ended.add(id)
  if (kind.startsWith('message.')) merged.add(id)
}
