import type { runOperations } from '../../contract/operations/runs.ts'
import type { RetryInput, RunDetail, RunView } from '../../contract/run.ts'
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

/** Readers of schedules read the runs of schedules; any other run is for readers of runs. */
async function getScheduleRun(call: Retry, id: string): Promise<RunDetail> {
  const { ctx, ports, caller } = call
  const run = await getRunDetail(ports, { orgId: caller.orgId, id }, ctx.live)
  if (run.schedule_id === null) requirePermission(call, 'runs:read')
  return run
}

/** What was done, what is being done, and why. */
export const runHandlers: HandlersOf<typeof runOperations> = {
  'runs.list': ({ ports, caller, query }) => findRuns(ports, caller, query),
  'runs.get': ({ ctx, ports, caller, params }) => getRunDetail(ports, { orgId: caller.orgId, id: params.id }, ctx.live),
  'runs.explain': ({ ctx, ports, caller, params }) => explainRun(ports, caller, { id: params.id, live: ctx.live }),
  'runs.lineage': ({ ports, caller, params, query }) => readLineage(ports, { ...caller, id: params.id }, query),
  'runs.cancel': async ({ ports, caller, params }) => {
    await cancelRunById(ports, caller, params.id)
    return getRun(ports, caller.orgId, params.id)
  },
  'runs.retry': (call) => retry(call, call.params.id, call.body),
  'runs.schedule': (call) => draftSchedule(call.ports, askerOf(call), { id: call.params.id, choices: call.body }),
  'runs.proposal': (call) => proposeSchedule(call.ports, askerOf(call), call.params.id),
  'runs.getScheduleRun': (call) => getScheduleRun(call, call.params.runId),
  'runs.retryScheduleRun': (call) => retry(call, call.params.runId, call.body),
}
