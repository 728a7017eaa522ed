import type { z } from 'zod'
import { schemaReader } from '../../api/read-input.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { Flaw } from '../../domain/input.ts'
import { addAll } from '../../domain/long-lists.ts'
import {
  type HeartbeatInput,
  heartbeatInput,
  type HeartbeatLogView,
  type HeartbeatTestAnswer,
  type HeartbeatView,
} from '../../features/heartbeats/schema.ts'
import {
  findHeartbeatLogRange,
  getHeartbeat,
  updateHeartbeat,
  setHeartbeatEnabled,
} from '../../features/heartbeats/service.ts'
import type { RunView } from '../../features/runs/schema.ts'
import { findRunsOfSchedule } from '../../features/runs/service.ts'
import { countActiveSchedules, countScheduleRuns, findSchedules } from '../../features/schedules/find.ts'
import { type RunNowAnswer, scheduleInput, schedulePatch } from '../../features/schedules/schema.ts'
import { updateSchedule, createScheduleFrom } from '../../features/schedules/service.ts'
import type { HttpContext } from '../http/context.ts'
import {
  callOperation,
  deliveryIn,
  withParamNames,
  newSchedule,
  type RpcCall,
  scheduleChange,
  viewEntry,
  viewJob,
} from './cron.ts'
import type { RpcMethodName, RpcMethods } from './methods.ts'
import type { CronRunEntry, CronStatus, HeartbeatSetParams, RpcHeartbeat, RpcHeartbeatEntry } from './schema.ts'

/** Converts the params of `heartbeat.set` to a change of the heartbeat. Omitted fields stay unchanged. */
function heartbeatChange(params: HeartbeatSetParams, current: HeartbeatView): HeartbeatInput {
  const { enabled, intervalSec, prompt, ackMaxChars, session, adaptive } = params
  return {
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(intervalSec === undefined ? {} : { interval_seconds: intervalSec }),
    ...(prompt === undefined ? {} : { prompt: prompt === '' ? null : prompt }),
    ...(ackMaxChars === undefined ? {} : { ack_max_chars: ackMaxChars }),
    ...(session === undefined ? {} : { session: session === '' ? null : session }),
    ...(adaptive === undefined ? {} : { adaptive }),
    ...checklistOf(params),
    ...hoursOf(params, current),
    ...targetOf(params),
  }
}

function checklistOf({ checklist, checklistFile }: HeartbeatSetParams): HeartbeatInput {
  if (checklist !== undefined && checklistFile !== undefined)
    throw invalid([
      {
        field: 'checklistFile',
        value: checklistFile,
        message: 'and checklist cannot be combined; give only one',
      },
    ])
  if (checklistFile !== undefined) return { checklist: checklistFile === null ? null : { file: checklistFile } }
  if (checklist === undefined) return {}
  return { checklist: checklist === null ? null : { text: checklist } }
}

/** Converts the active hours; two empty times mean always. */
function hoursOf(params: HeartbeatSetParams, { active_hours: now }: HeartbeatView): HeartbeatInput {
  const { activeHoursStart, activeHoursEnd, timezone } = params
  if (activeHoursStart === undefined && activeHoursEnd === undefined && timezone === undefined) return {}
  const start = (activeHoursStart === undefined ? now?.start : activeHoursStart) || undefined
  const end = (activeHoursEnd === undefined ? now?.end : activeHoursEnd) || undefined
  if (start === undefined && end === undefined) return { active_hours: null }
  const zone = (timezone === undefined ? now?.timezone : timezone) || undefined
  // The schema reports missing fields.
  return {
    active_hours: {
      ...(start === undefined ? {} : { start }),
      ...(end === undefined ? {} : { end }),
      ...(zone === undefined ? {} : { timezone: zone }),
    } as NonNullable<HeartbeatInput['active_hours']>,
  }
}

