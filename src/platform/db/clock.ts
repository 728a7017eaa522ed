import type { OrgId, RunId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { column, columns, type RowOf, table } from './table.ts'

/** How the database is asked for the present. For `readClock`, and for statements that ask more with it. */
export const PRESENT = 'clock_timestamp()'

const clock = columns({ at: column.instant(PRESENT) })

/**
 * The present, by the database's clock: the same for all nodes. Only this statement, the first one of a turn and the one
 * by which nodes watch each other ask for it; every other one takes the present as a parameter. The real time of the statement, not of the transaction's beginning,
 * because a transaction may have waited for a lock in between.
 */
export async function readClock(connection: Connection): Promise<Instant> {
  return clock.only(await connection.query(`select ${clock.list}`, [])).at
}

const steps = table('clock_step', {
  /** The turn in which it was noticed. */
  no: column.bigint(),
  byMs: column.bigint(),
  /** Runs that are still to be moved. */
  runs: column.texts<readonly RunId[]>(),
})

/** A row of `clock_step`: the server's clock was set back, and not all waits by the clock before have been moved yet. */
export type ClockStep = RowOf<typeof steps>

/** The unfinished steps of an org, oldest first. Nearly every org has none. */
export async function loadClockSteps(connection: Connection, orgId: OrgId): Promise<readonly ClockStep[]> {
  return steps.read(
    await connection.query(`select ${steps.list} from clock_step where org_id = $1 order by no`, [orgId]),
  )
}

/** Records what is left of a step; nothing left removes it. */
export function saveClockStep(tx: Transaction, orgId: OrgId, step: ClockStep): void {
  if (step.runs.length === 0) tx.send('delete from clock_step where org_id = $1 and no = $2', [orgId, step.no])
  else
    tx.send(
      `insert into clock_step (org_id, ${steps.names}) values ($1, ${steps.params(2)})
       on conflict (org_id, no) do update set runs = excluded.runs`,
      [orgId, ...steps.values(step)],
    )
}
