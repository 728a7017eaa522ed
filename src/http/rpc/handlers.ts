import type { z } from 'zod'
import { heartbeatInput, type HeartbeatTestAnswer, type HeartbeatView } from '../../features/heartbeats/schema.ts'
import type { RpcMethodName, RpcMethods } from '../../server/rpc/methods.ts'
import { addAll } from '../../domain/long-lists.ts'
import { findBeatRange, getHeartbeat, patchHeartbeat, switchHeartbeat } from '../../service/heartbeat/heartbeats.ts'
import { findRunsOfSchedule } from '../../service/runs-read.ts'
import { countActiveSchedules, countScheduleRuns } from '../../service/schedule-counts.ts'
import { findSchedules } from '../../service/schedules-find.ts'
import { changeSchedule, createScheduleFrom } from '../../service/schedules.ts'
import type { CronRunEntry, CronStatus } from '../../contract/rpc/cron.ts'
import { schemaReader } from '../../api/read-input.ts'
import type { RunView } from '../../features/runs/schema.ts'
import { scheduleInput, schedulePatch, type RunNowAnswer } from '../../contract/schedule.ts'
import type { HttpContext } from '../context.ts'
import { inParams, newSchedule, scheduleChange } from './cron-input.ts'
import { viewEntry, viewJob } from './cron-view.ts'
import { ask, type RpcCall } from './call.ts'
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

/** What came of running something now. */
const ranOf = ({
  ran,
  run_id: runId,
  reason,
}: RunNowAnswer | HeartbeatTestAnswer): Readonly<Record<string, unknown>> => ({
  ...{ ok: true, ran, ...(runId === undefined ? {} : { runId }) },
  ...(reason === undefined ? {} : { reason }),
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
    await ask(call, 'schedules.delete', { params: { id: jobIn(call.params) } })
    return { deleted: true }
  },
  'cron.toggle': async (call) => {
    const id = jobIn(call.params)
    const operation = call.params.enabled ? 'schedules.enable' : 'schedules.disable'
    const { enabled } = await ask(call, operation, { params: { id } })
    return { jobId: id, enabled }
  },
  'cron.status': statusOf,
  'cron.run': async (call) =>
    ranOf(
      await ask(call, 'schedules.runNow', {
        params: { id: jobIn(call.params) },
        body: { mode: call.params.mode ?? 'force' },
      }),
    ),
  'cron.runs': async (call) => {
    const id = jobIn(call.params)
    const entries = await entriesOf(call, id, { limit: call.params.limit ?? 20, offset: call.params.offset ?? 0 })
    return { entries, total: await countScheduleRuns(call.ctx.ports, call.caller, id) }
  },
  'heartbeat.get': async (call) => ({
    heartbeat: viewRpcHeartbeat(await ask(call, 'heartbeat.get', { params: { id: call.params.agentId } })),
  }),
  'heartbeat.set': async ({ ctx, caller, params }) => {
    const current = await getHeartbeat(ctx.ports, caller, params.agentId)
    const given = heartbeatChange(params, current)
    const set = async (): Promise<HeartbeatView> => {
      const change = schemaReader(heartbeatInput)(given)
      return patchHeartbeat(ctx.ports, caller, { id: params.agentId, version: current.version, change })
    }
    return { heartbeat: viewRpcHeartbeat(await inHeartbeatParams(set())) }
  },
  'heartbeat.toggle': async ({ ctx, caller, params }) => {
    const { agentId, enabled } = params
    const after = await switchHeartbeat(ctx.ports, caller, { id: agentId, enabled })
    return { agentId, enabled: after.enabled }
  },
  'heartbeat.test': async (call) => ranOf(await ask(call, 'heartbeat.test', { params: { id: call.params.agentId } })),
  'heartbeat.logs': async ({ ctx, caller, params }) => {
    const { agentId: id, limit, offset } = params
    const found = await findBeatRange(ctx.ports, caller, { id, limit: limit ?? 20, offset: offset ?? 0 })
    return { entries: found.items.map(viewRpcEntry), total: found.total }
  },
  'sessions.stop': (call) => ask(call, 'sessions.stop', { params: { key: sessionIn(call.params) } }),
  'sessions.stopall': (call) => ask(call, 'sessions.stopAll', { params: { key: sessionIn(call.params) } }),
}

const sessionIn = ({
  key,
  sessionKey,
}: {
  readonly key?: string | null | undefined
  readonly sessionKey?: string | null | undefined
}): string => key || sessionKey || ''
