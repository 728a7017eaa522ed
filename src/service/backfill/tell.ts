import type { BackfillRow } from '../../store/backfills.ts'
import type { Desk } from '../desk/desk.ts'

/** Tells whoever watches the schedule that a backfill of it has begun or ended. */
export function tellBackfill(desk: Desk, { id, scheduleId: subject, state }: BackfillRow): void {
  const owner = desk.schedules.get(subject)?.owner ?? null
  const data = { change: 'backfill', backfill: id, backfill_state: state, ...(owner === null ? {} : { owner }) }
  desk.changes.events.push({ kind: 'schedule.changed', subject, data })
}
