import type { runOperations } from '../../operations/runs.ts'
import type { RetryInput, RunDetail, RunView } from '../../contract/run.ts'
import { isPermitted } from '../../core/access.ts'
import { cancelRunById, retryRun } from '../../service/run-actions.ts'
import { findRuns, getRun, getRunDetail } from '../../service/runs-read.ts'
import { readLineage } from '../../service/rails/lineage.ts'
import { explainRun } from '../../service/explain/run.ts'
import { draftSchedule, proposeSchedule } from '../../service/schedule-draft.ts'
import type { Call, HandlersOf } from '../call.ts'
import { requirePermission } from '../gate.ts'
import { askerOf } from './explain.ts'

type Retry = Pick<Call<(typeof runOperations)['runs.retry']>, 'ctx' | 'ports' | 'caller' | 'principal'>

/** The run of a schedule belongs to those who run schedules; which run it is, only its row says. */
async function retry(call: Retry, id: string, { force }: RetryInput): Promise<RunView> {
  const { ports, caller } = call
  const run = await getRun(ports, caller.orgId, id)
  requirePermission(call, run.schedule_id === null ? 'runs:write' : 'schedules:run')
  return getRun(ports, caller.orgId, await retryRun(ports, caller, { id, force: force ?? false }))
}

type Reading = Pick<Call<(typeof runOperations)['runs.get']>, 'ctx' | 'ports' | 'caller' | 'principal'>

/** Readers of schedules read the runs of schedules; any other run is for readers of runs. */
async function requireReader(call: Reading, id: string): Promise<void> {
  if (readsAllRuns(call)) return
  const run = await getRun(call.ports, call.caller.orgId, id)
  if (run.schedule_id === null) requirePermission(call, 'runs:read')
}

/** Whether somebody reads all runs; who does not may still read those of schedules. */
export const readsAllRuns = ({ principal }: Pick<Reading, 'principal'>): boolean => isPermitted(principal, 'runs:read')

async function get(call: Reading, id: string): Promise<RunDetail> {
  await requireReader(call, id)
  return getRunDetail(call.ports, { orgId: call.caller.orgId, id }, call.ctx.live)
}

/** What was done, what is being done, and why. */
export const runHandlers: HandlersOf<typeof runOperations> = {
  'runs.list': (call) => findRuns(call.ports, { ...call.caller, onlyOfSchedules: !readsAllRuns(call) }, call.query),
  'runs.get': (call) => get(call, call.params.id),
  'runs.explain': async (call) => {
    await requireReader(call, call.params.id)
    return explainRun(call.ports, call.caller, { id: call.params.id, live: call.ctx.live })
  },
  'runs.lineage': async (call) => {
    await requireReader(call, call.params.id)
    const asked = { ...call.caller, id: call.params.id, onlyOfSchedules: !readsAllRuns(call) }
    return readLineage(call.ports, asked, call.query)
  },
  'runs.cancel': async ({ ports, caller, params }) => {
    await cancelRunById(ports, caller, params.id)
    return getRun(ports, caller.orgId, params.id)
  },
  'runs.retry': (call) => retry(call, call.params.id, call.body),
  'runs.schedule': (call) => draftSchedule(call.ports, askerOf(call), { id: call.params.id, choices: call.body }),
  'runs.proposal': (call) => proposeSchedule(call.ports, askerOf(call), call.params.id),
  'runs.getScheduleRun': (call) => get(call, call.params.runId),
  'runs.retryScheduleRun': (call) => retry(call, call.params.runId, call.body),
}
