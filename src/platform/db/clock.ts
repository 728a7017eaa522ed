import type { OrgId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from './database.ts'
import { column, columns, type RowOf, table } from './table.ts'

/** The SQL expression of the current time, for `readClock` and statements that also read other values. */
export const PRESENT = 'clock_timestamp()'

const clock = columns({ at: column.instant(PRESENT) })

/**
 * The current time by the database clock, which all nodes share. Only this statement, the first statement of a transaction
 * and the one by which nodes watch each other read it; all others take the time as a parameter. It is the time of the
 * statement rather than of the transaction start, because the transaction may have waited for a lock.
 */
export async function readClock(connection: Connection): Promise<Instant> {
  return clock.only(await connection.query(`select ${clock.list}`, [])).at
}

const steps = table('clock_step', {
  /** The number of the transaction that detected it. */
  no: column.bigint(),
  byMs: column.bigint(),
  /** Runs whose times still have to be moved. */
  runs: column.texts<readonly RunId[]>(),
})

/** A row of `clock_step`: the database clock was set back, and not all waiting runs have been moved yet. */
export type ClockStep = RowOf<typeof steps>

/** The unfinished clock steps of an org, oldest first; almost always none. */
export async function loadClockSteps(connection: Connection, orgId: OrgId): Promise<readonly ClockStep[]> {
  return steps.read(
    await connection.query(`select ${steps.list} from clock_step where org_id = $1 order by no`, [orgId]),
  )
}

/** Saves the remaining runs of a clock step, or deletes the step if none remain. */
export function saveClockStep(tx: Transaction, orgId: OrgId, step: ClockStep): void {
  if (step.runs.length === 0) tx.send('delete from clock_step where org_id = $1 and no = $2', [orgId, step.no])
  else
    tx.send(
      `insert into clock_step (org_id, ${steps.names}) values ($1, ${steps.params(2)})
       on conflict (org_id, no) do update set runs = excluded.runs`,
      [orgId, ...steps.values(step)],
    )
}
