import { z } from 'zod'
import { plainTimeInput, id } from '../../api/common.ts'
import { isPermitted } from '../../domain/access/access.ts'
import { explainOccurrence } from '../explain/occurrence.ts'
import { explainCallerOf } from '../explain/routes.ts'
import { occurrenceExplanation } from '../explain/schema.ts'
import { forecastDraft } from '../forecast/draft.ts'
import { scheduleForecast, scheduleForecastInput } from '../forecast/schema.ts'
import { probeTry, probeTryInput } from '../probes/schema.ts'
import { tryProbe } from '../probes/service.ts'
import { runFilter, runPage } from '../runs/schema.ts'
import { findRunsOfSchedule, runScheduleNow } from '../runs/service.ts'
import { approveSchedule, rejectSchedule } from './approve.ts'
import { findSchedules, loadScheduleOutcomes } from './find.ts'
import { previewSchedule } from './preview.ts'
import {
  rejectInput,
  runNowAnswer,
  runNowInput,
  schedule,
  scheduleFilter,
  scheduleInput,
  schedulePage,
  schedulePatch,
  type ScheduleView,
} from './schema.ts'
import {
  updateSchedule,
  bulkUpdateSchedules,
  createScheduleFrom,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
} from './service.ts'
import { bulkAnswer, bulkInput, outcomesFilter, preview, previewInput, scheduleOutcomes } from './views-schema.ts'
import { simulateAnswer, simulateInput } from '../simulation/schema.ts'
import { simulateSchedules } from '../simulation/service.ts'
import type { OperationContext } from '../../operations/context.ts'
import { operation } from '../../operations/handler.ts'
import { requirePermission } from '../../operations/perform.ts'

/** Adds the timing under its compatibility names, so that a client that writes those names can read them back. */
const withCompatibleNames = (view: ScheduleView): ScheduleView => ({ ...view, ...compatibleTimingOf(view) })

function compatibleTimingOf({ kind, at, cron, every_seconds: seconds, everyMs }: ScheduleView): Partial<ScheduleView> {
  switch (kind) {
    case 'at':
      return { schedule_type: 'once', ...(at === undefined ? {} : { run_at: at }) }
    case 'every': {
      const interval = seconds ?? (everyMs === undefined ? undefined : everyMs / 1_000)
      return { schedule_type: 'interval', ...(interval === undefined ? {} : { interval_seconds: interval }) }
    }
    case 'cron':
      return { schedule_type: 'cron', ...(cron === undefined ? {} : { cron_expr: cron }) }
    case 'rrule':
      return { schedule_type: 'rrule' }
  }
}

const scheduleParams = z.strictObject({ id })
const fromRunQuery = z.strictObject({ from_run: id.optional() })
const exampleInput = {
  name: 'Look at the inbox',
  cron: '*/30 8-18 * * MON-FRI',
  timezone: 'Europe/Berlin',
  payload: 'Look',
}

/** Wakes the schedule loop after a change of a plan. */
async function wakeAfterChange<T>(ctx: OperationContext, change: Promise<T>): Promise<T> {
  const changed = await change
  ctx.wakeSchedules()
  return changed
}

/** The same for a change that returns the schedule. */
const viewAfterChange = async (ctx: OperationContext, change: Promise<ScheduleView>): Promise<ScheduleView> =>
  withCompatibleNames(await wakeAfterChange(ctx, change))

