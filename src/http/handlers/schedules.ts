import type { scheduleOperations } from '../../operations/schedules.ts'
import type { ScheduleView } from '../../contract/schedule.ts'
import { isPermitted } from '../../core/access.ts'
import { forecastDraft } from '../../service/forecast/draft.ts'
import { tryProbe } from '../../service/probe/try.ts'
import { runScheduleNow } from '../../service/run-actions.ts'
import { findRunsOfSchedule } from '../../service/runs-read.ts'
import { readOutcomes } from '../../service/schedule-outcomes.ts'
import { approveSchedule, rejectSchedule } from '../../service/rails/approve.ts'
import { previewSchedule } from '../../service/schedule-preview.ts'
import { changeSchedules } from '../../service/schedules-bulk.ts'
import { findSchedules } from '../../service/schedules-find.ts'
import { explainOccurrence } from '../../service/explain/occurrence.ts'
import {
  changeSchedule,
  createScheduleFrom,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  getSchedule,
} from '../../service/schedules.ts'
import { simulation } from '../simulation.ts'
import type { HandlersOf } from '../call.ts'
import type { HttpContext } from '../context.ts'
import { requirePermission } from '../gate.ts'
import { askerOf } from './explain.ts'
import { withSeedNames } from './seed-names.ts'

/** What changes a plan wakes the loop that watches over it. */
async function changing<T>(ctx: HttpContext, change: Promise<T>): Promise<T> {
  const changed = await change
  ctx.wakeSchedules()
  return changed
}

/** The same for a change that answers with the schedule. */
const changingOne = async (ctx: HttpContext, change: Promise<ScheduleView>): Promise<ScheduleView> =>
  withSeedNames(await changing(ctx, change))

/** The life of a schedule. */
export const scheduleHandlers: HandlersOf<typeof scheduleOperations> = {
  'schedules.create': ({ ctx, ports, caller, query, body }) =>
    changingOne(ctx, createScheduleFrom(ports, caller, { input: body, fromRun: query.from_run })),
  'schedules.list': async ({ ports, caller, query }) => {
    const page = await findSchedules(ports, caller, query)
    return { ...page, items: page.items.map(withSeedNames) }
  },
  'schedules.get': async ({ ports, caller, params }) => withSeedNames(await getSchedule(ports, caller, params.id)),
  'schedules.update': ({ ctx, ports, caller, params, body, ifMatch }) =>
    changingOne(ctx, changeSchedule(ports, caller, { id: params.id, version: ifMatch, change: body })),
  'schedules.delete': async ({ ctx, ports, caller, params, ifMatch }) => {
    await changing(ctx, deleteSchedule(ports, caller, { id: params.id, version: ifMatch }))
    return undefined
  },
  'schedules.enable': ({ ctx, ports, caller, params, ifMatch }) =>
    changingOne(ctx, enableSchedule(ports, caller, { id: params.id, version: ifMatch })),
  'schedules.disable': ({ ctx, ports, caller, params, ifMatch }) =>
    changingOne(ctx, disableSchedule(ports, caller, { id: params.id, version: ifMatch })),
  'schedules.approve': ({ ctx, ports, caller, params, ifMatch }) =>
    changingOne(ctx, approveSchedule(ports, caller, { id: params.id, version: ifMatch })),
  'schedules.reject': ({ ctx, ports, caller, params, body, ifMatch }) =>
    changingOne(ctx, rejectSchedule(ports, caller, { id: params.id, version: ifMatch, reject: body })),
  'schedules.runNow': ({ ports, caller, params, body }) =>
    runScheduleNow(ports, caller, { id: params.id, mode: body.mode ?? 'force' }),
  'schedules.runs': ({ ports, caller, params, query }) =>
    findRunsOfSchedule(ports, { ...caller, id: params.id }, query),
  'schedules.outcomes': ({ ports, caller, query }) => readOutcomes(ports, caller, query),
  'schedules.explain': (call) =>
    explainOccurrence(call.ports, askerOf(call), { id: call.params.id, at: call.query.at }),
  'schedules.preview': ({ ports, caller, body }) => previewSchedule(ports, caller, body),
  'schedules.probe': ({ ports, caller, body }) => tryProbe(ports, caller, body),
  'schedules.simulate': (call) => simulation(call),
  'schedules.forecast': ({ ports, caller, principal, body }) =>
    forecastDraft(ports, caller, { input: body, seesBudgets: isPermitted(principal, 'budgets:read') }),
  'schedules.bulk': (call) => {
    requirePermission(call, call.body.action === 'delete' ? 'schedules:delete' : 'schedules:write')
    return changing(call.ctx, changeSchedules(call.ports, call.caller, call.body))
  },
}
