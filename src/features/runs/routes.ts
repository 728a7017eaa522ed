import { z } from 'zod'
import { id, pageFilter } from '../../api/common.ts'
import { runExplanation } from '../explain/schema.ts'
import { lineage } from '../../contract/lineage.ts'
import {
  retryInput,
  run,
  runDetail,
  runFilter,
  runPage,
  type RetryInput,
  type RunDetail,
  type RunView,
} from './schema.ts'
import { draftInput, scheduleDraft, scheduleProposal } from '../../contract/schedule-draft.ts'
import { isPermitted } from '../../domain/access/access.ts'
import { explainRun } from '../explain/run.ts'
import { readLineage } from '../../service/rails/lineage.ts'
import { cancelRunById, retryRun } from '../../service/run-actions.ts'
import { findRuns, getRun, getRunDetail } from '../../service/runs-read.ts'
import { draftSchedule, proposeSchedule } from '../../service/schedule-draft.ts'
import { requirePermission } from '../../operations/admit.ts'
import { askerOf } from '../explain/routes.ts'
import { type Asking, operation } from '../../operations/handler.ts'

const one = z.strictObject({ id })
const oneOfSchedule = z.strictObject({ runId: id })

const reading = { method: 'GET', tag: 'runs', permission: ['runs:read', 'schedules:read'] } as const

const WHO_READS = 'The run of a schedule needs schedules:read or runs:read, any other run needs runs:read.'

const retrying = {
  method: 'POST',
  tag: 'runs',
  permission: ['runs:write', 'schedules:run'],
  description:
    'Makes a new run with the same payload. What succeeded needs `force`. The run of a schedule needs schedules:run, ' +
    'any other runs:write. A repetition with the same idempotency key answers with the same run, as it is by then.',
  creates: true,
  newWork: true,
  admits: true,
  bodyOptional: true,
  body: retryInput,
  answers: { 202: run },
  refusals: ['NOT_FOUND', 'NOT_RETRYABLE', 'CONCURRENCY_LIMIT', 'RUNS_PER_DAY'],
  examples: { body: { force: true } },
} as const

/** The run of a schedule belongs to those who run schedules; which run it is, only its row says. */
async function retry(call: Asking, id: string, { force }: RetryInput): Promise<RunView> {
  const { ports, caller } = call
  const run = await getRun(ports, caller.orgId, id)
  requirePermission(call, run.schedule_id === null ? 'runs:write' : 'schedules:run')
  return getRun(ports, caller.orgId, await retryRun(ports, caller, { id, force: force ?? false }))
}

/** Readers of schedules read the runs of schedules; any other run is for readers of runs. */
async function requireReader(call: Asking, id: string): Promise<void> {
  if (readsAllRuns(call)) return
  const run = await getRun(call.ports, call.caller.orgId, id)
  if (run.schedule_id === null) requirePermission(call, 'runs:read')
}

/** Whether the caller reads all runs; otherwise it may still read those of schedules. */
export const readsAllRuns = ({ principal }: Pick<Asking, 'principal'>): boolean => isPermitted(principal, 'runs:read')

async function get(call: Asking, id: string): Promise<RunDetail> {
  await requireReader(call, id)
  return getRunDetail(call.ports, { orgId: call.caller.orgId, id }, call.ctx.live)
}

