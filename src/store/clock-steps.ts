import type { OrgId, RunId } from '../core/ids.ts'
import type { Connection, Transaction } from './database.ts'

/** A row of `clock_step`: the server's clock was set back, and not all waits by the clock before have been moved yet. */
export interface ClockStep {
  /** The turn in which it was noticed. */
  readonly no: number
  readonly byMs: number
  /** Runs that are still to be moved. */
  readonly runs: readonly RunId[]
}

/** The unfinished steps of an org, oldest first. Nearly every org has none. */
export async function loadClockSteps(connection: Connection, orgId: OrgId): Promise<readonly ClockStep[]> {
  const rows = await connection.query('select no, by_ms, runs from clock_step where org_id = $1 order by no', [orgId])
  return rows.map((row) => ({
    no: row['no'] as number,
    byMs: row['by_ms'] as number,
    runs: row['runs'] as readonly RunId[],
  }))
}

/** Records what is left of a step; nothing left removes it. */
export function saveClockStep(tx: Transaction, orgId: OrgId, { no, byMs, runs }: ClockStep): void {
  if (runs.length === 0) tx.send('delete from clock_step where org_id = $1 and no = $2', [orgId, no])
  else
    tx.send(
      `insert into clock_step (org_id, no, by_ms, runs) values ($1, $2, $3, $4)
       on conflict (org_id, no) do update set runs = excluded.runs`,
      [orgId, no, byMs, runs],
    )
}
