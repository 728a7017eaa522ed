import { z } from 'zod'
import { scheduleFields as fields } from '../../contract/schedule-fields.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import { anyObject } from '../../api/common.ts'

/** The fields of a schedule that tools take, in the schemas of the API, each with what a model has to know of it. */
export const toolFields = {
  name: fields.name.describe('What people call it, as "Look at the inbox"'),
  prompt: z.string().min(1).max(100_000).optional().describe('What the agent is told each time'),
  payload: anyObject.optional().describe('Instead of `prompt`: {prompt, context, output} or whatever the agent reads'),
  at: fields.at.describe('Once, at this moment: RFC 3339 with an offset, as "2030-05-01T09:00:00+02:00"'),
  every_seconds: fields.every_seconds.describe('Again and again, with so many SECONDS between: 900 is 15 minutes'),
  cadence: fields.cadence.describe(
    'With every_seconds: {min_seconds, max_seconds} between which the interval moves by what runs find, and by `next_check` in an answer',
  ),
  cron: fields.cron.describe('A cron expression of 5 fields (6: seconds first), as "0 9 * * MON-FRI"'),
  rrule: fields.rrule.describe('A recurrence of RFC 5545, as "FREQ=MONTHLY;BYDAY=-1FR"'),
  timezone: fields.timezone.describe('IANA zone in which cron and rrule are meant, as "Europe/Berlin"'),
  starts_at: fields.starts_at.describe('Nothing before this moment'),
  ends_at: fields.ends_at.describe('Nothing from this moment on'),
  max_fires: fields.max_fires.describe('So many runs at most, then it is finished'),
  agent_id: fields.agent_id.describe('Whom it wakes; the default agent unless given'),
  session: fields.session.describe(
    '"isolated" (a fresh conversation each time, the default), "main", or a session key',
  ),
  enabled: fields.enabled.describe('false: switched off. true: switched on, from the next moment on'),
  misfire_policy: fields.misfire_policy.describe('What happens with moments that were missed'),
  overlap_action: fields.overlap_action.describe('What happens when the previous run still goes on'),
  timeout_seconds: fields.timeout_seconds.describe('SECONDS an attempt may take'),
  description: fields.description.describe('Why it is there, for people'),
}

type ToolFields = { readonly [Name in keyof typeof toolFields]?: unknown }

/** Those fields as the API takes them: the prompt becomes the payload. */
export function scheduleInputOf(given: ToolFields): ScheduleInput {
  const { prompt, payload, ...rest } = given
  const said = prompt === undefined ? payload : { prompt }
  return { ...(rest as ScheduleInput), ...(said === undefined ? {} : { payload: said }) }
}

/** Two ways to say the same leave open which is meant. */
export const saysOnce = ({ prompt, payload }: ToolFields): boolean => prompt === undefined || payload === undefined

export const SAYS_ONCE = { message: 'and payload say the same; give one of them', path: ['prompt'] }
