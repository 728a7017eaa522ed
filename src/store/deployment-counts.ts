import type { AlertKind } from '../core/alerts.ts'
import type { PendingState } from '../core/run/run-machine.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import type { Connection } from './database.ts'
import { column, columns, counted } from './table.ts'

const schedules = columns({ state: column.text<ScheduleState>(), ...counted.definitions })
const pending = columns({ state: column.text<PendingState>(), ...counted.definitions })
const alerts = columns({ kind: column.text<AlertKind>(), ...counted.definitions })

/** How many schedules of all orgs are in each state. Walks over all of them: not for every request. */
export async function countAllSchedules(
  connection: Connection,
): Promise<Readonly<Partial<Record<ScheduleState, number>>>> {
  const rows = await connection.query(`select ${schedules.list} from schedule group by state`, [])
  return Object.fromEntries(schedules.read(rows).map(({ state, count }) => [state, count]))
}

/** How many pending runs of all orgs are in each state. Walks over all of them: not for every request. */
export async function countAllPending(
  connection: Connection,
): Promise<Readonly<Partial<Record<PendingState, number>>>> {
  const rows = await connection.query(`select ${pending.list} from pending group by state`, [])
  return Object.fromEntries(pending.read(rows).map(({ state, count }) => [state, count]))
}

/** How many alerts of all orgs are open, by kind. */
export async function countOpenAlerts(connection: Connection): Promise<Readonly<Partial<Record<AlertKind, number>>>> {
  const rows = await connection.query(`select ${alerts.list} from alert where cleared_at is null group by kind`, [])
  return Object.fromEntries(alerts.read(rows).map(({ kind, count }) => [kind, count]))
}

/** Whether there is more than one org. */
export async function hasManyOrgs(connection: Connection): Promise<boolean> {
  const rows = await connection.query('select 1 from org where deleted_at is null limit 2', [])
  return rows.length > 1
}
