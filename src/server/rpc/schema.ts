import { z } from 'zod'
import type { RefusalCode } from '../../api/refusals.ts'

/** The standard codes of JSON-RPC 2.0. */
export const PARSE_ERROR = -32_700
export const INVALID_REQUEST = -32_600
export const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602
const INTERNAL_ERROR = -32_603

/** Server-defined codes of JSON-RPC: the last digits are those of the HTTP status. */
const UNAUTHENTICATED = -32_001
const FORBIDDEN = -32_003
const NOT_FOUND = -32_004
const CONFLICT = -32_009
const TOO_MANY = -32_029
const UNAVAILABLE = -32_053
const REFUSED = -32_000

/** The meaning of each code, for the docs. */
export const RPC_ERRORS: Readonly<Record<number, string>> = {
  [PARSE_ERROR]: 'The request is not valid JSON.',
  [INVALID_REQUEST]:
    'The JSON is not a valid request: `jsonrpc`, `method` or `id` is wrong, or the batch is empty or too long.',
  [METHOD_NOT_FOUND]: 'Unknown method. `data.did_you_mean` may suggest one.',
  [INVALID_PARAMS]: 'The params are invalid; `data.errors` says which and why.',
  [INTERNAL_ERROR]: 'Internal error; see the server log under `data.request_id`.',
  [UNAUTHENTICATED]: 'The key is invalid, expired or revoked.',
  [FORBIDDEN]: 'A permission is missing.',
  [NOT_FOUND]: 'Not found.',
  [CONFLICT]: 'The request conflicts with the current state.',
  [TOO_MANY]: 'A limit is reached; retry after `data.retry_after_ms` milliseconds, if present.',
  [UNAVAILABLE]: 'The node is shutting down, or the database is unavailable. Try again.',
  [REFUSED]: 'Rejected for another reason; see `data.code`.',
}

const BY_STATUS: Readonly<Record<number, number>> = {
  400: INVALID_PARAMS,
  401: UNAUTHENTICATED,
  403: FORBIDDEN,
  404: NOT_FOUND,
  409: CONFLICT,
  412: CONFLICT,
  422: CONFLICT,
  429: TOO_MANY,
  500: INTERNAL_ERROR,
  503: UNAVAILABLE,
}

/** The JSON-RPC code of an API error. */
export const rpcCodeOf = ({ status }: { readonly code: RefusalCode; readonly status: number }): number =>
  BY_STATUS[status] ?? REFUSED

/** Omitted, null and the empty text mean the same in GoClaw. */
const text = z.string().nullish()
const flag = z.boolean().nullish()

const mustBeFalse = (message: string) =>
  z
    .boolean()
    .refine((given) => !given, message)
    .nullish()
const mustBeEmpty = (message: string) => z.string().max(0, message).nullish()

/** The delivery: a chat (`deliverTo`) of a channel, or a target by its id or name as `deliverTo` alone. */
const deliveryFields = { deliver: flag, deliverChannel: text, deliverTo: text }

/** Fields that GoClaw sends but that have no effect here. A value that would matter is rejected. */
const unsupportedFields = {
  wakeHeartbeat: mustBeFalse(
    'is not supported: heartbeats have their own schedule, and heartbeat.test runs one now. Omit it, or set it to false',
  ),
  promptFile: mustBeEmpty('is not supported: send the text as message'),
}

/** When a job runs. */
const cronSchedule = z.strictObject({
  kind: z.enum(['at', 'every', 'cron']).nullish(),
  atMs: z.number().nullish(),
  everyMs: z.number().nullish(),
  expr: text,
  tz: text,
})

const jobFields = {
  agentId: text,
  enabled: flag,
  deleteAfterRun: flag,
  stateless: flag,
  ...deliveryFields,
  ...unsupportedFields,
}

/** Either name identifies the job; if both are given, they must be equal. */
const jobNames = { jobId: text, id: text }

const needsJob = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject({ ...jobNames, ...shape }).superRefine((given, context) => {
    const { jobId, id } = given as { readonly jobId?: string | null; readonly id?: string | null }
    if ((jobId ?? '') === '' && (id ?? '') === '')
      context.addIssue({ code: 'custom', path: ['jobId'], message: 'is missing' })
    else if ((jobId ?? '') !== '' && (id ?? '') !== '' && jobId !== id)
      context.addIssue({ code: 'custom', path: ['id'], message: 'differs from jobId; give only one' })
  })

