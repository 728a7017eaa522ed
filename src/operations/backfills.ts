import { z } from 'zod'
import { backfill, backfillCancel, backfillFilter, backfillInput, backfillPage } from '../contract/backfill.ts'
import { id } from '../contract/common.ts'
import { operation } from '../contract/operation.ts'

const one = z.strictObject({ id })

/** Past moments of schedules that are made into runs. */
export const backfillOperations = {
  'schedules.backfill': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/backfill', tag: 'schedules', permission: 'schedules:run' },
    summary: 'Makes runs for past moments of a schedule',
    description:
      'Of the moments from `from` on and before `to`, those that `which` takes, at most 10,000, in order and no faster ' +
      'than `max_active` and `spacing_ms` say. The plan of the schedule is untouched. With `dry_run` the answer says what ' +
      'would be done, and nothing is changed. One at a time for each schedule.',
    ...{ creates: true, newWork: true },
    params: one,
    body: backfillInput,
    answers: { 200: backfill, 202: backfill },
    refusals: ['NOT_FOUND', 'CONFLICT', 'PENDING_APPROVAL'],
    examples: { body: { from: '2025-10-01T00:00:00Z', to: '2025-11-01T00:00:00Z', max_active: 2, dry_run: true } },
  }),
  'backfills.list': operation({
    ...{ method: 'GET', path: '/api/v1/backfills', tag: 'backfills', permission: 'schedules:read' },
    summary: 'Lists backfills, newest first',
    query: backfillFilter,
    answers: { 200: backfillPage },
  }),
  'backfills.get': operation({
    ...{ method: 'GET', path: '/api/v1/backfills/:id', tag: 'backfills', permission: 'schedules:read' },
    summary: 'Shows how far a backfill has come',
    params: one,
    answers: { 200: backfill },
    refusals: ['NOT_FOUND'],
  }),
  'backfills.cancel': operation({
    ...{ method: 'POST', path: '/api/v1/backfills/:id/cancel', tag: 'backfills', permission: 'schedules:run' },
    summary: 'Ends a backfill early',
    description:
      'No further runs are made, and those that wait are cancelled. What works goes on to its end, unless `running` is ' +
      '`cancel`. What was made stays.',
    bodyOptional: true,
    params: one,
    body: backfillCancel,
    answers: { 200: backfill },
    refusals: ['NOT_FOUND', 'ALREADY_ENDED'],
  }),
}
