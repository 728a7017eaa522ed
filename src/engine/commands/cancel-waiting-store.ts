import type { OrgId } from '../../domain/ids.ts'
import type { Why } from '../../domain/reasons.ts'
import { isWaitingRun } from '../../domain/run/run.ts'
import { isBackfilled } from '../../domain/schedule/backfill.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, table, type RowOf } from '../../platform/db/table.ts'

const subjects = table('clearing', { subject: column.text<'session' | 'schedule'>(), key: column.text() })

/** A session or schedule whose waiting runs are being cancelled in pieces. */
export type ClearingSubject = RowOf<typeof subjects>

const clearings = table('clearing', {
  ...subjects.definitions,
  before: column.instant(),
  /** The runs are superseded by a newer run of their schedule. */
  superseded: column.boolean(),
  why: column.json<Why>(),
})

/** A row of `clearing`: waiting runs of the subject that were created before a time are to be cancelled. */
export type Clearing = RowOf<typeof clearings>

/** The clearings of an org. Nearly every org has none. */
export async function loadClearings(connection: Connection, orgId: OrgId): Promise<readonly Clearing[]> {
  return clearings.read(await connection.query(`select ${clearings.list} from clearing where org_id = $1`, [orgId]))
}

/** Stores clearings; a newer one of the same subject replaces the one before. */
export function saveClearings(tx: Transaction, orgId: OrgId, rows: readonly Clearing[]): void {
  tx.send(
    `insert into clearing (org_id, ${clearings.names}) select $1, * from unnest(${clearings.arrays(2)})
     on conflict (org_id, subject, key) do update
       set before = excluded.before, superseded = excluded.superseded, why = excluded.why`,
    [orgId, ...clearings.lists(rows)],
  )
}

/** Deletes clearings that have nothing left to cancel. */
export function deleteClearings(tx: Transaction, orgId: OrgId, done: readonly ClearingSubject[]): void {
  tx.send(
    `delete from clearing c using unnest(${subjects.arrays(2)}) as d (${subjects.names})
      where c.org_id = $1 and c.subject = d.subject and c.key = d.key`,
    [orgId, ...subjects.lists(done)],
  )
}

/** Sessions and schedules whose older waiting runs are being cancelled in pieces, by name. */
export type Clearings = Map<string, Clearing>

export const clearingName = ({ subject, key }: ClearingSubject): string => `${subject} ${key}`

/** Whether the clearing cancels the run. */
export function isCoveredBy({ subject, before, superseded }: Clearing, run: RunRow): boolean {
  if (run.createdAt >= before || run.finishedAt !== null || !isWaitingRun(run)) return false
  if (subject === 'session') return true
  // Held occurrences of a schedule are never superseded, and end at once when it is deleted.
  if (isHeld(run)) return false
  // When a schedule is deleted, only the runs waiting for one of its slots are cancelled.
  return superseded ? !isBackfilled(run) : run.slot === 'parked'
}

/** The clearing that will cancel the run; undefined for nearly every run. */
export function clearingOf(clearings: Clearings, run: RunRow): Clearing | undefined {
  if (clearings.size === 0) return undefined
  const session = run.sessionKey === null ? undefined : clearings.get(`session ${run.sessionKey}`)
  if (session !== undefined && isCoveredBy(session, run)) return session
  const schedule = run.scheduleId === null ? undefined : clearings.get(`schedule ${run.scheduleId}`)
  return schedule !== undefined && isCoveredBy(schedule, run) ? schedule : undefined
}

/** Replaces the clearings by those from the database. */
export function replaceClearings(clearings: Clearings, found: readonly Clearing[]): void {
  clearings.clear()
  for (const clearing of found) clearings.set(clearingName(clearing), clearing)
}
