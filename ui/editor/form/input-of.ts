import type { ScheduleInput } from '../../../src/features/schedules/schema.ts'
import { momentOf } from '../../time/wall.ts'
import { cadenceInput } from './cadence-form.ts'
import { plainInput, some } from './plain-fields.ts'
import { probeInput } from './probe-form.ts'
import { UNITS, type ScheduleForm } from './form.ts'
import type { Num } from './num.ts'

/** What the server takes. Everything is written out, so that two forms can be compared field by field. */
export type WholeInput = Readonly<Record<string, unknown>>

const number = (value: Num): number | null => (value === '' ? null : value)
const millis = (seconds: Num): number | null => (seconds === '' ? null : Math.round(seconds * 1_000))

/** A time in the zone; an unreadable one is sent as typed, so that the server can report what is wrong with it. */
function moment(wall: string, zone: string): string | null {
  if (wall === '') return null
  const at = momentOf(wall, zone)
  return at === null ? wall : new Date(at).toISOString()
}

/** The fields that say when. */
export function timingInput(form: ScheduleForm): WholeInput {
  const { kind, timezone, every, unit } = form
  const when = {
    at: { at: moment(form.at, timezone) },
    every: { every_seconds: every === '' ? null : every * UNITS[unit] },
    cron: { cron: some(form.cron), dst: form.dst, day_match: form.day_match },
    rrule: { rrule: some(form.rrule), ...(form.anchor === '' ? {} : { anchor: form.anchor }) },
  }[kind]
  return {
    ...when,
    timezone,
    cadence: kind === 'every' ? cadenceInput(form) : null,
    starts_at: moment(form.starts_at, timezone),
    ends_at: moment(form.ends_at, timezone),
    exclude: exclusions(form.exclude),
  }
}

function exclusions(text: string): readonly unknown[] | null {
  const lines = text.split('\n').flatMap((line) => some(line) ?? [])
  if (lines.length === 0) return null
  return lines.map((line) => {
    const [from, to] = line.split('/')
    return to === undefined ? line : { from, to }
  })
}

/** Whole seconds with commas between them; what is none goes as it is, and the server says so. */
const ladder = (text: string): readonly unknown[] =>
  text
    .split(/[\s,]+/)
    .filter((step) => step !== '')
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))

/** What a run is given. Throws when it is to be JSON and is none. */
export function payloadInput({ payload_as: as, prompt, output, context, json }: ScheduleForm): unknown {
  if (as === 'json') return json.trim() === '' ? null : (JSON.parse(json) as unknown)
  if (prompt.trim() === '' && output.trim() === '') return null
  return { prompt, ...(context == null ? {} : { context }), ...(output.trim() === '' ? {} : { output }) }
}

function retryInput(form: ScheduleForm): Readonly<Record<string, unknown>> | null {
  const { strategy } = form
  if (form.retry_as === 'usual') return null
  if (form.retry_as === 'none') return { max_retries: 0 }
  const all = { strategy, max_retries: number(form.max_retries), jitter: number(form.jitter) }
  const own =
    strategy === 'ladder'
      ? { ladder_seconds: ladder(form.ladder) }
      : strategy === 'fixed'
        ? { base_ms: millis(form.base_seconds) }
        : { base_ms: millis(form.base_seconds), max_ms: millis(form.max_seconds) }
  return Object.fromEntries(Object.entries({ ...all, ...own }).filter(([, value]) => value !== null))
}

function failureOptions(form: ScheduleForm): Readonly<Record<string, unknown>> | null {
  if (form.failure_action === 'BACKOFF') return { ladder_seconds: ladder(form.failure_ladder) }
  if (form.failure_action !== 'HALF_OPEN') return null
  const given = { threshold: number(form.threshold), cooldown_seconds: number(form.cooldown_seconds) }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}

/** Everything a schedule is made from. Throws when the payload is to be JSON and is none. */
export function inputOf(form: ScheduleForm): WholeInput {
  const wakes = form.agent_id === null && form.executor !== null ? { executor: form.executor } : {}
  return {
    name: some(form.name),
    description: form.description,
    ...(form.agent_id === null && 'executor' in wakes ? wakes : { agent_id: form.agent_id }),
    ...timingInput(form),
    payload: payloadInput(form),
    session: form.session_as === 'named' ? form.session : form.session_as,
    delivery: form.target_id === null ? null : { target_id: form.target_id },
    probe: probeInput(form),
    ...plainInput(form),
    failure_options: failureOptions(form),
    retry_policy: retryInput(form),
    jitter_ms: millis(form.jitter_seconds) ?? 0,
    ...(form.kind === 'at' ? { delete_after_run: form.delete_after_run } : {}),
  }
}

/** The input of a new schedule, without the fields that were left empty. */
export function newInput(form: ScheduleForm): ScheduleInput {
  const whole: WholeInput = { ...inputOf(form), enabled: form.enabled }
  const given = Object.entries(whole)
  return Object.fromEntries(given.filter(([, value]) => value !== null && value !== ''))
}

/** What has changed between two states of a form, in the words of the server. */
export function changeBetween(before: ScheduleForm, after: ScheduleForm): ScheduleInput {
  const [was, is] = [inputOf(before), inputOf(after)]
  return Object.fromEntries(Object.entries(is).filter(([name, value]) => !same(value, was[name])))
}

/** Whether two pieces of JSON say the same. */
export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** The local edits applied to the version that another user has saved meanwhile. */
export function rebase(
  edits: { readonly from: ScheduleForm; readonly to: ScheduleForm },
  onto: ScheduleForm,
): ScheduleForm {
  const mine = Object.entries(edits.to).filter(([name, value]) => edits.from[name as keyof ScheduleForm] !== value)
  return { ...onto, ...(Object.fromEntries(mine) as Partial<ScheduleForm>) }
}
