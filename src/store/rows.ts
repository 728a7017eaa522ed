import type { Instant } from '../core/instant.ts'
import { toTimestamp } from './timestamp.ts'

/** A parameter for a `timestamptz` that may be null. */
export const timestampOrNull = (at: Instant | null): string | null => (at === null ? null : toTimestamp(at))

/** A parameter for a `jsonb`. Nothing is SQL's null, not JSON's: both are read back as null. */
export const jsonOrNull = (value: unknown): string | null =>
  value === null || value === undefined ? null : JSON.stringify(value)
