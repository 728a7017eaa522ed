import type { ProbeAnswerView, ProbeCountsView, ProbeInput } from './schema.ts'
import { maskExecutor } from '../../domain/secret/mask.ts'
import { amountsUsed } from '../../domain/budget/amounts.ts'
import { agentId, scheduleId, type OrgId } from '../../domain/ids.ts'
import { formatInstant } from '../../domain/instant.ts'
import { heartbeatSubject } from '../../domain/probe/verdict.ts'
import { loadProbeAnswer, loadProbes, type ProbeAnswerRow, type ProbeRow } from './store.ts'
import type { RunRecord } from '../runs/record-store.ts'
import { loadRecentUsageOfAgents, loadRecentUsageOfSchedules, type RunUsage } from '../budgets/usage-store.ts'
import type { Ports } from '../../engine/ports.ts'

/** The API view of a probe: values that look like credentials are masked. */
export const viewProbe = (probe: unknown): ProbeInput | null =>
  probe === undefined || probe === null ? null : maskExecutor(probe as ProbeInput & Readonly<Record<string, unknown>>)

const viewProbeAnswer = (row: ProbeAnswerRow): ProbeAnswerView => ({ ...row, at: formatInstant(row.at) })

type ProbeReadPorts = Pick<Ports, 'database'>

/** The result of the probe for a run; null: it had none. Only runs of schedules and heartbeats have probes. */
export async function probeAnswerOfRun(
  { database }: ProbeReadPorts,
  { orgId, id, scheduleId: schedule, trigger }: Pick<RunRecord, 'orgId' | 'id' | 'scheduleId' | 'trigger'>,
): Promise<ProbeAnswerView | null> {
  if (schedule === null && trigger !== 'heartbeat') return null
  const row = await loadProbeAnswer(database, { orgId, runId: id })
  return row === undefined ? null : viewProbeAnswer(row)
}

/** The number of last runs from which the usage of a run is estimated. */
const USAGE_SAMPLE_RUNS = 20

/** The counts of the probe of a schedule; undefined: it never ran. */
export async function probeCountsOfSchedule(
  { database }: ProbeReadPorts,
  orgId: OrgId,
  id: string,
): Promise<ProbeCountsView | undefined> {
  const row = (await loadProbes(database, { orgId, subjects: [id] })).get(id)
  if (row === undefined) return undefined
  return viewProbeCounts(
    row,
    await loadRecentUsageOfSchedules(database, { orgId, ids: [scheduleId(id)], perId: USAGE_SAMPLE_RUNS }),
  )
}

/** The counts of the probe of a heartbeat; undefined: it never ran. */
export async function probeCountsOfHeartbeat(
  { database }: ProbeReadPorts,
  orgId: OrgId,
  id: string,
): Promise<ProbeCountsView | undefined> {
  const subject = heartbeatSubject(id)
  const row = (await loadProbes(database, { orgId, subjects: [subject] })).get(subject)
  if (row === undefined) return undefined
  return viewProbeCounts(
    row,
    await loadRecentUsageOfAgents(database, { orgId, ids: [agentId(id)], perId: USAGE_SAMPLE_RUNS }),
  )
}

function viewProbeCounts(row: ProbeRow, usages: readonly RunUsage[]): ProbeCountsView {
  const used = usages.map(({ usage }) => amountsUsed(usage))
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
