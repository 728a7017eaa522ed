import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import type { AuditRow } from '../../features/audit/store.ts'
import { TIMING_FIELDS } from '../../domain/time/timing-fields.ts'

/** What was done to a schedule, newest first, as the audit log has it. */
export type ScheduleAudits = readonly AuditRow[]

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

/** Who deleted the schedule, if anybody did. */
export function whyDeleted(audits: ScheduleAudits): Why | null {
  const entry = audits.find(({ action }) => action === 'schedule.delete')
  if (entry === undefined) return null
  const { name } = fieldsOf(entry.before)
  return because('deleted_by', 'schedule.delete', {
    ...{ actor: entry.actor, deleted_at: formatInstant(entry.at), audit_no: entry.no },
    schedule: typeof name === 'string' ? name : entry.objectId,
  })
}

/** Who had switched the schedule off before the moment, if it was off then. */
export function whyOff(audits: ScheduleAudits, at: Instant): Why | null {
  const last = audits.find((entry) => entry.at <= at && 'state' in fieldsOf(entry.after))
  if (last === undefined || fieldsOf(last.after)['state'] !== 'paused') return null
  return because('switched_off', 'state', {
    ...{ actor: last.actor, since: formatInstant(last.at), state: 'paused', audit_no: last.no },
  })
}

/** Who has changed since then when the schedule fires. */
export function whyRetimed(audits: ScheduleAudits, at: Instant): Why | null {
  // The first change behind the moment: it took the plan away that was in force then.
  const changed = audits.findLast(
    (entry) =>
      entry.at > at &&
      entry.action === 'schedule.update' &&
      TIMING_FIELDS.some((field) => field in fieldsOf(entry.before)),
  )
  if (changed === undefined) return null
  const before = fieldsOf(changed.before)
  const told = TIMING_FIELDS.flatMap((field): readonly (readonly [string, string])[] =>
    typeof before[field] === 'string' || typeof before[field] === 'number'
      ? [[`before_${field}`, String(before[field])]]
      : [],
  )
  return because('retimed', 'timing', {
    ...{ actor: changed.actor, changed_at: formatInstant(changed.at), audit_no: changed.no },
    ...Object.fromEntries(told),
  })
}