function targetOf({ target, channel, chatId }: HeartbeatSetParams): HeartbeatInput {
  if (channel === undefined && chatId === undefined) return target === undefined ? {} : { target: target || null }
  if (target !== undefined)
    throw invalid([{ field: 'target', value: target, message: 'and channel cannot be combined; give only one' }])
  if (!channel && chatId) throw invalid([{ field: 'channel', value: channel, message: 'is required with chatId' }])
  return { target: channel ? (chatId ? `${channel}:${chatId}` : channel) : null }
}

/** Maps fields of a heartbeat to parameter names. */
const HEARTBEAT_FIELD_PARAMS: Readonly<Record<string, string>> = {
  interval_seconds: 'intervalSec',
  ack_max_chars: 'ackMaxChars',
  'active_hours.start': 'activeHoursStart',
  'active_hours.end': 'activeHoursEnd',
  'active_hours.timezone': 'timezone',
  active_hours: 'activeHoursStart',
  'checklist.text': 'checklist',
  'checklist.file': 'checklistFile',
}

/** Runs a heartbeat operation and reports flaws under the parameter names. */
async function withHeartbeatParamNames<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal && error.flaws.length > 0)
      throw invalid(
        error.flaws.map((flaw): Flaw => ({ ...flaw, field: HEARTBEAT_FIELD_PARAMS[flaw.field] ?? flaw.field })),
      )
    throw error
  }
}

/** Converts a heartbeat to the format of /rpc. */
function viewRpcHeartbeat(heartbeat: HeartbeatView): RpcHeartbeat {
  const { active_hours: hours, checklist, next_at: next, adaptive } = heartbeat
  return {
    agentId: heartbeat.agent_id,
    enabled: heartbeat.enabled,
    intervalSec: heartbeat.interval_seconds,
    prompt: heartbeat.prompt,
    ...(checklist === null
      ? {}
      : 'text' in checklist
        ? { checklist: checklist.text }
        : { checklistFile: checklist.file }),
    target: heartbeat.target,
    ...(heartbeat.route === null ? {} : { route: heartbeat.route }),
    ...(heartbeat.no_route === null ? {} : { noRoute: heartbeat.no_route }),
    ackMaxChars: heartbeat.ack_max_chars,
    session: heartbeat.session,
    ...(hours === null ? {} : { activeHoursStart: hours.start, activeHoursEnd: hours.end, timezone: hours.timezone }),
    adaptive: adaptive !== null,
    okStreak: heartbeat.ok_streak,
    ...(next === null ? {} : { nextRunAtMs: Date.parse(next) }),
  }
}

/** Converts a log entry to the format of /rpc. */
const viewRpcEntry = (entry: HeartbeatLogView): RpcHeartbeatEntry => ({
  ...{ id: entry.id, ts: Date.parse(entry.at), status: entry.outcome, reason: entry.reason, message: entry.sentence },
  ...(entry.content === null ? {} : { content: entry.content }),
  ...(entry.run_id === null ? {} : { runId: entry.run_id }),
  ...(entry.delivery_status === null ? {} : { deliveryStatus: entry.delivery_status }),
})

type Handlers = {
  readonly [Name in RpcMethodName]: (call: RpcCall<z.infer<RpcMethods[Name]['params']>>) => Promise<unknown>
}

type JobReference = Readonly<Record<string, unknown>> & { readonly jobId?: unknown; readonly id?: unknown }

/** The id of the job, under either of its names, which have been validated. */
const jobIn = ({ jobId, id }: JobReference): string => (typeof jobId === 'string' && jobId !== '' ? jobId : String(id))

/** Wakes the schedule loop after a change. */
async function wakeAfter<T>({ ctx }: { readonly ctx: HttpContext }, change: Promise<T>): Promise<T> {
  const changed = await change
  ctx.wakeSchedules()
  return changed
}

const statusOf = async ({ ctx, caller }: RpcCall<unknown>): Promise<CronStatus> => ({
  enabled: !ctx.isDraining(),
  jobs: await countActiveSchedules(ctx.ports, caller),
})

/** The result of running something now. */
const runResultOf = ({
  ran,
  run_id: runId,
  reason,
}: RunNowAnswer | HeartbeatTestAnswer): Readonly<Record<string, unknown>> => ({
  ...{ ok: true, ran, ...(runId === undefined ? {} : { runId }) },
  ...(reason === undefined ? {} : { reason }),
})