/** What was done, what is being done, and why. */
export const runOperations = {
  'runs.list': operation({
    ...{ ...reading, path: '/api/v1/runs' },
    rails: 'list',
    summary: 'List runs',
    description:
      '`status` takes several states separated by commas, in any case; SCHEDULED, CANCELED and FAILED_TIMEOUT mean ' +
      'queued, cancelled and timeout. `from` (inclusive) and `to` (exclusive) refer to the time a run was created. ' +
      'A caller with schedules:read but not runs:read gets scheduled runs.',
    query: runFilter,
    answers: { 200: runPage },
  }).by((call) => findRuns(call.ports, { ...call.caller, onlyOfSchedules: !readsAllRuns(call) }, call.query)),
  'runs.get': operation({
    ...{ ...reading, path: '/api/v1/runs/:id' },
    rails: 'run',
    summary: 'Get a run with its attempts, deliveries, history and reason',
    description: WHO_READS,
    params: one,
    answers: { 200: runDetail },
    refusals: ['NOT_FOUND'],
  }).by((call) => get(call, call.params.id)),
  'runs.explain': operation({
    ...{ ...reading, path: '/api/v1/runs/:id/explain' },
    rails: 'run',
    summary: 'Explain the state of a run, by rule and evidence',
    description:
      'With every check (`steps`: passed, closed or not reached), the objects the evidence refers to (`links`), and what ' +
      'happens next and can be done about it (`next`). ' +
      WHO_READS,
    params: one,
    answers: { 200: runExplanation },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => {
    await requireReader(call, call.params.id)
    return explainRun(call.ports, call.caller, { id: call.params.id, live: call.ctx.live })
  }),
  'runs.lineage': operation({
    ...{ ...reading, path: '/api/v1/runs/:id/lineage' },
    rails: 'run',
    summary: 'Get what created a run, and what it created and triggered',
    description:
      'The runs above it, and the runs and schedules directly below it, one page at a time; ask about those for ' +
      'the next level. A caller with schedules:read but not runs:read gets scheduled runs and schedules.',
    params: one,
    query: pageFilter,
    answers: { 200: lineage },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => {
    await requireReader(call, call.params.id)
    const asked = { ...call.caller, id: call.params.id, onlyOfSchedules: !readsAllRuns(call) }
    return readLineage(call.ports, asked, call.query)
  }),
  'runs.cancel': operation({
    ...{ method: 'POST', path: '/api/v1/runs/:id/cancel', tag: 'runs', permission: 'runs:write' },
    rails: 'run',
    summary: 'Cancel a run',
    description:
      'A running attempt is `stopping` until it has confirmed; waiting work ends at once. Cancelling twice has no ' +
      'further effect.',
    params: one,
    answers: { 200: run },
    refusals: ['NOT_FOUND', 'ALREADY_ENDED'],
  }).by(async ({ ports, caller, params }) => {
    await cancelRunById(ports, caller, params.id)
    return getRun(ports, caller.orgId, params.id)
  }),
  'runs.retry': operation({
    ...{ ...retrying, path: '/api/v1/runs/:id/retry' },
    rails: 'run',
    summary: 'Retry a run that has ended',
    params: one,
  }).by((call) => retry(call, call.params.id, call.body)),
  'runs.schedule': operation({
    ...{ method: 'POST', path: '/api/v1/runs/:id/schedule', tag: 'runs', permission: 'schedules:write' },
    rails: 'run',
    summary: 'Draft a schedule from a run',
    description:
      'Contains the prompt, the agent, the properties of the answer as requirements for the next ones, and the ' +
      'timing if the session mentions it. Nothing is saved: set the timing if the draft has none, and send it to ' +
      '`POST /api/v1/schedules?from_run=…`. `GET` shows the choices.',
    params: one,
    bodyOptional: true,
    body: draftInput,
    answers: { 200: scheduleDraft },
    refusals: ['NOT_FOUND'],
    examples: { body: { when: 'every weekday at 9 in Berlin' } },
  }).by((call) => draftSchedule(call.ports, askerOf(call), { id: call.params.id, choices: call.body })),
  'runs.proposal': operation({
    ...{ method: 'GET', path: '/api/v1/runs/:id/schedule', tag: 'runs', permission: 'schedules:write' },
    rails: 'run',
    summary: 'Propose a schedule from a run, with the choices and their basis',
    description:
      'Derived from the run and its session by rules only; no model is asked. If the message of the run only ' +
      'refined an answer ("shorter please"), the prompt is the original message and the refinement is a ' +
      'requirement. Callers that cannot read sessions get the run only.',
    params: one,
    answers: { 200: scheduleProposal },
    refusals: ['NOT_FOUND'],
  }).by((call) => proposeSchedule(call.ports, askerOf(call), call.params.id)),
  'runs.getScheduleRun': operation({
    ...{ ...reading, path: '/api/v1/schedule-runs/:runId' },
    rails: 'run',
    summary: 'Get a run of a schedule',
    description: WHO_READS,
    params: oneOfSchedule,
    answers: { 200: runDetail },
    refusals: ['NOT_FOUND'],
  }).by((call) => get(call, call.params.runId)),
  'runs.retryScheduleRun': operation({
    ...{ ...retrying, path: '/api/v1/schedule-runs/:runId/retry' },
    rails: 'run',
    summary: 'Retry a run that has ended, by its other address',
    params: oneOfSchedule,
  }).by((call) => retry(call, call.params.runId, call.body)),
}
