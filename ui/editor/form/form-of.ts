import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { wallTime } from '../../time/wall.ts'
import { cadenceForm } from './cadence-form.ts'
import { plainForm } from './plain-fields.ts'
import { probeForm } from './probe-form.ts'
import { EMPTY, ladderText, UNITS, type ScheduleForm, type Unit } from './form.ts'

/** The form of a schedule as it is. */
export function formOf(schedule: ScheduleView): ScheduleForm {
  const { timezone, session, name, description, agent_id, executor, enabled, kind } = schedule
  return {
    ...EMPTY,
    ...{ name, description, agent_id, executor, enabled, kind, timezone },
    ...timingOf(schedule),
    ...payloadOf(schedule.payload),
    ...plainForm(schedule),
    ...failureOf(schedule),
    ...retryOf(schedule),
    ...probeForm(schedule.probe),
    ...cadenceForm(schedule.cadence),
    session_as: session === 'isolated' || session === 'main' ? session : 'named',
    session: session === 'isolated' || session === 'main' ? '' : session,
    target_id: schedule.delivery?.target_id ?? null,
    jitter_seconds: schedule.jitter_ms / 1_000,
    delete_after_run: schedule.delete_after_run,
  }
}

/** The form of a copy: it wants a name of its own. */
export const formOfCopy = (schedule: ScheduleView, name: string): ScheduleForm => ({ ...formOf(schedule), name })

const wall = (at: string | undefined, zone: string): string => (at === undefined ? '' : wallTime(Date.parse(at), zone))

function timingOf(schedule: ScheduleView): Partial<ScheduleForm> {
  const { timezone: zone, cron, rrule, dst, day_match: dayMatch, exclude = [] } = schedule
  return {
    at: wall(schedule.at, zone),
    starts_at: wall(schedule.starts_at, zone),
    ends_at: wall(schedule.ends_at, zone),
    ...everyOf(schedule),
    ...(cron === undefined ? {} : { cron }),
    ...(rrule === undefined ? {} : { rrule }),
    ...(dst === undefined ? {} : { dst }),
    ...(dayMatch === undefined ? {} : { day_match: dayMatch }),
    exclude: exclude.map((item) => (typeof item === 'string' ? item : `${item.from}/${item.to}`)).join('\n'),
  }
}

/** The largest unit that the interval is a whole number of. */
export function everyOf({
  every_seconds: seconds,
  everyMs,
}: Pick<ScheduleView, 'every_seconds' | 'everyMs'>): Partial<ScheduleForm> {
  const length = seconds ?? (everyMs === undefined ? undefined : everyMs / 1_000)
  if (length === undefined) return {}
  const unit = (['days', 'hours', 'minutes'] as const).find((name) => length % UNITS[name] === 0) ?? 'seconds'
  return { every: length / UNITS[unit], unit: unit satisfies Unit }
}

/** Text where a person would have written text, else JSON. */
export function payloadOf(payload: unknown): Partial<ScheduleForm> {
  if (payload == null) return {}
  if (typeof payload === 'string') return { prompt: payload }
  if (typeof payload === 'object') {
    const { prompt, output, context = null, ...rest } = payload as Readonly<Record<string, unknown>>
    const isText = typeof prompt === 'string' && (output === undefined || typeof output === 'string')
    if (isText && Object.keys(rest).length === 0)
      return { prompt, output: typeof output === 'string' ? output : '', context, json: written(payload) }
  }
  return { payload_as: 'json', json: written(payload) }
}

/** JSON as people read it. */
export const written = (value: unknown): string => JSON.stringify(value, null, 2)

const failureOf = ({ failure_options: options }: ScheduleView): Partial<ScheduleForm> => ({
  failure_ladder: ladderText(options.ladder_seconds),
  threshold: options.threshold,
  cooldown_seconds: options.cooldown_seconds,
})

function retryOf({ retry_policy: policy }: ScheduleView): Partial<ScheduleForm> {
  if (policy === null) return { retry_as: 'usual' }
  return {
    retry_as: policy.max_retries === 0 ? 'none' : 'own',
    strategy: policy.strategy,
    max_retries: policy.max_retries,
    base_seconds: policy.base_ms / 1_000,
    max_seconds: policy.max_ms / 1_000,
    jitter: policy.jitter,
    ladder: ladderText(policy.ladder_seconds),
  }
}
