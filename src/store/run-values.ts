import type { Why } from '../core/reasons.ts'
import { COMPLETED, PICKED } from '../core/usual-why.ts'
import { plainArray } from './arrays.ts'
import { jsonOrNull } from './rows.ts'
import type { RunRow } from './run-row.ts'
import type { Writes } from './table.ts'

/** How runs become parameters of a statement, and its text. */

/** Null is what the state alone says: picked while it runs, completed when it succeeded. */
export const whyOf = (why: Why | null): string | null => (why === PICKED || why === COMPLETED ? null : jsonOrNull(why))

export const idsOf = (runs: readonly RunRow[]): string => plainArray(runs.map((run) => run.id))

/**
 * Rows are found by their key in a subquery and written where they are. As a join it may be planned the other way round
 * while statistics still say that the table is empty; then every run of the org meets every id.
 */
export const placed = (table: 'run' | 'pending', columns: Writes<RunRow>, first: number): string =>
  `(select i.*, (select t.ctid from ${table} t where t.org_id = $1 and t.id = i.id) as place
      from unnest($2::text[], ${columns.arrays(first)}) as i (id, ${columns.names})) u`

/**
 * Writes rows and fails, and the transaction with it, unless every row was there: what is remembered is not what is on
 * record then, and nothing that was decided by it must be kept.
 */
export const each = (write: string, also = 'true'): string =>
  `${write} returning 1)
  select case when (select count(*) from written) = cardinality($2::text[]) and ${also} then 1
              else refuse_unknown_rows() end`
