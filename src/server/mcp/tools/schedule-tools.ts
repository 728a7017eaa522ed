import { z } from 'zod'
import { anyObject, plainTimeInput, id, paging } from '../../../api/common.ts'
import type { Shape } from '../../../api/fields.ts'
import type { Page } from '../../../api/page.ts'
import { RUN_STATES } from '../../../domain/run/run-machine.ts'
import { SCHEDULE_STATES } from '../../../domain/schedule/lifecycle.ts'
import {
  scheduleFields as fields,
  type RunNowAnswer,
  type ScheduleInput,
  type ScheduleView,
} from '../../../features/schedules/schema.ts'
import type { PreviewView } from '../../../features/schedules/views-schema.ts'
import { toolRequest, truncate, READ_ONLY_HINTS, tool } from './tool.ts'

/** The schedule fields of the tools: the schemas of the API with descriptions for models. */
const toolFields = {
  name: fields.name.describe('Display name, such as "Check the inbox"'),
  prompt: z.string().min(1).max(100_000).optional().describe('The prompt for the agent each time'),
  payload: anyObject
    .optional()
    .describe('Instead of `prompt`: {prompt, context, output} or any object that the agent understands'),
  at: fields.at.describe('Once, at this time: RFC 3339 with an offset, such as "2030-05-01T09:00:00+02:00"'),
  every_seconds: fields.every_seconds.describe('Repeatedly, with this interval in SECONDS: 900 is 15 minutes'),
  cadence: fields.cadence.describe(
    'With every_seconds: {min_seconds, max_seconds}, the range in which the interval adapts to the results of runs ' +
      'and to `next_check` in an output',
  ),
  cron: fields.cron.describe('A cron expression with 5 fields (6 with seconds first), such as "0 9 * * MON-FRI"'),
  rrule: fields.rrule.describe('An RFC 5545 recurrence rule, such as "FREQ=MONTHLY;BYDAY=-1FR"'),
  timezone: fields.timezone.describe('IANA time zone of cron and rrule, such as "Europe/Berlin"'),
  starts_at: fields.starts_at.describe('No occurrences before this time'),
  ends_at: fields.ends_at.describe('No occurrences from this time on'),
  max_fires: fields.max_fires.describe('Maximum number of runs, after which the schedule is finished'),
  agent_id: fields.agent_id.describe('The agent to run; the default agent if omitted'),
  session: fields.session.describe('"isolated" (a new conversation each time, the default), "main", or a session key'),
  enabled: fields.enabled.describe('false: disabled. true: enabled, from the next occurrence on'),
  misfire_policy: fields.misfire_policy.describe('What to do with missed occurrences'),
  overlap_action: fields.overlap_action.describe('What to do while the previous run is still active'),
  timeout_seconds: fields.timeout_seconds.describe('Timeout of an attempt in SECONDS'),
  description: fields.description.describe('Free-text description, for people'),
}

type ToolFields = { readonly [Name in keyof typeof toolFields]?: unknown }

/** Converts the fields to API input: the prompt becomes the payload. */
function scheduleInputOf(given: ToolFields): ScheduleInput {
  const { prompt, payload, ...rest } = given
  const payloadInput = prompt === undefined ? payload : { prompt }
  return { ...(rest as ScheduleInput), ...(payloadInput === undefined ? {} : { payload: payloadInput }) }
}

/** Both set the prompt, so giving both is ambiguous. */
const hasOnePrompt = ({ prompt, payload }: ToolFields): boolean => prompt === undefined || payload === undefined

const ONE_PROMPT_ERROR = { message: 'and payload cannot be combined; give only one', path: ['prompt'] }

/** A schedule in the results of tools: only what a model needs to decide what to do next. */
const scheduleOutput = z.strictObject({
  id: z.string(),
  name: z.string(),
  state: z.enum(SCHEDULE_STATES).describe('active, paused, finished, failed or pending_approval'),
  sentence: z.string().describe('When it fires, in words'),
  timezone: z.string(),
  at: z.string().optional(),
  every_seconds: z.number().optional(),
  pace: z.string().optional().describe('The current interval, if it adapts'),
  cron: z.string().optional(),
  rrule: z.string().optional(),
  ends_at: z.string().optional(),
  agent_id: z.string().nullable(),
  prompt: z.string().describe('The prompt for the agent, cut at 300 characters'),
  next_run_at: z.string().nullable(),
  last_run_at: z.string().nullable(),
  last_status: z.enum(RUN_STATES).nullable(),
  last_error: z.string().nullable(),
  version: z.int().describe('Pass it as `version` to change the schedule only if nothing else has changed it'),
})
type ScheduleOutput = Shape<typeof scheduleOutput>

const MAX_PROMPT_LENGTH = 300