/** Operations on schedules. */
export const scheduleOperations = {
  'schedules.create': operation({
    ...{ method: 'POST', path: '/api/v1/schedules', tag: 'schedules', permission: 'schedules:write' },
    restrictedAccess: 'list',
    summary: 'Create a schedule',
    description:
      "Without an agent, the schedule uses the org's default agent. Synonyms of the fields are accepted. `from_run` " +
      'names the run that the schedule was created from; the id is stored as `created_by_run`, and ' +
      'the lineage of the run shows the schedule.',
    ...{ creates: true, newWork: true, etag: true },
    query: fromRunQuery,
    body: scheduleInput,
    answers: { 201: schedule },
    refusals: ['CONFLICT', 'RULE_TOO_DENSE'],
    examples: { body: exampleInput },
  }).by(({ ctx, ports, caller, query, body }) =>
    viewAfterChange(ctx, createScheduleFrom(ports, caller, { input: body, fromRun: query.from_run })),
  ),
  'schedules.list': operation({
    ...{ method: 'GET', path: '/api/v1/schedules', tag: 'schedules', permission: 'schedules:read' },
    restrictedAccess: 'list',
    summary: 'List schedules',
    query: scheduleFilter,
    answers: { 200: schedulePage },
  }).by(async ({ ports, caller, query }) => {
    const page = await findSchedules(ports, caller, query)
    return { ...page, items: page.items.map(withCompatibleNames) }
  }),
  'schedules.get': operation({
    ...{ method: 'GET', path: '/api/v1/schedules/:id', tag: 'schedules', permission: 'schedules:read' },
    restrictedAccess: 'schedule',
    summary: 'Get a schedule',
    etag: true,
    params: scheduleParams,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND'],
  }).by(async ({ ports, caller, params }) => withCompatibleNames(await getSchedule(ports, caller, params.id))),
  'schedules.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/schedules/:id', tag: 'schedules', permission: 'schedules:write' },
    restrictedAccess: 'schedule',
    summary: 'Update a schedule',
    description:
      'Omitted fields keep their values; null restores the default. Only a change of timing moves the next run.',
    etag: true,
    params: scheduleParams,
    body: schedulePatch,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND', 'STALE_VERSION', 'RULE_TOO_DENSE', 'GUARD_RAIL_RATE', 'LINEAGE_LOOP'],
    examples: { body: { every_seconds: 900 } },
  }).by(({ ctx, ports, caller, params, body, ifMatch }) =>
    viewAfterChange(ctx, updateSchedule(ports, caller, { id: params.id, version: ifMatch, change: body })),
  ),
  'schedules.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/schedules/:id', tag: 'schedules', permission: 'schedules:delete' },
    restrictedAccess: 'schedule',
    summary: 'Delete a schedule',
    description: 'Active runs continue, and the history stays.',
    etag: true,
    params: scheduleParams,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'STALE_VERSION'],
  }).by(({ ctx, ports, caller, params, ifMatch }) =>
    wakeAfterChange(ctx, deleteSchedule(ports, caller, { id: params.id, version: ifMatch })),
  ),
  'schedules.enable': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/enable', tag: 'schedules', permission: 'schedules:write' },
    restrictedAccess: 'schedule',
    summary: 'Enable a schedule',
    etag: true,
    params: scheduleParams,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND', 'PENDING_APPROVAL', 'STALE_VERSION', 'LINEAGE_LOOP'],
  }).by(({ ctx, ports, caller, params, ifMatch }) =>
    viewAfterChange(ctx, enableSchedule(ports, caller, { id: params.id, version: ifMatch })),
  ),
  'schedules.disable': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/disable', tag: 'schedules', permission: 'schedules:write' },
    restrictedAccess: 'schedule',
    summary: 'Disable a schedule',
    description: 'No further occurrences; active runs continue.',
    etag: true,
    params: scheduleParams,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND', 'STALE_VERSION'],
  }).by(({ ctx, ports, caller, params, ifMatch }) =>
    viewAfterChange(ctx, disableSchedule(ports, caller, { id: params.id, version: ifMatch })),
  ),
  'schedules.approve': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/approve', tag: 'schedules', permission: 'schedules:write' },
    summary: 'Approve a schedule proposed with a restricted key',
    description:
      'For owners and admins. The schedule becomes active. With `If-Match`, exactly the version that was reviewed ' +
      'is approved.',
    ...{ approving: true, etag: true },
    params: scheduleParams,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND', 'CONFLICT', 'STALE_VERSION'],
  }).by(({ ctx, ports, caller, params, ifMatch }) =>
    viewAfterChange(ctx, approveSchedule(ports, caller, { id: params.id, version: ifMatch })),
  ),
  'schedules.reject': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/reject', tag: 'schedules', permission: 'schedules:write' },
    summary: 'Reject a schedule proposed with a restricted key',
    description: 'For owners and admins. The schedule stays, disabled, with the reason; changing it proposes it again.',
    ...{ approving: true, etag: true },
    params: scheduleParams,
    body: rejectInput,
    answers: { 200: schedule },
    refusals: ['NOT_FOUND', 'CONFLICT', 'STALE_VERSION'],
    examples: { body: { reason: 'Twice a day is enough' } },
  }).by(({ ctx, ports, caller, params, body, ifMatch }) =>
    viewAfterChange(ctx, rejectSchedule(ports, caller, { id: params.id, version: ifMatch, reject: body })),
  ),
  'schedules.runNow': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/:id/run-now', tag: 'schedules', permission: 'schedules:run' },
    restrictedAccess: 'schedule',
    summary: 'Run a schedule now',
    description: 'Works on disabled schedules. Mode `due` runs it only if an occurrence is due.',
    ...{ creates: true, newWork: true, admits: true, bodyOptional: true },
    params: scheduleParams,
    body: runNowInput,
    answers: { 202: runNowAnswer },
    refusals: ['NOT_FOUND', 'CONCURRENCY_LIMIT', 'PENDING_APPROVAL'],
    examples: { body: { mode: 'force' }, answer: { ran: true, run_id: 'run_01j8z3k4m5n6p7q8r9s0t1v2w3' } },
  }).by(({ ports, caller, params, body }) =>
    runScheduleNow(ports, caller, { id: params.id, mode: body.mode ?? 'force' }),
  ),
  'schedules.runs': operation({
    ...{ method: 'GET', path: '/api/v1/schedules/:id/runs', tag: 'schedules', permission: 'schedules:read' },
    restrictedAccess: 'schedule',
    summary: 'List the runs of a schedule',
    params: scheduleParams,
    query: runFilter,
    answers: { 200: runPage },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params, query }) => findRunsOfSchedule(ports, { ...caller, id: params.id }, query)),
  'schedules.outcomes': operation({
    ...{ method: 'GET', path: '/api/v1/schedules/outcomes', tag: 'schedules', permission: 'schedules:read' },
    restrictedAccess: 'list',
    summary: 'Get the recent outcomes of many schedules',
    description:
      'Takes up to 200 ids, separated by commas, and returns the last 20 runs of each by default, newest first. Unknown ' +
      'schedules are left out.',
    query: outcomesFilter,
    answers: { 200: scheduleOutcomes },
    examples: { query: 'ids=$ID,$OTHER_ID' },
  }).by(({ ports, caller, query }) => loadScheduleOutcomes(ports, caller, query)),
  'schedules.explain': operation({
    ...{ method: 'GET', path: '/api/v1/schedules/:id/explain', tag: 'schedules', permission: 'schedules:read' },
    restrictedAccess: 'schedule',
    summary: 'Explain an occurrence of a schedule, past or future',
    description: 'Includes every check, the objects that the evidence refers to, and possible actions.',
    params: scheduleParams,
    query: z.strictObject({ at: plainTimeInput }),
    answers: { 200: occurrenceExplanation },
    refusals: ['NOT_FOUND'],
    examples: { query: 'at=2026-05-01T09:00:00Z' },
  }).by((call) => explainOccurrence(call.ports, explainCallerOf(call), { id: call.params.id, at: call.query.at })),
  'schedules.preview': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/preview', tag: 'schedules', permission: 'schedules:read' },
    restrictedAccess: 'free',
    summary: 'Preview a schedule as a sentence and dates',
    body: previewInput,
    answers: { 200: preview },
    refusals: ['RULE_TOO_DENSE', 'COMPUTE_BUSY'],
    examples: { body: { cron: '0 9 * * *', timezone: 'Europe/Berlin', count: 3 } },
  }).by(({ ports, caller, body }) => previewSchedule(ports, caller, body)),
  'schedules.probe': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/probe', tag: 'schedules', permission: 'schedules:write' },
    summary: 'Run a probe once and show the decision',
    description:
      'Takes the probe of a schedule or heartbeat, or with `schedule_id` alone runs the probe of that schedule. ' +
      'Nothing is counted, and no agent runs.',
    body: probeTryInput,
    answers: { 200: probeTry },
    refusals: ['NOT_FOUND'],
    examples: {
      body: {
        probe: {
          ...{ kind: 'http', url: 'https://status.example.com/api/incidents' },
          when: { path: '/open', op: '>', value: 0 },
        },
      },
    },
  }).by(({ ports, caller, body }) => tryProbe(ports, caller, body)),
  'schedules.simulate': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/simulate', tag: 'schedules', permission: 'schedules:read' },
    summary: 'Simulate schedules over a period of time',
    description:
      'Simulates new schedules, stored ones or all active ones, with assumed or recorded durations and failures, ' +
      'outages and other policies; or shows what other policies would have done in the past. Nothing is saved. With `Accept: ' +
      'text/event-stream` the answer is a stream of `progress` events with `{done, total}` and one `result` or ' +
      '`problem`. Closing the connection stops the simulation.',
    progress: true,
    body: simulateInput,
    answers: { 200: simulateAnswer },
    refusals: ['RULE_TOO_DENSE', 'SIMULATION_BUSY', 'SIMULATION_LIMIT'],
    examples: {
      body: {
        schedules: [{ cron: '*/5 * * * *', overlap_action: 'SKIP' }],
        window_seconds: 3_600,
        assume: { duration_ms: 420_000 },
        against: [{ set: { overlap_action: 'CANCEL_PREV' } }],
      },
    },
  }).by(({ ports, caller, body, signal, progress }) =>
    simulateSchedules(ports, caller, { input: body, signal: signal(), progress }),
  ),
  'schedules.forecast': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/forecast', tag: 'schedules', permission: 'schedules:read' },
    summary: 'Forecast the usage of a schedule before saving it',
    description:
      'Takes the fields of a new schedule, or with `id` the changes of an existing one, and shows the usage of the ' +
      'runs, the basis of the estimate, and the effect on each budget. Budgets require budgets:read.',
    body: scheduleForecastInput,
    answers: { 200: scheduleForecast },
    refusals: ['NOT_FOUND', 'RULE_TOO_DENSE', 'COMPUTE_BUSY'],
    examples: { body: { every_seconds: 900, payload: 'Look at the inbox', days: 30 } },
  }).by(({ ports, caller, principal, body }) =>
    forecastDraft(ports, caller, { input: body, seesBudgets: isPermitted(principal, 'budgets:read') }),
  ),
  'schedules.bulk': operation({
    ...{ method: 'POST', path: '/api/v1/schedules/bulk', tag: 'schedules' },
    permission: ['schedules:write', 'schedules:delete'],
    restrictedAccess: 'list',
    summary: 'Enable, disable or delete many schedules',
    description: 'Each is decided on its own; deleting requires schedules:delete, the rest schedules:write.',
    body: bulkInput,
    answers: { 200: bulkAnswer },
    examples: { body: { action: 'disable', ids: ['sch_01j8z3k4m5n6p7q8r9s0t1v2w3'] } },
  }).by((call) => {
    requirePermission(call, call.body.action === 'delete' ? 'schedules:delete' : 'schedules:write')
    return wakeAfterChange(call.ctx, bulkUpdateSchedules(call.ports, call.caller, call.body))
  }),
}
