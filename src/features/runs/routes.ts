import { z } from 'zod'
import { id, pageFilter } from '../../api/common.ts'
import { waitQuery } from '../../api/fields.ts'
import type { OperationSpec } from '../../api/operation.ts'
import { isPermitted } from '../../domain/access/access.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { readLineage } from '../access/lineage.ts'
import { lineage } from '../access/restrictions-schema.ts'
import { explainCallerOf } from '../explain/routes.ts'
import { explainRun } from '../explain/run.ts'
import { runExplanation } from '../explain/schema.ts'
import { findRunLog } from './log.ts'
import {
  callbackAnswer,
  resultInput,
  retryInput,
  type RetryInput,
  run,
  runDetail,
  type RunDetail,
  runComparison,
  runFilter,
  runLogFilter,
  runLogPage,
  runPage,
  type RunView,
} from './schema.ts'
import { compareRuns, retryRun } from './retry.ts'
import { cancelRunById, findRuns, getRun, getRunDetail, settleByToken } from './service.ts'
import { draftSchedule, proposeSchedule } from '../schedules/draft.ts'
import { draftInput, scheduleDraft, scheduleProposal } from '../schedules/views-schema.ts'
import { type Call, type CallIdentity, operation, readAfterEnd } from '../../operations/handler.ts'
import { requirePermission } from '../../operations/perform.ts'

/** Operations on callbacks: results that are reported later. */
export const callbackOperations = {
  'callbacks.settle': operation({
    ...{ method: 'POST', path: '/api/v1/callbacks/:token', tag: 'callbacks', permission: 'none' },
    summary: 'Report the result of a deferred attempt',
    description:
      'The token authenticates the report. A repeated report, the token of an earlier attempt, and a report after ' +
      'the deadline get `ignored: true` and change nothing.',
    params: z.strictObject({ token: z.string().min(1).max(512) }),
    body: resultInput,
    answers: { 200: callbackAnswer },
    refusals: ['NOT_FOUND'],
    examples: {
      body: { status: 'success', output: 'Three mails need an answer', summary: '3 mails' },
      answer: { status: 'success', ignored: false },
    },
  }).by(({ ports, params, body }) => settleByToken(ports, params.token, body)),
}

const runIdParams = z.strictObject({ id })
const scheduleRunParams = z.strictObject({ runId: id })

const readOperation = { method: 'GET', tag: 'runs', permission: ['runs:read', 'schedules:read'] } as const

const READ_PERMISSION_NOTE =
  'The run of a schedule requires schedules:read or runs:read; any other run requires runs:read.'

const retryOperation = {
  method: 'POST',
  tag: 'runs',
  permission: ['runs:write', 'schedules:run'],
  description:
    'Creates a new run with the same payload, or with another payload, prompt or model; `edits` of the new run shows ' +
    'what was changed. Retrying a run that succeeded requires `force`. The run of a schedule requires schedules:run, and ' +
    'schedules:write for changes; any other run requires runs:write. A repeated request with the same idempotency key' +
    ' returns the ' +
    'same run in its current state.',
  creates: true,
  newWork: true,
  admits: true,
  bodyOptional: true,
  body: retryInput,
  answers: { 202: run },
  refusals: ['NOT_FOUND', 'NOT_RETRYABLE', 'CONCURRENCY_LIMIT', 'RUNS_PER_DAY'],
  examples: { body: { force: true, prompt: 'Sum up the inbox in one line' } },
} as const

/** The run of a schedule needs another permission, and only its row shows whether it is one. */
async function retry(call: CallIdentity, id: string, input: RetryInput): Promise<RunView> {
  const { ports, caller } = call
  const run = await getRun(ports, caller.orgId, id)
  requirePermission(call, run.schedule_id === null ? 'runs:write' : 'schedules:run')
  const { force = false, ...edits } = input
  // What a schedule asks for may be changed by those who may change the schedule.
  if (run.schedule_id !== null && Object.keys(edits).length > 0) requirePermission(call, 'schedules:write')
  return getRun(ports, caller.orgId, await retryRun(ports, caller, { ...edits, id, force }))
}

