import type { AnswerBodyOf, BodyOf, ParamsOf } from '../../api/operation.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import type { Flaw } from '../../domain/input.ts'
import type { Caller } from '../../features/access/caller.ts'
import { deliveryRefusal } from '../../features/access/restricted-input.ts'
import type { RunView } from '../../features/runs/schema.ts'
import type { ScheduleInput, ScheduleView } from '../../features/schedules/schema.ts'
import { targetForDestination, type TargetOfDestination } from '../../features/targets/chat-target.ts'
import type { Operation } from '../../operations/handler.ts'
import { type OperationCall, readersFor, requirePermission } from '../../operations/perform.ts'
import { type OperationId, OPERATIONS, type Operations } from '../../operations/table.ts'
import type { HttpContext } from '../http/context.ts'
import type {
  CreateParams,
  CronJob,
  CronJobSchedule,
  CronRunEntry,
  CronRunStatus,
  CronScheduleParams,
  PatchParams,
} from './schema.ts'

/** An authorized and validated call. */
export interface RpcCall<Params> {
  readonly ctx: HttpContext
  readonly caller: Caller
  readonly principal: Principal
  readonly params: Params
}

/** Executes an operation for a call; the method has already required its permission. */
export async function callOperation<Id extends OperationId>(
  { ctx, caller, principal }: RpcCall<unknown>,
  id: Id,
  given: { readonly params: ParamsOf<Operations[Id]>; readonly body?: BodyOf<Operations[Id]> },
): Promise<AnswerBodyOf<Operations[Id]>> {
  const operation: Operation = OPERATIONS[id]
  const { params, body } = readersFor(operation)
  const call: OperationCall = {
    ...{ ctx, ports: ctx.ports, caller, principal, ifMatch: undefined, http: null },
    ...{ params: params?.(given.params) ?? {}, query: {}, body: body?.(given.body) },
    signal: () => new AbortController().signal,
  }
  return await (operation.handle as (call: OperationCall) => Promise<AnswerBodyOf<Operations[Id]>>)(call)
}

/** An empty text counts as omitted in GoClaw. */
const nonEmptyText = (text: string | null | undefined): string | undefined =>
  text === null || text === undefined || text === '' ? undefined : text

type Writable = { -readonly [Name in keyof ScheduleInput]: ScheduleInput[Name] }

function timingOf(schedule: CronScheduleParams | null | undefined): ScheduleInput {
  const { kind, atMs, everyMs, expr, tz } = schedule ?? {}
  const [rule, zone] = [nonEmptyText(expr), nonEmptyText(tz)]
  return {
    ...(kind === null || kind === undefined ? {} : { kind }),
    ...(atMs === null || atMs === undefined ? {} : { atMs }),
    ...(everyMs === null || everyMs === undefined ? {} : { everyMs }),
    ...(rule === undefined ? {} : { expr: rule }),
    ...(zone === undefined ? {} : { tz: zone }),
  }
}

function fieldsOf(job: CreateParams | PatchParams): Writable {
  const fields: Writable = { ...timingOf(job.schedule) }
  const [name, message] = [nonEmptyText(job.name), nonEmptyText(job.message)]
  if (name !== undefined) fields.name = name
  if (message !== undefined) fields.payload = { prompt: message }
  if (typeof job.enabled === 'boolean') fields.enabled = job.enabled
  if (typeof job.deleteAfterRun === 'boolean') fields.delete_after_run = job.deleteAfterRun
  if (typeof job.stateless === 'boolean') fields.session = job.stateless ? 'isolated' : 'main'
  return fields
}

/** Converts a new job to a schedule. */
export function newSchedule(job: CreateParams): ScheduleInput {
  const agent = nonEmptyText(job.agentId)
  return { ...fieldsOf(job), ...(agent === undefined ? {} : { agent_id: agent }) }
}

/** Converts a change of a job. Here an empty agent means the default agent. */
export function scheduleChange(patch: PatchParams): ScheduleInput {
  const { agentId } = patch
  if (agentId === undefined || agentId === null) return fieldsOf(patch)
  return { ...fieldsOf(patch), agent_id: agentId === '' ? null : agentId }
}

/** Maps fields of a schedule to parameter names. */
const SCHEDULE_FIELD_PARAMS: Readonly<Record<string, string>> = {
  schedule: 'schedule',
  kind: 'schedule.kind',
  at: 'schedule.atMs',
  atMs: 'schedule.atMs',
  every_seconds: 'schedule.everyMs',
  everyMs: 'schedule.everyMs',
  cron: 'schedule.expr',
  expr: 'schedule.expr',
  tz: 'schedule.tz',
  timezone: 'schedule.tz',
  agent_id: 'agentId',
  payload: 'message',
  delete_after_run: 'deleteAfterRun',
  session: 'stateless',
  delivery: 'deliverTo',
}

const toParamFlaw = (flaw: Flaw, within: string): Flaw => {
  const [first = ''] = flaw.field.split('.')
  const place = SCHEDULE_FIELD_PARAMS[first] ?? (first === '' ? 'schedule' : flaw.field)
  return { ...flaw, field: `${within}${place}` }
}

