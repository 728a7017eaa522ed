import { z } from 'zod'
import { id, pageFilter } from '../contract/common.ts'
import { runExplanation } from '../contract/explain.ts'
import { lineage } from '../contract/lineage.ts'
import {
  retryInput,
  run,
  runDetail,
  runFilter,
  runPage,
  type RetryInput,
  type RunDetail,
  type RunView,
} from '../contract/run.ts'
import { draftInput, scheduleDraft, scheduleProposal } from '../contract/schedule-draft.ts'
import { isPermitted } from '../core/access.ts'
import { explainRun } from '../service/explain/run.ts'
import { readLineage } from '../service/rails/lineage.ts'
import { cancelRunById, retryRun } from '../service/run-actions.ts'
import { findRuns, getRun, getRunDetail } from '../service/runs-read.ts'
import { draftSchedule, proposeSchedule } from '../service/schedule-draft.ts'
import { requirePermission } from './admit.ts'
import { askerOf } from './explain.ts'
import { type Asking, operation } from './operation.ts'

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

/** Whether somebody reads all runs; who does not may still read those of schedules. */
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
    summary: 'Lists runs',
    description:
      '`status` takes several states with commas between them, in any case; SCHEDULED, CANCELED and FAILED_TIMEOUT are ' +
      'queued, cancelled and timeout. `from` is included, `to` is not; both are about when a run was created. A caller with ' +
      'schedules:read and without runs:read gets the runs of schedules.',
    query: runFilter,
    answers: { 200: runPage },
  }).by((call) => findRuns(call.ports, { ...call.caller, onlyOfSchedules: !readsAllRuns(call) }, call.query)),
  'runs.get': operation({
    ...{ ...reading, path: '/api/v1/runs/:id' },
    rails: 'run',
    summary: 'Shows a run with its attempts, its deliveries, its way so far and why it is where it is',
    description: WHO_READS,
    params: one,
    answers: { 200: runDetail },
    refusals: ['NOT_FOUND'],
  }).by((call) => get(call, call.params.id)),
  'runs.explain': operation({
    ...{ ...reading, path: '/api/v1/runs/:id/explain' },
    rails: 'run',
    summary: 'Says why a run is where it is, by which rule and on what evidence',
    description:
      'With every question on its way (`steps`: passed, closed or not reached), what the evidence leads to (`links`), ' +
      'what happens next and what can be done about it (`next`). ' +
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
    summary: 'Shows where a run comes from, and what it made and woke',
    description:
      'The runs above it, and the runs and schedules right below it, a page at a time; what is below those is told when ' +
      'they are asked about. A caller with schedules:read and without runs:read gets the runs of schedules, and schedules.',
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
    summary: 'Ends a run',
    description:
      'What executes is `stopping` until it has been told; what waits ends at once. Twice is as good as once.',
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
    summary: 'Repeats a run that has ended',
    params: one,
  }).by((call) => retry(call, call.params.id, call.body)),
  'runs.schedule': operation({
    ...{ method: 'POST', path: '/api/v1/runs/:id/schedule', tag: 'runs', permission: 'schedules:write' },
    rails: 'run',
    summary: 'Drafts a schedule that does the same as a run',
    description:
      'The prompt, the agent, what the answer was like as requirements on the next ones, and when, if the conversation says ' +
      'it. Nothing is kept: say when unless the draft does, and send it to `POST /api/v1/schedules?from_run=…`. What can ' +
      'be chosen is told by `GET`.',
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
    summary: 'Proposes a schedule that does the same as a run, with what can be chosen and what it is based on',
    description:
      'Read from the run and its conversation by rules alone: no model is asked. Where the message of the run only wanted ' +
      'an answer otherwise ("shorter please"), the prompt is the message that asked, and what was wanted is a requirement. ' +
      'Whoever may not read sessions is told of the run alone.',
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
    summary: 'Repeats a run that has ended, under its other address',
    params: oneOfSchedule,
  }).by((call) => retry(call, call.params.runId, call.body)),
}
