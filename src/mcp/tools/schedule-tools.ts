import { z } from 'zod'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import type { Page } from '../../api/page.ts'
import type { PreviewView } from '../../contract/schedule-preview.ts'
import type { RunNowAnswer, ScheduleView } from '../../contract/schedule.ts'
import { givenMoment, id, paging } from '../../api/common.ts'
import { SAYS_ONCE, saysOnce, scheduleInputOf, toolFields } from './schedule-fields.ts'
import { sayOf, tellSchedule, toldSchedule, withNotes } from './shapes.ts'
import { asking, READS, tool } from '../../server/mcp/tools/tool.ts'

const scheduleId = id.describe('The id of a schedule, as schedule_create and schedule_list tell it: "sch_…"')
/** The API has it in the path, where it is `id`. */
const SYNONYMS = { id: 'schedule_id' } as const
const version = z.int().min(1).optional().describe('Refuse if somebody has changed it since this version')

const LIST_LENGTH = 20
const MOST_LISTED = 50
const PREVIEW_LENGTH = 5
const MOST_PREVIEWED = 50

const scheduleCreate = tool({
  title: 'Make a schedule',
  description: [
    'Makes a schedule: something that wakes an agent with a prompt once (`at`) or again and again (`every_seconds`, `cron` or `rrule`; exactly one of the four).',
    'Use it when work is to happen later or repeatedly. For work that is to happen now, use task_submit; for a schedule that exists, run_now.',
    'Call schedule_preview first when you are not sure that the timing means what the person said.',
    'Examples: {"name": "Morning mail", "cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin", "prompt": "Summarise the inbox"};',
    '{"name": "Remind Ana", "at": "2030-05-01T09:00:00Z", "prompt": "Remind Ana of the dentist"}.',
    'With some keys a new schedule is `pending_approval`: tell the person that somebody has to approve it in the console.',
  ].join(' '),
  input: z.strictObject(toolFields).refine(saysOnce, SAYS_ONCE),
  output: toldSchedule,
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  ask: (input) => asking('schedules.create', { body: scheduleInputOf(input) }),
  tell: (made: ScheduleView) => {
    const structured = tellSchedule(made)
    return { structured, text: withNotes(`Made ${sayOf(structured)}`, made) }
  },
})

const scheduleList = tool({
  title: 'List schedules',
  description: [
    `Lists the schedules you may see, newest first, ${LIST_LENGTH} at a time (\`limit\` up to ${MOST_LISTED}).`,
    'Use it to find the id of a schedule, to see what is planned, or what failed last. With `schedule_id` it shows that one.',
    'When `next_cursor` is not null, call again with it as `cursor` for more.',
  ].join(' '),
  input: z.strictObject({
    schedule_id: scheduleId.optional(),
    q: z.string().max(200).optional().describe('A part of the name or the description'),
    state: z.enum(SCHEDULE_STATES).optional(),
    agent_id: id.optional().describe('Those that wake this agent'),
    limit: z.int().min(1).max(MOST_LISTED).optional(),
    cursor: paging.cursor,
  }),
  output: z.strictObject({ items: z.array(toldSchedule), next_cursor: z.string().nullable() }),
  hints: READS,
  synonyms: SYNONYMS,
  ask: ({ schedule_id: one, ...filter }) =>
    one === undefined
      ? asking('schedules.list', { query: { ...filter, limit: filter.limit ?? LIST_LENGTH } })
      : asking('schedules.get', { params: { id: one } }),
  tell: (found: Page<ScheduleView> | ScheduleView) => {
    const page = 'items' in found ? found : { items: [found], next_cursor: null }
    const items = page.items.map(tellSchedule)
    const lines = items.map((one) => `- ${sayOf(one)}`)
    const more = page.next_cursor === null ? [] : ['There are more: call again with next_cursor.']
    const text = items.length === 0 ? 'There are no such schedules.' : [...lines, ...more].join('\n')
    return { structured: { items, next_cursor: page.next_cursor }, text }
  },
})

