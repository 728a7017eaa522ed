import { z } from 'zod'
import { id, pageFilter } from '../contract/common.ts'
import { lineage } from '../contract/lineage.ts'
import { retryInput, run, runDetail, runFilter, runPage } from '../contract/run.ts'
import { draftInput, scheduleDraft, scheduleProposal } from '../contract/schedule-draft.ts'
import { runExplanation } from '../contract/explain.ts'
import { operation } from '../contract/operation.ts'

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
  }),
  'runs.get': operation({
    ...{ ...reading, path: '/api/v1/runs/:id' },
    rails: 'run',
    summary: 'Shows a run with its attempts, its deliveries, its way so far and why it is where it is',
    description: WHO_READS,
    params: one,
    answers: { 200: runDetail },
    refusals: ['NOT_FOUND'],
  }),
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
  }),
  'runs.retry': operation({
    ...{ ...retrying, path: '/api/v1/runs/:id/retry' },
    rails: 'run',
    summary: 'Repeats a run that has ended',
    params: one,
  }),
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
  }),
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
  }),
  'runs.getScheduleRun': operation({
    ...{ ...reading, path: '/api/v1/schedule-runs/:runId' },
    rails: 'run',
    summary: 'Get a run of a schedule',
    description: WHO_READS,
    params: oneOfSchedule,
    answers: { 200: runDetail },
    refusals: ['NOT_FOUND'],
  }),
  'runs.retryScheduleRun': operation({
    ...{ ...retrying, path: '/api/v1/schedule-runs/:runId/retry' },
    rails: 'run',
    summary: 'Repeats a run that has ended, under its other address',
    params: oneOfSchedule,
  }),
}
