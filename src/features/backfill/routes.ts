import { z } from 'zod'
import { backfill, backfillCancel, backfillFilter, backfillInput, backfillPage } from './schema.ts'
import { id } from '../../api/common.ts'
import { cancelBackfill, findBackfills, getBackfill, startBackfill } from './service.ts'
import { answer, operation } from '../../operations/handler.ts'

const backfillParams = z.strictObject({ id })

/** Operations on backfills, which run past occurrences of schedules. */
export const backfillOperations = {
  'schedules.backfill': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/backfill', tag: 'schedules', permission: 'schedules:run' },
    summary: 'Run past occurrences of a schedule',
    description:
      'Creates runs for the occurrences from `from` (inclusive) to `to` (exclusive) that `which` selects, at most ' +
      '10,000, in order and no faster than `max_active` and `spacing_ms` allow. The timing of the schedule does ' +
      'not change. With `dry_run` the answer is the plan, and nothing changes. One backfill at a time per schedule.',
    ...{ creates: true, newWork: true },
    params: backfillParams,
    body: backfillInput,
    answers: { 200: backfill, 202: backfill },
    refusals: ['NOT_FOUND', 'CONFLICT', 'PENDING_APPROVAL'],
    examples: { body: { from: '2025-10-01T00:00:00Z', to: '2025-11-01T00:00:00Z', max_active: 2, dry_run: true } },
  }).by(async ({ ctx, ports, caller, params, body }) => {
    const started = await startBackfill(ports, caller, { id: params.id, input: body })
    if (started.id === null) return answer(200, started)
    ctx.wakeSchedules()
    return answer(202, started)
  }),
  'backfills.list': operation({
    ...{ method: 'GET', path: '/api/v1/backfills', tag: 'backfills', permission: 'schedules:read' },
    summary: 'List backfills, newest first',
    query: backfillFilter,
    answers: { 200: backfillPage },
  }).by(({ ports, caller, query }) => findBackfills(ports, caller, query)),
  'backfills.get': operation({
    ...{ method: 'GET', path: '/api/v1/backfills/:id', tag: 'backfills', permission: 'schedules:read' },
    summary: 'Get a backfill and its progress',
    params: backfillParams,
    answers: { 200: backfill },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getBackfill(ports, caller, params.id)),
  'backfills.cancel': operation({
    ...{ method: 'POST', path: '/api/v1/backfills/:id/cancel', tag: 'backfills', permission: 'schedules:run' },
    summary: 'Cancel a backfill',
    description:
      'No more runs are created, and waiting runs are cancelled. Running ones finish, unless `running` is ' +
      '`cancel`. Finished runs stay.',
    bodyOptional: true,
    params: backfillParams,
    body: backfillCancel,
    answers: { 200: backfill },
    refusals: ['NOT_FOUND', 'ALREADY_ENDED'],
  }).by(({ ports, caller, params, body }) => cancelBackfill(ports, caller, { id: params.id, cancel: body })),
}