/** Converts a schedule to its tool format. */
function toScheduleOutput(view: ScheduleView): ScheduleOutput {
  const { at, every_seconds, everyMs, cron, rrule, ends_at, last_error: error } = view
  const seconds = every_seconds ?? (everyMs === undefined ? undefined : everyMs / 1_000)
  return {
    ...{ id: view.id, name: view.name, state: view.state, sentence: view.sentence, timezone: view.timezone },
    ...(at === undefined ? {} : { at }),
    ...(seconds === undefined ? {} : { every_seconds: seconds }),
    ...(view.pace === null ? {} : { pace: view.pace.sentence }),
    ...(cron === undefined ? {} : { cron }),
    ...(rrule === undefined ? {} : { rrule }),
    ...(ends_at === undefined ? {} : { ends_at }),
    ...{ agent_id: view.agent_id, prompt: truncate(promptIn(view.payload), MAX_PROMPT_LENGTH) },
    ...{ next_run_at: view.next_run_at, last_run_at: view.last_run_at, last_status: view.last_status },
    last_error: error === null ? null : truncate(error, MAX_PROMPT_LENGTH),
    version: view.version,
  }
}

function promptIn(payload: unknown): string {
  if (payload === null || payload === undefined) return ''
  if (typeof payload === 'string') return payload
  const { prompt } = payload as { readonly prompt?: unknown }
  return typeof prompt === 'string' ? prompt : JSON.stringify(payload)
}

/** A schedule in a sentence. */
function describeSchedule({ name, id, sentence, next_run_at: next, state }: ScheduleOutput): string {
  const what = `"${name}" (${id}): ${sentence}.`
  if (state === 'pending_approval') return `${what} It is waiting for approval and does not run before that.`
  return `${what} ${next === null ? `No further run (${state}).` : `Next run ${next} (${state}).`}`
}

/** A sentence, and the values that the restrictions of the key have set. */
const withNotes = (sentence: string, { notes = [] }: Pick<ScheduleView, 'notes'>): string =>
  [sentence, ...notes].join('\n')

const scheduleId = id.describe('The id of a schedule, from schedule_create or schedule_list: "sch_…"')
/** The API calls the path parameter `id`. */
const SYNONYMS = { id: 'schedule_id' } as const
const version = z.int().min(1).optional().describe('Fail if the schedule has changed since this version')

const LIST_LENGTH = 20
const MAX_LIST_LENGTH = 50
const PREVIEW_LENGTH = 5
const MAX_PREVIEW_LENGTH = 50

const scheduleCreate = tool({
  title: 'Create a schedule',
  description: [
    'Create a schedule that runs an agent with a prompt once (`at`) or repeatedly (`every_seconds`, `cron` or ' +
      '`rrule`; exactly one of the four).',
    'Use it for later or repeated work. For work to do now, use task_submit; to run an existing schedule now, use run_now.',
    'Call schedule_preview first if you are not sure that the timing is what the user asked for.',
    'Examples: {"name": "Morning mail", "cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin", "prompt": "Summarize ' +
      'the inbox"};',
    '{"name": "Remind Ana", "at": "2030-05-01T09:00:00Z", "prompt": "Remind Ana of the dentist"}.',
    'With some keys a new schedule is `pending_approval`: tell the user that it must be approved in the console.',
  ].join(' '),
  input: z.strictObject(toolFields).refine(hasOnePrompt, ONE_PROMPT_ERROR),
  output: scheduleOutput,
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  toRequest: (input) => toolRequest('schedules.create', { body: scheduleInputOf(input) }),
  toOutput: (created: ScheduleView) => {
    const structured = toScheduleOutput(created)
    return { structured, text: withNotes(`Created ${describeSchedule(structured)}`, created) }
  },
})

const scheduleList = tool({
  title: 'List schedules',
  description: [
    `List the schedules your key may see, newest first, ${LIST_LENGTH} per page (\`limit\` up to ${MAX_LIST_LENGTH}).`,
    'Use it to find the id of a schedule, its next run or its last error. With `schedule_id` it returns only that one.',
    'If `next_cursor` is not null, pass it as `cursor` to get the next page.',
  ].join(' '),
  input: z.strictObject({
    schedule_id: scheduleId.optional(),
    q: z.string().max(200).optional().describe('Text to search for in the name and the description'),
    state: z.enum(SCHEDULE_STATES).optional(),
    agent_id: id.optional().describe('Only schedules of this agent'),
    limit: z.int().min(1).max(MAX_LIST_LENGTH).optional(),
    cursor: paging.cursor,
  }),
  output: z.strictObject({ items: z.array(scheduleOutput), next_cursor: z.string().nullable() }),
  hints: READ_ONLY_HINTS,
  synonyms: SYNONYMS,
  toRequest: ({ schedule_id: one, ...filter }) =>
    one === undefined
      ? toolRequest('schedules.list', { query: { ...filter, limit: filter.limit ?? LIST_LENGTH } })
      : toolRequest('schedules.get', { params: { id: one } }),
  toOutput: (found: Page<ScheduleView> | ScheduleView) => {
    const page = 'items' in found ? found : { items: [found], next_cursor: null }
    const items = page.items.map(toScheduleOutput)
    const lines = items.map((one) => `- ${describeSchedule(one)}`)
    const more = page.next_cursor === null ? [] : ['There are more: call again with next_cursor as cursor.']
    const text = items.length === 0 ? 'No schedules found.' : [...lines, ...more].join('\n')
    return { structured: { items, next_cursor: page.next_cursor }, text }
  },
})

