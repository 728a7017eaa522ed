import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, SqlValue } from './database.ts'

/** Rows of an org from before a moment, at most so many at a time. */
export interface OldRows {
  readonly orgId: OrgId
  readonly before: Instant
  readonly limit: number
}

/** Runs a statement that removes rows and answers with how many, as `removed`. */
export async function countRemoved(connection: Connection, text: string, params: readonly SqlValue[]): Promise<number> {
  const [row] = await connection.query(text, params)
  return row?.['removed'] as number
}
