import type { Instant } from '../core/instant.ts'
import type { SqlValue } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** A parameter for a `timestamptz` that may be null. */
export const timestampOrNull = (at: Instant | null): string | null => (at === null ? null : toTimestamp(at))

/** A parameter for a `jsonb`. Nothing is SQL's null, not JSON's: both are read back as null. */
export const jsonOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value)

/** The arrays that `unnest` takes: one for each way to look at a row, all as long as `rows`. */
export const columnsOf = <R>(
  rows: readonly R[],
  ...columns: readonly ((row: R) => SqlValue)[]
): readonly (readonly SqlValue[])[] => columns.map((column) => rows.map(column))

/** Brands a text column that may be null. */
export const brandOrNull = <T extends string>(value: unknown, brand: (text: string) => T): T | null =>
  value === null || value === undefined ? null : brand(value as string)