const MAX_PAGE_SIZE = 200

/** GoClaw pages by offset, and the API by cursor, so the entries before the offset are read and dropped. */
async function entriesOf(
  { ctx, caller }: RpcCall<unknown>,
  id: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly CronRunEntry[]> {
  const found: RunView[] = []
  let cursor: string | null = null
  do {
    const size = Math.min(MAX_PAGE_SIZE, offset + limit - found.length)
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

/** Each method calls the same service as REST and returns the result in the format of GoClaw. */
export const RPC_HANDLERS: Handlers = {
  'cron.list': async (call) => {
    const { includeDisabled, agentId, limit, cursor } = call.params
    const page = await findSchedules(call.ctx.ports, call.caller, {
      ...{ limit: limit ?? MAX_PAGE_SIZE, state: includeDisabled === true ? undefined : 'active' },
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
    const created = withParamNames('', async () =>
      createScheduleFrom(ctx.ports, caller, { input: readNew(given), target }),
    )
    return { job: viewJob(await wakeAfter(call, created)) }
  },
  'cron.update': async (call) => {
    const { ctx, caller, params } = call
    const { delivery, target } = await withParamNames('patch.', () => deliveryIn(call, params.patch))
    const given = { ...scheduleChange(params.patch), ...delivery }
    const id = jobIn(params)
    const changed = withParamNames('patch.', async () =>
      updateSchedule(ctx.ports, caller, { id, change: readChange(given), target }),
    )
    return { job: viewJob(await wakeAfter(call, changed)) }
  },
  'cron.delete': async (call) => {
    await callOperation(call, 'schedules.delete', { params: { id: jobIn(call.params) } })
    return { deleted: true }
  },
  'cron.toggle': async (call) => {
    const id = jobIn(call.params)
    const operation = call.params.enabled ? 'schedules.enable' : 'schedules.disable'
    const { enabled } = await callOperation(call, operation, { params: { id } })
    return { jobId: id, enabled }
  },
  'cron.status': statusOf,
  'cron.run': async (call) =>
    runResultOf(
      await callOperation(call, 'schedules.runNow', {
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
    heartbeat: viewRpcHeartbeat(await callOperation(call, 'heartbeat.get', { params: { id: call.params.agentId } })),
  }),
  'heartbeat.set': async ({ ctx, caller, params }) => {
    const current = await getHeartbeat(ctx.ports, caller, params.agentId)
    const given = heartbeatChange(params, current)
    const set = async (): Promise<HeartbeatView> => {
      const change = schemaReader(heartbeatInput)(given)
      return updateHeartbeat(ctx.ports, caller, { id: params.agentId, version: current.version, change })
    }
    return { heartbeat: viewRpcHeartbeat(await withHeartbeatParamNames(set())) }
  },
  'heartbeat.toggle': async ({ ctx, caller, params }) => {
    const { agentId, enabled } = params
    const after = await setHeartbeatEnabled(ctx.ports, caller, { id: agentId, enabled })
    return { agentId, enabled: after.enabled }
  },
  'heartbeat.test': async (call) =>
    runResultOf(await callOperation(call, 'heartbeat.test', { params: { id: call.params.agentId } })),
  'heartbeat.logs': async ({ ctx, caller, params }) => {
    const { agentId: id, limit, offset } = params
    const found = await findHeartbeatLogRange(ctx.ports, caller, { id, limit: limit ?? 20, offset: offset ?? 0 })
    return { entries: found.items.map(viewRpcEntry), total: found.total }
  },
  'sessions.stop': (call) => callOperation(call, 'sessions.stop', { params: { key: sessionKeyOf(call.params) } }),
  'sessions.stopall': (call) => callOperation(call, 'sessions.stopAll', { params: { key: sessionKeyOf(call.params) } }),
}

const sessionKeyOf = ({
  key,
  sessionKey,
}: {
  readonly key?: string | null | undefined
  readonly sessionKey?: string | null | undefined
}): string => key || sessionKey || ''
