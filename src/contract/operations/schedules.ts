import { z } from 'zod'
import { givenMoment, id } from '../schemas/common.ts'
import { runFilter, runPage } from '../schemas/run.ts'
import { outcomesFilter, scheduleOutcomes } from '../schemas/schedule-outcome.ts'
import {
  bulkAnswer,
  bulkInput,
  explanation,
  preview,
  previewInput,
  runNowAnswer,
  runNowInput,
  schedule,
  scheduleFilter,
  scheduleInput,
  schedulePage,
} from '../schemas/schedule.ts'
import { operation } from './operation.ts'

const one = z.strictObject({ id })
const every30 = { name: 'Look at the inbox', cron: '*/30 8-18 * * MON-FRI', timezone: 'Europe/Berlin', payload: 'Look' }

/** The life of a schedule. */
export const scheduleOperations = {
  'schedules.create': operation({
    ...{ method: 'POST', path: '/api/v1/schedules', tag: 'schedules', permission: 'schedules:write' },
    summary: 'Makes a schedule',
    description: 'Without an agent it wakes the default agent of the org. Synonyms of the fields are accepted.',
    ...{ creates: true, newWork: true, etag: true, readBy: 'service' },
    body: scheduleInput,
    answers: { 201: schedule },
    refusals: ['CONFLICT'],
    examples: { body: every30 },
  }),
  'schedules.list': operation({
    ...{ method: 'GET', path: '/api/v1/schedules', tag: 'schedules', permission: 'schedules:read' },
    summary: 'Lists schedules',
    query: scheduleFilter,
    answers: { 200: schedulePage },
  }),
  'schedules.get': operation({
    ...{ method: 'GET', path: '/api/v1/schedules/:id', tag: 'schedules', permission: 'schedules:read' },
    summary: 'Shows a schedule',
    etag: true,
    params: one,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND'],
  }),
  'schedules.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/schedules/:id', tag: 'schedules', permission: 'schedules:write' },
    summary: 'Changes a schedule',
    description: 'What is left out stays; null brings back the default. Only a change of timing moves the next run.',
    ...{ etag: true, readBy: 'service' },
    params: one,
    body: scheduleInput,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND', 'STALE_VERSION'],
    examples: { body: { every_seconds: 900 } },
  }),
  'schedules.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/schedules/:id', tag: 'schedules', permission: 'schedules:delete' },
    summary: 'Deletes a schedule',
    description: 'What runs goes on, and the history stays.',
    etag: true,
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'STALE_VERSION'],
  }),
  'schedules.enable': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/enable', tag: 'schedules', permission: 'schedules:write' },
    summary: 'Switches a schedule on',
    etag: true,
    params: one,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND', 'CONFLICT', 'STALE_VERSION'],
  }),
  'schedules.disable': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/disable', tag: 'schedules', permission: 'schedules:write' },
    summary: 'Switches a schedule off',
    description: 'No further occurrences; what runs goes on.',
    etag: true,
    params: one,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND', 'STALE_VERSION'],
  }),
  'schedules.runNow': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/run-now', tag: 'schedules', permission: 'schedules:run' },
    summary: 'Makes a run of a schedule now',
    description: 'Works on schedules that are off. Mode `due` only runs what is due.',
    ...{ creates: true, newWork: true, admits: true, bodyOptional: true },
    params: one,
    body: runNowInput,
    answers: { 202: runNowAnswer },
    refusals: ['NOT_FOUND', 'CONCURRENCY_LIMIT'],
    examples: { body: { mode: 'force' }, answer: { ran: true, run_id: 'run_01j8z3k4m5n6p7q8r9s0t1v2w3' } },
  }),
  'schedules.runs': operation({
    ...{ method: 'GET', path: '/api/v1/schedules/:id/runs', tag: 'schedules', permission: 'schedules:read' },
    summary: 'Lists the runs of a schedule',
    params: one,
    query: runFilter,
    answers: { 200: runPage },
    refusals: ['NOT_FOUND'],
  }),
  'schedules.outcomes': operation({
    ...{ method: 'GET', path: '/api/v1/schedules/outcomes', tag: 'schedules', permission: 'schedules:read' },
    summary: 'Shows how the last runs of many schedules went',
    description:
      'Of up to 200 schedules, named with commas between them: the last 20 runs of each unless given, newest first. ' +
      'Schedules that are not there are left out.',
    query: outcomesFilter,
    answers: { 200: scheduleOutcomes },
  }),
  'schedules.explain': operation({
    ...{ method: 'GET', path: '/api/v1/schedules/:id/explain', tag: 'schedules', permission: 'schedules:read' },
    summary: 'Says what became of a moment of a schedule, or will, and why',
    params: one,
    query: z.strictObject({ at: givenMoment }),
    answers: { 200: explanation },
    refusals: ['NOT_FOUND'],
  }),
  'schedules.preview': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/preview', tag: 'schedules', permission: 'schedules:read' },
    summary: 'Says in words and dates what a schedule would do',
    readBy: 'service',
    body: previewInput,
    answers: { 200: preview },
    examples: { body: { cron: '0 9 * * *', timezone: 'Europe/Berlin', count: 3 } },
  }),
  'schedules.bulk': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/bulk', tag: 'schedules' },
    permission: ['schedules:write', 'schedules:delete'],
    summary: 'Enables, disables or deletes many schedules',
    description: 'Each is decided by itself; deleting needs schedules:delete, the rest schedules:write.',
    body: bulkInput,
    answers: { 200: bulkAnswer },
    examples: { body: { action: 'disable', ids: ['sch_01j8z3k4m5n6p7q8r9s0t1v2w3'] } },
  }),
}
