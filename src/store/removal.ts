import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, SqlValue } from './database.ts'
import { column, columns } from './table.ts'

/** Rows of an org from before a moment, at most so many at a time. */
export interface OldRows {
  readonly orgId: OrgId
  readonly before: Instant
  readonly limit: number
}

const removals = columns({ removed: column.bigint() })

/** Runs a statement that removes rows and answers with how many, as `removed`. */
export async function countRemoved(connection: Connection, text: string, params: readonly SqlValue[]): Promise<number> {
  return removals.only(await connection.query(text, params)).removed
}
