import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import { COMPLETED, PICKED } from '../core/usual-why.ts'
import { plainArray, textArray } from './arrays.ts'
import type { SqlValue } from './database.ts'
import type { RunRow } from './run-row.ts'
import { toTimestamp } from './timestamp.ts'

/** How columns of runs become parameters of a statement, and its text. */

export const at = (moment: Instant | null): string | null => (moment === null ? null : toTimestamp(moment))
export const json = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value)

/** Null is what the state alone says: picked while it runs, completed when it succeeded. */
export const whyOf = (why: Why | null): string | null => (why === PICKED || why === COMPLETED ? null : json(why))

export type Column = readonly [name: string, type: string, value: (run: RunRow) => SqlValue]

export type Columns = readonly (readonly [
  name: string,
  type: string,
  value: (run: RunRow) => SqlValue,
  ...rest: unknown[],
])[]

/** Columns that hold what somebody else wrote, so that it has to be quoted. */
const FREE: ReadonlySet<string> = new Set([
  'job_run_id',
  'agent_id',
  'executor_key',
  'session_key',
  'schedule_id',
  'lane',
  'sender',
  'payload',
  'retry_policy',
  'retry_of',
  'parent_run_id',
  'owner',
  'lineage',
  'decision',
  'delivery',
  'why',
  'reserves',
  'error_message',
  'output',
  'summary',
  'usage',
  'reported',
])

export const names = (columns: Columns): string => columns.map(([name]) => name).join(', ')
export const given = (columns: Columns, first: number): string =>
  columns.map(([, type], index) => `$${first + index}::${type}[]`).join(', ')
export const single = (columns: Columns, first: number): string =>
  columns.map(([, type], index) => `$${first + index}::${type}`).join(', ')
export const singleValuesOf = (columns: Columns, run: RunRow): readonly SqlValue[] =>
  columns.map(([, , value]) => value(run))
export const assigned = (columns: Columns): string => columns.map(([name]) => `${name} = u.${name}`).join(', ')
export const valuesOf = (columns: Columns, runs: readonly RunRow[]): readonly SqlValue[] =>
  columns.map(([name, , value]) => {
    const values = runs.map((run) => value(run))
    return FREE.has(name) ? textArray(values as (string | null)[]) : plainArray(values as (string | number | null)[])
  })
export const idsOf = (runs: readonly RunRow[]): string => plainArray(runs.map((run) => run.id))

/**
 * Rows are found by their key in a subquery and written where they are. As a join it may be planned the other way round
 * while statistics still say that the table is empty; then every run of the org meets every id.
 */
export const placed = (table: 'run' | 'pending', columns: Columns, first: number): string =>
  `(select i.*, (select t.ctid from ${table} t where t.org_id = $1 and t.id = i.id) as place
      from unnest($2::text[], ${given(columns, first)}) as i (id, ${names(columns)})) u`

/**
 * Writes rows and fails, and the transaction with it, unless every row was there: what is remembered is not what is on
 * record then, and nothing that was decided by it must be kept.
 */
export const each = (write: string, also = 'true'): string =>
  `${write} returning 1)
  select case when (select count(*) from written) = cardinality($2::text[]) and ${also} then 1
              else refuse_unknown_rows() end`