const scheduleUpdate = tool({
  title: 'Change a schedule',
  description: [
    'Changes a schedule: what you leave out stays as it is, null brings back the default.',
    'Use it to move it (`cron`, `every_seconds`, `at`, `rrule`), to change its `prompt`, or to switch it off and on (`enabled`).',
    'Only a change of the timing moves the next run. Example: {"schedule_id": "sch_…", "every_seconds": 3600}.',
  ].join(' '),
  input: z.strictObject({ schedule_id: scheduleId, version, ...toolFields }).refine(saysOnce, SAYS_ONCE),
  output: toldSchedule,
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  synonyms: SYNONYMS,
  ask: ({ schedule_id: one, version: seen, ...change }) =>
    asking('schedules.update', { params: { id: one }, body: scheduleInputOf(change), version: seen }),
  tell: (changed: ScheduleView) => {
    const structured = tellSchedule(changed)
    return { structured, text: withNotes(`Changed: ${sayOf(structured)}`, changed) }
  },
})

const scheduleDelete = tool({
  title: 'Delete a schedule',
  description:
    'Deletes a schedule for good. What runs goes on, and the history stays. To pause it instead, use schedule_update with {"enabled": false}.',
  input: z.strictObject({ schedule_id: scheduleId, version }),
  output: z.strictObject({ id: z.string(), deleted: z.literal(true) }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  synonyms: SYNONYMS,
  ask: ({ schedule_id: one, version: seen }) => asking('schedules.delete', { params: { id: one }, version: seen }),
  tell: (_nothing: undefined, { schedule_id: one }) => ({
    structured: { id: one, deleted: true as const },
    text: `Deleted ${one}.`,
  }),
})

const { cron, rrule, at, every_seconds, cadence, timezone, starts_at, ends_at } = toolFields

const schedulePreview = tool({
  title: 'Preview a schedule',
  description: [
    'Says in words and dates when a timing would fire, changes of the clock included. Makes nothing.',
    'Use it before schedule_create or schedule_update to check that a timing means what was asked for.',
    `Example: {"cron": "0 9 * * MON-FRI", "timezone": "Europe/Berlin", "count": 3}. \`count\` is ${PREVIEW_LENGTH} unless given, up to ${MOST_PREVIEWED}.`,
  ].join(' '),
  input: z.strictObject({
    ...{ at, every_seconds, cadence, cron, rrule, timezone, starts_at, ends_at },
    count: z.int().min(1).max(MOST_PREVIEWED).optional(),
    from: givenMoment.optional().describe('From this moment on; now unless given'),
  }),
  output: z.strictObject({ sentence: z.string(), next: z.array(z.string()), dst_notes: z.array(z.string()) }),
  hints: READS,
  ask: (input) => asking('schedules.preview', { body: { ...input, count: input.count ?? PREVIEW_LENGTH } }),
  tell: ({ sentence, next, dst_notes }: PreviewView) => {
    const notes = dst_notes.map((note) => note.sentence)
    const times = next.length === 0 ? 'It never fires.' : `Next: ${next.join(', ')}.`
    return { structured: { sentence, next: [...next], dst_notes: notes }, text: [sentence, times, ...notes].join('\n') }
  },
})

const runNow = tool({
  title: 'Run a schedule now',
  description: [
    'Makes one run of a schedule now, also of one that is switched off; its plan stays as it is.',
    'Use it to try a schedule, or when a person does not want to wait. `mode` "due" runs it only if a moment of it is due.',
    'Answers with the id of the run; run_explain tells what becomes of it.',
  ].join(' '),
  input: z.strictObject({ schedule_id: scheduleId, mode: z.enum(['force', 'due']).optional() }),
  output: z.strictObject({ ran: z.boolean(), run_id: z.string().nullable(), reason: z.string().nullable() }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  synonyms: SYNONYMS,
  ask: ({ schedule_id: one, mode }) => asking('schedules.runNow', { params: { id: one }, body: { mode } }),
  tell: ({ ran, run_id, reason }: RunNowAnswer) => ({
    structured: { ran, run_id: run_id ?? null, reason: reason ?? null },
    text: ran ? `Run ${run_id ?? ''} was made.` : `Nothing was run: ${reason ?? 'nobody said why'}.`,
  }),
})

/** The tools that plan. */
export const SCHEDULE_TOOLS = {
  schedule_create: scheduleCreate,
  schedule_list: scheduleList,
  schedule_update: scheduleUpdate,
  schedule_delete: scheduleDelete,
  schedule_preview: schedulePreview,
  run_now: runNow,
}
