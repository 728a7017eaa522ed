import type { OrgId, RunId } from '../core/ids.ts'
import type { Connection, Transaction } from './database.ts'
import { column, table, type RowOf } from './table.ts'

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