/** Runs a schedule operation and reports flaws under the parameter names. */
export async function withParamNames<T>(within: '' | 'patch.', operate: () => Promise<T>): Promise<T> {
  try {
    return await operate()
  } catch (error) {
    if (error instanceof Refusal && error.flaws.length > 0)
      throw invalid(error.flaws.map((flaw) => toParamFlaw(flaw, within)))
    throw error
  }
}

const msOf = (time: string): number => Date.parse(time)

/** Converts a schedule to a job. */
export function viewJob(schedule: ScheduleView): CronJob {
  const { next_run_at: next, last_run_at: last, last_status: status, last_error: error, created_by: user } = schedule
  return {
    ...{ id: schedule.id, name: schedule.name, agentId: schedule.agent_id ?? '' },
    ...(user === null ? {} : { userId: user }),
    enabled: schedule.enabled,
    schedule: viewTiming(schedule),
    payload: { kind: 'agent_turn', message: messageIn(schedule.payload) },
    state: {
      ...(next === null ? {} : { nextRunAtMs: msOf(next) }),
      ...(last === null ? {} : { lastRunAtMs: msOf(last) }),
      ...(status === null ? {} : { lastStatus: cronStatusOf(status) }),
      ...(error === null ? {} : { lastError: error }),
    },
    deleteAfterRun: schedule.delete_after_run,
    stateless: schedule.session === 'isolated',
    deliver: schedule.delivery !== null,
    ...(schedule.delivery === null ? {} : { deliverTo: schedule.delivery.target_id }),
    createdAtMs: msOf(schedule.created_at),
    updatedAtMs: msOf(schedule.updated_at),
  }
}

function viewTiming(schedule: ScheduleView): CronJobSchedule {
  const { kind, timezone: tz, at, every_seconds: seconds, everyMs, cron, rrule } = schedule
  return {
    kind,
    ...(at === undefined ? {} : { atMs: msOf(at) }),
    ...(seconds === undefined ? {} : { everyMs: seconds * 1_000 }),
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(cron === undefined ? {} : { expr: cron }),
    ...(rrule === undefined ? {} : { rrule }),
    tz,
  }
}

/** The prompt for the agent; any other payload is shown as JSON. */
function messageIn(payload: unknown): string {
  if (payload === null || payload === undefined) return ''
  if (typeof payload === 'string') return payload
  const { prompt } = payload as { readonly prompt?: unknown }
  return typeof prompt === 'string' ? prompt : JSON.stringify(payload)
}

const CRON_STATUS_WORDS: Readonly<Record<string, CronRunStatus>> = {
  success: 'ok',
  failed: 'error',
  timeout: 'error',
  cancelled: 'error',
  expired: 'error',
  rejected: 'error',
  dropped: 'error',
  skipped: 'skipped',
}

const cronStatusOf = (status: string): CronRunStatus => CRON_STATUS_WORDS[status] ?? 'running'

const summaryText = (summary: unknown): string => (typeof summary === 'string' ? summary : JSON.stringify(summary))

/** A run as an entry in the log of its job. */
export function viewEntry(jobId: string, run: RunView): CronRunEntry {
  const status = cronStatusOf(run.status)
  const error = status === 'ok' || status === 'running' ? null : (run.error_message ?? run.error_code ?? run.reason)
  const { input_tokens: read, output_tokens: written } = run.usage ?? {}
  return {
    ...{ ts: msOf(run.started_at ?? run.finished_at ?? run.created_at), jobId, runId: run.id, status },
    ...(error === null ? {} : { error }),
    ...(run.result_summary === null ? {} : { summary: summaryText(run.result_summary) }),
    ...(run.duration_ms === null ? {} : { durationMs: run.duration_ms }),
    ...(read === undefined ? {} : { inputTokens: read }),
    ...(written === undefined ? {} : { outputTokens: written }),
  }
}

const textOrUndefined = (text: string | null | undefined): string | undefined => text || undefined

/** The delivery of a job, and the target to create if there is none yet. */
interface DeliveryOfJob {
  readonly delivery: Pick<ScheduleInput, 'delivery'>
  readonly target: TargetOfDestination['creation']
}

/** The delivery of a job: to a chat of a channel, or to a target. An omitted delivery stays unchanged. */
export async function deliveryIn(
  { ctx, caller, principal }: Pick<RpcCall<unknown>, 'ctx' | 'caller' | 'principal'>,
  job: CreateParams | PatchParams,
): Promise<DeliveryOfJob> {
  const place = { channel: textOrUndefined(job.deliverChannel), to: textOrUndefined(job.deliverTo) }
  if (job.deliver === false) return { delivery: { delivery: null }, target: null }
  const isRequested = job.deliver === true || place.channel !== undefined || place.to !== undefined
  if (!isRequested) return { delivery: {}, target: null }
  if (principal.restricted !== undefined) throw deliveryRefusal()
  const mayCreate = (): void => {
    requirePermission({ ctx, principal }, 'targets:write')
  }
  const { id, creation } = await targetForDestination(ctx.ports, caller, { place, mayCreate })
  return { delivery: { delivery: { target_id: id } }, target: creation }
}
