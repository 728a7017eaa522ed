import type { z } from 'zod'
import type { RpcMethodName, RpcMethods } from '../../contract/rpc/methods.ts'
import { addAll } from '../../core/long-lists.ts'
import {
  findBeatRange,
  getHeartbeat,
  patchHeartbeat,
  switchHeartbeat,
  testHeartbeat,
} from '../../service/heartbeat/heartbeats.ts'
import { stopByKey } from '../../service/messages.ts'
import { runScheduleNow } from '../../service/run-actions.ts'
import { findRunsOfSchedule } from '../../service/runs-read.ts'
import { countActiveSchedules, countScheduleRuns } from '../../service/schedule-counts.ts'
import { findSchedules } from '../../service/schedules-find.ts'
import {
  changeSchedule,
  createScheduleFrom,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
} from '../../service/schedules.ts'
import type { CronRunEntry, CronStatus } from '../../contract/rpc/cron.ts'
import { schemaReader } from '../../contract/read-input.ts'
import type { RunView } from '../../contract/run.ts'
import { scheduleInput, schedulePatch } from '../../contract/schedule.ts'
import type { HttpContext } from '../context.ts'
import { inParams, newSchedule, scheduleChange } from './cron-input.ts'
import { viewEntry, viewJob } from './cron-view.ts'
import type { RpcCall } from './call.ts'
import { deliveryIn } from './deliver.ts'
import { heartbeatChange, inHeartbeatParams, viewRpcEntry, viewRpcHeartbeat } from './heartbeat.ts'

type Handlers = {
  readonly [Name in RpcMethodName]: (call: RpcCall<z.infer<RpcMethods[Name]['params']>>) => Promise<unknown>
}

type Named = Readonly<Record<string, unknown>> & { readonly jobId?: unknown; readonly id?: unknown }

/** The job that is meant; which of the names it is under has been checked. */
const jobIn = ({ jobId, id }: Named): string => (typeof jobId === 'string' && jobId !== '' ? jobId : String(id))

/** What changes a plan wakes the loop that watches over it. */
async function changing<T>({ ctx }: { readonly ctx: HttpContext }, change: Promise<T>): Promise<T> {
  const changed = await change
  ctx.wakeSchedules()
  return changed
}

const statusOf = async ({ ctx, caller }: RpcCall<unknown>): Promise<CronStatus> => ({
  enabled: !ctx.isDraining(),
  jobs: await countActiveSchedules(ctx.ports, caller),
})

const MOST_PER_PAGE = 200