/** Requires runs:read, except for the runs of schedules, which need only schedules:read. */
async function requireReader(call: CallIdentity, id: string): Promise<void> {
  if (canReadAllRuns(call)) return
  const run = await getRun(call.ports, call.caller.orgId, id)
  if (run.schedule_id === null) requirePermission(call, 'runs:read')
}

/** Whether the caller may read all runs; otherwise it may still read those of schedules. */
export const canReadAllRuns = ({ principal }: Pick<CallIdentity, 'principal'>): boolean =>
  isPermitted(principal, 'runs:read')

/** A request for a run. Declared, because inferring it from the table would be circular. */
interface GetCall extends CallIdentity, Pick<Call<OperationSpec>, 'signal'> {
  readonly query: { readonly wait?: number | undefined }
}

async function get(call: GetCall, id: string): Promise<RunDetail> {
  await requireReader(call, id)
  return readAfterEnd(call, id, {
    seconds: call.query.wait,
    read: () => getRunDetail(call.ports, { orgId: call.caller.orgId, id }, call.ctx.live),
    hasEnded: ({ status }) => isTerminal(status),
  })
}

const WAIT_NOTE = 'With `wait`, the response is sent when the run has ended, at the latest after that time. '

/** Operations on runs. */
export const runOperations = {
  'runs.list': operation({
    ...{ ...readOperation, path: '/api/v1/runs' },
    restrictedAccess: 'list',
    summary: 'List runs',
    description:
      '`status` takes several states separated by commas, in any case; SCHEDULED, CANCELED and FAILED_TIMEOUT mean ' +
      'queued, cancelled and timeout. `from` (inclusive) and `to` (exclusive) refer to the time a run was created. ' +
      'A caller with schedules:read but not runs:read gets scheduled runs.',
    query: runFilter,
    answers: { 200: runPage },
  }).by((call) => findRuns(call.ports, { ...call.caller, onlyOfSchedules: !canReadAllRuns(call) }, call.query)),
  'runs.get': operation({
    ...{ ...readOperation, path: '/api/v1/runs/:id' },
    restrictedAccess: 'run',
    summary: 'Get a run with its attempts, deliveries, history and reason',
    description: WAIT_NOTE + READ_PERMISSION_NOTE,
    params: runIdParams,
    query: waitQuery,
    optionalQuery: true,
    answers: { 200: runDetail },
    refusals: ['NOT_FOUND'],
  }).by((call) => get(call, call.params.id)),
  'runs.explain': operation({
    ...{ ...readOperation, path: '/api/v1/runs/:id/explain' },
    restrictedAccess: 'run',
    summary: 'Explain the state of a run, by rule and evidence',
    description:
      'Includes every check (`steps`: passed, closed or not reached), the objects that the evidence refers to ' +
      '(`links`), and what happens next and the possible actions (`next`). ' +
      READ_PERMISSION_NOTE,
    params: runIdParams,
    answers: { 200: runExplanation },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => {
    await requireReader(call, call.params.id)
    return explainRun(call.ports, call.caller, { id: call.params.id, live: call.ctx.live })
  }),
  'runs.lineage': operation({
    ...{ ...readOperation, path: '/api/v1/runs/:id/lineage' },
    restrictedAccess: 'run',
    summary: 'Get what created a run, and what the run created and triggered',
    description:
      'Returns the runs above it and, one page at a time, the runs and schedules directly below it; for the next ' +
      'level, get the lineage of those. A caller with schedules:read but not runs:read gets scheduled runs and schedules.',
    params: runIdParams,
    query: pageFilter,
    answers: { 200: lineage },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => {
    await requireReader(call, call.params.id)
    const query = { ...call.caller, id: call.params.id, onlyOfSchedules: !canReadAllRuns(call) }
    return readLineage(call.ports, query, call.query)
  }),
  'runs.log': operation({
    ...{ ...readOperation, path: '/api/v1/runs/:id/log' },
    restrictedAccess: 'run',
    summary: 'List the output of a run: streamed text, log lines and steps',
    description:
      'Oldest first, attempt by attempt; at most 1 MiB is kept per attempt, as long as the run. A page ends early at ' +
      '1 MiB. While the run is active, `GET /api/v1/events?run_id=…&kinds=run.output` streams the same entries; an ' +
      'entry whose id is already in the log is a repetition. ' +
      READ_PERMISSION_NOTE,
    params: runIdParams,
    query: runLogFilter,
    answers: { 200: runLogPage },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => {
    await requireReader(call, call.params.id)
    return findRunLog(call.ports, { orgId: call.caller.orgId, id: call.params.id }, call.query)
  }),
  'runs.compare': operation({
    ...{ ...readOperation, path: '/api/v1/runs/:id/compare/:other' },
    restrictedAccess: 'run',
    summary: 'Compare two runs: output, payload, tokens, cost and duration',
    description: `\`a\` is the first run, \`b\` the other. ${READ_PERMISSION_NOTE}`,
    params: z.strictObject({ id, other: id }),
    answers: { 200: runComparison },
    refusals: ['NOT_FOUND'],
  }).by(async (call) => {
    const { id: first, other } = call.params
    for (const run of [first, other]) await requireReader(call, run)
    return compareRuns(call.ports, call.caller, { a: first, b: other })
  }),
  'runs.cancel': operation({
    ...{ method: 'POST', path: '/api/v1/runs/:id/cancel', tag: 'runs', permission: 'runs:write' },
    restrictedAccess: 'run',
    summary: 'Cancel a run',
    description:
      'A running run is `stopping` until its attempt has confirmed; a waiting run ends at once. Cancelling twice has no ' +
      'further effect.',
    params: runIdParams,
    answers: { 200: run },
    refusals: ['NOT_FOUND', 'ALREADY_ENDED'],
  }).by(async ({ ports, caller, params }) => {
    await cancelRunById(ports, caller, params.id)
    return getRun(ports, caller.orgId, params.id)
  }),
  'runs.retry': operation({
    ...{ ...retryOperation, path: '/api/v1/runs/:id/retry' },
    restrictedAccess: 'run',
    summary: 'Retry an ended run',
    params: runIdParams,
  }).by((call) => retry(call, call.params.id, call.body)),
  'runs.schedule': operation({
    ...{ method: 'POST', path: '/api/v1/runs/:id/schedule', tag: 'runs', permission: 'schedules:write' },
    restrictedAccess: 'run',
    summary: 'Draft a schedule from a run',
    description:
      'Contains the prompt, the agent, the properties of the answer as requirements for the next ones, and the ' +
      'timing if the session mentions it. Nothing is saved: set the timing if the draft has none, and send it to ' +
      '`POST /api/v1/schedules?from_run=…`. `GET` shows the choices.',
    params: runIdParams,
    bodyOptional: true,
    body: draftInput,
    answers: { 200: scheduleDraft },
    refusals: ['NOT_FOUND'],
    examples: { body: { when: 'every weekday at 9 in Berlin' } },
  }).by((call) => draftSchedule(call.ports, explainCallerOf(call), { id: call.params.id, choices: call.body })),
  'runs.proposal': operation({
    ...{ method: 'GET', path: '/api/v1/runs/:id/schedule', tag: 'runs', permission: 'schedules:write' },
    restrictedAccess: 'run',
    summary: 'Propose a schedule from a run, with the choices and their basis',
    description:
      'Derived from the run and its session by rules only; no model is asked. If the message of the run only ' +
      'refined an answer ("shorter please"), the prompt is the original message and the refinement is a ' +
      'requirement. Callers that cannot read sessions get the run only.',
    params: runIdParams,
    answers: { 200: scheduleProposal },
    refusals: ['NOT_FOUND'],
  }).by((call) => proposeSchedule(call.ports, explainCallerOf(call), call.params.id)),
  'runs.getScheduleRun': operation({
    ...{ ...readOperation, path: '/api/v1/schedule-runs/:runId' },
    restrictedAccess: 'run',
    summary: 'Get a run of a schedule',
    description: READ_PERMISSION_NOTE,
    params: scheduleRunParams,
    query: waitQuery,
    optionalQuery: true,
    answers: { 200: runDetail },
    refusals: ['NOT_FOUND'],
  }).by((call) => get(call, call.params.runId)),
  'runs.retryScheduleRun': operation({
    ...{ ...retryOperation, path: '/api/v1/schedule-runs/:runId/retry' },
    restrictedAccess: 'run',
    summary: 'Retry an ended run of a schedule',
    params: scheduleRunParams,
  }).by((call) => retry(call, call.params.runId, call.body)),
}
