import { DatabaseError } from '../platform/db/database-error.ts'

export const DEFAULT_SCHEMA = 'escapement'

// Only names that need no quoting are taken, and they are quoted all the same.
const PLAIN = /^[a-z_][a-z0-9_]{0,62}$/

/** The schema's name as an SQL identifier. Names come from the configuration, so they are checked, not trusted. */
export function quoteSchema(name: string): string {
  if (!PLAIN.test(name) || name.startsWith('pg_') || name === 'information_schema')
    throw new DatabaseError('schema_name_invalid', { detail: JSON.stringify(name) })
  return `"${name}"`
}

/** A notification channel as an SQL identifier. */
export function quoteChannel(name: string): string {
  if (!PLAIN.test(name)) throw new DatabaseError('channel_name_invalid', { detail: JSON.stringify(name) })
  return `"${name}"`
}
