import { z } from 'zod'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import type { ScheduleView } from '../../contract/schedule.ts'
import type { Shape } from '../../contract/shape.ts'
import { cut } from '../../server/mcp/tools/tool.ts'

/** A schedule as tools tell it: what a model needs to decide what to do next, and no more. */
export const toldSchedule = z.strictObject({
  id: z.string(),
  name: z.string(),
  state: z.enum(SCHEDULE_STATES).describe('active, paused, finished, failed or pending_approval'),
  sentence: z.string().describe('When it fires, in words'),
  timezone: z.string(),
  at: z.string().optional(),
  every_seconds: z.number().optional(),
  pace: z.string().optional().describe('How often it comes now, where its interval moves by itself'),
  cron: z.string().optional(),
  rrule: z.string().optional(),
  ends_at: z.string().optional(),
  agent_id: z.string().nullable(),
  prompt: z.string().describe('What the agent is told, cut at 300 characters'),
  next_run_at: z.string().nullable(),
  last_run_at: z.string().nullable(),
  last_status: z.enum(RUN_STATES).nullable(),
  last_error: z.string().nullable(),
  version: z.int().describe('Give it back as `version` to change exactly what you saw'),
})
export type ToldSchedule = Shape<typeof toldSchedule>

const MOST_PROMPT = 300

/** Tells a schedule. */
export function tellSchedule(view: ScheduleView): ToldSchedule {
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
    ...{ agent_id: view.agent_id, prompt: cut(promptIn(view.payload), MOST_PROMPT) },
    ...{ next_run_at: view.next_run_at, last_run_at: view.last_run_at, last_status: view.last_status },
    last_error: error === null ? null : cut(error, MOST_PROMPT),
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
export function sayOf({ name, id, sentence, next_run_at: next, state }: ToldSchedule): string {
  const what = `"${name}" (${id}): ${sentence}.`
  if (state === 'pending_approval') return `${what} It waits for a person's approval; nothing runs before.`
  return `${what} ${next === null ? `No further run (${state}).` : `Next run ${next} (${state}).`}`
}

/** A sentence, and what guard rails have filled in. */
export const withNotes = (sentence: string, { notes = [] }: Pick<ScheduleView, 'notes'>): string =>
  [sentence, ...notes].join('\n')
