import type { ProbeAnswerView, ProbeCountsView, ProbeInput } from './schema.ts'
import { maskedExecutor } from '../../core/executor/masked.ts'
import { amountsUsed } from '../../core/budget/amounts.ts'
import { agentId, scheduleId, type OrgId } from '../../domain/ids.ts'
import { formatInstant } from '../../domain/instant.ts'
import { heartbeatSubject } from '../../core/probe/asked.ts'
import { loadProbeAnswer, loadProbes, type ProbeAnswerRow, type ProbeRow } from './store.ts'
import type { RunRecord } from '../../store/run-record.ts'
import { loadHabitsOfAgents, loadHabitsOfSchedules, type RunUsage } from '../budgets/usage-store.ts'
import type { Ports } from '../../service/ports.ts'

/** A probe as it is shown: what looks like a credential is hidden. */
export const viewProbe = (given: unknown): ProbeInput | null =>
  given === undefined || given === null ? null : maskedExecutor(given as ProbeInput & Readonly<Record<string, unknown>>)

const viewAnswer = (row: ProbeAnswerRow): ProbeAnswerView => ({ ...row, at: formatInstant(row.at) })

type Reading = Pick<Ports, 'database'>

/** What was asked before the agent of a run was woken; null: nothing was. Of what no clock has made nothing ever is. */
export async function answerOfRun(
  { database }: Reading,
  { orgId, id, scheduleId: schedule, trigger }: Pick<RunRecord, 'orgId' | 'id' | 'scheduleId' | 'trigger'>,
): Promise<ProbeAnswerView | null> {
  if (schedule === null && trigger !== 'heartbeat') return null
  const row = await loadProbeAnswer(database, { orgId, runId: id })
  return row === undefined ? null : viewAnswer(row)
}

/** So many runs say what waking the agent costs. */
const HABIT_RUNS = 20

/** What the probe of a schedule was counted for; undefined: it was never asked. */
export async function countsOfSchedule(
  { database }: Reading,
  orgId: OrgId,
  id: string,
): Promise<ProbeCountsView | undefined> {
  const row = (await loadProbes(database, { orgId, subjects: [id] })).get(id)
  if (row === undefined) return undefined
  return viewCounts(row, await loadHabitsOfSchedules(database, { orgId, ids: [scheduleId(id)], each: HABIT_RUNS }))
}

/** The same of the heartbeat of an agent. */
export async function countsOfHeartbeat(
  { database }: Reading,
  orgId: OrgId,
  id: string,
): Promise<ProbeCountsView | undefined> {
  const subject = heartbeatSubject(id)
  const row = (await loadProbes(database, { orgId, subjects: [subject] })).get(subject)
  if (row === undefined) return undefined
  return viewCounts(row, await loadHabitsOfAgents(database, { orgId, ids: [agentId(id)], each: HABIT_RUNS }))
}

function viewCounts(row: ProbeRow, habits: readonly RunUsage[]): ProbeCountsView {
  const used = habits.map(({ usage }) => amountsUsed(usage))
  const tokens = mean(used.flatMap((one) => one.tokens ?? []))
  const money = mean(used.flatMap((one) => one.money ?? []))
  return {
    ...{ asked: row.asked, saved: row.saved, errors: row.errors, last_answer: row.lastAnswer },
    ...{ last_sentence: row.lastSentence, last_at: formatInstant(row.lastAt), last_run_id: row.lastRunId },
    saved_tokens: tokens === null ? null : Math.round(tokens * row.saved),
    saved_cost: money === null ? null : Math.round(money * row.saved) / 1_000_000,
  }
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, one) => sum + one, 0) / values.length
