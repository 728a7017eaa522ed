import type { AlertKind } from '../core/alerts.ts'
import type { PendingState } from '../core/run/run-machine.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import type { Connection } from './database.ts'

/** How many schedules of all orgs are in each state. Walks over all of them: not for every request. */
export async function countAllSchedules(
  connection: Connection,
): Promise<Readonly<Partial<Record<ScheduleState, number>>>> {
  const rows = await connection.query('select state, count(*) as count from schedule group by state', [])
  return Object.fromEntries(rows.map((row) => [row['state'] as ScheduleState, row['count'] as number]))
}

/** How many pending runs of all orgs are in each state. Walks over all of them: not for every request. */
export async function countAllPending(
  connection: Connection,
): Promise<Readonly<Partial<Record<PendingState, number>>>> {
  const rows = await connection.query('select state, count(*) as count from pending group by state', [])
  return Object.fromEntries(rows.map((row) => [row['state'] as PendingState, row['count'] as number]))
}

/** How many alerts of all orgs are open, by kind. */
export async function countOpenAlerts(connection: Connection): Promise<Readonly<Partial<Record<AlertKind, number>>>> {
  const rows = await connection.query(
    'select kind, count(*) as count from alert where cleared_at is null group by kind',
    [],
  )
  return Object.fromEntries(rows.map((row) => [row['kind'] as AlertKind, row['count'] as number]))
}

/** Whether there is more than one org. */
export async function hasManyOrgs(connection: Connection): Promise<boolean> {
  const rows = await connection.query('select 1 from org where deleted_at is null limit 2', [])
  return rows.length > 1
}