const scheduleUpdate = tool({
  title: 'Update a schedule',
  description: [
    'Update a schedule: omitted fields stay unchanged, null restores the default.',
    'Use it to change the timing (`cron`, `every_seconds`, `at`, `rrule`) or the `prompt`, or to enable or disable it' +
      ' (`enabled`).',
    'Only a change of the timing changes the next run. Example: {"schedule_id": "sch_…", "every_seconds": 3600}.',
  ].join(' '),
  input: z.strictObject({ schedule_id: scheduleId, version, ...toolFields }).refine(hasOnePrompt, ONE_PROMPT_ERROR),
  output: scheduleOutput,
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  synonyms: SYNONYMS,
  toRequest: ({ schedule_id: one, version: seen, ...change }) =>
    toolRequest('schedules.update', { params: { id: one }, body: scheduleInputOf(change), version: seen }),
  toOutput: (changed: ScheduleView) => {
    const structured = toScheduleOutput(changed)
    return { structured, text: withNotes(`Updated ${describeSchedule(structured)}`, changed) }
  },
})

const scheduleDelete = tool({
  title: 'Delete a schedule',
  description:
    'Delete a schedule permanently. Active runs continue, and the history stays. To pause it instead, use ' +
    'schedule_update with {"enabled": false}.',
  input: z.strictObject({ schedule_id: scheduleId, version }),
  output: z.strictObject({ id: z.string(), deleted: z.literal(true) }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  synonyms: SYNONYMS,
  toRequest: ({ schedule_id: one, version: seen }) =>
    toolRequest('schedules.delete', { params: { id: one }, version: seen }),
  toOutput: (_nothing: undefined, { schedule_id: one }) => ({
    structured: { id: one, deleted: true as const },
    text: `Deleted ${one}.`,
  }),
})

const { cron, rrule, at, every_seconds, cadence, timezone, starts_at, ends_at } = toolFields

const schedulePreview = tool({
  title: 'Preview a schedule',
  description: [
    'Show in words and dates when a timing would fire, including daylight saving changes. Creates nothing.',
    'Use it before schedule_create or schedule_update to check that a timing is what the user asked for.',
    `Example: {"cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin", "count": 3}. \`count\` is ${PREVIEW_LENGTH} by default, up to ${MAX_PREVIEW_LENGTH}.`,
  ].join(' '),
  input: z.strictObject({
    ...{ at, every_seconds, cadence, cron, rrule, timezone, starts_at, ends_at },
    count: z.int().min(1).max(MAX_PREVIEW_LENGTH).optional(),
    from: plainTimeInput.optional().describe('Start of the preview; now by default'),
  }),
  output: z.strictObject({ sentence: z.string(), next: z.array(z.string()), dst_notes: z.array(z.string()) }),
  hints: READ_ONLY_HINTS,
  toRequest: (input) => toolRequest('schedules.preview', { body: { ...input, count: input.count ?? PREVIEW_LENGTH } }),
  toOutput: ({ sentence, next, dst_notes }: PreviewView) => {
    const notes = dst_notes.map((note) => note.sentence)
    const times = next.length === 0 ? 'It never fires.' : `Next: ${next.join(', ')}.`
    return { structured: { sentence, next: [...next], dst_notes: notes }, text: [sentence, times, ...notes].join('\n') }
  },
})

const runNow = tool({
  title: 'Run a schedule now',
  description: [
    'Create one run of a schedule now, even if it is disabled; its next run does not change.',
    'Use it to try a schedule, or when the user does not want to wait. `mode` "due" runs it only if an occurrence is due.',
    'Returns the id of the run; check its status with run_explain.',
  ].join(' '),
  input: z.strictObject({ schedule_id: scheduleId, mode: z.enum(['force', 'due']).optional() }),
  // The outcome is in the result of a task.
  output: z.strictObject({
    ran: z.boolean(),
    run_id: z.string().nullable(),
    reason: z.string().nullable(),
    outcome: z.unknown().optional(),
  }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  synonyms: SYNONYMS,
  toRequest: ({ schedule_id: one, mode }) => toolRequest('schedules.runNow', { params: { id: one }, body: { mode } }),
  runOf: ({ run_id }: RunNowAnswer) => run_id ?? null,
  toOutput: ({ ran, run_id, reason }: RunNowAnswer) => ({
    structured: { ran, run_id: run_id ?? null, reason: reason ?? null },
    text: ran ? `Created run ${run_id ?? ''}.` : `No run was created: ${reason ?? 'no reason was given'}.`,
  }),
})

/** The tools for schedules. */
export const SCHEDULE_TOOLS = {
  schedule_create: scheduleCreate,
  schedule_list: scheduleList,
  schedule_update: scheduleUpdate,
  schedule_delete: scheduleDelete,
  schedule_preview: schedulePreview,
  run_now: runNow,
}