/** GoClaw counts entries, pages here go on from the last one: those before the offset are passed over. */
async function entriesOf(
  { ctx, caller }: RpcCall<unknown>,
  id: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly CronRunEntry[]> {
  const found: RunView[] = []
  let cursor: string | null = null
  do {
    const size = Math.min(MOST_PER_PAGE, offset + limit - found.length)
    const page = await findRunsOfSchedule(
      ctx.ports,
      { ...caller, id },
      { limit: size, ...(cursor === null ? {} : { cursor }) },
    )
    addAll(found, page.items)
    cursor = page.next_cursor
  } while (cursor !== null && found.length < offset + limit)
  return found.slice(offset).map((run) => viewEntry(id, run))
}

const readNew = schemaReader(scheduleInput)
const readChange = schemaReader(schedulePatch)

/** Each method calls what REST calls, and presents the answer as GoClaw does. */
export const RPC_HANDLERS: Handlers = {
  'cron.list': async (call) => {
    const { includeDisabled, agentId, limit, cursor } = call.params
    const page = await findSchedules(call.ctx.ports, call.caller, {
      ...{ limit: limit ?? MOST_PER_PAGE, state: includeDisabled === true ? undefined : 'active' },
      ...{ agent_id: agentId || undefined, cursor: cursor || undefined, whole: true },
    })
    const status = await statusOf(call)
    const more = page.next_cursor === null ? {} : { nextCursor: page.next_cursor }
    return { jobs: page.items.map(viewJob), status, ...more }
  },
  'cron.create': async (call) => {
    const { ctx, caller, params } = call
    const { delivery, target } = await deliveryIn(call, params)
    const given = { ...newSchedule(params), ...delivery }
    const made = inParams('', async () => createScheduleFrom(ctx.ports, caller, { input: readNew(given), target }))
    return { job: viewJob(await changing(call, made)) }
  },
  'cron.update': async (call) => {
    const { ctx, caller, params } = call
    const { delivery, target } = await inParams('patch.', () => deliveryIn(call, params.patch))
    const given = { ...scheduleChange(params.patch), ...delivery }
    const id = jobIn(params)
    const changed = inParams('patch.', async () =>
      changeSchedule(ctx.ports, caller, { id, change: readChange(given), target }),
    )
    return { job: viewJob(await changing(call, changed)) }
  },
  'cron.delete': async (call) => {
    await changing(call, deleteSchedule(call.ctx.ports, call.caller, { id: jobIn(call.params) }))
    return { deleted: true }
  },
  'cron.toggle': async (call) => {
    const { ctx, caller, params } = call
    const id = jobIn(params)
    const change = params.enabled ? enableSchedule : disableSchedule
    const { enabled } = await changing(call, change(ctx.ports, caller, { id }))
    return { jobId: id, enabled }
  },
  'cron.status': statusOf,
  'cron.run': async ({ ctx, caller, params }) => {
    const asked = { id: jobIn(params), mode: params.mode ?? 'force' } as const
    const { ran, run_id: runId, reason } = await runScheduleNow(ctx.ports, caller, asked)
    return { ok: true, ran, ...(runId === undefined ? {} : { runId }), ...(reason === undefined ? {} : { reason }) }
  },
  'cron.runs': async (call) => {
    const id = jobIn(call.params)
    const entries = await entriesOf(call, id, { limit: call.params.limit ?? 20, offset: call.params.offset ?? 0 })
    return { entries, total: await countScheduleRuns(call.ctx.ports, call.caller, id) }
  },
  'heartbeat.get': async ({ ctx, caller, params }) => ({
    heartbeat: viewRpcHeartbeat(await getHeartbeat(ctx.ports, caller, params.agentId)),
  }),
  'heartbeat.set': async ({ ctx, caller, params }) => {
    const current = await getHeartbeat(ctx.ports, caller, params.agentId)
    const asked = { id: params.agentId, version: current.version, change: heartbeatChange(params, current) }
    return { heartbeat: viewRpcHeartbeat(await inHeartbeatParams(patchHeartbeat(ctx.ports, caller, asked))) }
  },
  'heartbeat.toggle': async ({ ctx, caller, params }) => {
    const { agentId, enabled } = params
    const after = await switchHeartbeat(ctx.ports, caller, { id: agentId, enabled })
    return { agentId, enabled: after.enabled }
  },
  'heartbeat.test': async ({ ctx, caller, params }) => {
    const { ran, run_id: runId, reason } = await testHeartbeat(ctx.ports, caller, params.agentId)
    return { ok: true, ran, ...(runId === undefined ? {} : { runId }), ...(reason === undefined ? {} : { reason }) }
  },
  'heartbeat.logs': async ({ ctx, caller, params }) => {
    const { agentId: id, limit, offset } = params
    const found = await findBeatRange(ctx.ports, caller, { id, limit: limit ?? 20, offset: offset ?? 0 })
    return { entries: found.items.map(viewRpcEntry), total: found.total }
  },
  'sessions.stop': ({ ctx, caller, params }) => stopByKey(ctx.ports, caller, { key: sessionIn(params), how: 'stop' }),
  'sessions.stopall': ({ ctx, caller, params }) =>
    stopByKey(ctx.ports, caller, { key: sessionIn(params), how: 'stopall' }),
}

const sessionIn = ({
  key,
  sessionKey,
}: {
  readonly key?: string | null | undefined
  readonly sessionKey?: string | null | undefined
}): string => key || sessionKey || ''