export const listParams = z.strictObject({
  includeDisabled: flag,
  agentId: text,
  limit: z.int().min(1).max(200).nullish(),
  cursor: text,
})
export const createParams = z.strictObject({
  name: text,
  message: z.string().min(1),
  schedule: cronSchedule,
  ...jobFields,
})
export const updateParams = needsJob({
  patch: z.strictObject({ name: text, message: text, schedule: cronSchedule.nullish(), ...jobFields }),
})
export const jobParams = needsJob({})
export const toggleParams = needsJob({ enabled: z.boolean() })
export const runParams = needsJob({ mode: z.enum(['force', 'due']).nullish() })
export const runsParams = needsJob({
  limit: z.int().min(1).max(200).nullish(),
  offset: z.int().min(0).max(10_000).nullish(),
})
export const noParams = z.strictObject({})
export const sessionParams = z
  .strictObject({ key: text, sessionKey: text })
  .superRefine(({ key, sessionKey }, context) => {
    if ((key ?? '') === '' && (sessionKey ?? '') === '')
      context.addIssue({ code: 'custom', path: ['key'], message: 'is missing' })
  })

const agentId = z.string().min(1)

/** The agent of the heartbeat. */
export const heartbeatParams = z.strictObject({ agentId })
export const heartbeatToggleParams = z.strictObject({ agentId, enabled: z.boolean() })
export const heartbeatLogsParams = z.strictObject({
  ...{ agentId, limit: z.int().min(1).max(200).nullish(), offset: z.int().min(0).max(10_000).nullish() },
})
/** Omitted fields stay unchanged; null or an empty text restores the default. */
export const heartbeatSetParams = z.strictObject({
  agentId,
  enabled: z.boolean().nullish(),
  intervalSec: z.int().nullable().optional(),
  prompt: z.string().nullable().optional(),
  checklist: z.string().nullable().optional(),
  checklistFile: z.string().nullable().optional(),
  target: z.string().nullable().optional(),
  channel: z.string().nullable().optional(),
  chatId: z.string().nullable().optional(),
  ackMaxChars: z.int().nullable().optional(),
  activeHoursStart: z.string().nullable().optional(),
  activeHoursEnd: z.string().nullable().optional(),
  timezone: z.string().nullable().optional(),
  session: z.string().nullable().optional(),
  adaptive: z.boolean().nullable().optional(),
})

export type CronScheduleParams = z.infer<typeof cronSchedule>
export type CreateParams = z.infer<typeof createParams>
export type HeartbeatSetParams = z.infer<typeof heartbeatSetParams>
export type PatchParams = z.infer<typeof updateParams>['patch']

/** A schedule in the format of GoClaw: a cron job. Times and durations are milliseconds. */
export interface CronJob {
  readonly id: string
  readonly name: string
  readonly agentId: string
  readonly userId?: string
  readonly enabled: boolean
  readonly schedule: CronJobSchedule
  readonly payload: { readonly kind: 'agent_turn'; readonly message: string }
  readonly state: {
    readonly nextRunAtMs?: number
    readonly lastRunAtMs?: number
    readonly lastStatus?: CronRunStatus
    readonly lastError?: string
  }
  readonly deleteAfterRun: boolean
  readonly stateless: boolean
  readonly deliver: boolean
  /** The id of the target that results go to. */
  readonly deliverTo?: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** When a job runs. GoClaw has no recurrence rules; they have a kind of their own. */
export interface CronJobSchedule {
  readonly kind: 'at' | 'every' | 'cron' | 'rrule'
  readonly atMs?: number
  readonly everyMs?: number
  readonly expr?: string
  readonly rrule?: string
  readonly tz: string
}

/** The status of a run. GoClaw only has the first two. */
export type CronRunStatus = 'ok' | 'error' | 'skipped' | 'running'

/** A run in the log of a job. */
export interface CronRunEntry {
  /** When it started or was decided. */
  readonly ts: number
  readonly jobId: string
  readonly runId: string
  readonly status: CronRunStatus
  readonly error?: string
  readonly summary?: string
  readonly durationMs?: number
  readonly inputTokens?: number
  readonly outputTokens?: number
}

/** Whether jobs are run, and how many are enabled. */
export interface CronStatus {
  readonly enabled: boolean
  readonly jobs: number
}

/** A heartbeat in the format of /rpc. */
export interface RpcHeartbeat {
  readonly agentId: string
  readonly enabled: boolean
  readonly intervalSec: number
  readonly prompt: string
  readonly checklist?: string
  readonly checklistFile?: string
  readonly target: string
  /** Where updates are currently sent; if omitted, nowhere, and `noRoute` says why. */
  readonly route?: string
  readonly noRoute?: string
  readonly ackMaxChars: number
  readonly session: string
  readonly activeHoursStart?: string
  readonly activeHoursEnd?: string
  readonly timezone?: string
  readonly adaptive: boolean
  readonly okStreak: number
  readonly nextRunAtMs?: number
}

/** The outcome of one heartbeat. */
export interface RpcHeartbeatEntry {
  readonly id: string
  readonly ts: number
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly content?: string
  readonly runId?: string
  readonly deliveryStatus?: string
}
