import type { WordsView } from '../../../src/features/schedules/views-schema.ts'
import { wallTime } from '../../time/wall.ts'
import type { ScheduleForm } from './form.ts'
import { everyOf } from './form-of.ts'

/** What a sentence about time puts into the form. What it does not speak of goes back to nothing. */
export function formOfWords(
  { fields, rest }: Pick<WordsView, 'fields' | 'rest'>,
  form: ScheduleForm,
): Partial<ScheduleForm> {
  const { at, cron, rrule, every_seconds: seconds, anchor, exclude, max_fires: fires } = fields
  const timezone = fields.timezone ?? form.timezone
  const wall = (moment: string | number | null | undefined): string =>
    moment == null ? '' : wallTime(typeof moment === 'number' ? moment : Date.parse(moment), timezone)
  return {
    kind: at != null ? 'at' : cron != null ? 'cron' : rrule != null ? 'rrule' : 'every',
    timezone,
    at: wall(at),
    cron: cron ?? form.cron,
    rrule: rrule ?? form.rrule,
    anchor: anchor == null ? '' : String(anchor),
    ...everyOf({ ...(seconds == null ? {} : { every_seconds: seconds }) }),
    starts_at: wall(fields.starts_at),
    ends_at: wall(fields.ends_at),
    exclude: (exclude ?? []).map(String).join('\n'),
    max_fires: fires ?? '',
    ...(rest !== null && form.prompt === '' ? { prompt: rest, payload_as: 'text' as const } : {}),
  }
}
