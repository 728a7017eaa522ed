import { z } from 'zod'

/** Left out, null and the empty text are the same in GoClaw. */
const text = z.string().nullish()
const flag = z.boolean().nullish()

const never = (message: string) =>
  z
    .boolean()
    .refine((given) => !given, message)
    .nullish()
const empty = (message: string) => z.string().max(0, message).nullish()

/** Where results go: a chat (`deliverTo`) of a channel, or a target by its id or name as `deliverTo` alone. */
const delivered = { deliver: flag, deliverChannel: text, deliverTo: text }

/** What GoClaw sends along although there is nothing to say. Whoever says something is told that it is not heard. */
const unheard = {
  wakeHeartbeat: never(
    'is not done: heartbeats have their own times, and heartbeat.test asks one now. Leave it out, or false',
  ),
  promptFile: empty('is not read here: send the text as message'),
}

/** When a job runs. */
export const cronSchedule = z.strictObject({
  kind: z.enum(['at', 'every', 'cron']).nullish(),
  atMs: z.number().nullish(),
  everyMs: z.number().nullish(),
  expr: text,
  tz: text,
})

const job = {
  agentId: text,
  enabled: flag,
  deleteAfterRun: flag,
  stateless: flag,
  ...delivered,
  ...unheard,
}

/** A job is named by either; both at once must be the same. */
const named = { jobId: text, id: text }

const needsJob = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject({ ...named, ...shape }).superRefine((given, context) => {
    const { jobId, id } = given as { readonly jobId?: string | null; readonly id?: string | null }
    if ((jobId ?? '') === '' && (id ?? '') === '')
      context.addIssue({ code: 'custom', path: ['jobId'], message: 'is missing' })
    else if ((jobId ?? '') !== '' && (id ?? '') !== '' && jobId !== id)
      context.addIssue({ code: 'custom', path: ['id'], message: 'names another job than jobId' })
  })

export const listParams = z.strictObject({
  includeDisabled: flag,
  agentId: text,
  limit: z.int().min(1).max(200).nullish(),
  cursor: text,
})
export const createParams = z.strictObject({ name: text, message: z.string().min(1), schedule: cronSchedule, ...job })
export const updateParams = needsJob({
  patch: z.strictObject({ name: text, message: text, schedule: cronSchedule.nullish(), ...job }),
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

/** Whose heartbeat. */
export const heartbeatParams = z.strictObject({ agentId })
export const heartbeatToggleParams = z.strictObject({ agentId, enabled: z.boolean() })
export const heartbeatLogsParams = z.strictObject({
  ...{ agentId, limit: z.int().min(1).max(200).nullish(), offset: z.int().min(0).max(10_000).nullish() },
})
/** What is left out stays; null, or an empty text, goes back to the default. */
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
